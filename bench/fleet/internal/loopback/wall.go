// Package loopback is the network of simulated servers. It has sockets on all
// addresses of the device lo, reads and sends datagrams in batches, and can lose,
// duplicate, reorder and delay them.
//
// If such servers were reachable from outside, they would amplify attacks on others. So
// the sockets are bound to lo, without which Open returns an error. A Port drops any
// datagram from or to an address outside of [Network], and does not decode it.
package loopback

import (
	"net/netip"
	"reflect"
	"time"
)

// Network contains the addresses that servers and their clients may have.
var Network = netip.MustParsePrefix("127.0.0.0/8")

// Contains reports whether all addresses of p are in Network.
func Contains(p netip.Prefix) bool {
	return p.Addr().Is4() && p.Bits() >= Network.Bits() && Network.Contains(p.Addr())
}

// Inside reports whether the packed address is in Network.
func Inside(addr uint64) bool { return addr>>40 == 127 }

// Broadcast is the address 127.255.255.255 as a number. It is the only address of Network
// to which nothing can be sent.
const Broadcast = 0x7FFFFFFF

// MaxDatagram is the maximum payload of a UDP datagram in bytes.
const MaxDatagram = 65507

// Outbox holds datagrams to send. Their bytes are in Data, which is reused.
type Outbox struct {
	Data []byte
	List []Datagram
}

// Datagram is a datagram to send. Two Datagrams may share their bytes.
type Datagram struct {
	off, end int
	From, To uint64        // packed addresses
	Delay    time.Duration // how long to hold the datagram back
	Stray    bool          // sent from a port that was not queried
}

// Reset empties the outbox.
func (o *Outbox) Reset() { o.Data, o.List = o.Data[:0], o.List[:0] }

// Add adds a datagram with the bytes Data[off:].
func (o *Outbox) Add(from uint64, off int) {
	o.List = append(o.List, Datagram{off: off, end: len(o.Data), From: from})
}

// Again adds the last datagram n more times.
func (o *Outbox) Again(n int) {
	last := o.List[len(o.List)-1]
	for range n {
		o.List = append(o.List, last)
	}
}

// Bytes returns the bytes of d. They are valid until the Outbox is reset.
func (o *Outbox) Bytes(d *Datagram) []byte { return o.Data[d.off:d.end:d.end] }

// Stats are the statistics of a fleet. The counters only grow.
type Stats struct {
	Queries    uint64 // datagrams to places of the fleet, with or without a server
	Malformed  uint64 // the part of Queries that no server accepts as a request (EC-16)
	Nobody     uint64 // the part of Queries that went to no server, or to a silent server
	Replies    uint64 // datagrams sent
	ReplyBytes uint64 // UDP payload

	Walled      uint64 // datagrams from or to an address outside 127.0.0.0/8: dropped
	Foreign     uint64 // datagrams to an address outside the fleet: dropped
	LostQueries uint64 // queries dropped on purpose
	LostReplies uint64 // replies dropped on purpose
	Overflow    uint64 // replies dropped because too many were waiting
	SendErrors  uint64 // replies that the kernel refused
	KernelDrops uint64 // queries that the kernel dropped: the fleet was too slow
}

// Add adds the numbers of t to s.
func (s *Stats) Add(t *Stats) {
	sum, more := reflect.ValueOf(s).Elem(), reflect.ValueOf(t).Elem()
	for i := range sum.NumField() {
		sum.Field(i).SetUint(sum.Field(i).Uint() + more.Field(i).Uint())
	}
}
