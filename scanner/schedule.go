package scanner

import "time"

// Schedule is how many times a question without an answer is sent, and how long each
// attempt waits. It is the only place that defines:
//
//	attempt        1     2     3 and later   second pass
//	wait           1     1.5   2             2            timeouts
//
// A target that stays silent is sent its first question in each of these attempts,
// and is then given up. The scan waits longer for a target that has answered: at
// least two of its round trips (see plan.timeout in plan.go). A question gets more
// attempts if part of an answer or a challenge came (see plan.maxAsks).
//
// A scan that learns its timeouts (see learner.go) makes the attempts earlier: base
// is what it learned, at most Timeout. The last attempt still comes 1.2 s after the
// first one, if Timeout allows, because a limit of one query per second, or a gap in
// the path, swallows all attempts that are close together. With retries 2:
//
//	attempt   after the first one          and waits
//	1         0                            1 base
//	2         1 base                       1.5 base
//	3         2.5 base, at least 1.2 s     1 base
//
// If a target is still silent then, the scan listens for it until the time at which
// the fixed schedule would give it up (see listening.go). The open questions of a
// target that has answered wait as long.
type Schedule struct {
	Timeout    time.Duration // the wait of the first attempt
	Retries    int           // attempts after the first
	SecondPass bool          // a silent target gets one more attempt when all others are finished
}

// Attempts returns how many times a silent target is sent its first question.
func (s Schedule) Attempts() int {
	if s.SecondPass {
		return 2 + s.Retries
	}
	return 1 + s.Retries
}

// Wait returns how long an attempt of the first pass waits for an answer. Attempts are
// numbered from 1. There may be more of them than the method Attempts returns.
func (s Schedule) Wait(attempt int) time.Duration {
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
func (s Schedule) Silence() (d time.Duration) {
	for attempt := range 1 + s.Retries {
		d += s.Wait(attempt + 1)
	}
	if s.SecondPass {
		d += s.Longest()
	}
	return d
}

// lastAttempt is the minimum time from the first attempt to the last one in a scan
// that learns its timeouts.
const lastAttempt = 1200 * time.Millisecond

// sum returns how long the first n attempts wait together.
func (s Schedule) sum(n int) (d time.Duration) {
	for attempt := range n {
		d += s.Wait(attempt + 1)
	}
	return d
}

// learnt returns how long attempt n waits in a scan that learns its timeouts. attempts
// is the number of all attempts, base is how long the first attempt waited, and after
// is the time from the first attempt to attempt n.
func (s Schedule) learnt(base, after time.Duration, n, attempts int) time.Duration {
	switch d := (Schedule{Timeout: base}).Wait(n); {
	case n >= attempts:
		return base
	case n == attempts-1:
		return max(d, min(lastAttempt, s.sum(n))-after)
	default:
		return d
	}
}

// Least returns the shortest possible Silence of a scan that learns its timeouts.
func (s Schedule) Least() (d time.Duration) {
	if s.SecondPass {
		return s.Silence()
	}
	base := min(LeastTimeout, s.Timeout)
	for n := range 1 + s.Retries {
		d += s.learnt(base, d, n+1, 1+s.Retries)
	}
	return d
}
