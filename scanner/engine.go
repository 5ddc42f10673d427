package scanner

import (
	"context"
	"iter"
	"time"

	"github.com/a2sscan/a2sscan/scanner/congestion"
	"github.com/a2sscan/a2sscan/scanner/internal/session"
	"github.com/a2sscan/a2sscan/wire"
)

const (
	batchLen   = 128           // datagrams per system call
	requestLen = 32            // a request is at most 29 bytes
	maxDrain   = 16 * batchLen // maximum number of datagrams received before the loop sends again
	// While maxUnhandled results wait for the caller's function, no target is started.
	maxUnhandled = 1 << 11
	maxAgain     = 500                    // maximum number of attempts to send a datagram that the kernel refuses with ErrAgain
	againWait    = time.Millisecond       // pause between two of these attempts
	maxBehind    = 2 * time.Second        // maximum delay of timeouts while the loop never finds the socket empty
	pollWait     = 2 * time.Millisecond   // longest sleep while the loop waits for the caller's function, memory or the decompressor
	idleWait     = 100 * time.Millisecond // longest sleep of the loop, so that the Monitor gets new numbers
	inspectEvery = 5 * time.Second        // time between two searches for overdue sessions
	unpackRoom   = 64 << 20               // bytes that the replies in the decompressor may take
)

// engine is a running scan. The package documentation describes its turns and its parts.
type engine struct {
	cfg   settings
	start time.Time
	sock  transport
	stats Stats

	open     *sessions // the targets that were started and are not finished
	supply   *supply   // the targets to start
	addrs    *addrs    // enforces the limits per address
	recv     *receiver
	sender   *sender
	pacer    *pacer  // decides how many datagrams to send
	outage   *outage // knows whether this machine's network is away, and owns the clock
	memory   *session.Memory
	handoff  *handoff // passes finished targets to the finisher
	finisher *finisher
	// rate finds the rate of the scan. It is nil if the scan has a fixed rate.
	rate *congestion.Control

	clock       func() time.Duration // the time of the scan; tests replace it
	draining    bool
	quietEnd    time.Duration // when the cooldown is over; 0 if it has not begun
	publishedAt time.Duration // when the Monitor last got the numbers
	snapshotAt  time.Duration // when the last snapshot was taken
	turnedAt    time.Duration // when the last turn of the loop began
	inspectAt   time.Duration // when the loop next searches for overdue sessions
}

func newEngine(cfg settings, sock transport, handle func(*Result)) *engine {
	e := &engine{
		cfg: cfg, start: time.Now().Add(-cfg.waited), sock: sock,
		open: newSessions(&cfg), supply: newSupply(&cfg, sock.Interrupt), addrs: newAddrs(&cfg),
		recv: newReceiver(&cfg), sender: newSender(&cfg),
		memory: session.NewMemory(cfg.Tuning.ByteBudget / 4 * 3), handoff: newHandoff(cfg.Tuning.unhandled),
	}
	e.outage, e.pacer = newOutage(&cfg, sock, e.start), newPacer(&cfg, e.start)
	e.clock = e.outage.clock
	if e.pacer.finds {
		e.rate = congestion.New(max(cfg.Rate, 0))
		e.pacer.adopt(0, e.rate.Rate)
	}
	e.finisher = &finisher{
		start: e.start, questions: cfg.Questions, handle: handle, snapshot: cfg.Resume.Snapshot, raw: cfg.Raw,
	}
	return e
}

func (e *engine) scan(ctx context.Context, targets iter.Seq[Target]) (Stats, error) {
	go e.supply.list.run(targets)
	go e.finisher.run(e.handoff)
	defer context.AfterFunc(ctx, e.sock.Interrupt)()
	err := e.loop(ctx)
	e.supply.list.end()
	e.recv.unpack.close()
	e.stats.Wait = waitOutput // the caller's function may not have processed all results yet
	e.publish()
	var last *Snapshot
	if e.cfg.Resume.Snapshot != nil {
		last = e.snapshot()
	}
	e.handoff.end(last, e.memory)
	e.stats.Wait = WaitNothing
	e.outage.settle(e.clock())
	rest := e.supply.list.read.Load() - e.stats.Taken // still in the feed
	e.stats.Taken += rest
	e.stats.Unfinished = rest + uint64(e.addrs.n+e.supply.second.waiting()+e.open.slots.n)
	e.publish()
	return e.stats, err
}

