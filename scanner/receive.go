package scanner

import (
	"net/netip"
	"time"

	"github.com/a2sscan/a2sscan/reasm"
	"github.com/a2sscan/a2sscan/scanner/internal/session"
	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// receiver is the receiving part of the loop: it finds the session of each datagram,
// gives it the datagram, and counts the datagram. It returns the slots that had an
// event; the engine advances them.
type receiver struct {
	batch   []udp.Packet // the datagrams of one system call
	gone    [64]uint64   // sources that ICMP reported as unreachable
	drained drained

	table   *reasm.Table  // puts split replies together
	worker  *reasm.Worker // unpacks compressed replies
	scratch []byte
	foreign foreign
	info    wire.Info // scratch space for decoding
	raw     bool
	trace   func(now time.Duration, sent bool, addr netip.AddrPort, datagram []byte)

	open   *sessions
	addrs  *addrs
	memory *session.Memory
	rate   *rateFinder       // nil: the scan has a rate
	heard  func(addr uint64) // called with each target that answers
	stats  *Stats
}

func newReceiver(cfg *settings, open *sessions, a *addrs, memory *session.Memory, rate *rateFinder, heard func(addr uint64), stats *Stats) *receiver {
	return &receiver{
		batch:  make([]udp.Packet, batchLen),
		table:  reasm.New(cfg.Tuning.ByteBudget / 4),
		worker: reasm.NewWorker(workerQueue),
		raw:    cfg.Raw, trace: cfg.Control.Trace,
		open: open, addrs: a, memory: memory, rate: rate, heard: heard, stats: stats,
	}
}

// take handles one datagram: at is when the kernel received it, now when the loop reads
// it. take returns the slot of its session, or -1.
func (r *receiver) take(now, at time.Duration, p *udp.Packet) int32 {
	i := r.open.slots.find(p.Addr)
	if i >= 0 {
		at = max(at, r.open.slots.at(i).session.Clock.FirstAt) // the time of sending is known less exactly than the time of arrival
	}
	if r.trace != nil {
		r.trace(at, false, udp.Unpack(p.Addr), p.Data)
	}
	r.stats.RecvBytes += uint64(len(p.Data))
	if i < 0 {
		r.stranger(p)
		return -1
	}
	sl := r.open.slots.at(i)
	if sl.session.Flags.Has(session.Listening) { // the target answers late
		sl.session.Flags &^= session.Listening
		r.open.listening--
		r.stats.Timeouts.Reopened++
		r.addrs.reclaim(now, p.Addr, int(sl.sent))
	}
	if sl.session.Got == nil {
		r.heard(p.Addr)
		sl.session.Hear(&r.open.plan, r.memory.Answer(), at, r.open.labels[p.Addr].remembered())
	}
	a := sl.session.Got
	a.LastAt = at
	a.Received++
	a.RecvBytes += uint64(len(p.Data))
	if r.raw {
		a.KeepRaw(r.memory, p.Data)
	}
	waiting := sl.session.Agenda.Silent()
	var d session.Delivery
	switch {
	case wire.IsSingle(p.Data):
		d = sl.session.Message(r.memory, at, p.Data)
	case wire.IsSplit(p.Data):
		d = r.fragment(at, i, sl, p.Data)
	default:
		sl.session.Junk(wire.ErrMalformed)
		d.Class = session.Malformed
	}
	r.stats.Received[d.Class]++
	if d.Class == session.Matched {
		r.stats.Kinds[d.Kind]++
	}
	if d.Kind == session.KindText && sl.session.Flags.Has(session.Limited) {
		r.addrs.slowDown(now, p.Addr)
	}
	if r.rate != nil {
		r.rate.noteAnswered(now, sl, waiting)
	}
	if l := r.open.learner; l != nil {
		if a.Took > 0 {
			l.asked.add(a.Took, true)
			a.Took = 0
		}
		switch {
		case r.open.plan.Second || sl.session.Agenda.Asked == 0:
		case a.Received == 1:
			a.Unsure = sl.sent > 1
			l.first(p.Addr, at-sl.session.Clock.FirstAt, !a.Unsure)
		case a.Doubled:
			a.Doubled, a.Unsure, a.Attempt = false, false, 1
			a.Late = a.FirstAt - sl.session.Clock.FirstAt
			l.late(p.Addr, a.Late)
		}
	}
	return i
}

// fragment handles a fragment of a split reply for the session in slot i.
func (r *receiver) fragment(at time.Duration, i int32, sl *slot, datagram []byte) session.Delivery {
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
		reply := sl.session.Message(r.memory, at, msg)
		d.Class, d.Full = reply.Class, reply.Full
		if reply.Kind == session.KindText {
			d.Kind = session.KindText
		}
	case reasm.Packed:
		if d.Full = !sl.session.Pack(); !d.Full {
			packed := append(make([]byte, 0, len(msg)), msg...)
			if d.Full = !r.worker.Submit(r.open.slots.ref(i).tag64(), packed); d.Full {
				sl.session.Got.Refuse()
			}
		}
	}
	// The reply will be requested again: the table must not take the new one for a
	// duplicate.
	if d.Full {
		r.table.Forget(sl.source())
	}
	return d
}

