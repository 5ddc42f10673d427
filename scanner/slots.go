package scanner

import (
	"iter"
	"slices"
	"time"

	"github.com/a2sscan/a2sscan/scanner/internal/session"
)

// slot holds one open target. It has only what the scan needs before the first reply, so
// a silent target takes 64 bytes, and about 8 bytes in the hash table.
type slot struct {
	session   session.Session
	next      int32  // next slot in the wheel, or in the free list
	prev      int32  // previous slot in the wheel
	gen       uint32 // changes when a target takes or leaves this slot
	ip        uint32
	port      uint16
	tick      uint16 // tick of its bucket in the wheel; 0: not in the wheel
	sentBytes uint16
	sent      uint16
}

func (sl *slot) source() uint64 { return uint64(sl.ip)<<16 | uint64(sl.port) }

// slots holds the open targets and finds them by source. A Go map in place of its hash
// table took a third of the CPU time when a network was scanned.
type slots struct {
	chunks [][]slot // in chunks, so that slots never move
	free   int32    // first free slot, -1: none
	n      int      // slots in use

	heads []int32 // for each hash value, the first slot of its chain, -1: none
	chain []int32 // for each slot, the next slot in its chain, -1: none
}

const chunkSlots = 1 << 10

func newSlots() *slots {
	s := &slots{free: -1}
	s.rehash(chunkSlots)
	return s
}

func (s *slots) at(i int32) *slot { return &s.chunks[i/chunkSlots][i%chunkSlots] }

// take assigns a free slot to a source that has none, and returns its index.
func (s *slots) take(source uint64) int32 {
	if s.free < 0 {
		base := int32(len(s.chunks) * chunkSlots)
		chunk := make([]slot, chunkSlots)
		for i := range chunk {
			chunk[i].next = base + int32(i) + 1
		}
		chunk[chunkSlots-1].next = -1
		s.chunks = append(s.chunks, chunk)
		s.chain = append(s.chain, make([]int32, chunkSlots)...)
		s.free = base
	}
	i := s.free
	sl := s.at(i)
	s.free = sl.next
	*sl = slot{gen: sl.gen + 1, ip: ipOf(source), port: uint16(source)}
	if s.n++; s.n > len(s.heads) {
		s.rehash(2 * len(s.heads))
	} else {
		s.link(i)
	}
	return i
}

func (s *slots) release(i int32) {
	sl := s.at(i)
	at := s.head(sl.source())
	for *at != i {
		at = &s.chain[*at]
	}
	*at = s.chain[i]
	sl.session.Got = nil
	sl.gen++
	sl.next = s.free
	s.free = i
	s.n--
}

func (s *slots) find(source uint64) int32 {
	i := *s.head(source)
	for i >= 0 && s.at(i).source() != source {
		i = s.chain[i]
	}
	return i
}

func (s *slots) head(source uint64) *int32 { return &s.heads[hash(source)%uint64(len(s.heads))] }

func (s *slots) link(i int32) {
	head := s.head(s.at(i).source())
	s.chain[i], *head = *head, i
}

// rehash distributes the slots in use over n new chains.
func (s *slots) rehash(n int) {
	s.heads = slices.Repeat([]int32{-1}, n)
	for i := range s.all() {
		s.link(i)
	}
}

// all yields the slots in use: those whose gen is odd.
func (s *slots) all() iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for i := range int32(len(s.chain)) {
			if s.at(i).gen%2 == 1 && !yield(i) {
				return
			}
		}
	}
}

// ref identifies a slot for as long as its target is open.
type ref struct {
	slot int32
	gen  uint32
}

func (s *slots) ref(i int32) ref { return ref{i, s.at(i).gen} }

// alive returns the slot that r identifies, or nil if its target is finished.
func (s *slots) alive(r ref) *slot {
	if sl := s.at(r.slot); sl.gen == r.gen {
		return sl
	}
	return nil
}

type queue struct {
	refs []ref
	head int // index of the first ref in the queue
}

func (q *queue) push(r ref) {
	if len(q.refs) == cap(q.refs) && q.head > len(q.refs)/2 {
		q.refs = q.refs[:copy(q.refs, q.refs[q.head:])]
		q.head = 0
	}
	q.refs = append(q.refs, r)
}

func (q *queue) n() int { return len(q.refs) - q.head }

// wheel is a hashed timing wheel that wakes slots. A slot whose wake-up time is postponed,
// as by an answer, stays in its bucket, and is filed again when the bucket comes up. The
// lowest 16 bits of its tick are enough, because no slot is filed more than one turn of the
// wheel ahead.
type wheel struct {
	heads [wheelBuckets]int32 // first slot of each bucket, -1: none
	done  int64               // the last tick that was processed
	n     int
}

const (
	wheelTick    = 4 * time.Millisecond
	wheelBuckets = 1024 // a turn takes 4 s; a slot that wakes after more than a turn is filed again in each turn
)

func newWheel() *wheel {
	w := new(wheel)
	for i := range w.heads {
		w.heads[i] = -1
	}
	return w
}

// file puts slot i into the bucket of its wake-up time. A slot that is in an earlier
// bucket stays there.
func (w *wheel) file(s *slots, i int32) {
	sl := s.at(i)
	tick := min(max(int64(sl.session.Clock.Wake()/wheelTick)+1, w.done+1), w.done+wheelBuckets)
	if sl.tick != 0 {
		if w.due(sl) <= tick {
			return
		}
		w.remove(s, i)
	}
	// 0 means that the slot is not in the wheel, so a tick whose lowest 16 bits are 0 is
	// stored as 1.
	sl.tick = max(uint16(tick), 1)
	head := &w.heads[sl.tick%wheelBuckets]
	sl.prev, sl.next = -1, *head
	if *head >= 0 {
		s.at(*head).prev = i
	}
	*head = i
	w.n++
}

func (w *wheel) due(sl *slot) int64 { return w.done + int64(sl.tick-uint16(w.done)) }

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

// advance calls fire for every slot whose wake-up time has passed. It files a slot again
// if the wake-up time was postponed. fire may file and free any slot.
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
			if sl.session.Clock.Wake() <= now {
				fire(i)
			} else {
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