func (e *engine) loop(ctx context.Context) error {
	var wait time.Duration
	for {
		now, n, err := e.receive(wait)
		if err != nil {
			return err
		}
		e.recv.drained.note(now, n)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		e.housekeeping(now)
		if e.outage.away() {
			if e.draining || e.open.slots.n == 0 && len(e.sender.out) == 0 && !e.more() {
				return nil // open targets cannot be finished now, or no target is left
			}
			if len(e.handoff.filling.outcomes) > 0 && len(e.handoff.given) == 0 {
				e.handoff.give(nil)
			}
			e.publish()
			if wait = 0; e.outage.over() {
				e.recover(e.clock())
				e.publish()
			} else {
				wait = min(max(time.Until(e.outage.next), againWait), idleWait)
			}
			continue
		}
		sent := e.send(now)
		if e.finished(now) {
			return nil
		}
		if sent == 0 && len(e.handoff.filling.outcomes) > 0 && len(e.handoff.given) == 0 {
			e.handoff.give(nil) // the loop has time to hand over a block that is not full
		}
		wait, e.pacer.paced = 0, false
		if n < maxDrain && sent < batchLen {
			wait = e.idle(now)
		}
	}
}

// receive reads the socket, and waits for the first datagram at most as long as its
// argument says. While batches are full, it continues to read, because a dropped reply
// costs more than a late request. It returns the time of the last read and the number of
// datagrams.
func (e *engine) receive(wait time.Duration) (now time.Duration, total int, err error) {
	for total < maxDrain {
		n, err := e.sock.Recv(e.recv.batch, wait)
		read := time.Now()
		now = e.outage.at(read)
		if err != nil {
			return now, total, err
		}
		wall := read.UnixNano()
		for i := range e.recv.batch[:n] {
			p := &e.recv.batch[i]
			e.take(now, e.recv.drained.arrival(now, wall, p.Stamp), p)
		}
		total += n
		if n < len(e.recv.batch) {
			break
		}
		wait = 0
	}
	return now, total, nil
}

// housekeeping does everything in a turn of the loop except receiving and sending.
func (e *engine) housekeeping(now time.Duration) {
	e.unpacked(now)
	e.unreachable(now)
	for len(e.handoff.back) > 0 {
		e.handoff.recycle(<-e.handoff.back, e.memory)
	}
	e.open.wheel.advance(e.open.slots, e.recv.drained.until, func(i int32) { e.fire(now, i) })
	e.endOverdue(now)
	e.learn(now)
	e.open.forget(now)
	e.addrs.forget(now)
	if e.cfg.Resume.Snapshot != nil && now-e.snapshotAt >= e.cfg.Resume.SnapshotEvery && e.handoff.snapshots == 0 {
		e.snapshotAt = now
		e.handoff.give(e.snapshot())
	}
	select {
	case <-e.cfg.Control.Drain:
		if !e.draining {
			e.draining = true
			e.supply.list.close()
		}
	default:
	}
	select {
	case r := <-e.cfg.Control.Rates:
		e.charge(now)
		if e.pacer.change(now, r) {
			if e.cfg.Rate = r; e.cfg.freeInFlight {
				e.cfg.Tuning.InFlight = max(e.cfg.Tuning.InFlight, e.cfg.defaultInFlight())
			}
		}
	default:
	}
	e.findRate(now)
	if now-e.publishedAt >= idleWait {
		e.publishedAt = now
		e.recv.table.Expire(now)
		e.publish()
	}
}

