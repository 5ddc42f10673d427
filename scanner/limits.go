package scanner

import (
	"math"
	"time"
)

// charge accounts for the time since it was last called in which nothing was
// sent although the rate allowed it, to what was waited for.
func (e *engine) charge(now time.Duration) {
	unused := now - e.charged
	e.charged = now
	if e.governor == nil {
		unused = e.pace.unused(now)
	}
	why := e.stats.Wait
	switch {
	case why != WaitNothing:
	case e.follow.n+e.repeat.n == 0 && (e.draining || !e.more()):
		why = WaitReplies // the bucket was empty when that was looked at
	case e.governor != nil && e.paced:
		why = WaitLosses
	default:
		why = WaitSending
	}
	e.stats.Waited[why] += uint64(unused / time.Microsecond)
}

// govern has the governor look at the socket.
func (e *engine) govern(now time.Duration) {
	sock := e.sock.Stats()
	amiss := e.governor.look(now, signs{
		sent: e.stats.DatagramsSent(), drops: sock.KernelDrops, putOff: e.stats.SendAgain,
		queued: sock.RecvQueued, room: sock.RecvBuffer,
	}, e.free)
	if amiss {
		e.stats.Slowed++
	}
	e.free = true
	e.stats.Settled = e.governor.settled
}

// slack is the part of its time that a scan may lose and be said to have kept
// its rate, and the time itself.
const (
	slackPart = 0.02
	slackTime = 500 * time.Millisecond
)

// LimitedBy says what kept a scan from its rate, the reason that took the most
// time, and which part of the time in which there were targets to start: from 0
// to 1. It is WaitNothing where the rate was kept but for two in a hundred, or for
// half a second. A scan without a rate is always limited by something, and be it WaitSending.
func (s *Stats) LimitedBy() (why Wait, part float64) {
	var lost, most uint64
	for w, us := range s.Waited {
		switch Wait(w) {
		case WaitReplies, WaitCooldown:
			continue
		}
		lost += us
		if us > most {
			why, most = Wait(w), us
		}
	}
	spent := s.Elapsed.Microseconds() - int64(s.Waited[WaitReplies]+s.Waited[WaitCooldown])
	part = min(1, float64(most)/float64(max(spent, 1)))
	kept := time.Duration(lost)*time.Microsecond <= max(slackTime, time.Duration(slackPart*float64(spent))*time.Microsecond)
	if kept && !math.IsInf(s.Rate, 1) {
		return WaitNothing, 0
	}
	return why, part
}
