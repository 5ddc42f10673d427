package compare

import (
	"fmt"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/sink/census"
)

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
		census.Change{Kind: "version", Game: "a", Addr: "version", People: 4 * 37},
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
