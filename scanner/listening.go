package scanner

import (
	"time"

	"github.com/a2sscan/a2sscan/wire"
)

// listening remembers the targets that a scan which learns its timeouts gave up before
// the fixed schedule would have. A late reply opens them again. It is a queue in the
// order in which they were given up, and a hash table whose chains are linked through
// the queue. A place in the queue takes 16 bytes. There are no pointers except those
// of labels, which few lists have.
//
// A place holds a target's packed source and, in the bits above it, the low 16 bits of
// the millisecond in which the first datagram was sent; spans has the time until the
// last datagram. 16 bits of milliseconds are enough for a minute.
type listening struct {
	keys  []uint64 // packed source + 1, and the time of the first datagram above it; 0: no longer listened for
	spans []uint16 // ms from the first datagram to the last
	links []uint32 // the next older place + 1 in the chain of each place; 0: none
	heads []uint32 // the newest place + 1 of each chain

	head   uint32 // the place of the oldest target
	places int    // number of places from the oldest target to the newest
	n      int    // of these: still listened for
	labels map[uint64]*label
}

const (
	sourceBits = 48
	sourceMask = 1<<sourceBits - 1

	maxListening  = 1 << 20 // 16 MiB
	maxListenTime = time.Minute
	leastPlaces   = 1 << 10
	chainPlaces   = 2 // places per chain
)

// listened is a target that was given up early.
type listened struct {
	addr    uint64
	label   *label
	firstAt time.Duration
	lastAt  time.Duration
}

// full reports whether the oldest target must be removed before another one is added.
func (l *listening) full() bool { return l.places == maxListening }

// push adds a target that is not in the queue.
func (l *listening) push(t listened) {
	if l.places == len(l.keys) {
		l.grow()
	}
	p := l.place(l.places)
	l.places++
	l.n++
	l.keys[p] = (t.addr + 1) | uint64(uint16(t.firstAt/time.Millisecond))<<sourceBits
	l.spans[p] = uint16(min((t.lastAt-t.firstAt)/time.Millisecond, 1<<16-1))
	l.link(p)
	if t.label != nil {
		if l.labels == nil {
			l.labels = map[uint64]*label{}
		}
		l.labels[t.addr] = t.label
	}
}

// place returns the place of the i-th target, counted from the oldest.
func (l *listening) place(i int) uint32 { return (l.head + uint32(i)) & uint32(len(l.keys)-1) }

// link makes a place the first of its chain.
func (l *listening) link(p uint32) {
	head := l.chain(l.keys[p]&sourceMask - 1)
	l.links[p] = *head
	*head = p + 1
}

// chain returns the head of the chain of a source.
func (l *listening) chain(addr uint64) *uint32 {
	return &l.heads[hash(addr)&uint64(len(l.heads)-1)]
}

// find returns the link that points to the place of a source, or nil if the source is
// not in the queue.
func (l *listening) find(addr uint64) *uint32 {
	if l.n == 0 {
		return nil
	}
	at := l.chain(addr)
	for *at != 0 && l.keys[*at-1]&sourceMask != addr+1 {
		at = &l.links[*at-1]
	}
	if *at == 0 {
		return nil
	}
	return at
}

func (l *listening) has(addr uint64) bool { return l.find(addr) != nil }

// take removes a source and returns its target, or false if the source is not in the
// queue.
func (l *listening) take(now time.Duration, addr uint64) (listened, bool) {
	at := l.find(addr)
	if at == nil {
		return listened{}, false
	}
	p := *at - 1
	t := l.at(now, p)
	*at = l.links[p]
	l.keys[p], l.links[p] = 0, 0
	l.n--
	delete(l.labels, addr)
	l.skip()
	return t, true
}

// at returns the target of a place.
func (l *listening) at(now time.Duration, p uint32) listened {
	key := l.keys[p]
	ms := now / time.Millisecond
	ago := uint16(ms) - uint16(key>>sourceBits)
	addr := key&sourceMask - 1
	firstAt := (ms - time.Duration(ago)) * time.Millisecond
	return listened{
		addr: addr, label: l.labels[addr], firstAt: firstAt,
		lastAt: firstAt + time.Duration(l.spans[p])*time.Millisecond,
	}
}

// skip removes the empty places at the head of the queue.
func (l *listening) skip() {
	for l.places > 0 && l.keys[l.head] == 0 {
		l.head = l.place(1)
		l.places--
	}
}

