package columns

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/sink/record"
	"github.com/a2sscan/a2sscan/wire"
)

// These fields are computed from others: see scanner.Population.
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
	case People, Capacity, Bots:
		return population(root, field)
	}
	return root.at(field)
}

// population returns people, capacity or bots as scanner.Population counts them; nil
// if the record has no such number.
func population(root *node, field string) json.RawMessage {
	var r scanner.Result
	r.Game = &game.Game{}
	known := false
	get := func(path, of string, k game.Key) int {
		n, ok := number(root.at(path))
		known = known || ok && of == field
		if ok && strings.HasPrefix(path, "game.") {
			r.Game.Has |= 1 << k
		}
		return int(n)
	}
	r.Info.Players = uint32(get("info.players", People, 0))
	r.Info.Bots = uint8(get("info.bots", Bots, 0))
	r.Info.MaxPlayers = uint32(get("info.max_players", Capacity, 0))
	r.Game.Players = get("game.players", People, game.KeyPlayers)
	r.Game.Bots = get("game.bots", Bots, game.KeyBots)
	r.Game.MaxPlayers = get("game.max_players", Capacity, game.KeyMaxPlayers)
	if text(root.at("info.server_type")) == wire.ServerType('p') {
		r.Info.ServerType = 'p'
	}
	if !known {
		return nil
	}
	p := r.Population()
	n := map[string]int{People: p.People, Capacity: p.Places, Bots: p.Bots}[field]
	return strconv.AppendInt(nil, int64(n), 10)
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
