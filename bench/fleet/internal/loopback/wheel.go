package loopback

import "time"

// The limits of a wheel. Each port has its own wheel.
const (
	wheelTick  = time.Millisecond
	wheelMost  = 1 << 16  // datagrams held back
	wheelBytes = 64 << 20 // total length of the datagrams held back
	wheelReuse = 4 << 10  // larger buffers are not kept for reuse
)

// wheel holds datagrams until they are due. It has a list for each millisecond.
type wheel struct {
	slots []wheelSlot // a power of two; slot t%len holds the datagrams of tick t
	all   []held
	free  int32 // first unused entry of all, linked; -1: none
	now   int64 // the tick up to which everything was released
	count int
	bytes int
}

type wheelSlot struct{ first, last int32 } // -1: empty

type held struct {
	Datagram
	data []byte
	next int32
}

func newWheel(longest time.Duration) wheel {
	n := 8
	for n < int(longest/wheelTick)+2 {
		n *= 2
	}
	w := wheel{slots: make([]wheelSlot, n), free: -1}
	for i := range w.slots {
		w.slots[i] = wheelSlot{-1, -1}
	}
	return w
}

// hold keeps a copy of data until d.Delay has passed. It returns false if the wheel
// is full. The caller must first release what is due, so that a slot never stands
// for two ticks.
func (w *wheel) hold(now time.Duration, d Datagram, data []byte) bool {
	if w.count >= wheelMost || w.bytes+len(data) > wheelBytes {
		return false
	}
	if w.count == 0 {
		w.now = max(w.now, int64(now/wheelTick))
	}
	i := w.take()
	h := &w.all[i]
	h.Datagram, h.data, h.next = d, append(h.data[:0], data...), -1
	w.count++
	w.bytes += len(data)

	tick := max(int64((now+d.Delay+wheelTick-1)/wheelTick), w.now+1)
	s := &w.slots[tick&int64(len(w.slots)-1)]
	if s.last < 0 {
		s.first = i
	} else {
		w.all[s.last].next = i
	}
	s.last = i
	return true
}

// take returns the index of an unused entry.
func (w *wheel) take() int32 {
	if i := w.free; i >= 0 {
		w.free = w.all[i].next
		return i
	}
	w.all = append(w.all, held{})
	return int32(len(w.all) - 1)
}

// release moves the datagrams that are due to the Outbox.
func (w *wheel) release(now time.Duration, out *Outbox) {
	tick := int64(now / wheelTick)
	for w.count > 0 && w.now < tick {
		w.now++
		s := &w.slots[w.now&int64(len(w.slots)-1)]
		for i := s.first; i >= 0; {
			i = w.emit(i, out)
		}
		*s = wheelSlot{-1, -1}
	}
}

// emit moves entry i to the Outbox and returns the index of the entry after it.
func (w *wheel) emit(i int32, out *Outbox) (next int32) {
	h := &w.all[i]
	d := h.Datagram
	d.off = len(out.Data)
	out.Data = append(out.Data, h.data...)
	d.end = len(out.Data)
	out.List = append(out.List, d)

	w.count--
	w.bytes -= len(h.data)
	if cap(h.data) > wheelReuse {
		h.data = nil
	}
	next = h.next
	h.next, w.free = w.free, i
	return next
}

// next returns the time at which the next datagram may be due, or false if none is
// held. The time may be too early, but is never too late.
func (w *wheel) next() (time.Duration, bool) {
	return time.Duration(w.now+1) * wheelTick, w.count > 0
}
