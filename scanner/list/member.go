package list

import (
	"regexp"
	"slices"
	"strings"
)

// The keys of the address, of the protocol and of the state, in lower case and without
// separators. If a row has several keys of one of these slices, the first key of the slice
// that has a value is used.
var (
	addrKeys  = []string{"ipstr", "ip", "saddr", "addr", "resolved", "address", "connect", "endpoint", "host", "ipport", "ipaddress"}
	protoKeys = []string{"transport", "transportprotocol", "protocol", "proto"}
	stateKeys = []string{"status", "state"}
)

// isColumn has the keys that both tables and JSON use. isMember has the keys that only JSON
// uses, and the keys whose values in JSON may be objects or arrays.
var (
	isColumn = setOf(addrKeys, protoKeys, stateKeys, []string{"port", "sport", "dport", "ports", "tag", "classification", "success"})
	isMember = setOf([]string{"hostip", "a", "ports", "services", "taghex", "master", "servers", "data", "result",
		"attributes", "endpoint", "rectype", "url", "input"})
)

func setOf(keys ...[]string) map[string]bool {
	set := map[string]bool{}
	for _, key := range slices.Concat(keys...) {
		set[key] = true
	}
	return set
}

// member is what a key or the name of a column means.
type member struct {
	name string // the key in object.values; empty if the value is not stored there
	port portKind
	rare bool // most rows lack this key
}

// portKind says which port a key names. If a row has both a query port and a value for the
// key port, the query port is used.
type portKind uint8

const (
	notPort portKind = iota
	queryPort
	plainPort
	joinPorts // port at which players join or watch
	otherPort // port of unknown meaning
)

// maxMembers limits the memory for keys that were seen.
const maxMembers = 1 << 10

func (o *object) member(key string) member {
	m, seen := o.keys[key]
	if seen {
		return m
	}
	m = newMember(key)
	if o.keys == nil || len(o.keys) >= maxMembers {
		o.keys = map[string]member{}
	}
	o.keys[key] = m
	return m
}

// newMember returns what a key means. Apart from a few special names, a key names a port if
// it contains the word port, and the query port if it also contains query.
func newMember(key string) member {
	m := member{name: strings.ToLower(separators.ReplaceAllString(key, ""))}
	isPort := portWord.MatchString(noPort.ReplaceAllString(key, "")) || portFirst.MatchString(m.name)
	switch {
	case m.name == "port", m.name == "sport":
		m.port = plainPort
	case m.name == "qport", isPort && strings.Contains(m.name, "query"):
		m = member{name: "queryport", port: queryPort}
	case slices.Contains([]string{"gameport", "portgame", "specport", "sourcetvport"}, m.name):
		m = member{port: joinPorts}
	case !isColumn[m.name] && !isMember[m.name]:
		m.name = ""
		if isPort {
			m.port = otherPort
		}
	}
	m.rare = isMember[m.name] || m.name == "saddr" || m.name == "sport" || m.name == "dport"
	return m
}

var (
	separators = regexp.MustCompile(`[^A-Za-z0-9]+`)
	// portWord matches the end of a word such as port, gameport or queryPorts.
	portWord  = regexp.MustCompile(`(port|Port|PORT)[sS]?([^a-z]|$)`)
	portFirst = regexp.MustCompile(`portquery|^portrcon$`)
	// noPort matches English words that do not mean a port.
	noPort = regexp.MustCompile(`(?i:trans|re|sup|air|pass|ex|im|rap|view|tele|es)(port|PORT)`)
)

func isNumber(value string) bool {
	_, f := parsePort([]byte(strings.TrimSuffix(value, ".0")))
	return f == ""
}

// put stores a value, unless its key already has one. It also notes ports.
func (o *object) put(m member, value string) {
	was := ""
	if m.name != "" {
		was = o.values[m.name]
	}
	switch m.port {
	case queryPort, plainPort:
		value = strings.TrimSuffix(value, ".0") // some programs write ports as floating-point numbers
		o.noPort = o.noPort || value == ""
		if was != "" && was != value {
			o.other(value)
		}
	case joinPorts:
		o.joins = o.joins || isNumber(value)
	case otherPort:
		o.other(value)
	}
	switch {
	case m.name == "ipport" && isNumber(value):
		o.other(value)
		return
	case m.name == "" || was != "":
		return
	case o.values == nil:
		o.values = map[string]string{}
	}
	o.rare = o.rare || m.rare
	o.values[m.name] = value
}

// other records a value that may be the query port, although its key does not say so or an
// earlier value was already taken as the query port. If the value is not a number, other
// does nothing.
func (o *object) other(value string) {
	if isNumber(value) {
		o.others = append(o.others, strings.TrimSuffix(value, ".0"))
	}
}

func (o *object) clear() {
	clear(o.values)
	o.others = o.others[:0]
	o.joins, o.noPort, o.nested, o.rare, o.census, o.schema, o.at = false, false, false, false, false, "", ""
}

// first returns the value of the first of these keys that has a value other than an object.
func (o *object) first(keys ...string) string {
	for _, key := range keys {
		if v := o.values[key]; v != "" && v[0] != '{' {
			return v
		}
	}
	return ""
}
