package loopback

import "time"

// MaxDatagram is the maximum payload of a UDP datagram in bytes.
const MaxDatagram = 65507

// Outbox holds datagrams to send. Their bytes are in Data, which is reused.
type Outbox struct {
	Data []byte
	List []Datagram
}

// Datagram is a datagram to send. Two of them may share their bytes.
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
