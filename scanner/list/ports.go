package list

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"
)

// ParsePorts reads ports and ranges of ports, such as "27015,27016-27020". It returns
// each port once, in the order of its argument.
func ParsePorts(list string) (ports []uint16, err error) {
	var has [1 << 16]bool
	for part := range strings.SplitSeq(list, ",") {
		part = strings.TrimSpace(part)
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		first, f := parsePort([]byte(from))
		last, f2 := parsePort([]byte(to))
		switch {
		case part == "":
			return nil, fmt.Errorf("ports %q: a port is missing", list)
		case f != "" || f2 != "":
			return nil, fmt.Errorf("ports %q: %w", part, cmp.Or(f, f2))
		case first > last:
			return nil, fmt.Errorf("ports %q: the range ends before it begins", part)
		}
		for port := int(first); port <= int(last); port++ {
			if !has[port] {
				has[port] = true
				ports = append(ports, uint16(port))
			}
		}
	}
	return ports, nil
}

func ownPorts(b []byte) ([]uint16, fault) {
	if !bytes.ContainsAny(b, ",-") {
		port, f := parsePort(b)
		return []uint16{port}, f
	}
	portLists.Lock()
	defer portLists.Unlock()
	if ports := portLists.parsed[string(b)]; ports != nil {
		return ports, ""
	}
	ports, err := ParsePorts(string(b))
	if err != nil || !isPortList.Match(b) {
		return nil, faultPorts
	}
	if len(portLists.parsed) >= maxPortLists {
		clear(portLists.parsed)
	}
	portLists.parsed[string(b)] = ports
	return ports, ""
}

// portLists has the lists of ports that ownPorts parsed last, because many lines of an input
// may repeat a long list.
var portLists = struct {
	sync.Mutex
	parsed map[string][]uint16
}{parsed: map[string][]uint16{}}

// maxPortLists is the maximum length of portLists.parsed.
const maxPortLists = 64

var isPortList = regexp.MustCompile(`^[0-9]{1,5}(-[0-9]{1,5})?(,[0-9]{1,5}(-[0-9]{1,5})?)*$`)

const defaultPort = 27015

var defaultPorts = []uint16{defaultPort}

// portRule is Config.Ports. It decides which ports a name gets: the name's own ports, else
// the ports of the rule, else defaultPort.
type portRule []uint16

func (r portRule) of(n *name) []uint16 {
	switch {
	case n.ports != nil:
		return n.ports
	case len(r) > 0:
		return r
	}
	return defaultPorts
}

// missing reports whether n needs ports and has none. There is no default port for a
// network or a range.
func (r portRule) missing(n *name) bool {
	return n.kind == kindBlock && n.ports == nil && len(r) == 0
}

func (r portRule) count(n *name) uint64 {
	if n.kind == kindAddrPort || n.kind == kindIPv6 {
		return 1
	}
	return n.len() * uint64(len(r.of(n)))
}

const digits = "0123456789"

// isStray reports whether a tag probably has the port of the address before the tag. A
// number in a tag counts as a port if it is the entire tag, or follows a word such as
// "port". A number from 1024 up also counts if it begins the tag, or is alone between
// commas or other separators of columns. Other numbers don't count, because a tag may
// contain a year, for example.
func isStray(tag string) bool {
	tag, _, _ = strings.Cut(tag, " #")
	if !strings.ContainsAny(tag, digits) {
		return false
	}
	for _, field := range strings.FieldsFunc(tag, func(r rune) bool { return strings.ContainsRune(",;|\t", r) }) {
		if portIn(strings.TrimSpace(field)) >= 1024 {
			return true
		}
	}
	words := strings.FieldsFunc(tag, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-/._#@", r)
	})
	isFirst, isName := true, false // isName: the previous word means a port
	for _, word := range words {
		if word = strings.Trim(word, "-/._"); word == "" {
			continue
		}
		port, digit := portIn(word), strings.IndexAny(word, digits)
		if isFirst && port >= 1024 || port > 0 && len(words) == 1 || isName && digit == 0 {
			return true
		}
		isName = newMember(word).port != notPort
		if isName && digit > 0 {
			return true
		}
		isFirst = false
	}
	return false
}

// portForm matches a word that is probably one port or several, such as 27016,
// 27015-27020 or 27016/udp.
var portForm = regexp.MustCompile(`^([A-Za-z]+/)?([0-9]{1,5})(-[0-9]{1,5})?([,; ] ?[0-9]{1,5}(-[0-9]{1,5})?)*(/[A-Za-z]+|\.0)?$`)

// portIn returns the first port in a word that portForm matches. It returns 0 if there is
// none.
func portIn(word string) uint16 {
	if port, f := parsePort([]byte(word)); f == "" {
		return port
	}
	if strings.IndexAny(word, digits) != 0 && strings.IndexByte(word, '/') < 0 { // most words
		return 0
	}
	parts := portForm.FindStringSubmatch(word)
	if parts == nil {
		return 0
	}
	port, _ := parsePort([]byte(parts[2]))
	return port
}
