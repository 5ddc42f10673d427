package fleet

import "time"

// outbox holds datagrams to send. Their bytes lie one after the other in one
// piece of memory, which is used again.
type outbox struct {
	data []byte
	list []outgoing
}

// outgoing is a datagram to send. Two of them may share their bytes.
type outgoing struct {
	off, end int
	from, to uint64        // packed addresses
	delay    time.Duration // not to be sent sooner than this from now
	stray    bool          // from another port than the one that was asked
}

func (o *outbox) reset() { o.data, o.list = o.data[:0], o.list[:0] }

// add makes a datagram of what the data hold behind off.
func (o *outbox) add(from uint64, off int) {
	o.list = append(o.list, outgoing{off: off, end: len(o.data), from: from})
}

// again adds the last datagram n more times.
func (o *outbox) again(n int) {
	last := o.list[len(o.list)-1]
	for range n {
		o.list = append(o.list, last)
	}
}

// bytes returns the bytes of d, valid until reset.
func (o *outbox) bytes(d *outgoing) []byte { return o.data[d.off:d.end:d.end] }
