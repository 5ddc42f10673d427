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
	list     *feed
	addrs    *addrs
	second   secondPass
	excluded exclusion

	open    *sessions
	handoff *handoff
	stats   *Stats
}

func newSupply(cfg *settings, wake func(), open *sessions, a *addrs, h *handoff, stats *Stats) *supply {
	s := &supply{list: newFeed(wake), addrs: a, excluded: cfg.Excluded, open: open, handoff: h, stats: stats}
	if cfg.Resume.Silent != nil {
		for t := range cfg.Resume.Silent {
			s.second.push(udp.Pack(t.Addr), labelOf(&t))
		}
	}
	return s
}

// exclusion is Config.Excluded; nil excludes nothing.
type exclusion func(netip.Addr) bool

// has reports whether an address is excluded: nothing more may be sent to it.
func (x exclusion) has(addr uint64) bool { return x != nil && x(udp.Unpack(addr).Addr()) }

// next returns the next target that may start now, or what the scan waits for.
func (s *supply) next(now time.Duration) (addr uint64, wait Wait) {
	// First the targets that the rate limit of their address held back until now.
	for {
		if addr = s.addrs.release(now); addr == 0 {
			break
		}
		if !s.excluded.has(addr) {
			return addr, WaitNothing
		}
		if s.open.plan.Second {
			s.skip(now, addr)
		} else {
			s.stats.Excluded++
		}
		s.open.drop(addr)
		s.addrs.refund(now, addr, 0)
	}
	for s.addrs.n < maxHeld {
		t := s.list.next()
		if t == nil {
			return s.nextSilent(now)
		}
		if addr := s.accept(t); addr != 0 && s.admit(now, addr, labelOf(t)) {
			return addr, WaitNothing
		}
	}
	return 0, WaitAddress
}

// accept counts a target of the list. It returns the packed address, or 0 if the target
// must not be queried.
func (s *supply) accept(t *Target) uint64 {
	s.stats.Taken++
	addr := udp.Pack(t.Addr)
	switch {
	case addr == 0 || t.Addr.Port() == 0:
		s.stats.Unscannable++
	case s.open.sweep == nil && s.open.known(addr):
		s.stats.Duplicate++
	case s.excluded.has(addr):
		s.stats.Excluded++
	case s.addrs.overLimit(addr):
		s.stats.OverLimit++
	default:
		return addr
	}
	return 0
}

// admit reports whether a target may start, or has to wait for the limit of its address.
func (s *supply) admit(now time.Duration, addr uint64, lb *label) bool {
	if lb != nil {
		s.open.labels[addr] = lb
	}
	if s.addrs.admit(now, addr) {
		return true
	}
	s.open.held[addr] = true
	return false
}

// nextSilent returns the next target of the second pass, which begins when nothing else
// is left to do.
func (s *supply) nextSilent(now time.Duration) (uint64, Wait) {
	plan := &s.open.plan
	if idle := s.open.slots.n == 0 && s.addrs.n == 0 && s.list.ended; idle && s.second.waiting() > 0 {
		plan.Second = true
	}
	for plan.Second && s.second.waiting() > 0 && s.addrs.n < maxHeld {
		addr, lb := s.second.pop()
		switch {
		case !s.excluded.has(addr):
			if s.admit(now, addr, lb) {
				return addr, WaitNothing
			}
			continue
		case lb != nil:
			s.open.labels[addr] = lb
		}
		s.skip(now, addr)
		if s.open.drop(addr); s.handoff.full() {
			return 0, waitOutput
		}
	}
	switch {
	case s.addrs.n > 0:
		return 0, WaitAddress
	case !s.list.ended:
		return 0, WaitTargets
	}
	return 0, WaitReplies
}

// park saves the target of a finished session for the second pass, and reports whether it
// did so. It saves no target if the scan has no second pass, if that pass has begun, or
// if the target sent something.
func (s *supply) park(sl *slot) bool {
	plan := &s.open.plan
	if !plan.Schedule.SecondPass || plan.Second || !plan.StayedSilent(&sl.session) {
		return false
	}
	s.second.push(sl.source(), s.open.labels[sl.source()])
	return true
}

// skip finishes a target that was excluded before its second pass.
func (s *supply) skip(now time.Duration, addr uint64) {
	s.stats.Stopped++
	*s.handoff.add() = outcome{
		addr: addr, label: s.open.labels[addr], sent: s.open.silentSent, sentBytes: s.open.silentBytes,
		err:     [wire.NumQuestions]wire.Error{wire.ErrTimeout, wire.ErrTimeout, wire.ErrTimeout},
		firstAt: now, lastAt: now, endAt: now,
	}
}

// more reports whether there are targets that have not been started.
func (s *supply) more() bool {
	return !s.list.ended || s.addrs.n > 0 || s.second.waiting() > 0
}

// unstarted returns the number of targets that were read and never started. It adds
// those that are still in the feed to Stats.Taken.
func (s *supply) unstarted() int {
	rest := s.list.read.Load() - s.stats.Taken
	s.stats.Taken += rest
	return int(rest) + s.addrs.n + s.second.waiting()
}

// secondPass holds the targets that stayed silent, 8 bytes each, until all others are
// finished; then each gets one more attempt. This tells servers that do not exist from
// servers whose datagrams were lost together: the cause of the loss is mostly gone by
// then.
type secondPass struct {
	silent []uint64      // packed; elements never change, so that snapshots share them
	labels []silentLabel // labels of the targets that have one; elements never change, either
	next   int           // index into silent: the next target
	named  int           // index into labels: the first that is not before next
}

// push adds a target.
func (l *secondPass) push(addr uint64, lb *label) {
	if lb != nil {
		l.labels = append(l.labels, silentLabel{len(l.silent), lb.tag, lb.master, lb.infoOnly})
	}
	l.silent = append(l.silent, addr)
}

// pop returns the next target, with its label if it has one. There must be one.
func (l *secondPass) pop() (addr uint64, lb *label) {
	for l.named < len(l.labels) && l.labels[l.named].Index < l.next {
		l.named++
	}
	if l.named < len(l.labels) && l.labels[l.named].Index == l.next {
		x := &l.labels[l.named]
		lb = &label{tag: x.Tag, master: x.Master, challenge: wire.NoChallenge, infoOnly: x.InfoOnly}
	}
	l.next++
	return l.silent[l.next-1], lb
}

// waiting returns how many targets still wait for the second pass.
func (l *secondPass) waiting() int { return len(l.silent) - l.next }