// collect takes replies back from the decompressor and calls changed for the
// session of each.
func (r *receiver) collect(now time.Duration, changed func(i int32)) {
	if r.worker.Pending() == 0 {
		return
	}
	r.worker.Poll(func(tag uint64, _, msg []byte, err error) {
		ref := refOf(tag)
		sl := r.open.slots.alive(ref)
		if sl == nil {
			return
		}
		code := wire.Error(0)
		if err != nil {
			code = codeOf(err)
		}
		sl.session.Unpacked(r.memory, now, msg, code)
		changed(ref.slot)
	})
}

// keepParts stores the beginnings of the replies that a finished session received only
// in part, and drops its fragments.
func keepParts(s *session.Session, m *session.Memory, t *reasm.Table, source uint64, scratch *[]byte) {
	if s.Flags.Has(session.Split) {
		*scratch = t.Leading(source, (*scratch)[:0], func(msg []byte, full bool) { s.Got.KeepPart(m, msg, full) })
		t.Forget(source)
	}
}

// unreachable calls changed for each session whose server ICMP reports as
// unreachable.
func (r *receiver) unreachable(sock transport, changed func(i int32)) {
	for n := len(r.gone); n == len(r.gone); {
		n = sock.Unreachable(r.gone[:])
		for _, addr := range r.gone[:n] {
			if i := r.open.slots.find(addr); i >= 0 {
				r.open.slots.at(i).session.Unreachable()
				changed(i)
			}
		}
	}
}

// stranger counts a datagram whose source has no open session: it is late or foreign.
func (r *receiver) stranger(p *udp.Packet) {
	if r.open.closed.has(p.Addr) || r.open.sweep != nil && r.open.sweep.has(p.Addr) {
		r.stats.Received[session.Late]++
		return
	}
	r.stats.Received[session.Foreign]++
	r.stats.Foreign[r.foreign.cause(p.Addr, p.Data, &r.info)]++
}

// codeOf returns err as a code, or ErrMalformed if err is not a wire.Error.
func codeOf(err error) wire.Error {
	if code, ok := err.(wire.Error); ok {
		return code
	}
	return wire.ErrMalformed
}

// drained tracks how far the loop has read the socket. If the answer to a question may
// still be in the socket, the question has not timed out. So timeouts are compared with
// until, not with the current time. A socket that is never empty delays timeouts by at
// most maxBehind.
type drained struct {
	before  time.Duration // when the socket was last empty, earlier than emptyAt
	emptyAt time.Duration // when the socket was last empty
	until   time.Duration // everything received before this time has been processed
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

// arrival returns the time at which the kernel received a datagram that the loop reads
// now. stamp is the kernel's timestamp, and wall the current time on the same clock.
// arrival returns now if there is no timestamp, or if the timestamp is impossible because
// the clock was set: if it is in the future, or before d.before.
func (d *drained) arrival(now time.Duration, wall, stamp int64) time.Duration {
	age := time.Duration(wall - stamp)
	if stamp == 0 || age < 0 || now-age < d.before {
		return now
	}
	return now - age
}
