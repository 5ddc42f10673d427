package fleet

import "time"

// faults make the network between fleet and scanner a bad one. Their random
// numbers come from the seed, so that a run can be had again as far as the
// order of its datagrams can.
type faults struct {
	loss, duplicate, reorder float64
	random                   rng
	held                     wheel
	kept                     []outgoing
}

// How long a datagram is held back that is to come behind its followers.
const (
	reorderMin = time.Millisecond
	reorderMax = 5 * time.Millisecond
)

func newFaults(m *model, port uint16) *faults {
	f := &faults{loss: m.Loss, duplicate: m.Duplicate, reorder: m.Reorder}
	f.random = rng(hash(m.Seed, uint64(m.seedPort(port)), 0xFA))
	f.held = newWheel(m.DelayMax + reorderMax)
	return f
}

// losesQuery reports whether a query is to be lost on its way in.
func (f *faults) losesQuery() bool { return f.random.chance(f.loss) }

// apply loses, doubles and holds back what the outbox holds from entry first.
func (f *faults) apply(now time.Duration, out *outbox, first int, s *Stats) {
	f.kept = f.kept[:0]
	for i := first; i < len(out.list); i++ {
		d := out.list[i]
		if f.random.chance(f.loss) {
			s.LostReplies++
			continue
		}
		f.pass(now, out, d, s)
		if f.random.chance(f.duplicate) {
			s.Duplicated++
			f.pass(now, out, d, s)
		}
	}
	out.list = append(out.list[:first], f.kept...)
}

// pass keeps a datagram, or holds it back if it is to be late.
func (f *faults) pass(now time.Duration, out *outbox, d outgoing, s *Stats) {
	if d.delay > 0 {
		s.Delayed++
	}
	if f.random.chance(f.reorder) {
		s.Reordered++
		d.delay += reorderMin + time.Duration(f.random.below(int(reorderMax-reorderMin)))
	}
	switch {
	case d.delay == 0:
		f.kept = append(f.kept, d)
	case !f.held.hold(now, d, out.bytes(&d)):
		s.Overflow++
	}
}

// Limits of a wheel. Each port has one.
const (
	wheelTick  = time.Millisecond
	wheelMost  = 1 << 16  // datagrams held back
	wheelBytes = 64 << 20 // bytes of those
	wheelReuse = 4 << 10  // larger pieces of memory are not kept for the next one
)

// wheel holds datagrams until they are due, in a list for each millisecond.
type wheel struct {
	slots []wheelSlot // a power of two; slot t%len holds what is due in tick t
	all   []held
	free  int32 // first unused entry of all, linked; -1: none
	now   int64 // the tick up to which everything was released
	count int
	bytes int
}

type wheelSlot struct{ first, last int32 } // -1: empty

type held struct {
	outgoing
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

// hold keeps a copy of data until d.delay has passed. It reports false where
// too much is held already. What is due must have been released before, so that
// a slot stands for one tick only.
func (w *wheel) hold(now time.Duration, d outgoing, data []byte) bool {
	if w.count >= wheelMost || w.bytes+len(data) > wheelBytes {
		return false
	}
	if w.count == 0 {
		w.now = max(w.now, int64(now/wheelTick))
	}
	i := w.take()
	h := &w.all[i]
	h.outgoing, h.data, h.next = d, append(h.data[:0], data...), -1
	w.count++
	w.bytes += len(data)

	tick := max(int64((now+d.delay+wheelTick-1)/wheelTick), w.now+1)
	s := &w.slots[tick&int64(len(w.slots)-1)]
	if s.last < 0 {
		s.first = i
	} else {
		w.all[s.last].next = i
	}
	s.last = i
	return true
}

// take returns an unused entry.
func (w *wheel) take() int32 {
	if i := w.free; i >= 0 {
		w.free = w.all[i].next
		return i
	}
	w.all = append(w.all, held{})
	return int32(len(w.all) - 1)
}

// release moves what is due to the outbox.
func (w *wheel) release(now time.Duration, out *outbox) {
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

// emit moves entry i to the outbox and returns the one after it.
func (w *wheel) emit(i int32, out *outbox) (next int32) {
	h := &w.all[i]
	d := h.outgoing
	d.off = len(out.data)
	out.data = append(out.data, h.data...)
	d.end = len(out.data)
	out.list = append(out.list, d)

	w.count--
	w.bytes -= len(h.data)
	if cap(h.data) > wheelReuse {
		h.data = nil
	}
	next = h.next
	h.next, w.free = w.free, i
	return next
}

// next returns when something is due, and false if nothing is held. It may be
// too early, never too late.
func (w *wheel) next() (time.Duration, bool) {
	return time.Duration(w.now+1) * wheelTick, w.count > 0
}