// oldest returns the target that was given up first. The queue must not be empty.
func (l *listening) oldest(now time.Duration) listened { return l.at(now, l.head) }

// all yields every target.
func (l *listening) all(now time.Duration, yield func(listened)) {
	for i := range l.places {
		if p := l.place(i); l.keys[p] != 0 {
			yield(l.at(now, p))
		}
	}
}

// grow doubles the size of the queue.
func (l *listening) grow() {
	old, n := *l, max(leastPlaces, 2*len(l.keys))
	l.keys, l.spans = make([]uint64, n), make([]uint16, n)
	l.links, l.heads = make([]uint32, n), make([]uint32, n/chainPlaces)
	l.head = 0
	for i := range l.places {
		p := old.place(i)
		l.keys[i], l.spans[i] = old.keys[p], old.spans[p]
		if l.keys[i] != 0 {
			l.link(uint32(i))
		}
	}
}

// listens reports whether to go on listening for the target of a session that is done:
// it sent nothing, was not sent the fallback, and the fixed schedule would wait
// longer. In a scan with a second pass no target is listened for.
func (s *sessions) listens(now time.Duration, t *session) bool {
	if s.learner == nil || t.got != nil || t.beside&^(besideBlind|besideInfoOnly) != 0 || s.plan.schedule.SecondPass {
		return false
	}
	if end := s.silenceEnd(t.clock.firstAt); now >= end || end-t.clock.firstAt > maxListenTime {
		return false
	}
	for q := range each(lowest(s.plan.questions)) {
		return t.agenda.err[q] == wire.ErrTimeout
	}
	return false
}

// silenceEnd returns the time at which the fixed schedule gives up a target that stays
// silent.
func (s *sessions) silenceEnd(firstAt time.Duration) time.Duration {
	return firstAt + s.plan.schedule.Silence()
}

// listen closes a session and goes on listening for its target.
func (s *sessions) listen(i int32) {
	sl := s.slots.at(i)
	c := &sl.session.clock
	s.listening.push(listened{sl.source(), s.slots.labels.get(i), c.firstAt, c.lastAt()})
	s.release(i)
}

// reopen opens a target that was given up early. It returns its slot, or -1 if there
// is no such target.
func (s *sessions) reopen(now time.Duration, addr uint64) int32 {
	x, ok := s.listening.take(now, addr)
	if !ok {
		return -1
	}
	r := s.begin(entry{x.addr, x.label})
	sl := s.slots.at(r.slot)
	sl.sent, sl.sentBytes = s.plan.sentTo(1 + s.plan.schedule.Retries)
	s.plan.resume(&sl.session, x.firstAt, x.lastAt)
	s.wheel.file(s.slots, r.slot)
	return r.slot
}

// resume puts the session of a reopened target into the state that it would have if
// the target had not been given up early.
func (p *plan) resume(t *session, firstAt, lastAt time.Duration) {
	qs := lowest(t.agenda.open)
	for range p.schedule.Retries {
		t.agenda.count(qs)
	}
	t.onSent(firstAt, qs)
	t.clock.sent(lastAt)
	t.quiet = uint8(min(p.schedule.Retries, 255))
	if p.tryPlayers {
		t.beside |= besideBlind
	}
	t.clock.wakeAt(firstAt + p.schedule.Silence())
}

// expire ends listening for the oldest target and returns its outcome.
func (s *sessions) expire(now time.Duration) outcome {
	x := s.listening.oldest(now)
	s.listening.take(now, x.addr)
	s.remember(x.addr, mark{})
	return s.silentOutcome(now, &x)
}

// listenEnd returns the time at which listening for the oldest target ends, or 0 if no
// target is listened for.
func (s *sessions) listenEnd(now time.Duration) time.Duration {
	if s.listening.n == 0 {
		return 0
	}
	x := s.listening.oldest(now)
	end := s.silenceEnd(x.firstAt)
	if last := s.plan.last.silent; last > 0 {
		end = min(end, x.lastAt+last)
	}
	return end
}

// silentOutcome returns the outcome of a target that stayed silent.
func (s *sessions) silentOutcome(now time.Duration, x *listened) outcome {
	o := outcome{
		addr: x.addr, label: x.label, asked: x.label.questions(s.plan.questions),
		firstAt: x.firstAt, lastAt: x.lastAt, endAt: now,
	}
	o.sent, o.sentBytes = s.plan.sentTo(1 + s.plan.schedule.Retries)
	for q := range each(o.asked.status()) {
		o.err[q] = wire.ErrTimeout
	}
	return o
}
