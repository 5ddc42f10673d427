package replay

import (
	"bytes"
	"context"
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

var quick = scanner.Config{Timeout: 300 * time.Millisecond, Retries: 2, Raw: true, Rate: rate()}

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
func TestReplay(t *testing.T) {
	t.Parallel()
	bits := "/24"
	if raceEnabled {
		bits = "/27"
	}
	cfg := fleet.Config{
		Network: netip.MustParsePrefix("127.10.0.0" + bits), Ports: []uint16{0},
		Hostile: 0.4, Seed: 3,
	}
	f, err := fleet.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	serve(t, f)
	cfg = f.Config()
	addrs := slices.Collect(cfg.All())
	first := scan(t, quick, addrs)
	t.Run("raw", func(t *testing.T) {
		t.Parallel()
		again := scanAgain(t, "127.11.0.0"+bits, &cfg, addrs, first)
		scanAgain(t, "127.11.4.0"+bits, &cfg, addrs, again)
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
		scanAgain(t, "127.11.8.0"+bits, &cfg, addrs, bare)
	})
}

// scanAgain replays records, scans the replay, and fails the test if a record
// differs. It returns the new records, by the addresses of the original records.
func scanAgain(
	t *testing.T, network string, cfg *fleet.Config, addrs []netip.AddrPort, records map[netip.AddrPort][]byte,
) map[netip.AddrPort][]byte {
	t.Helper()
	rec := NewRecording()
	for _, a := range addrs {
		if err := rec.Add(records[a]); err != nil {
			t.Fatalf("%v: %v", a, err)
		}
	}
	replay(t, rec, netip.MustParsePrefix(network))
	again := scan(t, quick, placesOf(rec))
	wrong, result := 0, map[netip.AddrPort][]byte{}
	for i, a := range addrs {
		place, _ := rec.At(i)
		result[a] = again[place]
		if !sameRecord(t, a, cfg.Expect(a, scanner.AskAll).Allowed, records[a], again[place]) {
			wrong++
		}
	}
	t.Logf("%+v: %d of %d differ", rec.Stats, wrong, len(addrs))
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
		cfg, addrs := quick, []netip.AddrPort(nil)
		for _, i := range indexes {
			place, _ := rec.At(i)
			addrs = append(addrs, place)
		}
		cfg.Questions = asked
		got := scan(t, cfg, addrs)
		for n, i := range indexes {
			sameAnswers(t, filepath.Base(files[i]), asked, want[i], got[addrs[n]])
		}
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
