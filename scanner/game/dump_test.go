package game

import (
	"fmt"
	"strings"
)

// dump formats a Game, with a line for each value and its source, each mod and each
// note.
func dump(g *Game) string {
	var b strings.Builder
	for k := range Key(NumKeys) {
		if !g.Has.Has(k) {
			continue
		}
		fmt.Fprintf(&b, "%v %v < %s\n", k, shown(g, k), g.Sources[k])
		for _, m := range g.Mods {
			if k == KeyMods {
				fmt.Fprintf(&b, "mod %s %q %s%s\n", m.ID, m.Name, m.Hash, map[bool]string{true: " creator"}[m.CreatorDLC])
			}
		}
	}
	for _, a := range g.Attributes {
		fmt.Fprintf(&b, "attribute %s %s < %s\n", a.Name, quoted(a.Value), a.Source)
	}
	for i, word := range NoteWords {
		if g.Notes&(1<<i) != 0 {
			fmt.Fprintf(&b, "note %s\n", word)
		}
	}
	return b.String()
}

// quoted returns v as a string, in quotes if it contains anything that needs an
// escape.
func quoted(v []byte) string {
	if q := fmt.Sprintf("%q", v); q != `"`+string(v)+`"` {
		return q
	}
	return string(v)
}

// shown returns what dump prints as the value of a common key.
func shown(g *Game, k Key) any {
	switch v := g.field(k).(type) {
	case *int64:
		return *v
	case *[]Mod:
		return len(*v)
	case *bool:
		return *v
	case *int:
		return *v
	case *[]byte:
		return quoted(*v)
	}
	panic("a type without a field")
}
