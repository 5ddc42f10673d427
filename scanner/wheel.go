package scanner

import "time"

// wheel is a hashed timing wheel that wakes slots. Its buckets are lists linked
// through the slots themselves, so that waiting takes no memory and no timer objects.
// If a wake-up time is postponed, the slot stays in its bucket, and is filed again
// when the bucket comes up. So an answer, which postpones the time, costs nothing
// here.
//
// A slot stores the lowest 16 bits of its tick. They are enough, since no slot is
// filed more than one turn of the wheel ahead.
type wheel struct {
	heads [wheelBuckets]int32 // first slot of each bucket, -1: none
	done  int64               // the last tick that was processed
	n     int
}

const (
	wheelTick    = 4 * time.Millisecond
	wheelBuckets = 1024 // a turn takes 4 s; a later wake-up is filed at the end of the turn
)

func newWheel() *wheel {
	w := new(wheel)
	for i := range w.heads {
		w.heads[i] = -1
	}
	return w
}

// file puts slot i into the bucket of its wake-up time. A slot that is in an
// earlier bucket stays there.
func (w *wheel) file(s *slots, i int32) {
	sl := s.at(i)
	tick := min(max(int64(sl.session.Clock.Wake()/wheelTick)+1, w.done+1), w.done+wheelBuckets)
	if sl.tick != 0 {
		if w.due(sl) <= tick {
			return
		}
		w.remove(s, i)
	}
	sl.tick = max(uint16(tick), 1) // 0 means not filed: one tick in 2^16 is stored as the next one
	head := &w.heads[sl.tick%wheelBuckets]
	sl.prev, sl.next = -1, *head
	if *head >= 0 {
		s.at(*head).prev = i
	}
	*head = i
	w.n++
}

// due returns the tick for which a slot is filed.
func (w *wheel) due(sl *slot) int64 { return w.done + int64(sl.tick-uint16(w.done)) }

// remove takes slot i out of the wheel if it is in it.
func (w *wheel) remove(s *slots, i int32) {
	sl := s.at(i)
	if sl.tick == 0 {
		return
	}
	if sl.prev >= 0 {
		s.at(sl.prev).next = sl.next
	} else {
		w.heads[sl.tick%wheelBuckets] = sl.next
	}
	if sl.next >= 0 {
		s.at(sl.next).prev = sl.prev
	}
	sl.tick = 0
	w.n--
}

// advance calls fire for every slot whose wake-up time has passed. It files a slot
// again if its time has moved to later. fire may file and free any slot.
func (w *wheel) advance(s *slots, now time.Duration, fire func(i int32)) {
	tick := int64(now / wheelTick)
	w.done = max(w.done, tick-wheelBuckets)
	for w.done < tick {
		w.done++
		later := int32(-1)
		for head := &w.heads[w.done%wheelBuckets]; *head >= 0; {
			i := *head
			sl := s.at(i)
			w.remove(s, i)
			switch wake := sl.session.Clock.Wake(); {
			case wake == 0:
			case wake <= now:
				fire(i)
			default:
				sl.next, later = later, i
			}
		}
		for later >= 0 {
			i := later
			later = s.at(i).next
			w.file(s, i)
		}
	}
}

// next returns the time of the next bucket that holds slots, or 0 if there is none
// within the next tenth of a second.
func (w *wheel) next() time.Duration {
	if w.n == 0 {
		return 0
	}
	for tick := w.done + 1; tick <= w.done+int64(idleWait/wheelTick); tick++ {
		if w.heads[tick%wheelBuckets] >= 0 {
			return time.Duration(tick) * wheelTick
		}
	}
	return 0
}
