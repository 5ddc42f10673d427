package scanner

import "time"

// This file chooses the content of a batch: first follow-ups, since some challenges
// are valid for seconds only (EC-14), then retries, then new targets.

// send sends the rest of the last batch, or fills and sends a new one. It returns the
// number of datagrams that left the batch: those that were sent, and one that can't be
// sent.
func (e *engine) send(now time.Duration) int {
	e.charge(now)
	if len(e.sender.out) == 0 {
		e.fill(now)
	}
	if len(e.sender.out) == 0 {
		return 0
	}
	n, failed := e.sender.flush()
	if failed != nil {
		e.sendFailed(now, failed)
	}
	if len(e.sender.out) > 0 {
		e.stats.Wait = WaitKernel
	}
	return n
}

// charge accounts for the time in which nothing was sent although the rate allowed
// it.
func (e *engine) charge(now time.Duration) {
	e.pacer.charge(now, !e.open.queued() && (e.draining || !e.supply.more()))
}

// sendFailed gives up the question whose request could not be sent.
func (e *engine) sendFailed(now time.Duration, o *outgoing) {
	if sl := e.open.slots.alive(o.ref); sl != nil {
		sl.session.onSendFailed(o.q)
		e.advance(now, o.ref.slot)
	}
}

// fill builds the next batch, as large as the rate allows.
func (e *engine) fill(now time.Duration) {
	e.stats.Wait = WaitNothing
	room := e.pacer.room(now)
	e.fillFrom(now, &e.open.follow, room)
	e.fillFrom(now, &e.open.retry, room)
	e.fillNew(now, room)
	e.pacer.filled(now, len(e.sender.out))
}

// fillFrom adds the due requests of the sessions in a queue, until the batch is as
// long as room.
func (e *engine) fillFrom(now time.Duration, q *queue, room int) {
	for q.n > 0 && len(e.sender.out) < room {
		r := q.first()
		sl := e.open.slots.alive(r)
		switch {
		case sl == nil:
			q.pop()
		case e.supply.excluded.has(sl.source()):
			q.pop()
			e.silence(now, r, sl)
		case !e.sender.addDue(r, sl, room):
			q.pop()
		}
	}
}

// silence finishes a session whose address was excluded after the session began. The
// replies so far make up its Result.
func (e *engine) silence(now time.Duration, r ref, sl *slot) {
	sl.session.onExcluded()
	e.stats.Stopped++
	e.advance(now, r.slot)
}

// fillNew starts new targets until the batch is as long as room or no target may
// start. In the latter case it sets Stats.Wait to the reason.
func (e *engine) fillNew(now time.Duration, room int) {
	for len(e.sender.out) < room {
		wait := e.mayStart()
		var t entry
		if wait == WaitNothing {
			t, wait = e.supply.next(now)
		}
		if wait != WaitNothing {
			e.stats.Wait = wait
			return
		}
		e.begin(t)
	}
}

// mayStart returns what keeps the scan from starting new targets, or WaitNothing.
func (e *engine) mayStart() Wait {
	switch {
	case e.draining:
		return WaitReplies
	case e.recv.drained.behind:
		return WaitBacklog
	case e.open.n() >= e.cfg.InFlight:
		return WaitInFlight
	case e.handoff.full():
		return WaitOutput
	case !e.pool.roomFor(e.open.n()):
		return WaitBudget
	}
	return WaitNothing
}

// begin opens a target and puts its first request into the batch.
func (e *engine) begin(t entry) {
	e.recv.lately.add(t.addr)
	r := e.open.begin(t)
	if e.recv.strangers.take(t.addr) {
		e.stats.EarlyReplies++
		e.open.slots.at(r.slot).session.beside |= besideStranger
	}
	e.stats.PeakOpen = max(e.stats.PeakOpen, e.open.n())
	e.sender.addDue(r, e.open.slots.at(r.slot), len(e.sender.out)+1)
}

// couldSend reports whether there is something to send that only the rate holds
// back.
func (e *engine) couldSend() bool {
	return e.open.queued() || e.stats.Wait == WaitNothing && !e.draining && e.supply.more()
}
