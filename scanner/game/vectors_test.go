package game

import (
	"bytes"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/wire"
)

// vector is a reply and the values that Decode must read from it. The method reply adds
// what find needs: the format, the application ID and the folder.
type vector struct {
	info     wire.Info
	keywords string
	rules    []string // name, value, name, value …
	want     string   // the Game in the format of dump
}

// These functions return the INFO of vectors that depend on it.

func wireInfo(players, maxPlayers uint32) wire.Info {
	return wire.Info{Players: players, MaxPlayers: maxPlayers, Has: wire.HasPlayers | wire.HasMaxPlayers}
}

func wireNamed(name string) wire.Info {
	return wire.Info{Name: []byte(name), Has: wire.HasName}
}

func wireMap(name string) wire.Info {
	return wire.Info{Map: []byte(name), Has: wire.HasMap}
}

func wireGame(name string) wire.Info {
	return wire.Info{Game: []byte(name), Has: wire.HasGame}
}

func wireVersion(version string) wire.Info {
	return wire.Info{Version: []byte(version), Has: wire.HasVersion}
}

// vectorsOf returns the vectors of a table. The games of the GoldSource engine share
// theirs.
func vectorsOf(t *table) []vector {
	if v := vectors[t.id]; v != nil {
		return v
	}
	if len(t.folders) > 0 {
		return vectors["goldsource"]
	}
	return nil
}

// reply returns the reply that a vector of table t describes. It shares no memory with
// the vector.
func (v *vector) reply(t *table) Reply {
	info := v.info
	for _, b := range []*[]byte{&info.Name, &info.Map, &info.Game, &info.Version} {
		*b = bytes.Clone(*b)
	}
	info.Format = wire.FormatSource
	if len(t.apps) > 0 {
		info.GameID = uint64(t.apps[0])
		info.Has |= wire.HasGameID
	}
	if len(t.folders) > 0 {
		info.Folder = []byte(t.folders[0])
	}
	if len(t.apps) == 0 {
		info.Format = wire.FormatGoldSource
		info.Folder = []byte("ourmod")
	}
	if v.keywords != "" {
		info.Keywords = []byte(v.keywords)
		info.Has |= wire.HasKeywords
	}
	in := Reply{Info: &info}
	for i := 0; i+1 < len(v.rules); i += 2 {
		in.Rules = append(in.Rules, wire.Rule{Name: []byte(v.rules[i]), Value: []byte(v.rules[i+1])})
	}
	return in
}

// lines removes the indentation and the empty lines from the expected result of a
// vector.
func lines(want string) string {
	var b strings.Builder
	for line := range strings.Lines(want) {
		if line = strings.TrimLeft(strings.TrimSuffix(line, "\n"), "\t"); line != "" {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// TestVectors decodes the vectors of each game and compares the results with what
// they expect. It uses one Game for all of them, so a value that remains from an
// earlier reply fails the test.
func TestVectors(t *testing.T) {
	var g Game
	for _, table := range tables {
		all := vectorsOf(table)
		if len(all) == 0 {
			t.Errorf("%s has no vectors", table.id)
		}
		for i := range all {
			v := &all[i]
			Decode(&g, v.reply(table))
			if g.ID != table.id {
				t.Errorf("%s, vector %d: decoded as %q", table.id, i, g.ID)
			}
			diffLines(t, table.id, dump(&g), lines(v.want))
		}
	}
}

// diffLines fails the test if got and want differ. It prints the lines that only
// one of them has.
func diffLines(t *testing.T, what, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	t.Errorf("%s: got, and not wanted:\n%s\nwanted, and not got:\n%s\n(or the order differs)",
		what, strings.Join(without(g, w), "\n"), strings.Join(without(w, g), "\n"))
}

func without(lines, others []string) (left []string) {
	have := map[string]int{}
	for _, l := range others {
		have[l]++
	}
	for _, l := range lines {
		if have[l]--; have[l] < 0 {
			left = append(left, l)
		}
	}
	return left
}

// TestTables checks that every table is complete, has at most maxSeries series, and
// has no two fields with the same name in a list.
func TestTables(t *testing.T) {
	for _, table := range tables {
		if table.id == "" || table.name == "" || table.evidence == "" {
			t.Errorf("table %q lacks its ID, its name or its evidence", table.id)
		}
		if len(table.series) > maxSeries {
			t.Errorf("%s has %d series, more than maxSeries", table.id, len(table.series))
		}
		for _, list := range [][]field{table.rules, table.tags.words, table.tags.prefixes} {
			checkFields(t, table.id, list)
		}
	}
}

func checkFields(t *testing.T, id string, list []field) {
	seen := map[string]bool{}
	for _, f := range list {
		if f.read == nil || f.source == "" {
			t.Errorf("%s: field %q lacks its action or its source", id, f.name)
		}
		if seen[f.name] {
			t.Errorf("%s: two fields %q", id, f.name)
		}
		seen[f.name] = true
	}
}

// TestMatcher checks that byName finds the rules of every table and does not find
// similar names.
func TestMatcher(t *testing.T) {
	for _, table := range tables {
		for _, f := range table.rules {
			if got := table.byName.find([]byte(f.name)); got == nil || got.name != f.name {
				t.Errorf("%s: %q is not found", table.id, f.name)
			}
			for _, other := range []string{f.name + "x", f.name[1:], "", "\x00"} {
				if got := table.byName.find([]byte(other)); got != nil && got.name != other {
					t.Errorf("%s: %q is found as %q", table.id, other, got.name)
				}
			}
		}
	}
}
