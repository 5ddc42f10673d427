package scan

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/flags"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/list"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/record"
	"github.com/a2sscan/a2sscan/wire"
)

// someCheckpoint returns a checkpoint with every kind of field set.
func someCheckpoint() *Checkpoint {
	c := &Checkpoint{
		Program: "abc", Scan: "20261120T030000Z", Start: time.Date(2026, 11, 20, 3, 0, 0, 0, time.UTC),
		Resumed: 2, Place: 1<<40 + 3, Records: 7,
		Plan:  Plan{Found: Found{Targets: []string{"127.0.0.0/30"}, Output: "/a/b", Parts: true}, Query: flags.Questions(wire.AskAll), Targeting: Targeting{Ports: "27015"}},
		List:  list.Stats{Excluded: 3, Given: 1 << 40},
		Tally: ledger.Tally{Servers: 8, AtAsk: []uint64{7, 1}},
		Output: OutputState{Position: sink.Position{Offset: 9, Sum: "0123456789abcdef", Records: 6,
			Parts: []sink.Part{{Name: "p", Records: 1, Bytes: 2, Sum: "fedcba9876543210"}}}},
		Silent: SilentState{Bytes: 100, Sum: 2, Targets: 4, SecondPassed: 3},
		Names:  map[string]HostName{"a.test": {Addrs: []netip.Addr{netip.MustParseAddr("127.0.0.1")}}},
	}
	c.Stats.Finished[scanner.StatusOK] = 6
	c.Stats.Finished[scanner.StatusError], c.Stats.Unheard = 1, 1 // nothing could be sent to this target
	c.Stats.Finished[scanner.StatusNoReply] = 1<<40 - 7 - 301     // 300 targets are open, and one waits for the second pass
	for i := range 300 {
		c.OpenTargets = append(c.OpenTargets, scanner.Target{
			Addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, byte(i)}), uint16(i+1)),
			Tag:  strings.Repeat("\xff\n", i), Master: `{"a":1}`, Place: uint64(i),
		})
	}
	return c
}

// TestCheckpoint: a checkpoint is the same after encoding and decoding. An
// unlimited rate, which JSON cannot express, does not make encoding fail.
func TestCheckpoint(t *testing.T) {
	c := someCheckpoint()
	c.Stats.Rate = scanner.Off
	file, err := c.encode()
	check(t, err)
	got, err := DecodeCheckpoint(file)
	check(t, err)
	if !reflect.DeepEqual(got, c) {
		got.OpenTargets, c.OpenTargets = got.OpenTargets[:2], c.OpenTargets[:2]
		t.Errorf("%+v\nwant %+v", got, c)
	}
}

// TestPlanOfAnyName: a plan with names that are not UTF-8 equals itself after
// encoding and decoding, and differs from another plan.
func TestPlanOfAnyName(t *testing.T) {
	plan := Plan{Found: Found{Targets: []string{"a\xff"}, Output: "/caf\xe9\xe9.ndjson"}}
	file, err := (&Checkpoint{Scan: "abc", Start: time.Unix(1, 0), Plan: plan}).encode()
	check(t, err)
	c, err := DecodeCheckpoint(file)
	check(t, err)
	if what, now, was := ledger.Difference(plan, c.Plan, "resume"); what != "" {
		t.Error(what, now, was)
	}
	plan.Output = "/caf\xe9.ndjson"
	if what, _, _ := ledger.Difference(plan, c.Plan, "resume"); what != "--output" {
		t.Error("a different output is not noticed")
	}
	plan.Output = "/caf\xe9\xe9.ndjson"
	if got := c.OutputFile(&plan); got != plan.Output {
		t.Errorf("%q, want %q", got, plan.Output)
	}
}

// TestOurs: ours recognises the first record of a scan, whatever the scan's name,
// and rejects the record of another scan.
func TestOurs(t *testing.T) {
	for _, scan := range []string{"20261120T030000Z", "a \"b\" \\", "\u00a0\u200d\x7f\x01", "日本"} {
		path := filepath.Join(t.TempDir(), "census.ndjson")
		line := record.Append(nil, scan, &scanner.Result{Addr: netip.MustParseAddrPort("127.0.0.1:1")})
		check(t, os.WriteFile(path, line, 0o666))
		if !ours(path, scan, "") {
			t.Errorf("%s is not recognised", line)
		}
		if ours(path, scan+"x", "") || ours(path, "", "") {
			t.Errorf("%s is recognised as that of another scan", line)
		}
	}
}

