package scanner

import (
	"time"

	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// This file is the sending half of the loop. What goes out is, in this order:
// follow-ups (some challenges live seconds only, EC-14), repeats, new targets.

// send fills a batch and sends it. It returns how many datagrams went out.
func (e *engine) send(now time.Duration) int {
	e.charge(now)
	if len(e.out) == 0 {
		e.fill(now)
	}
	if len(e.out) == 0 {
		return 0
	}
	n, err := e.sock.Send(e.packets)
	n = max(n, 0)
	for i := range e.out[:n] {
		p := &e.packets[i]
		if e.cfg.Trace != nil {
			e.cfg.Trace(now, true, udp.Unpack(p.Addr), p.Data)
		}
		e.sent(now, &e.out[i], p)
	}
	if n > 0 {
		e.again = 0
	}
	if err != nil && n < len(e.out) {
		n += e.refused(now, n, err)
	}
	e.keepUnsent(n)
	if len(e.out) > 0 {
		e.stats.Wait = WaitKernel
	}
	return n
}

// refused deals with out[n], which could not be sent. It returns 1 if that
// one is done with, 0 if it is to be sent again.
func (e *engine) refused(now time.Duration, n int, err error) int {
	if isAgain(err) && e.again < maxAgain {
		e.again++
		e.stats.SendAgain++
		return 0
	}
	e.again = 0
	e.stats.SendErrors++
	e.stats.SendFaults[sendFaultOf(err)]++
	o := &e.out[n]
	if sl := e.slots.alive(o.ref); sl != nil {
		sl.talk.onSendFailed(o.q)
		e.settle(now, o.ref.slot)
	}
	return 1
}

// keepUnsent moves what is left of the batch to its front.
func (e *engine) keepUnsent(done int) {
	left := copy(e.out, e.out[done:])
	copy(e.packets, e.packets[done:])
	e.out, e.packets = e.out[:left], e.packets[:left]
}

// sent notes a datagram that went out.
func (e *engine) sent(now time.Duration, o *outgoing, p *udp.Packet) {
	sl := e.slots.alive(o.ref)
	e.stats.Sent[o.request]++
	e.stats.SentBytes += uint64(len(p.Data))
	if sl == nil {
		return
	}
	if sl.talk.flags&flagRepeat != 0 {
		e.stats.Repeats++
	}
	sl.sent++
	sl.sentBytes += uint16(len(p.Data))
	if sl.sent > addrBurst {
		e.addrs.sent(now, sl.source())
	}
	sl.talk.onSent(&e.plan, now, 1<<o.q)
	if p.Join {
		sl.talk.flags |= flagJoined
	}
	e.wheel.file(e.slots, o.ref.slot)
}

// fill puts together the next batch, as large as the rate allows.
func (e *engine) fill(now time.Duration) {
	e.stats.Wait = WaitNothing
	tokens := e.pace.tokens(now, batchLen)
	e.fillFrom(now, &e.follow, tokens)
	e.fillFrom(now, &e.repeat, tokens)
	e.fillNew(now, tokens)
	e.pace.take(now, len(e.out))
	e.free = e.free && e.stats.Wait == WaitNothing
}

// fillFrom adds what the slots of a queue have due.
func (e *engine) fillFrom(now time.Duration, q *queue, tokens int) {
	for q.n > 0 && len(e.out) < tokens {
		r := q.buf[q.head]
		sl := e.slots.alive(r)
		switch {
		case sl == nil:
			q.pop()
		case e.excluded(sl.source()):
			q.pop()
			e.silence(now, r, sl)
		case !e.addDue(r, sl, tokens):
			q.pop()
		}
	}
}

// silence ends a conversation whose address was excluded meanwhile: what it
// answered until now is its result.
func (e *engine) silence(now time.Duration, r ref, sl *slot) {
	sl.talk.onExcluded()
	e.stats.Stopped++
	e.settle(now, r.slot)
}

// addDue adds the requests that are due for a slot, as many as there are
// tokens for. It reports whether some are left.
func (e *engine) addDue(r ref, sl *slot, tokens int) bool {
	t := &sl.talk
	t.due &= t.open | AskPing
	for q := range each(t.due) {
		if len(e.out) == tokens {
			return true
		}
		e.add(r, sl, q)
	}
	t.flags &^= flagQueued
	return false
}

// add puts one request into the batch.
func (e *engine) add(r ref, sl *slot, q wire.Question) {
	at := e.request[len(e.out)*requestLen:][:0:requestLen]
	request := sl.talk.requestFor(q)
	e.out = append(e.out, outgoing{r, q, request})
	e.packets = append(e.packets, udp.Packet{
		Addr: sl.source(),
		Data: e.appendRequest(at, request, sl.talk.challengeFor(q)),
	})
	e.joining.join(e.packets, e.out, &sl.talk)
}

// appendRequest appends a request, with one more NUL where that is wanted.
func (e *engine) appendRequest(dst []byte, q wire.Question, c wire.Challenge) []byte {
	dst = wire.AppendRequest(dst, q, c)
	if e.cfg.TrailingNUL && q != wire.QuestionInfo {
		dst = append(dst, 0)
	}
	return dst
}

// fillNew starts new targets.
func (e *engine) fillNew(now time.Duration, tokens int) {
	for len(e.out) < tokens {
		if wait := e.mayStart(); wait != WaitNothing {
			e.stats.Wait = wait
			return
		}
		t, wait := e.nextTarget(now)
		if wait != WaitNothing {
			e.stats.Wait = wait
			return
		}
		e.begin(t)
	}
}

// mayStart says what keeps new targets from being started, if anything does.
func (e *engine) mayStart() Wait {
	switch {
	case e.draining:
		return WaitReplies
	case e.behind:
		return WaitBacklog
	case e.slots.n >= e.cfg.InFlight:
		return WaitInFlight
	case e.unhandled >= e.cfg.unhandled:
		return WaitOutput
	case float64(e.pool.used)+float64(e.slots.n)*e.average > float64(e.pool.budget):
		return WaitBudget
	}
	return WaitNothing
}

// nextTarget returns the next target that may start now, one that was held
// back first, or what it waits for.
func (e *engine) nextTarget(now time.Duration) (entry, Wait) {
	for {
		t, ok := e.addrs.release(now)
		if !ok {
			break
		}
		if !e.excluded(t.addr) {
			return t, WaitNothing
		}
		if e.second.on {
			e.leave(t)
		} else {
			e.stats.Excluded++
		}
		e.addrs.settle(now, t.addr, 0)
	}
	for e.addrs.n < maxHeld {
		if e.pos == len(e.block) && !e.takeBlock() {
			en, ok := e.lookAgain()
			switch {
			case !ok:
				return entry{}, e.outOfTargets()
			case e.excluded(en.addr):
				if e.leave(en); e.unhandled >= e.cfg.unhandled {
					return entry{}, WaitOutput
				}
			case e.addrs.admit(now, en):
				return en, WaitNothing
			}
			continue
		}
		t := &e.block[e.pos]
		e.pos++
		if en, ok := e.accept(t); ok && e.addrs.admit(now, en) {
			return en, WaitNothing
		}
	}
	return entry{}, WaitAddress
}

// outOfTargets says what is waited for when the list has nothing to give.
func (e *engine) outOfTargets() Wait {
	switch {
	case e.addrs.n > 0:
		return WaitAddress
	case !e.ended:
		return WaitTargets
	}
	return WaitReplies
}

// accept counts a target of the list and reports whether it is to be asked.
func (e *engine) accept(t *Target) (entry, bool) {
	e.stats.Taken++
	e.place = t.Place + 1
	addr := udp.Pack(t.Addr)
	switch {
	case addr == 0 || t.Addr.Port() == 0:
		e.stats.Unscannable++
	case e.known(addr):
		e.stats.Duplicate++
	case e.excluded(addr):
		e.stats.Excluded++
	case e.addrs.overLimit(addr):
		e.stats.OverLimit++
	default:
		return entry{addr, labelOf(t)}, true
	}
	return entry{}, false
}

// known reports whether a target is open, held back, or just finished.
func (e *engine) known(addr uint64) bool {
	return e.index.get(addr) >= 0 || e.addrs.holds(addr) || e.recent.has(addr)
}

// takeBlock gets what the list's reader has, and reports whether that is
// anything.
func (e *engine) takeBlock() bool {
	e.block, e.ended = e.feed.take(e.block)
	e.pos = 0
	return len(e.block) > 0
}

// begin opens a target and puts its first request into the batch.
func (e *engine) begin(t entry) {
	i := e.slots.take()
	sl := e.slots.at(i)
	sl.setSource(t.addr)
	sl.talk.start(&e.plan)
	e.slots.labels.set(i, t.label)
	e.index.put(i)
	e.stats.PeakOpen = max(e.stats.PeakOpen, e.slots.n)
	e.addDue(e.slots.ref(i), sl, len(e.out)+1)
}

// couldSend reports whether only the rate keeps something from being sent.
func (e *engine) couldSend() bool {
	if e.follow.n > 0 || e.repeat.n > 0 {
		return true
	}
	return e.stats.Wait == WaitNothing && !e.draining && e.more()
}
