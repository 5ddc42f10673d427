package loopback

import "time"

// The limits of a wheel. Each port has its own wheel.
const (
	wheelTick  = time.Millisecond
	wheelBytes = 64 << 20 // total length of the datagrams held back
	wheelReuse = 1 << 20  // larger buffers are not kept for reuse
)

// wheel holds datagrams until they are due. It has an Outbox for each millisecond.
type wheel struct {
	slots []Outbox // a power of two; slot t%len holds the datagrams of tick t
	now   int64    // the tick up to which everything was released
	count int
	bytes int
}

func newWheel(longest time.Duration) wheel {
	n := 8
	for n < int(longest/wheelTick)+2 {
		n *= 2
	}
	return wheel{slots: make([]Outbox, n)}
}

func (w *wheel) slot(tick int64) *Outbox { return &w.slots[tick&int64(len(w.slots)-1)] }

// hold keeps a copy of data until d.Delay has passed. It returns false if the wheel
// is full. The caller must first release what is due, so that a slot never stands
// for two ticks.
func (w *wheel) hold(now time.Duration, d Datagram, data []byte) bool {
	if w.bytes+len(data) > wheelBytes {
		return false
	}
	if w.count == 0 {
		w.now = max(w.now, int64(now/wheelTick))
	}
	s := w.slot(max(int64((now+d.Delay+wheelTick-1)/wheelTick), w.now+1))
	d.off = len(s.Data)
	s.Data = append(s.Data, data...)
	d.end = len(s.Data)
	s.List = append(s.List, d)
	w.count++
	w.bytes += len(data)
	return true
}

// release moves the datagrams that are due to the Outbox.
func (w *wheel) release(now time.Duration, out *Outbox) {
	tick := int64(now / wheelTick)
	for w.count > 0 && w.now < tick {
		w.now++
		s, base := w.slot(w.now), len(out.Data)
		out.Data = append(out.Data, s.Data...)
		for _, d := range s.List {
			d.off, d.end = base+d.off, base+d.end
			out.List = append(out.List, d)
		}
		w.count -= len(s.List)
		w.bytes -= len(s.Data)
		if s.Reset(); cap(s.Data) > wheelReuse {
			*s = Outbox{}
		}
	}
}

// next returns the time at which the next datagram may be due, or false if none is
// held. The time may be too early, but is never too late.
func (w *wheel) next() (time.Duration, bool) {
	return time.Duration(w.now+1) * wheelTick, w.count > 0
}
