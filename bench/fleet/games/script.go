package games

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/data"
	"github.com/a2sscan/a2sscan/bench/fleet/internal/random"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/wire"
)

// step is a statement of a script. The comment of scripts.txt in package data explains them.
type step struct {
	when        []string // conditions: ?NAME or !NAME
	verb        verb
	name, value text
	raw         string // value as it is written
	means       []meaning
}

// meaning is what the value of a step means.
type meaning struct {
	key       game.Key
	attribute string // instead of key
	not       bool
	value     text // nil: the value of the step
}

// text is a text to be made for a server, in parts that append themselves to s.text.
type text []func(s *Server)

// readScripts reads the scripts by name.
func readScripts() map[string][]step {
	scripts, at := map[string][]step{}, ""
	data.Rows("scripts.txt", func(cells []string) {
		if cells[0][0] == '[' {
			at = strings.Trim(cells[0], "[]")
			return
		}
		cells = append(cells, "", "", "")
		st := step{name: newText(cells[1]), value: newText(cells[2]), raw: cells[2]}
		word := cells[0]
		if when, rest, ok := strings.Cut(word, " "); ok {
			st.when, word = conditions.FindAllString(when, -1), rest
		}
		if st.verb = verbs[word]; st.verb == nil {
			panic("games: no verb " + word)
		}
		for word := range strings.SplitSeq(cells[3], ",") {
			if word == "" {
				continue
			}
			var m meaning
			word, value, fixed := strings.Cut(word, "=")
			if fixed {
				m.value = newText(value)
			}
			word, m.not = strings.CutPrefix(word, "!")
			if name, ok := strings.CutPrefix(word, "@"); ok {
				m.attribute = name
			} else {
				for m.key.String() != word {
					if m.key++; m.key == game.NumKeys {
						panic("games: no key " + word)
					}
				}
			}
			st.means = append(st.means, m)
		}
		scripts[at] = append(scripts[at], st)
	})
	return scripts
}

var conditions = regexp.MustCompile(`[?!]\w+`)

func newText(written string) (t text) {
	for written != "" {
		literal, rest, braced := strings.Cut(written, "{")
		if literal != "" {
			t = append(t, func(s *Server) { s.text = append(s.text, literal...) })
		}
		if !braced {
			return t
		}
		inner, after, _ := strings.Cut(rest, "}")
		t = append(t, newPart(inner))
		written = after
	}
	return t
}

// newPart returns the part of a text in braces.
func newPart(inner string) func(s *Server) {
	word, rest, _ := strings.Cut(inner, ":")
	n, _ := strconv.Atoi(strings.TrimPrefix(rest, "+"))
	yes, no, _ := strings.Cut(rest, "|")
	switch {
	case word == "hex":
		return func(s *Server) { s.text = append(s.text, s.hex(n)...) }
	case word == "base64":
		return func(s *Server) { s.text = base64.StdEncoding.AppendEncode(s.text, []byte(s.hex(n))) }
	case word == "remarks":
		return func(s *Server) { s.text = append(s.text, s.remarks(n)...) }
	case word[:1] == "$" && rest == "":
		return func(s *Server) { s.text = append(s.text, s.variable(word[1:])...) }
	case word[:1] == "$":
		return func(s *Server) { s.text = append(s.text, either(len(s.variable(word[1:])) > 0, yes, no)...) }
	case word[:1] == "?":
		n, _ := strconv.Atoi(word[1:])
		return func(s *Server) { s.text = append(s.text, either(s.lasting.OneIn(n), yes, no)...) }
	}
	inner, tonight := strings.CutPrefix(inner, "~")
	from := func(s *Server) *random.Stream {
		if tonight {
			return &s.tonight
		}
		return &s.lasting
	}
	if choice := strings.Split(inner, "|"); len(choice) > 1 {
		return func(s *Server) { s.text = append(s.text, random.Pick(from(s), choice)...) }
	}
	first, last, _ := strings.Cut(inner, "-")
	low, err1 := strconv.Atoi(first)
	high, err2 := strconv.Atoi(last)
	if err1 != nil || err2 != nil {
		panic("games: no number: " + inner)
	}
	width := 1 // with leading zeros if the first number has one
	if first[0] == '0' {
		width = len(first)
	}
	return func(s *Server) { s.text = fmt.Appendf(s.text, "%0*d", width, from(s).Between(low, high)) }
}

// either returns yes if v is true, else no.
func either(v bool, yes, no string) string {
	if v {
		return yes
	}
	return no
}

// run does the steps of a script.
func (s *Server) run(script []step) {
	for i := range script {
		st := &script[i]
		if slices.ContainsFunc(st.when, func(c string) bool { return (len(s.variable(c[1:])) > 0) != (c[0] == '?') }) {
			continue
		}
		name := string(s.make(st.name))
		value := []byte(st.raw)
		if st.value != nil {
			value = s.make(st.value)
		}
		source := st.verb(s, name, value)
		for _, m := range st.means {
			v := value
			if m.value != nil {
				v = s.make(m.value)
			}
			if m.not {
				v = s.bytes(!isTrue(v))
			}
			s.facts = append(s.facts, fact{m.key, m.attribute, v, source})
		}
	}
}

// make returns a text for the server.
func (s *Server) make(t text) []byte {
	start := len(s.text)
	for _, part := range t {
		part(s)
	}
	return s.text[start:len(s.text):len(s.text)]
}

