package bench

import (
	"bytes"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/bench/captures"
	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/record"
)

// fleetCensus returns the results of a perfect scan of simulated servers of these kinds.
func fleetCensus(t testing.TB, kinds ...fleet.Kind) (all []*scanner.Result) {
	cfg := fleet.Config{
		Network: netip.MustParsePrefix("127.4.0.0/20"), Ports: []uint16{27015}, Seed: 3, Kinds: kinds,
	}
	for addr := range cfg.All() {
		if r := cfg.Truth(addr, scanner.AskAll); r != nil {
			all = append(all, r)
		}
	}
	measured(all)
	return all
}

// capturedCensus returns the results of the recorded servers, with made-up
// addresses.
func capturedCensus(t testing.TB) (all []*scanner.Result) {
	d := scanner.NewDecoder()
	addr := netip.MustParseAddr("127.4.0.0")
	for _, file := range captures.Files(t) {
		d.Reset()
		for _, datagram := range captures.Datagrams(t, file) {
			d.Add(datagram)
		}
		r := d.Result().Clone()
		r.Raw = nil
		addr = addr.Next()
		r.Addr = netip.AddrPortFrom(addr, 27015)
		all = append(all, r)
	}
	measured(all)
	return all
}

// measured sets times and counts like those of a scan in all results.
func measured(all []*scanner.Result) {
	at := time.Date(2026, 11, 22, 3, 0, 0, 0, time.UTC)
	for i, r := range all {
		noise := time.Duration(uint32(i)*2654435761>>12) * 100 // up to 105 ms
		at = at.Add(noise / 50)
		r.Time, r.RTT, r.Took = at, 12*time.Millisecond+noise, 25*time.Millisecond+2*noise
		for q, d := range []time.Duration{r.RTT, r.RTT + noise/9, r.RTT + noise/7} {
			r.RTTs[q] = d.Truncate(time.Millisecond / 10) // as a scan does
		}
		r.Sent, r.Received, r.SentBytes, r.RecvBytes = 4, 4, 75, uint64(700+len(r.Players)*30)
	}
}

// newKeys are the keys that records have had only since scans decode games, except
// addr. drop removes a key from a result.
var newKeys = []struct {
	name string
	drop func(r *scanner.Result)
}{
	{"rtts_ms", func(r *scanner.Result) { r.RTTs = [3]time.Duration{} }},
	{"hashes", func(r *scanner.Result) { r.Hashes = [3]uint64{} }},
	{"game", func(r *scanner.Result) { r.Game = nil }},
	{"game.sources", inGame(dropSources)},
	{"game.attributes", inGame(func(g *game.Game) { g.Attributes = nil })},
	{"flags", func(r *scanner.Result) { r.Flags = 0 }},
}

// inGame returns a function that changes a copy of the game of a result, and gives
// the copy to the result. Without a game it does nothing.
func inGame(change func(*game.Game)) func(*scanner.Result) {
	return func(r *scanner.Result) {
		if r.Game == nil {
			return
		}
		g := *r.Game
		change(&g)
		r.Game = &g
	}
}

// dropSources removes the sources of the common keys from a game, and makes the
// keywords the source of every attribute: then the record has no sources.
func dropSources(g *game.Game) {
	for k := range game.Key(game.NumKeys) {
		g.SetSource(k, "")
	}
	g.Attributes = slices.Clone(g.Attributes)
	for i := range g.Attributes {
		g.Attributes[i].Source = "keywords"
	}
}

// censusSize returns the length in bytes of a compressed census of the results
// after drop has changed each of them. If addr is false, the records also lack the
// key addr.
func censusSize(t testing.TB, all []*scanner.Result, drop func(*scanner.Result), addr bool) int {
	path := filepath.Join(t.TempDir(), "census.ndjson.zst")
	w, err := sink.Create(path, sink.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var enc record.Encoder
	var line []byte
	for _, r := range all {
		c := *r
		drop(&c)
		line = enc.Append(line[:0], "20261122T030000Z", &c)
		if !addr {
			from := bytes.Index(line, []byte(`"addr":`))
			line = append(line[:from], line[from+bytes.IndexByte(line[from:], ',')+1:]...)
		}
		if err := w.WriteLine(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return int(f.Size())
}

// TestSizeOfMeaning measures what share of a compressed census each new key of
// records takes. With -bars all of them together must stay below a tenth, for the
// recorded servers and for a fleet like that of the demo. In a census whose servers
// all hide values in rules and keywords, the keys may take more.
func TestSizeOfMeaning(t *testing.T) {
	for _, census := range []struct {
		name string
		bar  float64 // in percent
		all  func(testing.TB) []*scanner.Result
	}{
		{"captures", 10, capturedCensus},
		{"usual", 10, func(t testing.TB) []*scanner.Result {
			return fleetCensus(t, append(fleet.UsualKinds(), fleet.Games)...)
		}},
		{"games", 100, func(t testing.TB) []*scanner.Result { return fleetCensus(t, fleet.Games) }},
	} {
		t.Run(census.name, func(t *testing.T) {
			if share := sizeOfMeaning(t, census.all(t)); *barsFlag && share > census.bar {
				t.Errorf("the new keys are %.2f %% of the census, the bar is %v %%", share, census.bar)
			}
		})
	}
}

// sizeOfMeaning returns what share of a census all new keys take, in percent.
func sizeOfMeaning(t *testing.T, all []*scanner.Result) float64 {
	keep := func(*scanner.Result) {}
	whole := censusSize(t, all, keep, true)
	none := censusSize(t, all, func(r *scanner.Result) {
		for _, k := range newKeys {
			k.drop(r)
		}
	}, false)
	share := func(size int) float64 { return 100 * float64(whole-size) / float64(whole) }
	for _, k := range newKeys {
		t.Logf("%s: %.2f %%", k.name, share(censusSize(t, all, k.drop, true)))
	}
	t.Logf("addr: %.2f %%", share(censusSize(t, all, keep, false)))
	t.Logf("all: %.2f %% of %d bytes, which they make %.2f %% larger; %d records",
		share(none), whole, 100*float64(whole-none)/float64(none), len(all))
	return share(none)
}

// BenchmarkMeaning measures the cost of interpreting the answers of a server, and
// of writing its record with and without the new keys.
func BenchmarkMeaning(b *testing.B) {
	all := fleetCensus(b, fleet.Games)
	b.Run("interpret", func(b *testing.B) {
		var i scanner.Interpreter
		b.ReportAllocs()
		for n := 0; b.Loop(); n++ {
			i.Interpret(all[n%len(all)])
		}
	})
	for _, with := range []bool{false, true} {
		b.Run(map[bool]string{false: "write/without", true: "write/with"}[with], func(b *testing.B) {
			var enc record.Encoder
			var line []byte
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				r := *all[n%len(all)]
				if !with {
					for _, k := range newKeys {
						k.drop(&r)
					}
				}
				line = enc.Append(line[:0], "s", &r)
			}
		})
	}
}
