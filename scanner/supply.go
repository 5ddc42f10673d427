package scanner

import (
	"net/netip"
	"time"

	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// supply decides which target starts next: first those that the rate limit of their
// address held back, then those of the list, then those of the second pass.
type supply struct {
	list     cursor
	addrs    *addrs
	second   secondPass
	excluded exclusion

	open    *sessions
	handoff *handoff
	stats   *Stats
}

// exclusion is Config.Excluded; nil excludes nothing.
type exclusion func(netip.Addr) bool

// has reports whether an address is excluded: nothing more may be sent to it.
func (x exclusion) has(addr uint64) bool { return x != nil && x(udp.Unpack(addr).Addr()) }

// next returns the next target that may start now, or what the scan waits for.
func (s *supply) next(now time.Duration) (entry, Wait) {
	if en, ok := s.release(now); ok {
		return en, WaitNothing
	}
	for s.addrs.n < maxHeld {
		t := s.list.next()
		if t == nil {
			return s.nextSilent(now)
		}
		if en, ok := s.accept(t); ok && s.addrs.admit(now, en) {
			return en, WaitNothing
		}
	}
	return entry{}, WaitAddress
}

// release returns a target that the rate limit of its address held back until now.
func (s *supply) release(now time.Duration) (entry, bool) {
	for {
		en, ok := s.addrs.release(now)
		if !ok || !s.excluded.has(en.addr) {
			return en, ok
		}
		if s.open.plan.once {
			s.skip(now, en)
		} else {
			s.stats.Excluded++
		}
		s.addrs.refund(now, en.addr, 0)
	}
}

// accept counts a target of the list and reports whether it is to be queried.
func (s *supply) accept(t *Target) (entry, bool) {
	s.stats.Taken++
	addr := udp.Pack(t.Addr)
	switch {
	case addr == 0 || t.Addr.Port() == 0:
		s.stats.Unscannable++
	case s.open.sweep == nil && (s.open.known(addr) || s.addrs.holds(addr)):
		s.stats.Duplicate++
	case s.excluded.has(addr):
		s.stats.Excluded++
	case s.addrs.overLimit(addr):
		s.stats.OverLimit++
	default:
		return entry{addr, labelOf(t)}, true
	}
	return entry{}, false
}

// nextSilent returns the next target of the second pass.
func (s *supply) nextSilent(now time.Duration) (entry, Wait) {
	for s.addrs.n < maxHeld {
		en, ok := s.popSilent()
		switch {
		case !ok:
			return entry{}, s.whyNone()
		case s.excluded.has(en.addr):
			if s.skip(now, en); s.handoff.full() {
				return entry{}, WaitOutput
			}
		case s.addrs.admit(now, en):
			return en, WaitNothing
		}
	}
	return entry{}, WaitAddress
}

// popSilent takes the next target of the second pass. The second pass begins when
// nothing else is left to do.
func (s *supply) popSilent() (entry, bool) {
	if !s.open.plan.once {
		busy := s.open.n() > 0 || s.addrs.n > 0 || !s.list.ended
		if busy || s.second.waiting() == 0 {
			return entry{}, false
		}
		s.open.plan.beginSecondPass()
	}
	return s.second.pop()
}

// whyNone returns what the scan waits for when there is no target to start.
func (s *supply) whyNone() Wait {
	switch {
	case s.addrs.n > 0:
		return WaitAddress
	case !s.list.ended:
		return WaitTargets
	}
	return WaitReplies
}

// park keeps the target of a finished session for the second pass, if the scan has
// one, it has not begun, and nothing came from the target. It reports whether it did
// so.
func (s *supply) park(sl *slot, lb *label) bool {
	if !s.second.wanted || s.open.plan.once || sl.session.got != nil {
		return false
	}
	for q := range each(lowest(s.open.plan.questions)) {
		if sl.session.agenda.err[q] != wire.ErrTimeout {
			return false
		}
	}
	s.second.push(sl.source(), lb)
	return true
}

// skip finishes a target that was excluded before its second pass.
func (s *supply) skip(now time.Duration, en entry) {
	o := outcome{
		addr: en.addr, label: en.label, asked: en.label.questions(s.open.plan.questions),
		firstAt: now, lastAt: now, endAt: now,
	}
	o.sent, o.sentBytes = s.open.plan.sentBefore()
	for q := range each(o.asked.status()) {
		o.err[q] = wire.ErrTimeout
	}
	s.stats.Stopped++
	s.handoff.add(o)
}

// more reports whether there are targets that have not been started.
func (s *supply) more() bool {
	return s.list.more() || s.addrs.n > 0 || s.second.waiting() > 0
}

// unstarted returns the number of targets that were read and never started. It adds
// those that are still in the feed to Stats.Taken.
func (s *supply) unstarted() int {
	rest := s.list.rest()
	s.stats.Taken += uint64(rest)
	return rest + s.addrs.n + s.second.waiting()
}
