package target

import (
	"fmt"
	"strconv"
	"strings"
)

// Ports is a set of UDP ports in the order in which they were named. The zero
// value has none.
type Ports struct {
	list []uint16
	has  []uint64 // a bit a port; empty if list is
}

// ParsePorts reads ports and ranges of them, such as "27015,27016-27020". One
// that is named twice is there once.
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

func (p *Ports) add(port uint16) {
	if !p.Contains(port) {
		p.list = append(p.list, port)
		p.has[port/64] |= 1 << (port % 64)
	}
}

// Len returns how many ports there are.
func (p Ports) Len() int { return len(p.list) }

// Contains reports whether port is among them.
func (p Ports) Contains(port uint16) bool {
	return p.has != nil && p.has[port/64]&(1<<(port%64)) != 0
}

// String returns the ports as ParsePorts reads them.
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
