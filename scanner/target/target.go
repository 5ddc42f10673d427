// Package target says who is to be asked: lists, addresses and networks.
package target

import (
	"errors"
	"io"
	"iter"
	"net/netip"
)

// Target is a server to ask.
type Target struct {
	Addr netip.AddrPort
	Tag  string // what followed the address in its input line
}

// Ports is a set of UDP ports in the order in which they were given.
type Ports struct{}

// ParsePorts reads a list of ports and ranges, "27015,27016-27020".
func ParsePorts(list string) (Ports, error) { return Ports{}, errors.ErrUnsupported }

// Config says where targets come from.
type Config struct {
	Args            []string      // what the user named; empty: Stdin
	Ports           Ports         // for addresses without one and for networks
	Stdin           io.Reader     // what "-" reads
	StdinIsTerminal bool          // nobody meant Stdin to be read unless "-" is named
	AllowReserved   bool          // special-purpose addresses are targets too
	Max             uint64        // targets given out at most; zero: all
	Invalid         func(Invalid) // called for each line that is not a target; may be nil
}

// Invalid is a line that is not a target.
type Invalid struct {
	File string
	Line int // from 1
	Text string
	Err  error
}

// List is where targets come from.
type List struct{}

// Open checks the arguments.
func Open(cfg Config) (*List, error) { return nil, errors.ErrUnsupported }

// All gives out the targets, once.
func (l *List) All() iter.Seq[Target] { return func(func(Target) bool) {} }

// Err returns what ended All early.
func (l *List) Err() error { return nil }

// Size returns how many targets there are.
func (l *List) Size() (n uint64, known bool) { return 0, false }

// Stats are the numbers of a list.
// Read = Invalid + Unscannable + Excluded + Duplicate + Given.
type Stats struct {
	Read, Invalid, Unscannable, Excluded, Duplicate, Given uint64
}

// Stats returns the numbers so far.
func (l *List) Stats() Stats { return Stats{} }
