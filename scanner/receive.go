package scanner

import (
	"net/netip"
	"time"

	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// receiver is the receiving part of the loop: it finds the session of each datagram,
// keeps the answer that the datagram brings, and counts the datagram. It returns the
// slots that had an event; the engine advances them.
type receiver struct {
	batch   []udp.Packet // the datagrams of one system call
	gone    [64]uint64   // sources that ICMP reported as unreachable
	drained drained

	strangers    strangers
	lately       lately
	lateConflict func(netip.AddrPort) // nil: not wanted
	parts        reassembly
	info         wire.Info // scratch space for decoding

	open  *sessions
	addrs *addrs
	pool  *pool
	rate  *rateFinder // nil: the scan has a rate
	stats *Stats
	raw   bool
	trace func(now time.Duration, sent bool, addr netip.AddrPort, datagram []byte)
}

// take handles one datagram, which the kernel received at the time at and the loop
// reads now. It returns the slot of its session, or -1.
func (r *receiver) take(now, at time.Duration, p *udp.Packet) int32 {
	i := r.open.slotOf(p.Addr)
	if i >= 0 {
		at = max(at, r.open.slots.at(i).session.clock.firstAt) // the time of sending is known less exactly
	}
	if r.trace != nil {
		r.trace(at, false, udp.Unpack(p.Addr), p.Data)
	}
	r.stats.RecvBytes += uint64(len(p.Data))
	if i < 0 {
		if i = r.reopen(now, p.Addr); i < 0 {
			r.stranger(p)
			return -1
		}
	}
	sl := r.open.slots.at(i)
	a := r.answer(at, i, &sl.session)
	a.count(at, p.Data)
	if r.raw {
		a.keepRaw(r.pool, p.Data)
	}
	waiting := sl.session.agenda.silent()
	r.account(now, sl, r.deliver(at, i, p.Data))
	if r.rate != nil {
		r.rate.noteAnswered(now, sl, waiting)
	}
	if r.open.learner != nil {
		r.open.learn(at, sl)
	}
	return i
}

// reopen opens a target that was given up early, because it answers after all. It
// returns its slot, or -1 if there is no such target.
func (r *receiver) reopen(now time.Duration, addr uint64) int32 {
	i := r.open.reopen(now, addr)
	if i >= 0 {
		r.stats.Timeouts.Reopened++
		r.addrs.reclaim(now, addr, int(r.open.slots.at(i).sent))
	}
	return i
}

// answer returns the answer of the session in slot i. It creates the answer at the first
// datagram.
func (r *receiver) answer(at time.Duration, i int32, t *session) *answer {
	if t.got == nil {
		a := r.pool.answer()
		a.firstAt = at
		a.attempt = t.quiet + 1 + uint8(r.open.plan.attemptsBefore())
		t.begin(a, r.open.slots.labels.get(i).remembered())
	}
	return t.got
}

// count adds a datagram to the counts of an answer.
func (a *answer) count(at time.Duration, datagram []byte) {
	a.lastAt = at
	a.received++
	a.recvBytes += uint64(len(datagram))
}

// deliver passes a datagram that came at the time at to the session in slot i.
func (r *receiver) deliver(at time.Duration, i int32, datagram []byte) delivery {
	t := &r.open.slots.at(i).session
	switch {
	case wire.IsSingle(datagram):
		return t.got.deliver(t, r.pool, at, datagram, &r.info)
	case wire.IsSplit(datagram):
		return r.fragment(at, i, datagram)
	}
	t.onJunk(wire.ErrMalformed)
	return delivery{kind: replyOther, class: classMalformed}
}

func (r *receiver) account(now time.Duration, sl *slot, d delivery) {
	r.stats.Received[d.class]++
	if d.class == classMatched {
		r.stats.Kinds[d.kind]++
	}
	if d.kind == replyText && sl.session.flags&flagLimited != 0 {
		r.addrs.slowDown(now, sl.source())
	}
}

// unreachable calls changed for each session whose server ICMP reports as
// unreachable.
func (r *receiver) unreachable(sock transport, changed func(i int32)) {
	for n := len(r.gone); n == len(r.gone); {
		n = sock.Unreachable(r.gone[:])
		for _, addr := range r.gone[:n] {
			if i := r.open.slotOf(addr); i >= 0 {
				r.open.slots.at(i).session.onUnreachable()
				changed(i)
			}
		}
	}
}

// drained is how far the loop has read the socket. A question whose answer may still
// be in the socket is not silent, so timeouts are compared with until instead of the
// current time. A socket that is never empty delays them by maxBehind at most.
type drained struct {
	before  time.Duration // when the socket was empty the last time but one
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
// arrival returns now if there is no timestamp, or if the timestamp is impossible
// because that clock was set: it lies in the future, or before the socket was empty
// the last time but one.
func (d *drained) arrival(now time.Duration, wall, stamp int64) time.Duration {
	age := time.Duration(wall - stamp)
	if stamp == 0 || age < 0 || now-age < d.before {
		return now
	}
	return now - age
}
