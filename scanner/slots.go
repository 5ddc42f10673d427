package scanner

import "github.com/a2sscan/a2sscan/scanner/internal/session"

// slot holds one open target. A silent target needs nothing else, so a slot has
// only what the scan needs before the first reply: 64 bytes, and about 30 in the index.
type slot struct {
	session   session.Session
	next      int32  // in the wheel, or in the free list
	prev      int32  // in the wheel
	gen       uint32 // changes when a target takes or leaves this slot
	ip        uint32
	port      uint16
	tick      uint16 // of the wheel, 0: not filed
	sentBytes uint16
	sent      uint16
}

// source returns the target's packed address and port.
func (sl *slot) source() uint64 { return uint64(sl.ip)<<16 | uint64(sl.port) }

// slots holds the open targets, in chunks so that they never move.
type slots struct {
	chunks [][]slot
	free   int32 // first free slot, -1: none
	n      int   // slots in use
}

const chunkSlots = 1 << 10

func newSlots() *slots { return &slots{free: -1} }

func (s *slots) at(i int32) *slot { return &s.chunks[i/chunkSlots][i%chunkSlots] }

// take returns a free slot, cleared except for its generation.
func (s *slots) take() int32 {
	if s.free < 0 {
		base := int32(len(s.chunks) * chunkSlots)
		chunk := make([]slot, chunkSlots)
		for i := range chunk {
			chunk[i].next = base + int32(i) + 1
		}
		chunk[chunkSlots-1].next = -1
		s.chunks = append(s.chunks, chunk)
		s.free = base
	}
	i := s.free
	sl := s.at(i)
	s.free = sl.next
	s.n++
	*sl = slot{gen: sl.gen + 1}
	return i
}

// release frees a slot. From then on its refs are no longer alive.
func (s *slots) release(i int32) {
	sl := s.at(i)
	sl.session.Got = nil
	sl.gen++
	sl.next = s.free
	s.free = i
	s.n--
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

// tag64 packs a ref into a number, which the decompressor passes through.
func (r ref) tag64() uint64 { return uint64(r.gen)<<32 | uint64(uint32(r.slot)) }

func refOf(tag uint64) ref { return ref{int32(uint32(tag)), uint32(tag >> 32)} }

// queue is a FIFO queue of refs that reuses its memory.
type queue struct {
	buf  []ref
	head int
	n    int
}

func (q *queue) push(r ref) {
	if q.n == len(q.buf) {
		buf := make([]ref, max(64, 2*len(q.buf)))
		for i := range q.n {
			buf[i] = q.buf[(q.head+i)&(len(q.buf)-1)]
		}
		q.buf, q.head = buf, 0
	}
	q.buf[(q.head+q.n)&(len(q.buf)-1)] = r
	q.n++
}

// first returns the ref that pop removes.
func (q *queue) first() ref { return q.buf[q.head] }

func (q *queue) pop() {
	q.head = (q.head + 1) & (len(q.buf) - 1)
	q.n--
}