func (e *engine) fire(now time.Duration, i int32) {
	sl := e.open.slots.at(i)
	if e.outage.away() || e.outage.doubt(now, sl.source()) {
		e.open.wheel.file(e.open.slots, i) // the scan's clock is stopped
		return
	}
	e.sender.gso.waited(sl)
	was := sl.session.Flags
	sl.session.Tick(e.open.planOf(sl), now)
	if !was.Has(session.Listening) && sl.session.Flags.Has(session.Listening) {
		e.open.listening++
		e.addrs.refund(now, sl.source(), int(sl.sent))
	}
	e.advance(now, i)
}

// advance acts on the session after an event: it closes the session, or puts it into a
// queue or the wheel. A session that is in neither would wait forever.
func (e *engine) advance(now time.Duration, i int32) {
	sl := e.open.slots.at(i)
	sl.session.Advance(&e.open.plan, now)
	switch flags := sl.session.Flags; {
	case flags.Has(session.Done):
		e.done(now, i)
	case sl.session.Due() == 0:
		e.open.wheel.file(e.open.slots, i) // also if the wake-up time has passed
	case !flags.Has(session.Queued):
		sl.session.Flags |= session.Queued
		q := &e.open.follow
		if flags.Has(session.Repeat) {
			q = &e.open.retry
		}
		q.push(e.open.slots.ref(i))
	}
}

// done hands off the outcome of a finished target, or saves the target for the second
// pass, and frees the slot.
func (e *engine) done(now time.Duration, i int32) {
	sl := e.open.slots.at(i)
	e.sender.gso.waited(sl)
	e.memory.Learn(sl.session.Got)
	if sl.session.Flags.Has(session.Listening) {
		e.open.listening--
	} else {
		e.addrs.refund(now, sl.source(), int(sl.sent))
	}
	keepParts(&sl.session, e.memory, e.recv.table, sl.source(), &e.recv.scratch)
	if !e.park(sl) {
		s, o := &sl.session, e.handoff.add()
		o.addr, o.label, o.answer = sl.source(), e.open.labels[sl.source()], s.Got
		o.err, o.infoAttempts = s.Agenda.Err, s.Agenda.Attempts[wire.QuestionInfo]
		o.sent, o.sentBytes = sl.sent, sl.sentBytes
		o.firstAt, o.lastAt, o.endAt = s.Clock.FirstAt, s.Clock.LastAt(), now
		if o.shift = e.outage.shiftAt(now); s.Got != nil {
			o.shift = e.outage.shiftAt(s.Got.FirstAt)
		}
		if e.open.plan.Second {
			o.sent += e.open.silentSent
			o.sentBytes += e.open.silentBytes
			for q, err := range o.err {
				if err == wire.ErrSendFailed { // the second pass could not send, but the first pass did
					o.err[q] = wire.ErrTimeout
				}
			}
		}
	}
	if a := sl.session.Got; a != nil && a.Conflict {
		e.stats.Conflicts++
	}
	e.open.close(i)
}

// endOverdue ends the sessions that have waited much longer than their schedule allows.
// Only a bug in this program can cause such a session, and the bug must not keep the scan
// from ending. While requests wait to be sent, endOverdue does nothing, because sessions
// then wait longer even without a bug.
func (e *engine) endOverdue(now time.Duration) {
	if now-e.turnedAt > maxBehind { // the loop is late, so the sessions may be fine
		e.inspectAt = now + inspectEvery
	}
	e.turnedAt = now
	if now < e.inspectAt || e.open.queued() || len(e.sender.out) > 0 {
		return
	}
	e.inspectAt = now + inspectEvery
	for i := range e.open.slots.all() {
		if s := &e.open.slots.at(i).session; s.Overdue(&e.open.plan, now, e.recv.unpackedAt) {
			s.Abandon()
			e.stats.Overdue++
			e.advance(now, i)
		}
	}
}

// learn updates the timeouts from recent round trips. It also shortens the waits of open
// sessions when the timeouts have fallen much, and when the waits for the end of the scan
// (session.LastWaits) become known.
func (e *engine) learn(now time.Duration) {
	l, plan := e.open.learner, &e.open.plan
	if l == nil || now-l.at < learnEvery {
		return
	}
	shorter := l.update(now)
	if e.draining || !e.more() {
		last := l.last()
		shorter = shorter || plan.Last.Heard == 0 && last.Heard > 0
		plan.Last = last
	}
	if shorter {
		e.open.retime()
	}
}

