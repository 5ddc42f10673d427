package list

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// Ports is a set of UDP ports, in the order in which they were named. The zero
// value is empty.
type Ports struct {
	list []uint16
	has  []uint64 // one bit per port; empty if list is empty
}

// ParsePorts reads ports and ranges of ports, such as "27015,27016-27020". A port
// that is named twice counts once.
func ParsePorts(list string) (Ports, error) {
	p := Ports{has: make([]uint64, 1<<16/64)}
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
			return Ports{}, fmt.Errorf("ports %q: a port is missing", list)
		case f != 0 || f2 != 0:
			return Ports{}, fmt.Errorf("ports %q: %w", part, max(f, f2))
		case first > last:
			return Ports{}, fmt.Errorf("ports %q: the range goes backwards", part)
		}
		for port := int(first); port <= int(last); port++ {
			p.add(uint16(port))
		}
	}
	return p, nil
}

// isPortList reports whether b has the form of a list of ports: numbers of at most
// five digits, and ranges of them.
func isPortList(b []byte) bool {
	digits, inRange := 0, false
	for _, c := range b {
		switch {
		case '0' <= c && c <= '9' && digits < 5:
			digits++
			continue
		case c == '-' && digits > 0 && !inRange:
			inRange = true
		case c == ',' && digits > 0:
			inRange = false
		default:
			return false
		}
		digits = 0
	}
	return digits > 0
}

// portLists caches the port lists found in lines, since many lines have the same
// one. A nil cache stores nothing. The cached lists must not be changed.
type portLists map[string]*Ports

// maxPortLists limits the memory of the cache: each list takes 8 KiB.
const maxPortLists = 1 << 10

// get parses a list of ports, or finds it in the cache.
func (pl *portLists) get(b []byte) (*Ports, Fault) {
	if pl != nil {
		if p := (*pl)[string(b)]; p != nil {
			return p, 0
		}
	}
	p, err := ParsePorts(string(b))
	if _, f := parsePort(b); err != nil && !bytes.ContainsAny(b, ",-") {
		return nil, f
	}
	if err != nil || !isPortList(b) {
		return nil, FaultPorts
	}
	if pl != nil {
		if *pl == nil || len(*pl) == maxPortLists {
			*pl = portLists{}
		}
		(*pl)[string(b)] = &p
	}
	return &p, 0
}

func (p *Ports) add(port uint16) {
	if !p.Contains(port) {
		p.list = append(p.list, port)
		p.has[port/64] |= 1 << (port % 64)
	}
}

// Len returns how many ports there are.
func (p Ports) Len() int { return len(p.list) }

// Contains reports whether p contains port.
func (p Ports) Contains(port uint16) bool {
	return p.has != nil && p.has[port/64]&(1<<(port%64)) != 0
}

// String returns the ports in the form that ParsePorts reads.
func (p Ports) String() string {
	var b []byte
	for i := 0; i < len(p.list); i++ {
		first := i
		for i+1 < len(p.list) && p.list[i+1] == p.list[i]+1 {
			i++
		}
		if first > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(b, uint64(p.list[first]), 10)
		if i > first {
			b = append(b, '-')
			b = strconv.AppendUint(b, uint64(p.list[i]), 10)
		}
	}
	return string(b)
}

// defaultPorts holds DefaultPort.
var defaultPorts = Ports{list: []uint16{DefaultPort}, has: func() []uint64 {
	has := make([]uint64, 1<<16/64)
	has[DefaultPort/64] |= 1 << (DefaultPort % 64)
	return has
}()}

// portRule decides which ports a name gets: its own, those of Config.Ports, or
// DefaultPort.
type portRule struct{ config *Ports }

// configured reports whether Config.Ports names any.
func (r portRule) configured() bool { return r.config.Len() > 0 }

// of returns the ports that a name gets.
func (r portRule) of(n *name) *Ports {
	switch {
	case n.ports != nil:
		return n.ports
	case r.configured():
		return r.config
	}
	return &defaultPorts
}

// missing reports whether n needs ports and has none: a network or a range needs
// some.
func (r portRule) missing(n *name) bool {
	return (n.form == formNetwork || n.form == formRange) && n.ports == nil && !r.configured()
}

// count returns how many targets n stands for.
func (r portRule) count(n *name) uint64 {
	if n.form == formAddrPort {
		return 1
	}
	return n.span().len() * uint64(r.of(n).Len())
}
