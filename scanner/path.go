package scanner

import (
	"time"

	"github.com/a2sscan/a2sscan/wire"
)

// This file connects pathRate with the loop: it finds out which requests are the first
// for their question, and which of these requests a datagram answers.

// DefaultMostRate is the maximum rate of a scan with Config.FindRate whose Rate is
// zero.
const DefaultMostRate = 50_000

// findRate makes the scan find its rate, which is at most most.
func (e *engine) findRate(most float64) {
	p := newPathRate(most)
	e.pacer.path, e.sender.path, e.recv.path = p, p, p
	e.pacer.pace.limit(0, p.rate)
	e.stats.Path = p.seen
}

// followPath adjusts the pace to what the path carries.
func (e *engine) followPath(now time.Duration) {
	p := &e.pacer
	if p.path == nil || now-p.followedAt < sampleEvery {
		return
	}
	p.followedAt = now
	if rate := p.path.sample(now, e.stats.DatagramsSent(), e.sock.Stats().KernelDrops); rate != p.pace.rate {
		e.charge(now)
		p.allow(now)
		p.pace.limit(now, rate)
	}
	e.stats.Path = p.path.seen
}

// noteAsked counts a request that was just sent, if it is the first for its question.
func (p *pathRate) noteAsked(sl *slot, q wire.Question) {
	t := &sl.session
	switch {
	case !AskAll.Has(q):
	case t.got == nil && sl.sent == 1:
		p.asked(false)
	case t.got != nil && t.agenda.attempts[q] == 1:
		p.asked(true)
	}
}

// noteAnswered counts the answers that a datagram brought. before are the questions
// that were waited for before it came.
func (p *pathRate) noteAnswered(now time.Duration, sl *slot, before Questions) {
	t := &sl.session
	if t.got.received == 1 {
		if sl.sent == 1 {
			p.answered(now, t.clock.firstAt, false)
		}
		return
	}
	for q := range each(before &^ t.agenda.silent()) {
		if t.agenda.attempts[q] == 1 {
			p.answered(now, t.clock.at(t.got.trips.sentUS[q]), true)
		}
	}
}