// send sends the rest of the last batch, or fills and sends a new batch. It returns the
// number of datagrams that left the batch: those that were sent, and those that can't be
// sent.
func (e *engine) send(now time.Duration) int {
	e.charge(now)
	if len(e.sender.out) == 0 {
		e.fill(now)
	}
	if len(e.sender.out) == 0 {
		return 0
	}
	e.sender.flush(e.sock, e.clock)
	left, failed := e.sender.left, e.sender.failed
	for i := range left {
		e.sent(&left[i])
	}
	if n := len(left); n > 0 {
		e.outage.reached = left[n-1].addr
		e.outage.proved(now)
	}
	e.unsent(now, failed)
	e.outage.check(now)
	if len(e.sender.out) > 0 {
		e.stats.Wait = waitKernel
	}
	return len(left) + len(failed)
}

func (e *engine) charge(now time.Duration) {
	e.pacer.charge(now, e.stats.Wait, !e.open.queued() && (e.draining || !e.more()))
}

// fill builds the next batch, as large as the rate allows. It takes follow-ups (due
// requests that are not retries), then retries, then new targets. Follow-ups come first,
// because some challenges are valid only for seconds (EC-14). If no target may start, fill
// sets Stats.Wait to the reason.
func (e *engine) fill(now time.Duration) {
	e.stats.Wait = WaitNothing
	room := e.pacer.pace.tokens(now, batchLen)
	for _, q := range [...]*queue{&e.open.follow, &e.open.retry} {
		for q.n() > 0 && len(e.sender.out) < room {
			r, full := q.refs[q.head], false
			sl := e.open.slots.alive(r)
			switch {
			case sl == nil:
			case e.supply.excluded.has(sl.source()):
				// The target was excluded after its session began. Its Result has the
				// replies that came before the exclusion.
				sl.session.Agenda.Drop(^wire.Questions(0), wire.ErrExcluded)
				sl.session.Flags &^= session.Queued
				e.stats.Stopped++
				q.head++ // before advance, which may put the session into the queue again
				e.advance(now, r.slot)
				continue
			default:
				full = e.sender.addDue(&e.open.plan, r, sl, e.open.remembered(sl), room)
			}
			if full {
				break
			}
			q.head++
		}
	}
	for len(e.sender.out) < room {
		wait := e.mayStart()
		var addr uint64
		if wait == WaitNothing {
			addr, wait = e.nextTarget(now)
		}
		if e.stats.Wait = wait; wait != WaitNothing {
			break
		}
		e.begin(addr)
	}
	e.pacer.pace.take(now, len(e.sender.out))
	e.pacer.unhindered = e.pacer.unhindered && e.stats.Wait == WaitNothing
}

// mayStart returns what keeps the scan from starting new targets, or WaitNothing.
func (e *engine) mayStart() Wait {
	switch {
	case e.draining:
		return WaitReplies
	case e.recv.drained.behind:
		return waitBacklog
	case e.open.waiting() >= e.cfg.Tuning.InFlight || e.open.listening >= maxListening:
		return waitInFlight
	case e.handoff.full():
		return waitOutput
	case !e.memory.RoomFor(e.open.waiting()):
		return waitBudget
	}
	return WaitNothing
}

func (e *engine) begin(addr uint64) {
	r := e.open.begin(addr)
	sl := e.open.slots.at(r.slot)
	e.recv.foreign.begin(addr)
	e.stats.PeakOpen = max(e.stats.PeakOpen, e.open.waiting())
	e.sender.addDue(&e.open.plan, r, sl, e.open.remembered(sl), len(e.sender.out)+1)
}

