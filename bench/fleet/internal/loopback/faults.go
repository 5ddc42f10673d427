package loopback

import (
	"time"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/random"
)

// Faults are the faults of a network between servers and scanner. A seed determines the
// random numbers: the same datagrams in the same order have the same faults.
type Faults struct {
	Seed      uint64
	Loss      float64       // share of the datagrams lost in each direction
	Duplicate float64       // share of the replies sent twice
	Reorder   float64       // share of the replies held back until later replies are sent
	DelayMax  time.Duration // upper limit of Datagram.Delay

	random random.Stream
	held   wheel
	kept   []Datagram
}

// The shortest and the longest time for which a datagram is held back to reorder
// it.
const (
	reorderMin = time.Millisecond
	reorderMax = 5 * time.Millisecond
)

func (f *Faults) start() *Faults {
	f.random = random.Stream(f.Seed)
	n := 8
	for n < int((f.DelayMax+reorderMax)/wheelTick)+2 {
		n *= 2
	}
	f.held.slots = make([]Outbox, n)
	return f
}

// apply applies the faults to the datagrams in out.List[first:]: it drops, duplicates or
// holds back some of them.
func (f *Faults) apply(now time.Duration, out *Outbox, first int, s *Stats) {
	if f.Loss == 0 && f.Duplicate == 0 && f.Reorder == 0 && f.DelayMax == 0 {
		return
	}
	f.kept = f.kept[:0]
	for i := first; i < len(out.List); i++ {
		d := out.List[i]
		if f.random.Chance(f.Loss) {
			s.LostReplies++
			continue
		}
		f.pass(now, out, d, s)
		if f.random.Chance(f.Duplicate) {
			f.pass(now, out, d, s)
		}
	}
	out.List = append(out.List[:first], f.kept...)
}

// pass adds the datagram d to f.kept if d is due at once, and holds d back otherwise.
func (f *Faults) pass(now time.Duration, out *Outbox, d Datagram, s *Stats) {
	if f.random.Chance(f.Reorder) {
		d.Delay += reorderMin + time.Duration(f.random.Below(int(reorderMax-reorderMin)))
	}
	switch {
	case d.Delay == 0:
		f.kept = append(f.kept, d)
	case !f.held.hold(now, d, out.Bytes(&d)):
		s.Overflow++
	}
}

// The limits of a wheel. Each port has its own wheel.
const (
	wheelTick  = time.Millisecond
	wheelBytes = 64 << 20 // maximum total length of the datagrams held back
	wheelReuse = 1 << 20  // buffers with a larger capacity are not reused
)

// wheel holds datagrams until they are due. It has an Outbox for each millisecond.
type wheel struct {
	slots []Outbox // slot t%len(slots) holds the datagrams of tick t; len is a power of two
	now   int64    // datagrams due up to this tick have been released
	count int
	bytes int
}

func (w *wheel) slot(tick int64) *Outbox { return &w.slots[tick&int64(len(w.slots)-1)] }

// hold stores a copy of data until d.Delay has passed. It returns false if the wheel is
// full. The caller must first release the datagrams that are due, so that no slot holds
// datagrams of two ticks.
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
// held. The returned time may be too early, but is never too late.
func (w *wheel) next() (time.Duration, bool) {
	return time.Duration(w.now+1) * wheelTick, w.count > 0
}
