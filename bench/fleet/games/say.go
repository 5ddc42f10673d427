package games

import (
	"fmt"
	"strconv"

	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/wire"
)

// fact is a part of what a reply means: the value of a common key or of an
// attribute.
type fact struct {
	key      game.Key // of a common value
	name     string   // of an attribute; "": it is a common value
	number   int64
	value    []byte
	source   string
	question wire.Question // whose answer holds it
}

// tell stores a fact in g, unless g already has a value for its key or attribute:
// the first value counts.
func (f *fact) tell(g *game.Game) {
	if f.name != "" {
		f.tellAttribute(g)
		return
	}
	if g.Has.Has(f.key) {
		return
	}
	g.Has |= 1 << f.key
	g.SetSource(f.key, f.source)
	if to := numberOf(g, f.key); to != nil {
		*to = int(f.number)
	}
	if to := textOf(g, f.key); to != nil {
		*to = f.value
	}
	if to := truthOf(g, f.key); to != nil {
		*to = f.number != 0
	}
	if f.key == game.KeyStarted {
		g.Started = f.number
	}
}

func (f *fact) tellAttribute(g *game.Game) {
	for i := range g.Attributes {
		if g.Attributes[i].Name == f.name {
			return
		}
	}
	g.Attributes = append(g.Attributes, game.Attribute{Name: f.name, Value: f.value, Source: f.source})
}

func numberOf(g *game.Game, k game.Key) *int {
	switch k {
	case game.KeyPlayers:
		return &g.Players
	case game.KeyMaxPlayers:
		return &g.MaxPlayers
	case game.KeyQueue:
		return &g.Queue
	case game.KeyBots:
		return &g.Bots
	case game.KeyDay:
		return &g.Day
	}
	return nil
}

func textOf(g *game.Game, k game.Key) *[]byte {
	switch k {
	case game.KeyVersion:
		return &g.Version
	case game.KeyMap:
		return &g.Map
	case game.KeyMode:
		return &g.Mode
	case game.KeyRegion:
		return &g.Region
	case game.KeyTimeOfDay:
		return &g.TimeOfDay
	case game.KeyDescription:
		return &g.Description
	}
	return nil
}

func truthOf(g *game.Game, k game.Key) *bool {
	switch k {
	case game.KeyPVP:
		return &g.PVP
	case game.KeyPassword:
		return &g.Password
	case game.KeyModded:
		return &g.Modded
	case game.KeyAnticheat:
		return &g.Anticheat
	}
	return nil
}

// said is a value in a reply. Its methods record what the value means.
type said struct {
	s        *Server
	question wire.Question
	source   string
	value    []byte
}

func (d said) add(f fact) said {
	f.source, f.question = d.source, d.question
	d.s.facts = append(d.s.facts, f)
	return d
}

// count records that the value is the number of k: people, days or player slots.
func (d said) count(k game.Key) said {
	n, err := strconv.Atoi(string(d.value))
	if err != nil {
		panic("games: " + d.source + ": no number")
	}
	return d.add(fact{key: k, number: int64(n)})
}

// text records that the value is the text of k.
func (d said) text(k game.Key) said { return d.is(k, d.value) }

// is records that the text of k is v. An empty v has no meaning.
func (d said) is(k game.Key, v []byte) said {
	if len(v) == 0 {
		return d
	}
	return d.add(fact{key: k, value: v})
}

// truth records that k is v.
func (d said) truth(k game.Key, v bool) said {
	n := int64(0)
	if v {
		n = 1
	}
	return d.add(fact{key: k, number: n})
}

// attribute records that the value is the attribute with this name.
func (d said) attribute(name string) said { return d.means(name, d.value) }

// means records that the attribute with this name is v. An empty v has no meaning.
func (d said) means(name string, v []byte) said {
	if len(v) == 0 {
		return d
	}
	return d.add(fact{name: name, value: v})
}

// number records that the number of k is n.
func (d said) number(k game.Key, n int64) said { return d.add(fact{key: k, number: n}) }

// mods records that the server has these mods.
func (d said) mods(all ...game.Mod) said {
	d.s.mods = append(d.s.mods, all...)
	return d.add(fact{key: game.KeyMods})
}

// rule adds a rule. The caller states what its value means.
func (s *Server) rule(name string, value ...any) said {
	d := said{s, wire.QuestionRules, "rules." + name, s.bytes(value...)}
	s.Rules = append(s.Rules, wire.Rule{Name: s.bytes(name), Value: d.value})
	return d
}

// part adds a rule that is a part of a longer value.
func (s *Server) part(name, value []byte) {
	s.Rules = append(s.Rules, wire.Rule{Name: name, Value: value})
}

// of returns a said for a value that several rules hold together.
func (s *Server) of(source string) said {
	return said{s: s, question: wire.QuestionRules, source: source}
}

// info returns a said for a field of INFO.
func (s *Server) info(field string, value []byte) said {
	return said{s, wire.QuestionInfo, "info." + field, value}
}

// tag adds a keyword that consists of a name and a value. The caller states what
// the value means.
func (s *Server) tag(name string, value ...any) said {
	v := s.bytes(value...)
	if len(s.keywords) > 0 && s.keywords[len(s.keywords)-1] != s.separate {
		s.keywords = append(s.keywords, s.separate)
	}
	s.keywords = append(append(s.keywords, name...), v...)
	return said{s, wire.QuestionInfo, "keywords." + name, v}
}

// bytes returns the values one after the other, as text.
func (s *Server) bytes(values ...any) []byte {
	start := len(s.text)
	for _, v := range values {
		switch v := v.(type) {
		case string:
			s.text = append(s.text, v...)
		case []byte:
			s.text = append(s.text, v...)
		case int:
			s.text = strconv.AppendInt(s.text, int64(v), 10)
		default:
			s.text = fmt.Append(s.text, v)
		}
	}
	return s.text[start:len(s.text):len(s.text)]
}

// one returns a random value, the same every night.
func (s *Server) one(values ...string) string { return values[s.lasting.Below(len(values))] }

// yes returns true on one server in n; the result is the same every night.
func (s *Server) yes(n int) bool { return s.lasting.OneIn(n) }

// now returns a random value, which may change every night.
func (s *Server) now(values ...string) string { return values[s.tonight.Below(len(values))] }

// hex returns n random hexadecimal digits, the same every night.
func (s *Server) hex(n int) string { return fmt.Sprintf("%016x", s.lasting.Next())[:n] }

// spelled returns yes if v is true, else no.
func spelled(v bool, yes, no string) string {
	if v {
		return yes
	}
	return no
}

// tagged returns a said for keywords that were added already.
func (s *Server) tagged(source string, value []byte) said {
	return said{s, wire.QuestionInfo, source, value}
}
