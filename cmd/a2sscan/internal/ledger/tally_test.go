package ledger

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/game"
)

// namesOf returns the counts of these names.
func namesOf(names ...string) (t Frequent) {
	for _, name := range names {
		t.add([]byte(name))
	}
	return t
}

// TestTallyGames: the tally counts the names in Result.Game, and those in INFO only
// where Result.Game has none.
func TestTallyGames(t *testing.T) {
	var ta Tally
	r := oneServer("Antistasi", "Stratis", "2.18", 'l')
	r.Game = &game.Game{ID: "arma3", Name: "Arma 3", Has: 1 << game.KeyMap, Map: []byte("Altis")}
	ta.Add(r)
	for want, got := range map[string]string{
		`"Arma 3" 1 (100%)`: ta.Games.Line(9, 99, 1),
		`"Altis" 1 (100%)`:  ta.Maps.Line(9, 99, 1),
		`"2.18" 1 (100%)`:   ta.Versions.Line(9, 99, 1),
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestTallyJSON: a tally keeps its counts when it is encoded and decoded, even with
// names that are not UTF-8. Servers that are counted later do not change a clone.
func TestTallyJSON(t *testing.T) {
	var ta Tally
	first := oneServer("a\xff", "m", "1", 'l')
	first.Geo.Country = "DE"
	ta.Add(first)
	ta.Add(oneServer("a\xfe", "m", "1", 'L'))
	ta.Add(oneServer("a\xff", "", "2", 0))
	saved := ta.Clone()
	ta.Add(first)
	b, err := json.Marshal(&saved)
	if err != nil {
		t.Fatal(err)
	}
	var got Tally
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if top := got.Busy.topAddresses(9); len(top) != 1 || top[0].Servers != 3 || got.Trips.Quantiles().Servers != 3 {
		t.Errorf("%+v, %+v", got.Busy, got.Trips.Quantiles())
	}
	for what, names := range map[string][2]string{
		"games":     {got.Games.Line(9, 99, 3), `"a\xff" 2 (67%), "a\xfe" 1 (33%)`},
		"maps":      {got.Maps.Line(9, 99, 3), `"m" 2 (67%), "" 1 (33%)`},
		"systems":   {got.Systems.Line(9, 99, 3), `"linux" 2 (67%), "0x00" 1 (33%)`},
		"countries": {got.Countries.Line(9, 99, 3), `"DE" 1 (33%)`},
		"versions":  {got.Versions.Line(9, 99, 3), `"1" 2 (67%), "2" 1 (33%)`},
	} {
		if names[0] != names[1] {
			t.Errorf("%s: %s, want %s", what, names[0], names[1])
		}
	}
	if got.Servers != 3 || got.Players != 3 || got.Bots != 3 || !slices.Equal(got.AtAsk, []uint64{3}) {
		t.Errorf("%+v", got)
	}
	got.Add(first)
	if top := got.Games.top(1); top[0].Servers != 3 || ta.Games.top(1)[0].Servers != 3 {
		t.Errorf("a restored tally counts wrongly: %+v", top)
	}
}

// TestPeople: people and bots are counted separately. If the game reports its own
// number of players, that number counts.
func TestPeople(t *testing.T) {
	own := oneServer("g", "m", "1", 'l')
	own.Game = &game.Game{Players: 547, Has: 1 << game.KeyPlayers}
	other := oneServer("g", "m", "1", 'l')
	other.Game = &game.Game{Queue: 9, Has: 1 << game.KeyQueue}
	odd := oneServer("g", "m", "1", 'l')
	odd.Info.Players, odd.Info.Bots = 1, 5
	var ta Tally
	for _, r := range []*scanner.Result{own, other, odd} {
		ta.Add(r)
	}
	if ta.Players != 547+1+0 || ta.Bots != 1+1+5 || ta.Corrected != 1 {
		t.Errorf("%d people, %d bots, %d corrected", ta.Players, ta.Bots, ta.Corrected)
	}
}

// TestTally: the names that servers send take up a limited amount of memory, and of
// space in a checkpoint. The most frequent name is found among many.
func TestTally(t *testing.T) {
	var ta Tally
	const names = 2*maxFrequent + 10
	for i := range names {
		ta.Add(oneServer(strings.Repeat("x", i%5000), fmt.Sprint("m", i), "1", 'w'))
		ta.Add(oneServer("frequent", "", "1", 'w'))
	}
	ta.Add(&scanner.Result{Status: scanner.StatusNoReply})
	ta.Add(&scanner.Result{Status: scanner.StatusError})
	if n := uint64(2 * names); ta.Servers != n+1 || ta.Players != n || ta.Bots != n {
		t.Errorf("%d servers, %d players, %d bots", ta.Servers, ta.Players, ta.Bots)
	}
	if len(ta.Maps.all) > 2*maxFrequent || len(ta.Games.all) > maxName+2 {
		t.Errorf("%d maps and %d games are counted", len(ta.Maps.all), len(ta.Games.all))
	}
	if many := ta.Maps.Number(); !strings.HasSuffix(many, " or more") {
		t.Errorf("%s maps", many)
	}
	b, err := json.Marshal(&ta)
	if err != nil || len(b) > 100_000 {
		t.Errorf("%d bytes in a checkpoint, %v", len(b), err)
	}
	var back Tally
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if many := back.Maps.Number(); many != "256 or more" {
		t.Errorf("%s maps", many)
	}
	if top := back.Games.top(2); top[0].Name != "frequent" || top[0].Servers != names {
		t.Errorf("%+v", top)
	}
}

// TestNamesSaid: hostile names can't control a terminal, can't be mistaken for
// other parts of the line, and do not exceed the width.
func TestNamesSaid(t *testing.T) {
	hostile := []string{
		"\x1b[2J\x1b]0;mine\a", `Rust" 9 (99%), "DayZ`, "\u202egpj.exe", "\u009b31m", "\xff\xfe",
		strings.Repeat("long", 50), "two\nlines\r", "",
	}
	for _, name := range hostile {
		names := namesOf(name)
		got := names.Line(5, 80, 1)
		if strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%q is shown as %q", name, got)
		}
		if n := utf8.RuneCountInString(got); n > mostName+20 {
			t.Errorf("%q takes %d characters", name, n)
		}
	}
	names := namesOf(hostile[1])
	if got, want := names.Line(5, 112, 1), `"Rust\" 9 (99%), \"DayZ" 1 (100%)`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	names = namesOf("a", "a", "a", "b", "b", "c")
	for width, want := range map[int]string{
		80: `"a" 3 (50%), "b" 2 (33%), "c" 1 (17%)`,
		25: `"a" 3 (50%), "b" 2 (33%)`,
		24: `"a" 3 (50%), "b" 2 (33%)`,
		23: `"a" 3 (50%)`,
		1:  `"a" 3 (50%)`,
	} {
		if got := names.Line(9, width, 6); got != want {
			t.Errorf("%d characters: %s, want %s", width, got, want)
		}
	}
	if got := names.Line(1, 80, 6); got != `"a" 3 (50%)` {
		t.Errorf("one of them: %s", got)
	}
}

// TestNamesListed: a summary has the bytes of names that are not UTF-8, and cutName
// does not split a character.
func TestNamesListed(t *testing.T) {
	names := namesOf("a", "a", "\xff\xfe!")
	want := []NameCount{{Name: "a", Servers: 2}, {Name: "\ufffd!", NameHex: "fffe21", Servers: 1}}
	if got := names.Top(9); !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	if got := cutName([]byte(strings.Repeat("x", maxName-1) + "é")); len(got) != maxName-1 {
		t.Errorf("a character was split: %q", got)
	}
}

// TestEstimateEdges: there is an estimate only if the counts allow one.
func TestEstimateEdges(t *testing.T) {
	tests := []struct {
		atAsk []uint64
		lost  float64 // -1: no estimate
	}{
		{nil, -1},
		{[]uint64{0, 0, 0}, -1},
		{[]uint64{1000}, -1},
		{[]uint64{1000, 0, 0}, 0},
		{[]uint64{10, 10, 10}, -1},
		{[]uint64{1, 10, 100}, -1},
		{[]uint64{0, 0, 5}, -1},
		{[]uint64{750, 187, 47}, 15.6},
	}
	for _, test := range tests {
		_, lost, ok := estimateMissed(test.atAsk)
		if ok != (test.lost >= 0) || ok && math.Abs(lost-test.lost) > 0.5 {
			t.Errorf("%v: %v, %v; want %v", test.atAsk, lost, ok, test.lost)
		}
	}
	fa := newFirstAnswers([]uint64{750, 187, 47}, 3)
	if s := fa.String(); s != "750 at the first request, 187 at the second, 47 at the third; datagrams that got lost hid about 16 more" {
		t.Error(s)
	}
	fa = newFirstAnswers([]uint64{7}, 1)
	if s := fa.String(); s != "7 at the first request" || fa.Missed != nil {
		t.Error(s)
	}
}

// TestBusiest counts servers on more addresses than Frequent can hold. The addresses with
// the most servers are found. No count is too low, or too high by more than Over.
func TestBusiest(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	truth := map[netip.Addr]uint64{}
	var f Frequent
	for range 300_000 {
		i := r.IntN(50_000)
		if r.IntN(3) == 0 { // 20 server farms of different sizes
			i = 1_000_000 + min(r.IntN(20), r.IntN(20))
		}
		addr := netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
		truth[addr]++
		name := addr.As16()
		f.add(name[:])
	}
	for i, one := range f.topAddresses(maxFrequent) {
		is := truth[one.Addr]
		if is > one.Servers || one.Servers-one.Over > is {
			t.Errorf("%v has %d servers, but the count is %d, at most %d too high", one.Addr, is, one.Servers, one.Over)
		}
		n := 1_000_000 + i
		if want := netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)}); i < 5 && one.Addr != want {
			t.Errorf("place %d: %v, want %v", i+1, one.Addr, want)
		}
	}
	if len(f.all) > 2*maxFrequent {
		t.Errorf("%d addresses", len(f.all))
	}
	c := f.clone()
	f.add([]byte(f.top(1)[0].Name))
	if c.top(1)[0].Servers+1 != f.top(1)[0].Servers {
		t.Error("a server counted later changed the clone")
	}
	next := netip.AddrFrom4([4]byte{11})
	if n := testing.AllocsPerRun(3*maxFrequent, func() {
		next = next.Next()
		name := next.As16()
		f.add(name[:])
	}); n > 1 {
		t.Errorf("%v allocations for another address", n)
	}
}

func TestRoundTrips(t *testing.T) {
	var rt roundTrips
	if rt.Quantiles() != nil {
		t.Error("an empty histogram has quantiles")
	}
	for i := range 10_000 {
		rt.add(time.Duration(i+1) * 10 * time.Microsecond)
	}
	rt.add(time.Hour)
	rt.add(time.Nanosecond)
	b, err := json.Marshal(rt)
	if err != nil {
		t.Fatal(err)
	}
	var back roundTrips
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	for _, q := range []*Quantiles{rt.Quantiles(), back.Quantiles()} {
		near := func(got, want float64) bool { return math.Abs(got-want) <= want*0.011 }
		if q.Servers != 10_002 || q.Min > 0.0011 || !near(q.P50, 50) || !near(q.P90, 90) || !near(q.P99, 99) || !near(q.Max, 600e3) {
			t.Errorf("%+v", q)
		}
	}
	if len(b) > 8<<10 {
		t.Errorf("%d bytes in a checkpoint", len(b))
	}
}
