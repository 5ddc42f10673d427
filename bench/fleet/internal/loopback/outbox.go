package loopback

import "time"

// MaxDatagram is the largest payload of a UDP datagram.
const MaxDatagram = 65507

// Outbox holds datagrams to send. Their bytes lie one after the other in one
// piece of memory, which is used again.
type Outbox struct {
	Data []byte
	List []Datagram
}

// Datagram is a datagram to send. Two of them may share their bytes.
type Datagram struct {
	off, end int
	From, To uint64        // packed addresses
	Delay    time.Duration // not to be sent sooner than this from now
	Stray    bool          // from another port than the one that was asked
}

// Reset empties the outbox.
func (o *Outbox) Reset() { o.Data, o.List = o.Data[:0], o.List[:0] }

// Add makes a datagram of what the data hold behind off.
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

// Bytes returns the bytes of d, valid until reset.
func (o *Outbox) Bytes(d *Datagram) []byte { return o.Data[d.off:d.end:d.end] }
