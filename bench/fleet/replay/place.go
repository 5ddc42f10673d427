package replay

import (
	"bufio"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strconv"
	"unicode"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/bench/fleet/internal/loopback"
	"github.com/a2sscan/a2sscan/scanner/udp"
)

// closedPort is a port on which nothing listens (RFC 6335 reserves it for a defunct
// service). The kernel reports datagrams to it as undeliverable.
const closedPort = 1

// defaultPort is the port of servers whose record has no address. It is also the
// only port if no server has a port from leastPort on.
const defaultPort = 27015

// leastPort is the lowest port that a process without privileges may open.
const leastPort = 1024

// Place assigns every server an address and port in a loopback network. The result
// depends only on the recording and the arguments. A server keeps the host bits of
// its original address, and its port if ports contains it. If its port is not in
// ports, or another server has taken that address and port, the server gets the
// next free pair: Place tries the other ports first, then the next address. Servers
// that were unreachable get a closed port.
//
// If ports is empty, Place uses the up to 256 ports from 1024 up that most servers
// of the census have. It returns an error if the servers do not fit.
func (rec *Recording) Place(network netip.Prefix, ports []uint16) error {
	if len(ports) == 0 {
		ports = rec.frequentPorts()
	}
	net, err := newPlaces(network, ports)
	if err != nil {
		return err
	}
	if free := net.count(); uint64(len(rec.servers)) > free {
		return fmt.Errorf("network %v: %d places on %d ports for %d servers",
			network, free, len(ports), len(rec.servers))
	}
	rec.ports, rec.Stats.Moved = net.ports, 0
	rec.places = make(map[uint64]int, len(rec.servers))
	for i := range rec.servers {
		if !rec.place(net, i) {
			return fmt.Errorf("network %v: no place left for server %d of %d",
				network, i+1, len(rec.servers))
		}
	}
	return nil
}

// places are the addresses and ports that Place can assign.
type places struct {
	base  uint64 // the first address, as a number
	addrs uint64 // how many addresses there are
	ports []uint16
}

func newPlaces(network netip.Prefix, ports []uint16) (*places, error) {
	if _, err := fleet.NewCensus(fleet.Config{Network: network, Ports: ports}); err != nil {
		return nil, err
	}
	return &places{
		base:  udp.Pack(netip.AddrPortFrom(network.Masked().Addr(), 0)) >> 16,
		addrs: 1 << (32 - network.Bits()),
		ports: slices.Sorted(slices.Values(ports)),
	}, nil
}

func (p *places) count() uint64 { return p.addrs * uint64(len(p.ports)) }

// frequentPorts returns the ports from leastPort up that most servers have, at most
// fleet.MaxPorts. Unreachable servers do not count.
func (rec *Recording) frequentPorts() (ports []uint16) {
	count := map[uint16]int{}
	for i := range rec.servers {
		s := &rec.servers[i]
		if p := uint16(s.original); p >= leastPort && !s.gone {
			count[p]++
		}
	}
	for p := range count {
		ports = append(ports, p)
	}
	slices.SortFunc(ports, func(a, b uint16) int {
		if count[a] != count[b] {
			return count[b] - count[a]
		}
		return int(a) - int(b)
	})
	if len(ports) == 0 {
		return []uint16{defaultPort}
	}
	return ports[:min(len(ports), fleet.MaxPorts)]
}

// place assigns server i an address and port, and reports whether there was a free
// pair.
func (rec *Recording) place(net *places, i int) bool {
	s := &rec.servers[i]
	ip, port := s.original>>16, uint16(s.original)
	if s.original == 0 {
		ip, port = uint64(i), defaultPort
	}
	ports := net.ports
	if s.gone {
		ports = []uint16{closedPort}
	}
	at, kept := slices.BinarySearch(ports, port)
	n := uint64(len(ports))
	for k := range net.addrs * n {
		step := uint64(at%len(ports)) + k
		addr := net.base + (ip+step/n)&(net.addrs-1)
		if addr == loopback.Broadcast {
			continue
		}
		place := addr<<16 | uint64(ports[step%n])
		if _, taken := rec.places[place]; taken {
			continue
		}
		if s.original != 0 && (k > 0 || !kept) && !s.gone {
			rec.Stats.Moved++
		}
		s.place = place
		rec.places[place] = i
		return true
	}
	return false
}

// Tag returns the text that follows the address of server i in the list: its
// original address, or "record N" if its record has none, and the tag in its record
// if the tag is printable.
func (rec *Recording) Tag(i int) string {
	tag := "record " + strconv.Itoa(i+1)
	if _, original := rec.At(i); original.IsValid() {
		tag = original.String()
	}
	if t := rec.tags[i]; t != "" && printable(t) {
		tag += " " + t
	}
	return tag
}

// printable reports whether a tag can be part of a line of a list: it is at most 1
// KiB long and has only printable characters.
func printable(s string) bool {
	for _, r := range s {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return false
		}
	}
	return len(s) <= 1<<10
}

// WriteList writes the list of targets, one per line: the address and port of each
// server, and its Tag.
func (rec *Recording) WriteList(w io.Writer) error {
	b := bufio.NewWriter(w)
	for i := range rec.servers {
		place, _ := rec.At(i)
		fmt.Fprintf(b, "%v %s\n", place, rec.Tag(i))
	}
	return b.Flush()
}
