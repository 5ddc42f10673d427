package censusfile

import (
	"bytes"
	"fmt"
	"net/netip"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/list"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/wire"
)

// shard is the census of one shard: the results of its servers, and its summary.
type shard struct {
	name    string
	results []*scanner.Result
	sum     ledger.Summary
}

// numShards is the number of shards of the test's scan, and network is the network
// that it scanned.
const numShards = 3

var network = netip.MustParsePrefix("127.9.0.0/25")

// scanned is the fleet of the test's scan.
var scanned = fleet.Config{Network: network, Ports: []uint16{27015}, Seed: 3}

// truths returns the results of all servers of the network, nil for silent ones.
var truths = sync.OnceValue(func() map[netip.AddrPort]*scanner.Result {
	all := map[netip.AddrPort]*scanner.Result{}
	for at := range scanned.All() {
		all[at] = scanned.Truth(at, wire.AskAll)
	}
	return all
})

// newShards returns the shards of one scan.
func newShards() []*shard {
	var all []*shard
	for i := range numShards {
		is := list.Shard{Index: i, Count: numShards}
		s := &shard{name: fmt.Sprintf("s%d.ndjson.zst", i)}
		silent := 0
		for at := range scanned.All() {
			switch r := truths()[at]; {
			case !is.Has(at.Addr()):
			case r == nil:
				silent++
			default:
				s.results = append(s.results, r)
			}
		}
		s.describe(is, silent)
		all = append(all, s)
	}
	return all
}

// somePlan has the settings that merge itself uses, and two that it only compares.
type somePlan struct {
	Targets    []string `json:"targets" flag:"the targets" same:"shards"`
	Questions  string   `json:"questions" flag:"--query" same:"shards"`
	MaxTargets uint64   `json:"max_targets" flag:"--max-targets" same:"shards"`
	Unanswered bool     `json:"unanswered,omitempty" flag:"--unanswered" same:"shards"`
	Shard      string   `json:"shard" same:"shards"`
}

func (p *somePlan) Merged() (*string, uint64, bool) { return &p.Shard, p.MaxTargets, p.Unanswered }

// describe sets the summary of the shard. silent is the number of its targets that
// did not answer.
func (s *shard) describe(is list.Shard, silent int) {
	start := time.Date(2026, 11, 20, 3, is.Index, 0, 0, time.UTC)
	s.sum = ledger.Summary{
		Scan: fmt.Sprintf("night-%d", is.Index), Start: start, End: start.Add(time.Hour),
		Ended: ledger.EndedComplete, Consistent: true, Records: uint64(len(s.results)),
		Plan: &somePlan{Targets: []string{network.String()}, Questions: "info,players,rules", Shard: is.String()},
	}
	finished := uint64(len(s.results) + silent)
	entries := uint64(1) << (32 - network.Bits())
	s.sum.Targets = ledger.TargetCounts{Read: entries, OtherShard: entries - finished, Finished: finished}
	s.sum.Targets.ByStatus[scanner.StatusNoReply] = uint64(silent)
	for _, r := range s.results {
		s.sum.Targets.ByStatus[r.Status]++
	}
}

// repeat adds a second record of the shard's first server.
func (s *shard) repeat() {
	s.results = append(s.results, s.results[0])
	s.sum.Records++
	s.sum.Targets.ByStatus[s.results[0].Status]++
}