// verb does a step. It returns the source of the value: where in the replies it is.
type verb func(s *Server, name string, value []byte) (source string)

var verbs map[string]verb

func init() { // because scripts use verbs, and verbs use what is read from scripts
	set := func(to func(s *Server, value []byte)) verb {
		return func(s *Server, _ string, value []byte) string { to(s, value); return "" }
	}
	verbs = map[string]verb{
		"tag":  (*Server).tag,
		"rule": (*Server).rule,
		"mean": func(_ *Server, name string, _ []byte) string { return name },
		"let":  func(s *Server, name string, value []byte) string { s.vars[name] = value; return "" },
		"do":   func(s *Server, name string, _ []byte) string { functions[name](s); return "" },
		"variables": func(s *Server, name string, value []byte) string {
			engine, plain := strings.CutSuffix(name, " without plugins")
			s.variables(engine, string(value), !plain)
			return ""
		},
		// The first of the values is the default, which most servers keep.
		"settings": set(func(s *Server, all []byte) {
			for setting := range strings.FieldsSeq(string(all)) {
				name, values, _ := strings.Cut(setting, "=")
				s.rule(name, s.bytes(s.setting(strings.Split(values, "|"))))
			}
		}),
		"name":     set(func(s *Server, v []byte) { s.Info.Name = v }),
		"game":     set(func(s *Server, v []byte) { s.Info.Game = v }),
		"map":      set(func(s *Server, v []byte) { s.Info.Map = v }),
		"players":  set(func(s *Server, v []byte) { s.Info.Players = 0 }),
		"counts":   set(func(s *Server, v []byte) { s.Info.Players, s.Info.MaxPlayers = 0, 0 }),
		"bots":     set(func(s *Server, v []byte) { s.addBots(number(v)) }),
		"choose":   set(func(s *Server, v []byte) { s.chooseMods(number(v)) }),
		"unlisted": set(func(s *Server, _ []byte) { s.Players = s.Players[:0] }),
		"separator": set(func(s *Server, v []byte) {
			if s.separate = v[0]; len(v) > 1 {
				s.separate = ' '
			}
		}),
	}
}

func number(text []byte) int {
	n, err := strconv.Atoi(string(text))
	if err != nil {
		panic("games: " + err.Error())
	}
	return n
}

// variable returns the value of a variable: what the server has, or what the script
// has defined.
func (s *Server) variable(name string) []byte {
	if has := serverVariables[name]; has != nil {
		return fmt.Append(nil, has(s))
	}
	v, ok := s.vars[name]
	if !ok {
		panic("games: no variable " + name)
	}
	return v
}

var serverVariables = map[string]func(s *Server) any{
	"id":         func(s *Server) any { return s.Title.ID },
	"name":       func(s *Server) any { return string(s.Info.Name) },
	"map":        func(s *Server) any { return string(s.Info.Map) },
	"version":    func(s *Server) any { return string(s.Info.Version) },
	"short":      func(s *Server) any { return either(len(s.Info.Name) < 50, "yes", "") },
	"password":   func(s *Server) any { return either(s.Info.Password == 1, "yes", "") },
	"mods":       func(s *Server) any { return either(len(s.chosen) > 0, "yes", "") },
	"modcount":   func(s *Server) any { return len(s.chosen) },
	"people":     func(s *Server) any { return s.people },
	"upto10":     func(s *Server) any { return min(s.people, 10) },
	"max":        func(s *Server) any { return s.Info.MaxPlayers },
	"public":     func(s *Server) any { return int(s.Info.MaxPlayers) - 2 },
	"free":       func(s *Server) any { return int(s.Info.MaxPlayers) - s.people },
	"port":       func(s *Server) any { return s.plan.Port },
	"clientport": func(s *Server) any { return s.plan.Port + 2 },
	"joinport":   func(s *Server) any { return s.plan.Port + 1 },
}

// tag adds a keyword that consists of a name and a value.
func (s *Server) tag(name string, value []byte) (source string) {
	if len(s.keywords) > 0 && s.keywords[len(s.keywords)-1] != s.separate {
		s.keywords = append(s.keywords, s.separate)
	}
	s.keywords = append(append(s.keywords, name...), value...)
	return "keywords." + name
}

// rule adds a rule.
func (s *Server) rule(name string, value []byte) (source string) {
	s.Rules = append(s.Rules, wire.Rule{Name: s.bytes(name), Value: value})
	return "rules." + name
}

// setting returns the first value or, on some servers, any.
func (s *Server) setting(values []string) string {
	if s.lasting.OneIn(4) {
		return random.Pick(&s.lasting, values)
	}
	return values[0]
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
		default:
			s.text = fmt.Append(s.text, v)
		}
	}
	return s.text[start:len(s.text):len(s.text)]
}

// hex returns n random hexadecimal digits, the same every night.
func (s *Server) hex(n int) string { return fmt.Sprintf("%016x", s.lasting.Next())[:n] }

// remarks returns 1 to n remarks of the server's owner, separated by spaces.
func (s *Server) remarks(n int) string {
	var text []string
	all := data.Words["remarks"]
	first := s.lasting.Below(len(all))
	for i := range s.lasting.Between(1, n) {
		text = append(text, all[(first+i*7)%len(all)])
	}
	return strings.Join(text, " ")
}
