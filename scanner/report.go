package scanner

import (
	"slices"
	"time"
)

// reporter publishes the numbers of a scan, for the Monitor and in Snapshots.
type reporter struct {
	publishedAt time.Duration // when the Monitor last got the numbers
	estimatedAt time.Duration // when Stats.HeldFor was last estimated; 0: the scan does not wait for an address
	snapshotAt  time.Duration // when the last snapshot was taken
}

// publish updates the Stats and passes them to the Monitor.
func (e *engine) publish() {
	s := &e.stats
	s.Finished, s.Errors = e.handoff.finisher.counts()
	s.Open, s.Held, s.HeldAddrs = e.open.n()+e.open.listening.n, e.addrs.n, len(e.addrs.held)
	s.Silent = e.supply.second.waiting()
	e.reportTimeouts()
	e.estimateHeld(s.Elapsed)
	e.pacer.allow(s.Elapsed)
	s.Bytes = e.pool.used + e.recv.parts.table.Bytes()
	s.PeakBytes = max(s.PeakBytes, e.pool.peak)
	s.Socket, s.Reasm = e.sock.Stats(), e.recv.parts.table.Stats()
	if e.cfg.Monitor != nil {
		e.cfg.Monitor.set(*s)
	}
}

// reportTimeouts updates the learned timeouts in the Stats.
func (e *engine) reportTimeouts() {
	x, l := &e.stats.Timeouts, e.open.learner
	if l == nil {
		return
	}
	learned := l.seen
	learned.Listening, learned.Reopened, learned.Dropped = e.open.listening.n, x.Reopened, x.Dropped
	*x = learned
}

// publishRegularly publishes ten times a second.
func (e *engine) publishRegularly(now time.Duration) {
	if now-e.report.publishedAt < idleWait {
		return
	}
	e.report.publishedAt = now
	e.recv.parts.table.Expire(now)
	e.stats.Elapsed = now
	e.publish()
}

// estimateHeld estimates how long the limits of addresses will hold the scan up. It
// inspects all held addresses, so it runs once a second.
func (e *engine) estimateHeld(now time.Duration) {
	s, at := &e.stats, &e.report.estimatedAt
	switch {
	case s.Wait != WaitAddress:
		s.HeldFor, *at = 0, 0
	case *at == 0 || now-*at >= time.Second:
		*at = now
		each := float64(addrBurst) // a refund comes too late for the next target
		if done := s.TargetsFinished() + uint64(s.Silent); done > 0 {
			each = max(each, float64(s.DatagramsSent())/float64(done))
		}
		s.HeldFor = e.addrs.last(now, each) - now
	}
}

// snapshotRegularly takes a snapshot every SnapshotEvery, but none while an earlier
// one waits for a slow caller.
func (e *engine) snapshotRegularly(now time.Duration) {
	due := e.cfg.Snapshot != nil && now-e.report.snapshotAt >= e.cfg.SnapshotEvery
	if due && !e.handoff.snapshotWaits() {
		e.report.snapshotAt = now
		e.handoff.seal(e.snapshot())
	}
}

// snapshot returns a Snapshot of the scan after all outcomes so far.
func (e *engine) snapshot() *Snapshot {
	e.stats.Elapsed = e.clock()
	e.pacer.allow(e.stats.Elapsed)
	e.stats.Socket = e.sock.Stats()
	second := &e.supply.second
	return &Snapshot{
		Position: e.stats.Taken,
		Place:    e.supply.list.place,
		Open:     e.openTargets(),
		Stats:    e.stats,

		Silent:       slices.Clip(second.silent),
		SilentLabels: slices.Clip(second.labels),
		SecondPassed: second.next,
	}
}

// openTargets returns the targets that were taken from the list and are neither
// finished nor waiting for the second pass.
func (e *engine) openTargets() []Target {
	ts := make([]Target, 0, e.open.n()+e.addrs.n+e.open.listening.n)
	for _, i := range e.open.index {
		l := e.open.slots.labels.get(i)
		ts = append(ts, l.target(e.open.slots.at(i).source()))
	}
	e.open.listening.all(e.stats.Elapsed, func(x listened) { ts = append(ts, x.label.target(x.addr)) })
	for _, h := range e.addrs.held {
		for _, t := range h.targets {
			ts = append(ts, t.label.target(t.addr))
		}
	}
	return ts
}