// write writes the shards to a directory and returns the paths of the censuses.
func writeShards(t *testing.T, dir string, shards []*shard) (paths []string) {
	t.Helper()
	for _, s := range shards {
		path := filepath.Join(dir, s.name)
		w, err := sink.Create(path, sink.Options{FlushEvery: -1})
		check(t, err)
		for _, r := range s.results {
			check(t, w.Write(s.sum.Scan, r))
		}
		check(t, w.Close())
		if err := s.sum.WriteFile(path + ".summary.json"); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// merge merges censuses and returns the path of the output, the messages and the
// error.
func merge(t *testing.T, dir string, files []string) (out, messages string, err error) {
	t.Helper()
	out = filepath.Join(dir, "all.ndjson.zst")
	var b bytes.Buffer
	err = Merge(console.New(&b), MergeOptions{Files: files, Output: out, Plan: func() Plan { return new(somePlan) }})
	return out, b.String(), err
}

// refusals are sets of censuses that can't be merged, each with part of the message
// that names the reason. The script merge.txtar has others.
var refusals = []struct {
	name   string
	want   string
	change func([]*shard) []*shard
}{
	{name: "a shard of another number", want: "DIR/s1.ndjson.zst is shard 1/4, but DIR/s0.ndjson.zst belongs to a scan of 3 shards",
		change: func(s []*shard) []*shard { s[1].sum.Plan.(*somePlan).Shard = "1/4"; return s }},
	{name: "almost all shards are missing", want: "shard 20/4096 is missing\na2sscan: and 4,075 more problems\n",
		change: func(s []*shard) []*shard { s[0].sum.Plan.(*somePlan).Shard = "0/4096"; return s[:1] }},
	{name: "a summary has no plan", want: "DIR/s1.ndjson.zst: the summary has no plan, because another version of a2sscan wrote it",
		change: func(s []*shard) []*shard { s[1].sum.Plan = nil; return s }},
	{name: "a summary has a shard that does not exist", want: "DIR/s1.ndjson.zst: ",
		change: func(s []*shard) []*shard { s[1].sum.Plan.(*somePlan).Shard = "3/3"; return s }},
	{name: "a scan whose numbers did not add up", want: "DIR/s1.ndjson.zst: the numbers of the summary do not add up",
		change: func(s []*shard) []*shard { s[1].sum.Consistent = false; return s }},
	{name: "the targets differ", want: "DIR/s0.ndjson.zst and DIR/s1.ndjson.zst are not parts of one scan: they differ in the targets",
		change: func(s []*shard) []*shard { s[1].sum.Plan.(*somePlan).Targets = []string{"127.9.0.0/24"}; return s }},
	{name: "names are hashed with different keys", want: "the names of players in DIR/s0.ndjson.zst and DIR/s1.ndjson.zst are hashed with different keys (01 and 23)",
		change: func(s []*shard) []*shard { s[0].sum.Names, s[1].sum.Names, s[2].sum.Names = "01", "23", "01"; return s }},
	{name: "the lists had different sizes", want: "the count \"read\" of targets is 128 in DIR/s0.ndjson.zst, but 129 in DIR/s1.ndjson.zst",
		change: func(s []*shard) []*shard {
			s[1].sum.Targets.Read++
			s[1].sum.Targets.Invalid++
			return s
		}},
	{name: "--max-targets ended each shard", want: "--max-targets limits each shard, so together",
		change: func(s []*shard) []*shard {
			for _, one := range s {
				one.sum.Plan.(*somePlan).MaxTargets = 128
			}
			return s
		}},
	{name: "an address is there twice", want: "127.9.0.2:27015 has 2 records of scan night-1",
		change: func(s []*shard) []*shard { s[1].repeat(); return s }},
}

// TestRefused: merging parts that do not make one census fails with a message that
// names the reason, and leaves no output.
func TestRefused(t *testing.T) {
	for _, c := range refusals {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			files := writeShards(t, dir, c.change(newShards()))
			out, messages, err := merge(t, dir, files)
			if console.ExitCode(err) != console.ExitNumbers {
				t.Errorf("%v, exit code %d", err, console.ExitCode(err))
			}
			if want := strings.ReplaceAll(c.want, "DIR", dir); !strings.Contains(messages, want) {
				t.Errorf("messages:\n%s\nwant %s", messages, want)
			}
			left, _ := filepath.Glob(out + "*")
			if len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// check ends the test if err is not nil.
