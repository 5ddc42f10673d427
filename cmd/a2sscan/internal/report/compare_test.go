package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/sink/census"
)

// TestPageNumbers: the number of a kind counts the changes that are listed, and
// volatile changes are counted separately.
func TestPageNumbers(t *testing.T) {
	lost := 3.2
	c := &census.Comparison{
		LikelyLost: &lost, Unknown: 7,
		Changes:  map[census.Kind]uint64{"gone": 9, "map": 162, "mode": 5, "rules": 20},
		Volatile: map[census.Kind]uint64{"map": 76, "mode": 5},
	}
	for _, test := range []struct {
		name  string
		o     DiffOptions
		lines []string
	}{
		{"usual", DiffOptions{}, []string{"map 86 and 76 more that --volatile lists", "mode 0 and 5 more that --volatile lists", "rules 20"}},
		{"lost", DiffOptions{}, []string{"gone 9 about 3 of these servers probably seem gone only because datagrams were lost"}},
		{"unknown", DiffOptions{}, []string{"unknown 7 new, or in the missing part of the old census"}},
		{"volatile", DiffOptions{Volatile: true}, []string{"map 162", "mode 5", "rules 20"}},
		{"one kind", DiffOptions{Kinds: []string{"map"}}, []string{"map 162", "mode 0 and 5 more that --volatile lists", "rules 20"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var b strings.Builder
			writePage(&b, c, &test.o, &Important{})
			var got []string
			for line := range strings.Lines(b.String()) {
				got = append(got, strings.Join(strings.Fields(line), " "))
			}
			if all := strings.Join(got, "\n"); !strings.Contains(all, strings.Join(test.lines, "\n")+"\n") {
				t.Errorf("got\n%s\nwant\n%s", all, strings.Join(test.lines, "\n"))
			}
		})
	}
}

// TestPageLine: a line fits the screen, also with characters that take two columns,
// and what changed begins at the same column.
func TestPageLine(t *testing.T) {
	before, after := "CrystalIsles", "Ragnarok"
	for _, width := range []int{60, 80, 200} {
		at := 0
		for _, name := range []string{"a", strings.Repeat("한국 공식 서버 ", 20), strings.Repeat("x\x1b", 90)} {
			c := census.Change{Kind: "map", Addr: "127.0.0.1:27015", Name: name,
				Before: &census.Facts{Map: &before}, After: &census.Facts{Map: &after}}
			line := lineOf(&c, width)
			if n := console.Columns(line); n > width-2 {
				t.Errorf("%d columns of %d: %s", n, width, line)
			}
			begins, _, _ := strings.Cut(line, `"Cry`)
			if n := console.Columns(begins); at != 0 && n != at {
				t.Errorf("what changed begins at %d, before at %d: %s", n, at, line)
			} else {
				at = n
			}
		}
	}
}

// TestOverview: the overview has the sums, the largest groups and the farms of a census, in
// one line each, whatever servers send as their names.
func TestOverview(t *testing.T) {
	sums := census.Sums{Servers: 1200, Occupied: 30, People: 45, Bots: 1, Places: 2000}
	s := &census.Stats{
		Scans: []string{"monday"}, Records: 1300, Statuses: map[string]uint64{"ok": 1200, "no_reply": 100}, All: sums, WithoutFarms: sums,
		Games: census.Groups{Distinct: 12, Top: []census.Group{{ID: "rust", Name: "Rust", Sums: sums}, {ID: "x", Name: "a\x1b[31m\nb", Sums: sums}}},
		Flags: map[string]uint64{"no_gslt": 7},
	}
	s.Farms.Found, s.Farms.Top = 1, []census.Farm{{ID: "0123", Sums: sums, Addresses: 1, Game: "rust", Name: "Best \x1b server", Evidence: []string{"why"}}}
	text := string(overviewOf(s, 80, rowsShown))
	for _, want := range []string{
		"monday: 1,200 servers, 45 people, 1 bot\nwithout 1 farm: ", "1,300 records: no reply 100, ok 1,200\n",
		"\ngame", "Rust", "     1,200         45\n", "\nand 10 more; to list all: a2sscan stats CENSUS --by game --top 12\n", "no_gslt", "farm 0123: 1,200 servers on 1 address, 45 people, rust, named \"Best ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if strings.ContainsAny(text, "\x1b") || strings.Contains(text, "a\nb") {
		t.Errorf("names change the overview:\n%s", text)
	}
}

// TestImportant: for each game, Important keeps the changes of the servers with the
// most people, in whatever order they are added. Less telling kinds of change weigh
// less.
func TestImportant(t *testing.T) {
	var all []census.Change
	for i := range 40 {
		all = append(all, census.Change{Kind: "new", Game: "a", Addr: fmt.Sprint(i), People: uint32(i)})
	}
	all = append(all,
		census.Change{Kind: "challenge", Game: "a", Addr: "challenge", People: 1000},
		census.Change{Kind: "version", Game: "a", Addr: "version", People: 16 * 37},
		census.Change{Kind: "rules", Game: "a", Addr: "rules", People: 50},
		census.Change{Kind: "gone", Game: "b", Addr: "b"},
	)
	var up, down Important
	for i := range all {
		up.Add(&all[i])
		down.Add(&all[len(all)-1-i])
	}
	addrs := func(changes []census.Change) string {
		var words []string
		for _, c := range changes {
			words = append(words, c.Addr)
		}
		return strings.Join(words, " ")
	}
	const want = "39 38 37 version 36 35 34 33"
	if got, other := addrs(up.Of("a")), addrs(down.Of("a")); got != want || other != want {
		t.Errorf("%s and %s, want %s", got, other, want)
	}
	if addrs(up.Of("b")) != "b" || up.Of("c") != nil {
		t.Errorf("%v, %v", up.Of("b"), up.Of("c"))
	}
}

// TestImportantLimit: games that strangers made up do not fill the memory.
func TestImportantLimit(t *testing.T) {
	var m Important
	for i := range gamesKept + 10 {
		m.Add(&census.Change{Kind: "new", Game: fmt.Sprint(i)})
	}
	m.Add(&census.Change{Kind: "gone", Game: "0"})
	if len(m.games) != gamesKept || len(m.Of("0")) != 2 {
		t.Errorf("%d games; %d changes of the first", len(m.games), len(m.Of("0")))
	}
}