// finished reports whether nothing is left to do and the cooldown is over. There is no
// cooldown if Drain was closed or nothing was sent.
func (e *engine) finished(now time.Duration) bool {
	if e.open.slots.n > 0 || len(e.sender.out) > 0 || !e.draining && e.more() {
		return false
	}
	if e.draining || e.cfg.Cooldown == 0 || e.stats.DatagramsSent() == 0 {
		return true
	}
	if e.quietEnd == 0 {
		e.quietEnd = now + e.cfg.Cooldown
		if e.cfg.schedule.Cools {
			e.quietEnd = now + e.open.learner.cooldown(e.cfg.Cooldown)
		}
	}
	e.stats.Wait = WaitCooldown
	return now >= e.quietEnd
}

// idle returns how long to sleep: until something can be done, but at most idleWait.
func (e *engine) idle(now time.Duration) time.Duration {
	if len(e.sender.out) > 0 {
		return againWait
	}
	d := idleWait
	if e.handoff.waiting > 0 || e.recv.unpack.pending() > 0 || e.stats.Wait == waitBudget {
		d = pollWait
	}
	if next := e.open.wheel.next(); next > 0 {
		d = min(d, next-now)
	}
	if next := e.addrs.next(); next > 0 && e.stats.Wait == WaitAddress {
		d = min(d, next-now)
	}
	// If only the rate keeps the loop from sending, sleep until it allows a batch.
	if e.open.queued() || e.stats.Wait == WaitNothing && !e.draining && e.more() {
		wait := e.pacer.pace.wait(now)
		d, e.pacer.paced = min(d, wait), wait > 0
	}
	if e.quietEnd > 0 {
		d = min(d, e.quietEnd-now)
	}
	return max(d, 0)
}

// publish brings e.stats up to date and passes them to the Monitor.
func (e *engine) publish() {
	s, o, p, now := &e.stats, e.outage, e.pacer, e.clock()
	p.allow(now)
	s.Elapsed = time.Since(e.start)
	s.Finished, s.Unheard, s.Errors = e.handoff.counts.finished, e.handoff.counts.unheard, e.handoff.counts.errors
	s.SendAgain, s.GSOStopped = e.sender.refused, e.sender.gso.stopped
	s.SendFaults, s.SendErrors = o.faults, sum(o.faults[:])
	s.Outages, s.OutageTime, s.Away, s.AwayFor = o.outages, uint64(o.total/time.Microsecond), 0, o.awayFor
	if o.away() {
		s.Away = o.since.Unix()
	}
	s.Rate, s.Waited, s.Allowed = e.cfg.Rate, p.waited, uint64(max(p.allowed, 0))
	switch {
	case p.free:
		s.Slowed, s.Settled = e.rate.Overloads, e.rate.Settled
	case p.finds:
		s.Path = e.rate.Path()
	}
	s.Open, s.Held, s.HeldAddrs = e.open.slots.n, e.addrs.n, len(e.addrs.held)
	s.Silent = e.supply.second.waiting()
	if l := e.open.learner; l != nil {
		learned := l.seen
		learned.Listening, learned.Reopened = e.open.listening, s.Timeouts.Reopened
		s.Timeouts = learned
	}
	s.HeldFor = e.heldFor(now)
	s.PeakBytes = max(s.PeakBytes, e.memory.Peak)
	s.Socket, s.Reasm = e.sock.Stats(), e.recv.table.Stats()
	s.Bytes = e.memory.Used + s.Reasm.Bytes
	if e.cfg.Control.Monitor != nil {
		e.cfg.Control.Monitor.set(*s)
	}
}

// heldFor estimates how long the rate limits of addresses will delay the scan.
func (e *engine) heldFor(now time.Duration) time.Duration {
	if e.stats.Wait != WaitAddress {
		return 0
	}
	// Assume that each target takes a full burst, because the next target of its
	// address usually starts before the unused part is refunded.
	each := float64(addrBurst)
	if done := e.stats.TargetsFinished() + uint64(e.stats.Silent); done > 0 {
		each = max(each, float64(e.stats.DatagramsSent())/float64(done))
	}
	return e.addrs.last(now, each) - now
}
