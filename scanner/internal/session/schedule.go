package session

import (
	"math"
	"time"
)

// Schedule owns how long a scan waits. It says how many times a question without an
// answer is sent, how long each attempt waits, and how long late replies are worth
// waiting for. It is the only place that defines these waits:
//
//	attempt        1     2     3 and later   second pass
//	wait           1     1.5   2             2            timeouts
//
// A target that stays silent is sent its first question in each of these attempts,
// and is then given up. The scan waits longer for a target that has answered: at
// least two of its round trips (see Session.timeout). A question gets more attempts if
// part of an answer or a challenge came (see Session.maxAsks).
//
// A scan that learns its timeouts (see the learner of package scanner) makes the
// attempts earlier: base is what it learned, at most Timeout. The last attempt still
// comes 1.2 s after the first one, if Timeout allows, because a limit of one query per
// second, or a gap in the path, swallows all attempts that are close together. With
// three attempts:
//
//	attempt   after the first one          and waits
//	1         0                            1 base
//	2         1 base                       1.5 base
//	3         2.5 base, at least 1.2 s     1 base
//
// If a target is still silent then, the scan listens for it until the time at which
// the fixed schedule would give it up. The open questions of a target that has answered
// wait as long.
type Schedule struct {
	Timeout    time.Duration // the wait of the first attempt
	Attempts   int           // how many times a question is sent
	SecondPass bool          // a silent target gets one more attempt when all others are finished
	// Cooldown is how long the scan recognises late replies of a finished target, and how
	// long it waits for them at the end.
	Cooldown time.Duration
	Learns   bool // the scan learns timeouts up to Timeout
	Cools    bool // the scan learns how long to wait at the end, up to Cooldown
}

// LeastTimeout is the shortest timeout that a scan learns. The shortest cooldown is a third
// of it, because no record needs a reply that comes in the cooldown.
const LeastTimeout = 150 * time.Millisecond

// LearnTrips is how many servers must have answered before a scan knows the round
// trips well enough to take its timeouts from them.
const LearnTrips = 256

// lastAttempt is the minimum time from the first attempt to the last one in a scan
// that learns its timeouts.
const lastAttempt = 1200 * time.Millisecond

// Requests returns how many times a silent target is sent its first question.
func (s Schedule) Requests() int { return s.Attempts + int(b2u8(s.SecondPass)) }

// wait returns how long an attempt of the first pass waits for an answer. Attempts are
// numbered from 1. There may be more of them than Attempts.
func (s Schedule) wait(attempt int) time.Duration {
	switch {
	case attempt <= 1:
		return s.Timeout
	case attempt == 2:
		return s.Timeout * 3 / 2
	}
	return s.Longest()
}

// Longest returns the longest wait of an attempt, which is also the wait of the second
// pass.
func (s Schedule) Longest() time.Duration { return 2 * s.Timeout }

// Silence returns how long a silent target is waited for in all attempts together,
// including the second pass.
func (s Schedule) Silence() time.Duration {
	d := s.sum(s.Attempts)
	if s.SecondPass {
		d += s.Longest()
	}
	return d
}

// sum returns how long the first n attempts wait together.
func (s Schedule) sum(n int) (d time.Duration) {
	for attempt := range n {
		d += s.wait(attempt + 1)
	}
	return d
}

// learnt returns how long attempt n waits in a scan that learns its timeouts. attempts
// is the number of all attempts, base is how long the first attempt waited, and after
// is the time from the first attempt to attempt n.
func (s Schedule) learnt(base, after time.Duration, n, attempts int) time.Duration {
	switch d := (Schedule{Timeout: base}).wait(n); {
	case n >= attempts:
		return base
	case n == attempts-1:
		return max(d, min(lastAttempt, s.sum(n))-after)
	default:
		return d
	}
}

// Least returns the shortest possible Silence and Cooldown of a scan of this many
// targets. They are shorter than the fixed ones if there are enough targets to learn
// from.
func (s Schedule) Least(targets float64) (silence, cooldown time.Duration) {
	silence, cooldown = s.Silence(), s.Cooldown
	if !s.Learns || targets < LearnTrips {
		return silence, cooldown
	}
	if s.Cools {
		cooldown = min(cooldown, LeastTimeout/3)
	}
	if !s.SecondPass {
		silence = 0
		for n := range s.Attempts {
			silence += s.learnt(min(LeastTimeout, s.Timeout), silence, n+1, s.Attempts)
		}
	}
	return silence, cooldown
}

// LastWaits are how long after the last request an answer is still worth waiting
// for, once every target was started; 0: as long as the fixed schedule says.
type LastWaits struct {
	Silent time.Duration // for a target that sent nothing
	Heard  time.Duration // for the answer to a question, if the target sent something
}

// Clock holds the times of a session. Its times of sending, and those in Answer, are in µs
// after FirstAt, so that they take four bytes.
type Clock struct {
	FirstAt time.Duration // first datagram sent
	wakeMS  uint32        // ms after FirstAt: the time of the next call of Tick; 0: none
	sentUS  uint32        // last datagram sent
}

// Wake returns the time of the next call of Tick, or 0 if none is needed.
func (c *Clock) Wake() time.Duration {
	if c.wakeMS == 0 {
		return 0
	}
	return c.FirstAt + time.Duration(c.wakeMS)*time.Millisecond
}

// wakeAt sets the wake-up time to at, rounded up to a whole number of milliseconds
// after FirstAt.
func (c *Clock) wakeAt(at time.Duration) {
	ms := (at - c.FirstAt + time.Millisecond - 1) / time.Millisecond
	c.wakeMS = uint32(min(max(ms, 0), math.MaxUint32))
}

// LastAt returns the time at which the last datagram was sent.
func (c *Clock) LastAt() time.Duration { return c.at(c.sentUS) }

// at returns the time us µs after the first datagram.
func (c *Clock) at(us uint32) time.Duration { return c.FirstAt + time.Duration(us)*time.Microsecond }

// since returns the time from us µs after the first datagram until now, at least a
// microsecond. The time at which a request left is not known exactly, so the answer
// may seem to come before the request.
func (c *Clock) since(us uint32, now time.Duration) time.Duration {
	return max(now-c.at(us), time.Microsecond)
}
