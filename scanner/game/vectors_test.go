package game

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2sscan/a2sscan/wire"
)

// vector is a reply and the values that Decode must read from it. The method reply adds
// what find needs: the format, the application ID and the folder.
type vector struct {
	info  wire.Info
	rules []wire.Rule
	list  []wire.Player // complete, if there is one
	want  string        // the Game in the format of dump
}

// vectors are those of vectorText, by the ID of their game.
var vectors = func() map[string][]vector {
	all := map[string][]vector{}
	for block := range strings.SplitSeq(vectorText, "\n\n") {
		id, rest, _ := strings.Cut(strings.Trim(block, "\n"), "\n")
		var v vector
		for line := range strings.Lines(rest) {
			if want, is := strings.CutPrefix(line, "\t"); is {
				v.want += strings.TrimSuffix(want, "\n") + "\n"
				continue
			}
			what, args, _ := strings.Cut(strings.TrimSpace(line), " ")
			v.add(what, args)
		}
		all[id] = append(all[id], v)
	}
	return all
}()

// add adds a line of vectorText.
func (v *vector) add(what, args string) {
	var words []string
	for args != "" {
		word, _ := strconv.QuotedPrefix(args)
		args = strings.TrimPrefix(args[len(word):], " ")
		word, _ = strconv.Unquote(word)
		words = append(words, word)
	}
	text, in := []byte(words[0]), &v.info
	number, _ := strconv.Atoi(words[0])
	switch what {
	case "name":
		in.Name, in.Has = text, in.Has|wire.HasName
	case "map":
		in.Map, in.Has = text, in.Has|wire.HasMap
	case "game":
		in.Game, in.Has = text, in.Has|wire.HasGame
	case "version":
		in.Version, in.Has = text, in.Has|wire.HasVersion
	case "players":
		in.Players, in.Has = uint32(number), in.Has|wire.HasPlayers
	case "places":
		in.MaxPlayers, in.Has = uint32(number), in.Has|wire.HasMaxPlayers
	case "bots":
		in.Bots, in.Has = uint8(number), in.Has|wire.HasBots
	case "port":
		in.GamePort, in.Has = uint16(number), in.Has|wire.HasGamePort
	case "keywords":
		in.Keywords, in.Has = append(in.Keywords, text...), in.Has|wire.HasKeywords
	case "rules":
		for i := 0; i < len(words); i += 2 {
			v.rules = append(v.rules, wire.Rule{Name: []byte(words[i]), Value: []byte(words[i+1])})
		}
	case "listed":
		v.list = make([]wire.Player, number)
	case "more":
		last := &v.rules[len(v.rules)-1]
		last.Value = append(last.Value, text...)
	default:
		panic(what)
	}
}

// vectorsOf returns the vectors of a table. The games of the GoldSource engine share
// theirs.
func vectorsOf(t *table) []vector {
	if v := vectors[t.id]; v != nil || t.folder == "" {
		return v
	}
	return vectors["goldsource"]
}

// reply returns the reply that a vector of table t describes. It shares no memory with
// the vector.
func (v *vector) reply(t *table) Reply {
	info := v.info
	for _, b := range []*[]byte{&info.Name, &info.Map, &info.Game, &info.Version, &info.Keywords} {
		*b = bytes.Clone(*b)
	}
	info.Format, info.Folder = wire.FormatSource, []byte(t.folder)
	if len(t.apps) > 0 {
		info.GameID = uint64(t.apps[0])
		info.Has |= wire.HasGameID
	} else {
		info.Format, info.Folder = wire.FormatGoldSource, []byte("ourmod")
	}
	in := Reply{Info: &info, Players: slices.Clone(v.list), HasPlayers: v.list != nil}
	for _, r := range v.rules {
		in.Rules = append(in.Rules, wire.Rule{Name: r.Name, Value: bytes.Clone(r.Value)})
	}
	return in
}

// TestVectors decodes the vectors of each game and compares the results with what
// they expect (EC-41, EC-107). It uses one Game for all of them, so a value that remains from an
// earlier reply fails the test.
func TestVectors(t *testing.T) {
	var g Game
	for id := range vectors {
		known := func(t *table) bool { return t.id == id }
		if id != "goldsource" && !slices.ContainsFunc(tables, known) {
			t.Errorf("vectors of %q, which is no game", id)
		}
	}
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
			diffLines(t, table.id, dump(&g), v.want)
		}
	}
}

// diffLines fails the test if got and want differ.
func diffLines(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s (- want, + got):\n%s", what, cmp.Diff(want, got))
	}
}

// TestTables checks that every table is complete, that no two tables have the same ID,
// application or folder, and no two fields of a list the same name.
func TestTables(t *testing.T) {
	seen := map[string]bool{}
	once := func(table *table, what string) {
		if seen[what] {
			t.Errorf("%s: twice %s", table.id, what)
		}
		seen[what] = true
	}
	for _, table := range tables {
		if table.id == "" || table.name == "" || table.evidence == "" || len(table.series) > maxSeries {
			t.Errorf("table %q lacks its ID, its name or its evidence, or has too many series", table.id)
		}
		once(table, table.id)
		if table.folder != "" {
			once(table, "folder "+table.folder)
		}
		for _, app := range table.apps {
			once(table, fmt.Sprint("application ", app))
		}
		for i, list := range [][]field{table.rules, table.words, table.prefixes} {
			for _, f := range list {
				if f.read == nil || f.source == "" {
					t.Errorf("%s: field %q lacks its action or its source", table.id, f.name)
				}
				once(table, fmt.Sprint(table.id, " ", i, f.name))
			}
		}
	}
}

// TestTablesDocumented compares the games in docs/GAMES.md, their IDs and applications,
// with the tables.
func TestTablesDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/GAMES.md")
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]string{} // applications by ID
	for _, m := range regexp.MustCompile(`(?m)^\| ([\d, ]+|–) \| [^|]+ \| ([^|]+) \|`).FindAllStringSubmatch(string(page), -1) {
		for _, id := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(m[2], -1) {
			said[id[1]] += " " + m[1] + ","
		}
	}
	for _, table := range tables {
		for _, app := range table.apps {
			if !strings.Contains(said[table.id], fmt.Sprintf(" %d,", app)) {
				t.Errorf("docs/GAMES.md does not have application %d for %s", app, table.id)
			}
		}
		if said[table.id] == "" {
			t.Errorf("docs/GAMES.md does not have %s", table.id)
		}
		delete(said, table.id)
	}
	if delete(said, "csgo"); len(said) > 0 { // csgo is of Counter-Strike 2's table
		t.Errorf("docs/GAMES.md has tables that do not exist: %v", said)
	}
}

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
	switch v := fields[k](g).(type) {
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
