package replay

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/bench/captures"
	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/bench/fleet/judge"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink/record"
	"github.com/a2sscan/a2sscan/wire"
)

// TestMain lets more tests run at a time than there are processors, because most of
// their time is waiting for servers that do not answer.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	m.Run()
}

// scan scans addresses and returns the records by address.
func scan(t testing.TB, cfg scanner.Config, addrs []netip.AddrPort) map[netip.AddrPort][]byte {
	t.Helper()
	cfg.AddressRate, cfg.Cooldown = scanner.Off, scanner.Off
	records := map[netip.AddrPort][]byte{}
	targets := func(yield func(scanner.Target) bool) {
		for _, a := range addrs {
			if !yield(scanner.Target{Addr: a}) {
				return
			}
		}
	}
	_, err := scanner.Scan(t.Context(), cfg, targets, func(r *scanner.Result) {
		records[r.Addr] = record.Append(nil, "", r)
	})
	if err != nil {
		t.Fatal(err)
	}
	return records
}

// serve runs a fleet until the test ends, and then closes it.
func serve(t testing.TB, f *fleet.Fleet) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- f.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
}

// replay serves a recording until the test ends.
func replay(t testing.TB, rec *Recording, network netip.Prefix) {
	t.Helper()
	sockets, err := fleet.Listen([]uint16{0})
	if err != nil {
		t.Fatal(err)
	}
	defer sockets.Close()
	if err := rec.Place(network, sockets.Ports()); err != nil {
		t.Fatal(err)
	}
	f, err := On(sockets, fleet.Config{Network: network}, rec)
	if err != nil {
		t.Fatal(err)
	}
	serve(t, f)
}

// placesOf returns the addresses and ports of all servers of a recording, in their
// order.
func placesOf(rec *Recording) (all []netip.AddrPort) {
	for i := range rec.Len() {
		place, _ := rec.At(i)
		all = append(all, place)
	}
	return all
}

var quick = scanner.Config{Timeout: 250 * time.Millisecond, Retries: 1, Raw: true, Rate: rate()}

// rate returns a rate at which the fleet can answer without delay, even with the
// race detector.
func rate() float64 {
	if raceEnabled {
		return 100
	}
	return 2000
}

// TestReplay scans a fleet of honest and hostile servers, and replays the records
// once with the recorded datagrams and once without. A scan of each replay must
// give the same records. With the datagrams, so must a scan of a replay of the
// replay.
//
// Servers that answer only INFO get no burst of two lists: the scan would take them for
// servers that limit queries, and wait four seconds.
func TestReplay(t *testing.T) {
	t.Parallel()
	bits := "/24"
	if raceEnabled {
		bits = "/27"
	}
	all := slices.DeleteFunc(fleet.HonestKinds(), func(k fleet.Kind) bool { return k == fleet.InfoOnly })
	t.Run("all kinds", func(t *testing.T) {
		testReplay(t, quick, 10, fleet.Config{
			Network: netip.MustParsePrefix("127.10.0.0" + bits), Kinds: all, Hostile: 0.4, Seed: 3,
		})
	})
	t.Run("info only", func(t *testing.T) {
		two := quick
		two.Questions = scanner.AskInfo | scanner.AskPlayers
		testReplay(t, two, 13, fleet.Config{
			Network: netip.MustParsePrefix("127.13.0.0/29"), Kinds: []fleet.Kind{fleet.InfoOnly}, Seed: 3,
		})
	})
}

// testReplay scans a fleet and replays of it. The second byte of every address is net.
func testReplay(t *testing.T, scanning scanner.Config, net byte, cfg fleet.Config) {
	t.Parallel()
	cfg.Ports = []uint16{0}
	f, err := fleet.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	serve(t, f)
	cfg = f.Config()
	r := replayed{scan: scanning, fleet: &cfg, addrs: slices.Collect(cfg.All())}
	first := scan(t, scanning, r.addrs)
	network := func(third byte) netip.Prefix {
		return netip.PrefixFrom(netip.AddrFrom4([4]byte{127, net, third, 0}), cfg.Network.Bits())
	}
	t.Run("raw", func(t *testing.T) {
		t.Parallel()
		again := r.scanAgain(t, network(4), first)
		r.scanAgain(t, network(8), again)
	})
	t.Run("made", func(t *testing.T) {
		t.Parallel()
		bare := map[netip.AddrPort][]byte{}
		for addr, record := range first {
			i := bytes.Index(record, []byte(`,"raw":[`))
			if i < 0 {
				i = len(record) - 2
			}
			bare[addr] = append(bytes.Clone(record[:i]), '}', '\n')
		}
		r.scanAgain(t, network(12), bare)
	})
}

