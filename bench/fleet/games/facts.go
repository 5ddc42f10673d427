package games

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/wire"
)

// fact is a part of what the replies mean: the value of a common key or of an
// attribute. An empty value has no meaning.
type fact struct {
	key       game.Key // of a common value
	attribute string   // instead of key
	value     []byte
	source    string
}

// isTrue reports whether a value of a truth means yes.
func isTrue(value []byte) bool {
	switch string(value) {
	case "t", "true", "True", "1", "Y":
		return true
	}
	return false
}

// tell stores a fact in g, unless g already has a value for its key or attribute:
// the first value counts.
func (f *fact) tell(g *game.Game) {
	if f.attribute != "" {
		if !slices.ContainsFunc(g.Attributes, func(a game.Attribute) bool { return a.Name == f.attribute }) {
			g.Attributes = append(g.Attributes, game.Attribute{Name: f.attribute, Value: f.value, Source: f.source})
		}
		return
	}
	if g.Has.Has(f.key) {
		return
	}
	g.Has |= 1 << f.key
	g.Sources[f.key] = f.source
	field := reflect.ValueOf(g).Elem().FieldByNameFunc(func(name string) bool {
		return strings.EqualFold(name, strings.ReplaceAll(f.key.String(), "_", ""))
	})
	switch field.Interface().(type) {
	case int, int64:
		n, _ := strconv.ParseInt(string(f.value), 10, 64)
		field.SetInt(n)
	case bool:
		field.SetBool(isTrue(f.value))
	case []byte:
		field.SetBytes(f.value)
	}
}

// is states the value of a common key.
func (s *Server) is(source string, key game.Key, value []byte) {
	s.facts = append(s.facts, fact{key: key, value: value, source: source})
}

// attribute states the value of an attribute.
func (s *Server) attribute(source, name string, value any) {
	s.facts = append(s.facts, fact{attribute: name, value: s.bytes(value), source: source})
}

// hasMods states that the server has these mods.
func (s *Server) hasMods(source string, mods ...game.Mod) {
	s.mods = append(s.mods, mods...)
	s.is(source, game.KeyMods, []byte("yes"))
}

// Meaning stores in g what the answers to these questions mean. Without INFO, g is
// empty.
func (s *Server) Meaning(g *game.Game, answered scanner.Questions) {
	*g = game.Game{Attributes: g.Attributes[:0]}
	if !answered.Has(wire.QuestionInfo) {
		return // without INFO, the game is unknown
	}
	g.ID, g.Name = s.Title.ID, s.Title.recorded
	for i := range s.facts {
		f, q := &s.facts[i], wire.QuestionInfo
		if strings.HasPrefix(f.source, "rules.") {
			q = wire.QuestionRules
		}
		if answered.Has(q) && len(f.value) > 0 {
			f.tell(g)
		}
	}
	if g.Has.Has(game.KeyMods) {
		g.Mods = s.mods
	}
	if g.Password == (s.Info.Password == 1) { // INFO has it already
		g.Has &^= 1 << game.KeyPassword
		g.Sources[game.KeyPassword] = ""
	}
	slices.SortFunc(g.Attributes, func(a, b game.Attribute) int { return strings.Compare(a.Name, b.Name) })
}
