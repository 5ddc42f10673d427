package scanner

import (
	"iter"

	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// look is the second look at targets that stayed silent: they are kept here,
// 8 bytes each, until all others are finished, and are then asked once more. It
// tells servers that are not there from those whose datagrams were lost
// together: what makes a scan lose datagrams is mostly over by then.
type look struct {
	silent []uint64      // packed; elements never change, so that snapshots share them
	labels []SilentLabel // of those that have one; likewise
	next   int           // in silent: whose turn it is
	named  int           // in labels: the first that is not behind next
	on     bool          // the second look has begun
}

// SilentLabel is what a list said of a silent target.
type SilentLabel struct {
	Index       int    // in Snapshot.Silent
	Tag, Master string // as in Target
}

// SilentTargets returns those that wait for their second look, as they were
// given.
func (s *Snapshot) SilentTargets() iter.Seq[Target] {
	return func(yield func(Target) bool) {
		l := look{silent: s.Silent, labels: s.SilentLabels, next: s.Looked}
		for e, ok := l.pop(); ok; e, ok = l.pop() {
			if !yield(e.label.target(e.addr)) {
				return
			}
		}
	}
}

// push adds a target.
func (l *look) push(addr uint64, lb *label) {
	if lb != nil {
		l.labels = append(l.labels, SilentLabel{len(l.silent), lb.tag, lb.master})
	}
	l.silent = append(l.silent, addr)
}

// pop returns the next target.
func (l *look) pop() (entry, bool) {
	if l.next == len(l.silent) {
		return entry{}, false
	}
	e := entry{addr: l.silent[l.next]}
	for l.named < len(l.labels) && l.labels[l.named].Index < l.next {
		l.named++
	}
	if l.named < len(l.labels) && l.labels[l.named].Index == l.next {
		lb := &l.labels[l.named]
		e.label = &label{lb.Tag, lb.Master}
	}
	l.next++
	return e, true
}

// waiting is how many targets were not looked at again.
func (l *look) waiting() int { return len(l.silent) - l.next }

// remember takes over the silent targets of an earlier part of the scan.
func (e *engine) remember(silent iter.Seq[Target]) {
	if silent == nil {
		return
	}
	for t := range silent {
		e.second.push(udp.Pack(t.Addr), labelOf(&t))
	}
}

// park keeps a target that is finished for the second look, and reports whether
// there will be one.
func (e *engine) park(sl *slot, lb *label) bool {
	first := lowest(e.plan.questions)
	for q := range each(first) {
		if !e.cfg.SecondLook || e.second.on || sl.talk.got != nil || sl.talk.err[q] != wire.ErrTimeout {
			return false
		}
	}
	e.second.push(sl.source(), lb)
	return true
}

// lookAgain returns the next target of the second look, which begins when
// nothing else is left to do.
func (e *engine) lookAgain() (entry, bool) {
	if !e.second.on {
		busy := e.slots.n > 0 || e.addrs.n > 0 || !e.ended
		if busy || e.second.waiting() == 0 {
			return entry{}, false
		}
		e.second.on = true
		e.plan.once = true
		e.plan.fallback = e.cfg.Fallback
	}
	return e.second.pop()
}

// asked is how often a target was asked before the second look at it.
func (e *engine) askedBefore() int {
	if !e.second.on {
		return 0
	}
	return 1 + e.plan.schedule.Retries
}

// sentBefore is what a silent target was sent before the second look at it.
func (e *engine) sentBefore() (datagrams, bytes uint16) {
	n := e.askedBefore()
	if n == 0 {
		return 0, 0
	}
	for q := range each(lowest(e.plan.questions)) {
		bytes = uint16(n * len(e.appendRequest(nil, q, wire.NoChallenge)))
	}
	return uint16(n), bytes
}

// leave ends a target whose address was excluded before the second look at it.
func (e *engine) leave(en entry) {
	o := outcome{
		addr: en.addr, label: en.label, asked: e.plan.questions,
		firstAt: e.clock(), lastAt: e.clock(), endAt: e.clock(),
	}
	o.sent, o.sentBytes = e.sentBefore()
	for q := range each(e.plan.questions.status()) {
		o.err[q] = wire.ErrTimeout
	}
	e.stats.Stopped++
	e.outcomes = append(e.outcomes, o)
	e.unhandled++
	if len(e.outcomes) == blockLen {
		e.seal(nil)
	}
}