// replayed is a fleet that is replayed, and how it is scanned.
type replayed struct {
	scan  scanner.Config
	fleet *fleet.Config
	addrs []netip.AddrPort
}

// scanAgain replays records, scans the replay, and fails the test if a record
// differs. It returns the new records, by the addresses of the original records.
func (r *replayed) scanAgain(
	t *testing.T, network netip.Prefix, records map[netip.AddrPort][]byte,
) map[netip.AddrPort][]byte {
	t.Helper()
	rec := NewRecording()
	for _, a := range r.addrs {
		if err := rec.Add(records[a]); err != nil {
			t.Fatalf("%v: %v", a, err)
		}
	}
	replay(t, rec, network)
	again := scan(t, r.scan, placesOf(rec))
	asked := cmp.Or(r.scan.Questions, scanner.AskAll)
	wrong, result := 0, map[netip.AddrPort][]byte{}
	for i, a := range r.addrs {
		place, _ := rec.At(i)
		result[a] = again[place]
		if !sameRecord(t, a, r.fleet.Expect(a, asked).Allowed, records[a], again[place]) {
			wrong++
		}
	}
	t.Logf("%+v: %d of %d differ", rec.Stats, wrong, len(r.addrs))
	return result
}

// sameRecord reports whether two records agree in everything that a replay can
// reproduce. If not, it fails the test.
func sameRecord(
	t testing.TB, at netip.AddrPort, allowed [wire.NumQuestions]fleet.ErrorSet, want, got []byte,
) bool {
	t.Helper()
	ds, err := record.Differences(want, got)
	if err != nil {
		t.Errorf("%v: %v", at, err)
		return false
	}
	ds = slices.DeleteFunc(ds, func(d record.Difference) bool { return judge.LeftAside(d.Key) || timed(d, allowed) })
	for _, d := range ds[:min(len(ds), 3)] {
		t.Errorf("%v: %s was %.80s, is %.80s", at, d.Key, d.One, d.Other)
	}
	return len(ds) == 0
}

// timed reports whether d is a difference between two errors, either of which a
// scan may report, depending on timing.
func timed(d record.Difference, allowed [wire.NumQuestions]fleet.ErrorSet) bool {
	may := func(set fleet.ErrorSet, word string) bool {
		for e := range wire.Error(wire.NumErrors) {
			if set.Has(e) && word == `"`+e.String()+`"` {
				return true
			}
		}
		return false
	}
	for q := range wire.Question(wire.NumQuestions) {
		if d.Key == "errors."+q.String() {
			return may(allowed[q], d.One) && may(allowed[q], d.Other)
		}
	}
	return false
}

// TestReplayCaptures replays what real servers sent. A scan must give the same
// answers as decoding the captures.
func TestReplayCaptures(t *testing.T) {
	t.Parallel()
	files := captures.Files(t)
	rec, d := NewRecording(), scanner.NewDecoder()
	want := make([][]byte, len(files))
	servers := map[scanner.Questions][]int{} // by what their captures answer
	for i, file := range files {
		d.Reset()
		for _, datagram := range captures.Datagrams(t, file) {
			d.Add(datagram)
		}
		r := d.Result()
		want[i] = record.Append(nil, "", r)
		if err := rec.Add(want[i]); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		servers[r.Asked] = append(servers[r.Asked], i)
	}
	replay(t, rec, netip.MustParsePrefix("127.12.0.0/16"))
	for asked, indexes := range servers {
		t.Run(fmt.Sprintf("questions %03b", asked), func(t *testing.T) {
			t.Parallel()
			cfg, addrs := quick, []netip.AddrPort(nil)
			for _, i := range indexes {
				place, _ := rec.At(i)
				addrs = append(addrs, place)
			}
			cfg.Questions = cmp.Or(asked, scanner.AskPlayers) // for a challenge and nothing else
			got := scan(t, cfg, addrs)
			for n, i := range indexes {
				sameAnswers(t, filepath.Base(files[i]), asked, want[i], got[addrs[n]])
			}
		})
	}
	t.Logf("%d servers: %+v", len(files), rec.Stats)
}

// sameAnswers fails the test if the answers in the record of a capture and in that
// of a scan differ.
func sameAnswers(t *testing.T, name string, asked scanner.Questions, want, got []byte) {
	t.Helper()
	ds, err := record.Differences(want, got)
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	for _, d := range ds {
		switch {
		case judge.LeftAside(d.Key), d.Key == "unchallenged": // a capture does not show it
		case d.Key == "errors" && asked == 0: // a challenge and nothing else
		default:
			t.Errorf("%s: %s was %.80s, is %.80s", name, d.Key, d.One, d.Other)
		}
	}
}
