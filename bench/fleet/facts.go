package fleet

import (
	"reflect"
	"slices"
	"strings"

	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/wire"
)

// fact is a part of what the replies mean: the value of a common key or of an
// attribute.
type fact struct {
	key       game.Key // the common key, if attribute is empty
	attribute string   // name of the attribute
	value     any
	source    string
}

// tell stores a fact in g. If g already has a value for the common key, tell does
// nothing.
func (f *fact) tell(g *game.Game) {
	switch {
	case f.attribute != "":
		g.Attributes = append(g.Attributes, game.Attribute{Name: f.attribute, Value: f.value.([]byte), Source: f.source})
		return
	case g.Has.Has(f.key):
		return
	}
	g.Has |= 1 << f.key
	g.Sources[f.key] = f.source
	if f.key == game.KeyMods {
		return
	}
	field := reflect.ValueOf(g).Elem().FieldByNameFunc(func(name string) bool {
		return strings.EqualFold(name, strings.ReplaceAll(f.key.String(), "_", ""))
	})
	field.Set(reflect.ValueOf(f.value).Convert(field.Type()))
}

// is(source, key, value) adds a fact: a common key has this value, which comes from
// source.
func (s *gameServer) is(source string, key game.Key, value any) {
	s.facts = append(s.facts, fact{key: key, value: value, source: source})
}

// attribute adds a fact: the value of an attribute. The value comes from source. An empty
// value is ignored.
func (s *gameServer) attribute(source, name string, value any) {
	if v := s.bytes(value); len(v) > 0 {
		s.facts = append(s.facts, fact{attribute: name, value: v, source: source})
	}
}

// tagKey adds a keyword and a fact: a common key has the value of the keyword.
func (s *gameServer) tagKey(name string, value any, key game.Key) {
	s.is(s.tag(name, value), key, value)
}

// tagAttribute adds a keyword and a fact: an attribute has the value of the keyword.
func (s *gameServer) tagAttribute(name string, value any, attribute string) {
	s.attribute(s.tag(name, value), attribute, value)
}

// hasMods adds a fact: source has the complete list of mods.
func (s *gameServer) hasMods(source string) { s.is(source, game.KeyMods, nil) }

// storeMeaning stores in g the meaning of the answers to the given questions. Without INFO,
// g is empty.
func (s *gameServer) storeMeaning(g *game.Game, answered wire.Questions) {
	*g = game.Game{Attributes: g.Attributes[:0]}
	if !answered.Has(wire.QuestionInfo) {
		return // without INFO, the game is unknown
	}
	g.ID, g.Name = s.nature.title.ID, s.nature.title.recorded
	for i := range s.facts {
		f, q := &s.facts[i], wire.QuestionInfo
		if strings.HasPrefix(f.source, "rules.") {
			q = wire.QuestionRules
		}
		if answered.Has(q) {
			f.tell(g)
		}
	}
	if g.Has.Has(game.KeyMods) {
		g.Mods = s.mods
	}
	if g.Password == (s.Info.Password == 1) { // a record omits the key if INFO has the same value
		g.Has &^= 1 << game.KeyPassword
		g.Sources[game.KeyPassword] = ""
	}
	slices.SortFunc(g.Attributes, func(a, b game.Attribute) int { return strings.Compare(a.Name, b.Name) })
}
