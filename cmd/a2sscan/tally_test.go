package main

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/wire"
)

// namesOf counts names.
func namesOf(names ...string) (t topNames) {
	for _, name := range names {
		t.add([]byte(name))
	}
	return t
}

// aServer is one with a name for everything.
func aServer(game, mapName, version string, environment byte) *scanner.Result {
	r := &scanner.Result{Status: scanner.StatusOK, HasInfo: true, Ask: 1, RTT: time.Millisecond,
		Addr: netip.MustParseAddrPort("203.0.113.7:27015")}
	r.Info = wire.Info{
		Has:  wire.HasGame | wire.HasMap | wire.HasVersion | wire.HasEnvironment,
		Game: []byte(game), Map: []byte(mapName), Version: []byte(version), Environment: environment,
		Players: 2, Bots: 1,
	}
	return r
}

// TestTallyJSON: a tally comes back from a checkpoint as it was, with names
// that are not UTF-8, and what is counted later does not change the copy.
func TestTallyJSON(t *testing.T) {
	var ta tally
	first := aServer("a\xff", "m", "1", 'l')
	first.Geo.Country = "DE"
	ta.add(first)
	ta.add(aServer("a\xfe", "m", "1", 'L'))
	ta.add(aServer("a\xff", "", "2", 0))
	saved := ta.clone()
	ta.add(first)
	b, err := json.Marshal(&saved)
	if err != nil {
		t.Fatal(err)
	}
	var got tally
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if top := got.Busy.top(9); len(top) != 1 || top[0].Servers != 3 || got.Trips.quantiles().Servers != 3 {
		t.Errorf("%+v, %+v", got.Busy, got.Trips.quantiles())
	}
	for what, names := range map[string][2]string{
		"games":     {got.Games.said(9, 99, 3), `"a\xff" 2 (67%), "a\xfe" 1 (33%)`},
		"maps":      {got.Maps.said(9, 99, 3), `"m" 2 (67%), "" 1 (33%)`},
		"systems":   {got.Systems.said(9, 99, 3), `"linux" 2 (67%), "0x00" 1 (33%)`},
		"countries": {got.Countries.said(9, 99, 3), `"DE" 1 (33%)`},
		"versions":  {got.Versions.said(9, 99, 3), `"1" 2 (67%), "2" 1 (33%)`},
	} {
		if names[0] != names[1] {
			t.Errorf("%s: %s, want %s", what, names[0], names[1])
		}
	}
	if got.Servers != 3 || got.Players != 6 || got.Bots != 3 || !slices.Equal(got.AtAsk, []uint64{3}) {
		t.Errorf("%+v", got)
	}
	got.add(first)
	if top := got.Games.top(1); top[0].Servers != 3 || ta.Games.top(1)[0].Servers != 3 {
		t.Errorf("counted on: %+v", top)
	}
}

// TestTally: what names servers send is counted in bounded memory, on the heap
// and in a checkpoint, and the frequent ones are found among many.
func TestTally(t *testing.T) {
	var ta tally
	for i := range maxFrequent + 10 {
		ta.add(aServer(strings.Repeat("x", i%5000), fmt.Sprint("m", i), "1", 'w'))
		ta.add(aServer("frequent", "", "1", 'w'))
	}
	ta.add(&scanner.Result{Status: scanner.StatusNoReply})
	ta.add(&scanner.Result{Status: scanner.StatusError})
	if n := uint64(2 * (maxFrequent + 10)); ta.Servers != n+1 || ta.Players != 2*n || ta.Bots != n {
		t.Errorf("%d servers, %d players, %d bots", ta.Servers, ta.Players, ta.Bots)
	}
	if len(ta.Maps.by) != maxFrequent || len(ta.Maps.at) != maxFrequent || len(ta.Games.by) > maxName+2 {
		t.Errorf("%d maps and %d games are counted", len(ta.Maps.by), len(ta.Games.by))
	}
	if many := ta.Maps.many(); many != "4096 or more" {
		t.Errorf("%s maps", many)
	}
	b, err := json.Marshal(&ta)
	if err != nil || len(b) > 100_000 {
		t.Errorf("%d bytes in a checkpoint, %v", len(b), err)
	}
	var back tally
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if many := back.Maps.many(); many != "256 or more" {
		t.Errorf("%s maps", many)
	}
	if top := back.Games.top(2); top[0].Key != "frequent" || top[0].Servers != maxFrequent+10 {
		t.Errorf("%+v", top)
	}
}

// TestNamesSaid: names that servers send do no harm to a terminal, pretend to
// be nothing else, and take no more room than there is.
func TestNamesSaid(t *testing.T) {
	hostile := []string{
		"\x1b[2J\x1b]0;mine\a", `Rust" 9 (99%), "DayZ`, "\u202egpj.exe", "\u009b31m", "\xff\xfe",
		strings.Repeat("long", 50), "two\nlines\r", "",
	}
	for _, name := range hostile {
		names := namesOf(name)
		got := names.said(5, 80, 1)
		if strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%q is shown as %q", name, got)
		}
		if n := utf8.RuneCountInString(got); n > mostName+20 {
			t.Errorf("%q takes %d characters", name, n)
		}
	}
	names := namesOf(hostile[1])
	if got, want := names.said(5, 112, 1), `"Rust\" 9 (99%), \"DayZ" 1 (100%)`; got != want {
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
		if got := names.said(9, width, 6); got != want {
			t.Errorf("%d characters: %s, want %s", width, got, want)
		}
	}
	if got := names.said(1, 80, 6); got != `"a" 3 (50%)` {
		t.Errorf("one of them: %s", got)
	}
}

// TestNamesListed: a summary has the bytes of names that are not text.
func TestNamesListed(t *testing.T) {
	names := namesOf("a", "a", "\xff\xfe!")
	want := []namedServers{{Name: "a", Servers: 2}, {Name: "\ufffd!", NameHex: "fffe21", Servers: 1}}
	if got := names.list(9); !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	if got := cutName([]byte(strings.Repeat("x", maxName-1) + "é")); len(got) != maxName-1 {
		t.Errorf("a character is cut: %q", got)
	}
}
