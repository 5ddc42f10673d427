package scanner

import (
	"time"

	"github.com/a2sscan/a2sscan/reasm"
	"github.com/a2sscan/a2sscan/scanner/internal/session"
	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// receiver classifies received datagrams and puts split replies together.
type receiver struct {
	batch   []udp.Packet // the datagrams of one system call
	gone    [64]uint64   // addresses that ICMP reported as unreachable
	drained drained

	table  *reasm.Table
	unpack *decompressor
	// unpackedAt is when the decompressor last returned a reply or had none to unpack.
	unpackedAt time.Duration
	scratch    []byte
	foreign    foreign
	raw        bool
}

func newReceiver(cfg *settings) *receiver {
	return &receiver{
		batch:  make([]udp.Packet, batchLen),
		table:  reasm.New(cfg.Tuning.ByteBudget / 4),
		unpack: newDecompressor(unpackRoom),
		raw:    cfg.Raw,
	}
}

type event struct {
	session.Delivery
	waiting wire.Questions // the questions that were outstanding before the datagram came
}

// take passes one datagram to the parts of the engine. Its first two arguments are when
// the loop read the datagram, and when the kernel received it.
func (e *engine) take(now, at time.Duration, p *udp.Packet) {
	i := e.open.slots.find(p.Addr)
	if i >= 0 {
		// The time of sending is only an estimate; it may be later than the time of arrival.
		at = max(at, e.open.slots.at(i).session.Clock.FirstAt)
	}
	if e.cfg.Control.Trace != nil {
		e.cfg.Control.Trace(at, false, udp.Unpack(p.Addr), p.Data)
	}
	e.stats.RecvBytes += uint64(len(p.Data))
	if i < 0 {
		e.stranger(p)
		return
	}

	// Pass the datagram to the session.
	sl := e.open.slots.at(i)
	if sl.session.Flags.Has(session.Listening) { // a silent target answers late
		sl.session.Flags &^= session.Listening
		e.open.listening--
		e.stats.Timeouts.Reopened++
		e.addrs.reclaim(now, sl.source(), int(sl.sent))
	}
	if sl.session.Got == nil {
		sl.session.Hear(&e.open.plan, e.memory.Answer(), at, e.open.remembered(sl))
		e.outage.heard(p.Addr)
	}
	ev := e.recv.take(e.memory, at, e.open.slots.ref(i), sl, p.Data)

	// Pass the event to the parts that count datagrams or learn from them.
	e.stats.Received[ev.Class]++
	if ev.Class == session.Matched {
		e.stats.Kinds[ev.Kind]++
	}
	if ev.Kind == session.KindText && sl.session.Flags.Has(session.Limited) {
		e.addrs.slowDown(now, p.Addr)
	}
	if e.rate != nil {
		e.answered(now, sl, ev.waiting)
	}
	e.open.learn(at, sl)
	e.advance(now, i)
}

func (r *receiver) take(m *session.Memory, at time.Duration, to ref, sl *slot, datagram []byte) (ev event) {
	a := sl.session.Got
	a.LastAt = at
	a.Received++
	a.RecvBytes += uint64(len(datagram))
	if r.raw {
		a.KeepRaw(m, datagram)
	}
	ev.waiting = sl.session.Agenda.Silent()
	switch {
	case wire.IsSingle(datagram):
		ev.Delivery = sl.session.Message(m, at, datagram)
	case wire.IsSplit(datagram):
		ev.Delivery = r.fragment(m, at, to, sl, datagram)
	default:
		sl.session.Junk(wire.ErrMalformed)
		ev.Class = session.Malformed
	}
	return ev
}

func (r *receiver) fragment(m *session.Memory, at time.Duration, to ref, sl *slot, datagram []byte) session.Delivery {
	d := session.Delivery{Kind: session.KindFragment, Class: session.Matched}
	msg, outcome, err := r.table.Add(at, sl.source(), datagram, r.scratch[:0])
	r.scratch = msg[:0]
	switch {
	case err != nil:
		sl.session.Junk(codeOf(err))
		d.Class = session.Malformed
		return d
	case outcome == reasm.Conflict:
		sl.session.Contradiction()
		return d
	case outcome == reasm.Duplicate:
		d.Class = session.Duplicate
		return d
	}
	sl.session.Fragment()
	switch outcome {
	case reasm.Whole:
		reply := sl.session.Message(m, at, msg)
		d.Class, d.Full = reply.Class, reply.Full
		if reply.Kind == session.KindText {
			d.Kind = session.KindText
		}
	case reasm.Packed:
		if d.Full = !sl.session.Pack(); !d.Full {
			packed := append(make([]byte, 0, len(msg)), msg...)
			if d.Full = !r.unpack.submit(to, packed); d.Full {
				sl.session.Got.Refuse()
			}
		}
	}
	// The reply will be requested again. Without Forget, the next reply would count as a
	// duplicate.
	if d.Full {
		r.table.Forget(sl.source())
	}
	return d
}

func (e *engine) unpacked(now time.Duration) {
	if e.recv.unpack.pending() == 0 {
		e.recv.unpackedAt = now
		return
	}
	e.recv.unpack.poll(func(from ref, msg []byte, err error) {
		e.recv.unpackedAt = now
		sl := e.open.slots.alive(from)
		if sl == nil {
			return
		}
		code := wire.Error(0)
		if err != nil {
			code = codeOf(err)
		}
		sl.session.Unpacked(e.memory, now, msg, code)
		e.advance(now, from.slot)
	})
}

// keepParts stores the beginnings of the replies that a finished session received only
// in part, and drops the fragments of these replies.
func keepParts(s *session.Session, m *session.Memory, t *reasm.Table, source uint64, scratch *[]byte) {
	if s.Flags.Has(session.Split) {
		*scratch = t.Leading(source, (*scratch)[:0], func(msg []byte, full bool) { s.Got.KeepPart(m, msg, full) })
		t.Forget(source)
	}
}

func (e *engine) unreachable(now time.Duration) {
	gone := &e.recv.gone
	for n := len(gone); n == len(gone); {
		n = e.sock.Unreachable(gone[:])
		for _, addr := range gone[:n] {
			if i := e.open.slots.find(addr); i >= 0 {
				e.open.slots.at(i).session.Unreachable()
				e.advance(now, i)
			}
		}
	}
}

// stranger counts a datagram whose source has no open session: it is late or foreign.
func (e *engine) stranger(p *udp.Packet) {
	if e.open.closed.has(p.Addr) || e.open.sweep != nil && e.open.sweep.has(p.Addr) {
		e.stats.Received[session.Late]++
		return
	}
	e.stats.Received[session.Foreign]++
	e.stats.Foreign[e.recv.foreign.cause(p.Addr, p.Data)]++
}

func codeOf(err error) wire.Error {
	if code, ok := err.(wire.Error); ok {
		return code
	}
	return wire.ErrMalformed
}

// drained records how far the loop has read the socket. A question has not timed out while
// its answer may still be in the socket, so timeouts are compared with drained.until. A
// socket that is never empty delays them by at most maxBehind.
type drained struct {
	before  time.Duration // the previous value of emptyAt
	emptyAt time.Duration // when the socket was last empty
	until   time.Duration // datagrams received before this time count as processed
	behind  bool          // the loop has not caught up with the socket
}

// note records how many datagrams the last turn of the loop received.
func (d *drained) note(now time.Duration, received int) {
	if received < maxDrain {
		d.before, d.emptyAt = d.emptyAt, now
	}
	d.until = max(d.emptyAt, now-maxBehind)
	d.behind = d.emptyAt < now && d.until == d.emptyAt
}

// arrival returns the time at which the kernel received a datagram, which the loop reads
// at the time now, on the kernel's clock wall. It returns now if there is no timestamp, and
// also if the timestamp is in the future or before d.before: the system clock was set.
func (d *drained) arrival(now time.Duration, wall, stamp int64) time.Duration {
	age := time.Duration(wall - stamp)
	if stamp == 0 || age < 0 || now-age < d.before {
		return now
	}
	return now - age
}
