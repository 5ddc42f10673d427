package bench

import (
	"bytes"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/sink/record"
)

// gamesCensus returns the results of a scan of servers of real games, with round
// trips as a scan has them.
func gamesCensus(t testing.TB) (all []*scanner.Result) {
	cfg := fleet.Config{
		Network: netip.MustParsePrefix("127.4.0.0/20"), Ports: []uint16{27015}, Seed: 3, Kinds: []fleet.Kind{fleet.Games},
	}
	at := time.Date(2026, 11, 22, 3, 0, 0, 0, time.UTC)
	for addr := range cfg.All() {
		r := cfg.Truth(addr, scanner.AskAll)
		if r == nil {
			t.Fatal(addr)
		}
		noise := time.Duration(uint32(len(all))*2654435761>>12) * 100 // up to 105 ms
		at = at.Add(noise / 50)
		r.Time, r.RTT, r.Took = at, 12*time.Millisecond+noise, 25*time.Millisecond+2*noise
		r.RTTs = [3]time.Duration{r.RTT, r.RTT + noise/9, r.RTT + noise/7}
		r.Sent, r.Received, r.SentBytes, r.RecvBytes = 4, 4, 75, uint64(700+len(r.Players)*30)
		all = append(all, r)
	}
	return all
}

// newKeys take keys out of a result.
var newKeys = []struct {
	name string
	drop func(r *scanner.Result)
}{
	{"rtts_ms", func(r *scanner.Result) { r.RTTs = [3]time.Duration{} }},
	{"hashes", func(r *scanner.Result) { r.Hashes = [3]uint64{} }},
	{"game", func(r *scanner.Result) { r.Game = nil }},
	{"flags", func(r *scanner.Result) { r.Flags = 0 }},
}

// compressed returns how many bytes a census takes without some of the new keys.
func compressed(t testing.TB, all []*scanner.Result, drop func(*scanner.Result), addr bool) int {
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b)
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
		z.Write(line)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Len()
}

// TestSizeOfMeaning measures what each new key of records adds to a compressed
// census of servers of real games. With -bars all of them must stay below a tenth.
func TestSizeOfMeaning(t *testing.T) {
	all := gamesCensus(t)
	keep := func(*scanner.Result) {}
	whole := compressed(t, all, keep, true)
	none := compressed(t, all, func(r *scanner.Result) {
		for _, k := range newKeys {
			k.drop(r)
		}
	}, false)
	for _, k := range newKeys {
		t.Logf("%s: %.2f %%", k.name, 100*float64(whole-compressed(t, all, k.drop, true))/float64(none))
	}
	for _, part := range []struct {
		name string
		drop func(*game.Game)
	}{{"game.sources", dropSources}, {"game.attributes", func(g *game.Game) { g.Attributes = nil }}} {
		size := compressed(t, all, func(r *scanner.Result) {
			if r.Game != nil {
				g := *r.Game
				part.drop(&g)
				r.Game = &g
			}
		}, true)
		t.Logf("of game, %s: %.2f %%", part.name, 100*float64(whole-size)/float64(none))
	}
	t.Logf("addr: %.2f %%", 100*float64(whole-compressed(t, all, keep, false))/float64(none))
	share := 100 * float64(whole-none) / float64(none)
	t.Logf("all: %.2f %% of %d bytes, %d records", share, none, len(all))
	if *barsFlag && share > 10 {
		t.Errorf("the new keys add %.2f %%, the bar is 10 %%", share)
	}
}

// dropSources takes all sources out of a game.
func dropSources(g *game.Game) {
	for k := range game.Key(game.NumKeys) {
		g.SetSource(k, "")
	}
	g.Attributes = slices.Clone(g.Attributes)
	for i := range g.Attributes {
		g.Attributes[i].Source = "rules." + g.Attributes[i].Name
	}
}

// BenchmarkMeaning times what a server's meaning costs: decoding it, and writing
// its record with and without the new keys.
func BenchmarkMeaning(b *testing.B) {
	all := gamesCensus(b)
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
