package scanner

import "time"

// wheel wakes slots up: a hashed timing wheel of lists through the slots
// themselves, so that waiting costs no memory of its own and no timer objects.
// A slot that is to be woken later than it is filed for is left where it is
// and filed anew when its bucket comes: an answer, which puts the wake-up off,
// costs nothing here.
//
// A slot knows its tick by the lowest 16 bits. They are enough, since it is
// filed for no later than once around.
type wheel struct {
	heads [wheelBuckets]int32 // first slot of each bucket, -1: none
	done  int64               // the last tick that was served
	n     int
}

const (
	wheelTick    = 4 * time.Millisecond
	wheelBuckets = 1024 // 4 s once around; a later wake-up is filed for the end of it
)

func newWheel() *wheel {
	w := new(wheel)
	for i := range w.heads {
		w.heads[i] = -1
	}
	return w
}

// file puts slot i in the bucket of its wake-up time, or moves it there where
// that is earlier than the bucket it is in.
func (w *wheel) file(s *slots, i int32) {
	sl := s.at(i)
	tick := min(max(int64(sl.talk.wake()/wheelTick)+1, w.done+1), w.done+wheelBuckets)
	if sl.tick != 0 {
		if w.due(sl) <= tick {
			return
		}
		w.remove(s, i)
	}
	sl.tick = tickMark(tick)
	head := &w.heads[sl.tick%wheelBuckets]
	sl.prev, sl.next = -1, *head
	if *head >= 0 {
		s.at(*head).prev = i
	}
	*head = i
	w.n++
}

// tickMark is what a slot knows of its tick. It is never 0, which says that a
// slot is not filed: one tick in 2^16 is taken for the next.
func tickMark(tick int64) uint16 { return max(uint16(tick), 1) }

// due is the tick that a slot is filed for.
func (w *wheel) due(sl *slot) int64 { return w.done + int64(sl.tick-uint16(w.done)) }

// remove takes slot i out, if it is in.
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

// advance calls fire for every slot whose wake-up time has passed, and files
// those again that are to be woken later. fire may file and free any slot.
func (w *wheel) advance(s *slots, now time.Duration, fire func(i int32)) {
	tick := int64(now / wheelTick)
	if tick-w.done > wheelBuckets {
		w.done = tick - wheelBuckets
	}
	for w.done < tick {
		w.done++
		w.serve(s, now, fire)
	}
}

// serve empties the bucket of the tick that is due.
func (w *wheel) serve(s *slots, now time.Duration, fire func(i int32)) {
	head := &w.heads[w.done%wheelBuckets]
	var later int32 = -1
	for *head >= 0 {
		i := *head
		sl := s.at(i)
		w.remove(s, i)
		switch {
		case sl.talk.wakeMS == 0:
		case sl.talk.wake() <= now:
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

// next is when the next bucket that holds slots comes, looking ahead a tenth
// of a second; 0: none.
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