// TestCheckpointDamaged: Decode returns errDamaged for a file that is truncated
// anywhere, some error for a file with one byte changed, and errNoCheckpoint for
// any other file. It names the version of a file from a newer program.
func TestCheckpointDamaged(t *testing.T) {
	file, err := someCheckpoint().encode()
	check(t, err)
	for n := range file {
		if _, err := DecodeCheckpoint(file[:n]); !errors.Is(err, errDamaged) {
			t.Fatalf("%d of %d bytes: %v", n, len(file), err)
		}
		changed := bytes.Clone(file)
		changed[n] ^= 0x20
		if _, err := DecodeCheckpoint(changed); err == nil {
			t.Fatalf("a change of byte %d is not noticed", n)
		}
	}
	_, err = DecodeCheckpoint(bytes.Replace(file, []byte("checkpoint 3"), []byte("checkpoint 12"), 1))
	if want := "another version of a2sscan wrote the file in version 12 of the format, but this program reads only version 3"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	for _, other := range []string{"127.0.0.1:27015\n", "a2sscan checkpoints are\n", "{}"} {
		if _, err := DecodeCheckpoint([]byte(other)); !errors.Is(err, errNoCheckpoint) {
			t.Errorf("%q: %v", other, err)
		}
	}
}

// TestCheckpointRange: Decode returns errRange if the checksum is valid but a
// number is impossible or contradicts the others.
func TestCheckpointRange(t *testing.T) {
	for name, change := range map[string]func(*Checkpoint){
		"negative offset":           func(c *Checkpoint) { c.Output.Offset = -1 },
		"negative part":             func(c *Checkpoint) { c.Output.Parts[0].Bytes = -1 },
		"records without bytes":     func(c *Checkpoint) { c.Output.Offset = 0 },
		"bytes without records":     func(c *Checkpoint) { c.Output.Parts[0].Records, c.Output.Records = 0, 7 },
		"bytes without a hash":      func(c *Checkpoint) { c.Output.Sum = "" },
		"part without a hash":       func(c *Checkpoint) { c.Output.Parts[0].Sum = "" },
		"part of no parts":          func(c *Checkpoint) { c.Plan.Parts = false },
		"part with too many":        func(c *Checkpoint) { c.Output.Parts[0].Records++ },
		"part that is missing":      func(c *Checkpoint) { c.Output.Parts = nil },
		"more records than all":     func(c *Checkpoint) { c.Output.Records++ },
		"more records than found":   func(c *Checkpoint) { c.Output.Records++; c.Records++ },
		"records of the silent":     func(c *Checkpoint) { c.Plan.Unanswered = true },
		"place too small":           func(c *Checkpoint) { c.Place-- },
		"place too large":           func(c *Checkpoint) { c.Place++ },
		"place behind the list":     func(c *Checkpoint) { c.Size = c.Place - 1 },
		"more given than taken":     func(c *Checkpoint) { c.List.Given++; c.Place++ },
		"fewer given than taken":    func(c *Checkpoint) { c.List.Given--; c.Place-- },
		"open target not passed":    func(c *Checkpoint) { c.OpenTargets[0].Place = c.Place },
		"open target missing":       func(c *Checkpoint) { c.OpenTargets = c.OpenTargets[1:] },
		"open target of no server":  func(c *Checkpoint) { c.OpenTargets[0].Addr = netip.AddrPort{} },
		"no name":                   func(c *Checkpoint) { c.Scan = "" },
		"no start":                  func(c *Checkpoint) { c.Start = time.Time{} },
		"negative resumes":          func(c *Checkpoint) { c.Resumed = -1 },
		"negative silent":           func(c *Checkpoint) { c.Silent.Targets = -1 },
		"negative silent bytes":     func(c *Checkpoint) { c.Silent.Bytes = -1 },
		"negative second pass":      func(c *Checkpoint) { c.Silent.SecondPassed = -1 },
		"second pass beyond silent": func(c *Checkpoint) { c.Silent.SecondPassed = c.Silent.Targets + 1 },
		"silent without room":       func(c *Checkpoint) { c.Silent.Bytes = 31 },
	} {
		c := someCheckpoint()
		change(c)
		file, err := c.encode()
		check(t, err)
		if _, err := DecodeCheckpoint(file); !errors.Is(err, errRange) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCheckpointCrafted: the memory that a crafted checkpoint takes is limited by its length.
func TestCheckpointCrafted(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED under -short: it starts no goroutine, and go test without -short runs it")
	}
	z, err := packer()
	check(t, err)
	file := func(body []byte) []byte {
		packed := z.EncodeAll(body, nil)
		return append(fmt.Appendf(nil, "%s%d %x\n", magic, version, sha256.Sum256(packed)), packed...)
	}
	some := someCheckpoint()
	for name, body := range map[string][]byte{
		"spaces": bytes.Repeat([]byte(" "), 1<<28),
		"parts":  append([]byte(`{"output":{"parts":[{}`), bytes.Repeat([]byte(",{}"), 1<<26)...),
	} {
		text := file(body)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := DecodeCheckpoint(text)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; err == nil || took > 16<<20+200*uint64(len(text)) {
			t.Errorf("%s: %d bytes for a file of %d, %v", name, took, len(text), err)
		}
	}
	// Honest targets may have tags that can be packed well.
	for i := range some.OpenTargets {
		some.OpenTargets[i].Tag = strings.Repeat("the same tag ", 1000)
	}
	text, err := some.encode()
	check(t, err)
	if again, err := DecodeCheckpoint(text); err != nil || len(again.OpenTargets) != len(some.OpenTargets) {
		t.Errorf("%d bytes with long tags: %v", len(text), err)
	}
}

// FuzzCheckpoint: no body with a valid checksum makes the decoder panic or return
// more targets than the body has bytes. A checkpoint that it accepts can be encoded
// and decoded again.
func FuzzCheckpoint(f *testing.F) {
	small := someCheckpoint()
	small.List.Given -= 298
	small.Place -= 298
	small.OpenTargets = small.OpenTargets[:2]
	line, err := json.Marshal(small)
	check(f, err)
	targets := func(all ...scanner.Target) []byte {
		var b bytes.Buffer
		check(f, gob.NewEncoder(&b).Encode(all))
		return b.Bytes()
	}
	f.Add(slices.Concat(line, []byte("\n"), targets(small.OpenTargets...)))
	f.Add(slices.Concat([]byte("{}\n"), targets(scanner.Target{Addr: netip.MustParseAddrPort("[::1]:1")})))
	f.Add([]byte("{}\n\x7f"))
	f.Fuzz(func(t *testing.T, body []byte) {
		c, err := decodeBody(body)
		if err != nil {
			return
		}
		if len(c.OpenTargets) > len(body) {
			t.Errorf("%d targets in %d bytes", len(c.OpenTargets), len(body))
		}
		file, err := c.encode()
		if err != nil {
			t.Skip("SKIPPED, NOTHING TO ENCODE: JSON reads times that it does not write:", err)
		}
		if _, err := DecodeCheckpoint(file); err != nil {
			t.Errorf("the decoded checkpoint does not survive encoding: %v", err)
		}
	})
}

// TestListProgress: however far the list has been read ahead, the counts at a place
// are those at the moment when the list yielded the target before that place, plus
// those of earlier runs.
func TestListProgress(t *testing.T) {
	w := listProgress{past: list.Stats{Excluded: 100, Given: 10, Invalid: 3}}
	if got := w.at(5, 0); got != (list.Stats{Read: 113, Excluded: 100, Given: 10, Invalid: 3}) {
		t.Errorf("at the start %+v", got)
	}
	for place := uint64(5); place < 1000; place += 2 { // every second place is excluded
		w.pass(place, list.Stats{Excluded: (place - 5) / 2, Invalid: 4, Given: 77, Read: 99})
	}
	for given := uint64(1); given < 400; given += 7 {
		place := 5 + 2*(given-1) + 1
		want := list.Stats{Excluded: 100 + given - 1, Given: 10 + given, Invalid: 4}
		want.Read = want.Excluded + want.Given + want.Invalid
		if got := w.at(place, given); got != want {
			t.Errorf("at %d %+v, want %+v", place, got, want)
		}
	}
	if len(w.marks) > 110 {
		t.Errorf("%d marks are kept", len(w.marks))
	}
}

// TestTaken: a target that the list yielded but the scan did not take does not
// count, in a new scan or a resumed one.
func TestTaken(t *testing.T) {
	l := list.Stats{Read: 12, Excluded: 3, Given: 9}
	k := &Checkpointer{}
	if got, want := k.Taken(l, 8), (list.Stats{Read: 11, Excluded: 3, Given: 8}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	// Earlier runs took eight targets from the list and left two of them open. This
	// run takes these two first.
	k = &Checkpointer{Past: Checkpoint{List: list.Stats{Given: 8}, OpenTargets: make([]scanner.Target, 2)}}
	k.progress.past = k.Past.List
	for n, want := range []uint64{8, 8, 8, 9} {
		got := k.progress.total(k.Taken(list.Stats{Read: 1, Given: 1}, uint64(n)))
		if got.Given != want || got.Read != want {
			t.Errorf("%d taken: %+v, want %d", n, got, want)
		}
	}
}

func TestCommandLine(t *testing.T) {
	k := &Checkpointer{program: &Program{Name: "a2sscan", Args: []string{"scan", "my list", "it's", "--fresh", "--dry-run=true", "-o", "a*"}}}
	if got, want := k.again(), ` scan 'my list' 'it'\''s' -o 'a*'`; !strings.HasSuffix(got, want) {
		t.Errorf("%s, want …%s", got, want)
	}
	if got, want := k.startOver(), ` 'it'\''s' -o 'a*' --fresh --force`; !strings.HasSuffix(got, want) {
		t.Errorf("%s, want …%s", got, want)
	}
}

// TestLoadedOtherwise: Loaded refuses to resume if this version finds another
// number of targets in the same lists than the version that wrote the checkpoint,
// because places then differ.
func TestLoadedOtherwise(t *testing.T) {
	list, err := list.Open(list.Config{Args: []string{"127.0.0.0/24:1"}})
	check(t, err)
	k := &Checkpointer{Enabled: true, Resumes: true, terminal: console.New(io.Discard), program: &Program{}, plan: &Plan{}, Past: Checkpoint{Size: 255}}
	want := "the version of a2sscan that started the scan found 255 targets in the lists, but this version finds 256"
	if err := k.Loaded(list); err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v, want …%s", err, want)
	}
	for _, size := range []uint64{0, 256} { // 0: unknown
		k.Past.Size = size
		if err := k.Loaded(list); err != nil {
			t.Errorf("%d: %v", size, err)
		}
	}
}

// check ends the test if err is not nil.
func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// silentSnapshot returns a snapshot with n silent targets numbered from first,
// every third with a tag. The second pass has started for looked of them.
func silentSnapshot(first, n, looked int) *scanner.Snapshot {
	s := &scanner.Snapshot{SecondPassed: looked}
	for i := first; i < first+n; i++ {
		s.Silent = append(s.Silent, 127<<40|uint64(i)<<16|27015)
		if i%3 == 0 {
			s.SilentLabels = slices.Grow(s.SilentLabels, 1)[:len(s.SilentLabels)+1]
			l := &s.SilentLabels[len(s.SilentLabels)-1]
			l.Index, l.Tag, l.Master = len(s.Silent)-1, "tag", "{}"
		}
	}
	return s
}

// silentTargets returns the targets numbered first to last-1.
func silentTargets(first, last int) (all []scanner.Target) {
	for i := first; i < last; i++ {
		ip := netip.AddrFrom4([4]byte{127, byte(i >> 16), byte(i >> 8), byte(i)})
		t := scanner.Target{Addr: netip.AddrPortFrom(ip, 27015)}
		if i%3 == 0 {
			t.Tag, t.Master = "tag", "{}"
		}
		all = append(all, t)
	}
	return all
}

// TestSilentFile: the file grows with each checkpoint. A run that resumes from any
// checkpoint finds the targets that were waiting then, ignores what was written
// later, and appends its own targets.
func TestSilentFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "silent")
	check(t, os.WriteFile(path, []byte("left over from an abandoned scan"), 0o666))
	one := silentFile{path: path}
	var states []SilentState
	for _, s := range []*scanner.Snapshot{
		silentSnapshot(0, 0, 0), silentSnapshot(0, 10, 0), silentSnapshot(0, 10, 0),
		silentSnapshot(0, 500, 0), silentSnapshot(0, 500, 7), silentSnapshot(0, 900, 7),
	} {
		st, err := one.save(s, 0)
		check(t, err)
		states = append(states, st)
	}
	one.close(false)
	if states[0] != (SilentState{}) || states[1] != states[2] || states[3].Targets != 500 {
		t.Errorf("%+v", states)
	}
	two := silentFile{path: path}
	waiting, err := two.load(states[4])
	check(t, err)
	if got := slices.Collect(waiting); !reflect.DeepEqual(got, silentTargets(7, 500)) {
		t.Errorf("%d targets wait, or the wrong ones", len(got))
	}
	// The second process finds the other 493 waiting, adds 3 and starts the second
	// pass of 20.
	st, err := two.save(silentSnapshot(7, 496, 20), 7)
	check(t, err)
	two.close(false)
	three := silentFile{path: path}
	waiting, err = three.load(st)
	if err != nil || st.SecondPassed != 27 {
		t.Fatalf("%+v, %v", st, err)
	}
	if got := slices.Collect(waiting); !reflect.DeepEqual(got, silentTargets(27, 503)) {
		t.Errorf("%d targets wait, or the wrong ones", len(got))
	}
	if info, err := os.Stat(path); err != nil || info.Size() != st.Bytes {
		t.Errorf("%v, %v: data after the checkpoint is still there", info.Size(), err)
	}
	three.close(true)
	if _, err := three.load(st); !errors.Is(err, errSilent) {
		t.Errorf("%v for a missing file", err)
	}
	check(t, os.WriteFile(path, make([]byte, st.Bytes), 0o666))
	if _, err := three.load(st); !errors.Is(err, errSilent) {
		t.Errorf("%v for another file", err)
	}
}

