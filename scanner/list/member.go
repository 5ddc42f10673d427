package list

import (
	"regexp"
	"slices"
	"strings"
)

// The keys of the address, of the protocol and of the state, in lower case and without
// separators. Of the keys in one slice, a row uses the first key that has a value.
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

// portKind is the kind of port that a key names. If a row has both a query port and a value
// for the key "port", the query port is used.
type portKind uint8

const (
	notPort portKind = iota
	queryPort
	plainPort
	joinPorts // port at which players join or watch
	otherPort // port of unknown meaning
)

// maxMembers is the maximum length of object.keys.
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

// newMember returns what a key means. A key names a port if one of its words contains
// "port" and otherWord does not match the word. Such a key names the query port if it
// contains "query" and queryName matches it. A few names are special.
func newMember(key string) member {
	m := member{name: strings.ToLower(separators.ReplaceAllString(key, ""))}
	isPort := slices.ContainsFunc(separators.Split(strings.ToLower(newWord.ReplaceAllString(key, "$1 $2")), -1), func(word string) bool {
		return strings.Contains(word, "port") && !otherWord.MatchString(word)
	})
	switch {
	case m.name == "port", m.name == "sport":
		m.port = plainPort
	case m.name == "qport", isPort && strings.Contains(m.name, "query") && queryName.MatchString(m.name):
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

// nestedPort returns the kind of port of the values in an object or array under this key.
func (m member) nestedPort() portKind {
	if m.name == "ports" || m.name == "services" {
		return otherPort
	}
	return m.port
}

var (
	separators = regexp.MustCompile(`[^A-Za-z0-9]+`)
	newWord    = regexp.MustCompile(`([a-z0-9])([A-Z])`)
	// queryName matches a name that has only these words, or ends with queryport or
	// queryports.
	queryName = regexp.MustCompile(`^(query|ports?|a2s|steam|source|valve|game|server|host|udp|ip|number)+$|queryports?$`)
	// otherWord matches English words that do not mean a port.
	otherWord = regexp.MustCompile(`^(trans|re|sup|air|pass|ex|im|rap|view|tele|es|op|pro)port|^port(al|able|rait|folio|ion|u|land)`)
)

func isNumber(value string) bool {
	_, f := parsePort([]byte(trimPort(value)))
	return f == ""
}

// trimPort removes what does not change a port: white space, and the fraction that some
// programs write because the port is a floating-point number.
func trimPort(value string) string {
	return strings.TrimSuffix(strings.TrimSpace(value), ".0")
}

// mayBePort reports whether a value may be meant as a port, or as several ports. The values
// 0 and -1 mean that there is none.
func mayBePort(value string) bool {
	return strings.ContainsAny(value, "123456789") && trimPort(value) != "-1"
}

// put stores a value, unless its key already has one. It replaces a stored port 0, and
// records further ports.
func (o *object) put(m member, value string) {
	was := ""
	if m.name != "" {
		was = o.values[m.name]
	}
	switch m.port {
	case queryPort, plainPort:
		value = trimPort(value)
		o.noPort = o.noPort || value == ""
		switch {
		case was == "" || was == "0" || was == value:
		case m.port == queryPort:
			o.twice = o.twice || mayBePort(value)
		default:
			o.other(value)
		}
	case joinPorts:
		o.joins = o.joins || mayBePort(value)
	case otherPort:
		o.other(value)
	}
	switch {
	case m.name == "ipport" && isNumber(value):
		o.other(value)
		return
	case m.name == "" || was != "" && (was != "0" || m.port == notPort):
		return
	case o.values == nil:
		o.values = map[string]string{}
	}
	o.rare = o.rare || m.rare
	o.values[m.name] = value
}

// other records a value that may be the query port. Either its key is ambiguous, or
// another value is already used as the port.
func (o *object) other(value string) {
	if mayBePort(value) {
		o.others = append(o.others, trimPort(value))
	}
}

func (o *object) clear() {
	clear(o.values)
	o.others = o.others[:0]
	o.joins, o.twice, o.noPort, o.nested, o.rare, o.census, o.schema, o.at = false, false, false, false, false, false, "", ""
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
