package columns

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/sink/record"
)

// These fields are computed from others: people, capacity and bots as the game counts
// them or, if it does not, as INFO does. INFO counts bots among the players.
const (
	People   = "people"
	Capacity = "capacity"
	Bots     = "bots"
)

// node is a value of a record. Its members are decoded only when they are needed.
type node struct {
	raw     json.RawMessage
	members map[string]*node
	decoded bool
}

// member returns the member of an object whose name is key, or the element of a list
// whose index is key. It returns nil if there is none.
func (n *node) member(key string) *node {
	if !n.decoded {
		n.decode()
	}
	return n.members[key]
}

func (n *node) decode() {
	n.decoded, n.members = true, map[string]*node{}
	switch raw := bytes.TrimLeft(n.raw, " \t\r\n"); {
	case len(raw) > 0 && raw[0] == '{':
		var object map[string]json.RawMessage
		_ = json.Unmarshal(raw, &object) // a value that is not JSON has no members
		for key, v := range object {
			n.members[key] = &node{raw: v}
		}
	case len(raw) > 0 && raw[0] == '[':
		var list []json.RawMessage
		_ = json.Unmarshal(raw, &list)
		for i, v := range list {
			n.members[strconv.Itoa(i)] = &node{raw: v}
		}
	}
}

// at returns the value at a path, or nil. Names of rules may contain full stops, so
// at prefers the longest name that matches.
func (n *node) at(path string) json.RawMessage {
	if m := n.member(path); m != nil {
		return m.raw
	}
	for end := strings.LastIndexByte(path, '.'); end > 0; end = strings.LastIndexByte(path[:end], '.') {
		if m := n.member(path[:end]); m != nil {
			if v := m.at(path[end+1:]); v != nil {
				return v
			}
		}
	}
	return nil
}

// value returns the value of a field; nil if the record lacks it.
func value(root *node, field string) json.RawMessage {
	switch field {
	case People:
		if v := root.at("game.players"); v != nil {
			return v
		}
		players, known := number(root.at("info.players"))
		bots, _ := number(root.at("info.bots"))
		if !known {
			return nil
		}
		return strconv.AppendInt(nil, max(players-bots, 0), 10)
	case Capacity:
		return either(root, "game.max_players", "info.max_players")
	case Bots:
		return either(root, "game.bots", "info.bots")
	}
	return root.at(field)
}

func either(root *node, first, second string) json.RawMessage {
	if v := root.at(first); v != nil {
		return v
	}
	return root.at(second)
}

func number(raw json.RawMessage) (n int64, ok bool) {
	n, err := strconv.ParseInt(string(raw), 10, 64)
	return n, err == nil
}

// text returns a value as the text of a cell: a string without quotes, any other
// value as JSON.
func text(raw json.RawMessage) string {
	var s string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return s
	}
	if string(raw) == "null" {
		return ""
	}
	return string(raw)
}

// schema has the parts of the record's JSON schema that are needed here.
type schema struct {
	Properties map[string]schema `json:"properties"`
	Items      *schema           `json:"items"`
	Type       any               `json:"type"`
}

// known returns the paths of all fields, and separately the objects and lists whose
// members are not in the schema.
var known = sync.OnceValues(func() (paths, open []string) {
	var root schema
	if err := json.Unmarshal(record.JSONSchema(), &root); err != nil {
		panic(err) // the schema is part of the program
	}
	var walk func(s *schema, at string)
	walk = func(s *schema, at string) {
		for key, member := range s.Properties {
			path := at + key
			paths = append(paths, path)
			if member.Properties == nil && member.Type == "object" || member.Items != nil {
				open = append(open, path+".")
			}
			walk(&member, path+".")
		}
	}
	walk(&root, "")
	paths = append(paths, People, Capacity, Bots)
	slices.Sort(paths)
	return paths, open
})

// check returns an error if no record can have one of the fields.
func check(fields []string) error {
	paths, open := known()
	for _, field := range fields {
		if slices.Contains(paths, field) || slices.ContainsFunc(open, func(o string) bool {
			return len(field) > len(o) && strings.HasPrefix(field, o)
		}) {
			continue
		}
		f := console.Fail(console.ExitUsage, "--fields: records have no %s", console.Quoted(field, 60)).
			WithHint("such as addr,people,capacity,info.map,info.name,rules.sv_gravity; a2sscan schema json lists all")
		if like := similar(field, paths); like != "" {
			f.WithHint("did you mean %s?", like)
		}
		return f
	}
	return nil
}

// similar returns the field that the user probably meant: one with this name inside
// info, game, geo or rtts_ms, or one with a similar spelling.
func similar(field string, paths []string) string {
	for _, within := range []string{"info.", "game.", "geo.", "rtts_ms."} {
		if slices.Contains(paths, within+field) {
			return within + field
		}
	}
	return console.Nearest(field, paths)
}