// TestNames: after a checkpoint, names that were looked up, found or not, are not
// looked up again. Other names are, and so are names whose look-up was interrupted.
func TestNames(t *testing.T) {
	asked := 0
	lookup := func(_ context.Context, host string) ([]netip.Addr, error) {
		asked++
		if host == "nowhere.test" {
			return nil, errors.New("no such host")
		}
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, byte(asked)})}, nil
	}
	var first HostNames
	first.Resolver(lookup)(t.Context(), "a.test")
	first.Resolver(lookup)(t.Context(), "nowhere.test")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	first.Resolver(lookup)(ended, "interrupted.test")

	b, err := json.Marshal(first.all())
	check(t, err)
	var second HostNames
	check(t, json.Unmarshal(b, &second.known))
	again := second.Resolver(lookup)
	addrs, err := again(t.Context(), "a.test")
	if want := []netip.Addr{netip.MustParseAddr("127.0.0.1")}; !reflect.DeepEqual(addrs, want) || err != nil {
		t.Errorf("%v, %v, want %v", addrs, err, want)
	}
	if _, err := again(t.Context(), "nowhere.test"); err == nil || err.Error() != "no such host" {
		t.Errorf("%v, want the saved error", err)
	}
	if asked != 3 {
		t.Errorf("asked %d times, want 3", asked)
	}
	if again(t.Context(), "interrupted.test"); asked != 4 {
		t.Error("a look-up that was interrupted is not repeated")
	}
}

// TestNamesTwice: two simultaneous look-ups of a name get the same addresses, even
// if the resolver returns different addresses each time.
func TestNamesTwice(t *testing.T) {
	var asked atomic.Int32
	var both sync.WaitGroup
	both.Add(2)
	lookup := func(context.Context, string) ([]netip.Addr, error) {
		n := asked.Add(1)
		both.Done()
		both.Wait()
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, byte(n)})}, nil
	}
	var n HostNames
	var got [2][]netip.Addr
	var done sync.WaitGroup
	for i := range got {
		done.Go(func() { got[i], _ = n.Resolver(lookup)(t.Context(), "round.robin.test") })
	}
	done.Wait()
	if saved := n.all()["round.robin.test"].Addrs; !reflect.DeepEqual(got[0], got[1]) || !reflect.DeepEqual(got[0], saved) {
		t.Errorf("%v and %v, and %v in a checkpoint", got[0], got[1], saved)
	}
}
