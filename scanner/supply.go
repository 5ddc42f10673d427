package scanner

import (
	"net/netip"
	"slices"
	"time"

	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// supply has the targets that the scan has yet to start: those of the list, and the silent
// targets that wait for the second pass.
type supply struct {
	list     *feed
	second   secondPass
	excluded exclusion
}

func newSupply(cfg *settings, wake func()) *supply {
	s := &supply{list: newFeed(wake), excluded: cfg.Excluded}
	if cfg.Resume.Silent != nil {
		for t := range cfg.Resume.Silent {
			s.second.push(udp.Pack(t.Addr), labelOf(&t))
		}
	}
	return s
}

// exclusion is Config.Excluded; nil excludes nothing.
type exclusion func(netip.Addr) bool

func (x exclusion) has(addr uint64) bool { return x != nil && x(udp.Unpack(addr).Addr()) }

// nextTarget returns the next target that may start now, or what the scan waits for.
// First come targets that were held back by the rate limit of their address, then targets
// of the list, then targets of the second pass.
func (e *engine) nextTarget(now time.Duration) (addr uint64, wait Wait) {
	for {
		if addr = e.addrs.release(now); addr == 0 {
			break
		}
		if !e.supply.excluded.has(addr) {
			return addr, WaitNothing
		}
		if e.open.plan.Second {
			e.skip(now, addr)
		} else {
			e.stats.Excluded++
		}
		e.open.drop(addr)
		e.addrs.refund(now, addr, 0)
	}
	for e.addrs.n < maxHeld {
		t := e.supply.list.next()
		if t == nil {
			return e.nextSilent(now)
		}
		if addr := e.accept(t); addr != 0 && e.admit(now, addr, labelOf(t)) {
			return addr, WaitNothing
		}
	}
	return 0, WaitAddress
}

// accept counts a target of the list and returns its packed address, or 0 if the target
// must not be queried.
func (e *engine) accept(t *Target) uint64 {
	e.stats.Taken++
	addr := udp.Pack(t.Addr)
	switch {
	case addr == 0 || t.Addr.Port() == 0:
		e.stats.Unscannable++
	case e.open.sweep == nil && e.open.known(addr):
		e.stats.Duplicate++
	case e.supply.excluded.has(addr):
		e.stats.Excluded++
	case e.addrs.overLimit(addr):
		e.stats.OverLimit++
	default:
		return addr
	}
	return 0
}

// admit reports whether a target may start now. If not, the target waits for the limit of
// its address.
func (e *engine) admit(now time.Duration, addr uint64, lb *Target) bool {
	if lb != nil {
		e.open.labels[addr] = lb
	}
	if e.addrs.admit(now, addr) {
		return true
	}
	e.open.held[addr] = true
	return false
}

// nextSilent returns the next target of the second pass, which begins when nothing else
// is left to do.
func (e *engine) nextSilent(now time.Duration) (uint64, Wait) {
	plan := &e.open.plan
	if idle := e.open.slots.n == 0 && e.addrs.n == 0 && e.supply.list.ended; idle && e.supply.second.waiting() > 0 {
		plan.Second = true
	}
	for plan.Second && e.supply.second.waiting() > 0 && e.addrs.n < maxHeld {
		addr, lb := e.supply.second.pop()
		switch {
		case !e.supply.excluded.has(addr):
			if e.admit(now, addr, lb) {
				return addr, WaitNothing
			}
			continue
		case lb != nil:
			e.open.labels[addr] = lb
		}
		e.skip(now, addr)
		if e.open.drop(addr); e.handoff.full() {
			return 0, waitOutput
		}
	}
	switch {
	case e.addrs.n > 0:
		return 0, WaitAddress
	case !e.supply.list.ended:
		return 0, WaitTargets
	}
	return 0, WaitReplies
}

// park saves the target of a finished session for the second pass, and reports whether it
// did so. It saves only targets that stayed silent, and only before the second pass begins.
func (e *engine) park(sl *slot) bool {
	plan := &e.open.plan
	if !plan.Schedule.SecondPass || plan.Second || !plan.StayedSilent(&sl.session) {
		return false
	}
	e.supply.second.push(sl.source(), e.open.labels[sl.source()])
	return true
}

// skip finishes a target that was excluded before its second pass.
func (e *engine) skip(now time.Duration, addr uint64) {
	e.stats.Stopped++
	*e.handoff.add() = outcome{
		addr: addr, label: e.open.labels[addr], sent: e.open.silentSent, sentBytes: e.open.silentBytes,
		err:     [wire.NumQuestions]wire.Error{wire.ErrTimeout, wire.ErrTimeout, wire.ErrTimeout},
		firstAt: now, lastAt: now, endAt: now, shift: e.outage.shiftAt(now),
	}
}

func (e *engine) more() bool {
	return !e.supply.list.ended || e.addrs.n > 0 || e.supply.second.waiting() > 0
}

// secondPass holds the silent targets until all other targets are finished. Then each
// gets one more attempt. By that time the cause of most losses is gone, so the second
// pass finds servers whose datagrams were lost together in the first pass.
type secondPass struct {
	silent []uint64      // packed addresses and ports; elements never change, so that snapshots can share them
	labels []SilentLabel // labels of the targets that have one; elements never change
	next   int           // index into silent: the next target
}

func (l *secondPass) push(addr uint64, lb *Target) {
	if lb != nil {
		l.labels = append(l.labels, SilentLabel{len(l.silent), lb.Tag, lb.Master, lb.InfoOnly})
	}
	l.silent = append(l.silent, addr)
}

// pop returns the next target, with its label if it has one. l.waiting must not be 0.
func (l *secondPass) pop() (addr uint64, lb *Target) {
	i, found := slices.BinarySearchFunc(l.labels, l.next, func(x SilentLabel, index int) int { return x.Index - index })
	if found {
		x := &l.labels[i]
		lb = &Target{Tag: x.Tag, Master: x.Master, InfoOnly: x.InfoOnly}
	}
	l.next++
	return l.silent[l.next-1], lb
}

func (l *secondPass) waiting() int { return len(l.silent) - l.next }
