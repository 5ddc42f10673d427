// Package timing defines how long a scan waits. Package scanner uses it, and so does a
// program that forecasts how long a scan will take.
package timing

import "time"

// Schedule defines how many times a question without an answer is sent, how long each
// attempt waits for an answer, and how long the scan waits for late replies:
//
//	attempt        1     2     3 and later   second pass
//	wait           1     1.5   2             2            timeouts
//
// In each of these attempts, the scan sends the first question to a silent target. After
// the last attempt, it finishes the target. It waits longer for a target that has
// answered: at least two round trips of the target. A question gets more attempts if a
// challenge or a part of the answer came.
//
// A scan that learns its timeouts (see the learner of package scanner) makes the attempts
// earlier, with Learned in place of Timeout. If Timeout allows, the last attempt still
// comes at least 1.2 s after the first one. A server's limit of one query per second, or
// a short outage on the path, defeats all attempts that are close together. With three
// attempts:
//
//	attempt   after the first one             and waits
//	1         0                               1 Learned
//	2         1 Learned                       1.5 Learned
//	3         2.5 Learned, at least 1.2 s     1 Learned
//
// If a target is still silent after its last attempt, the scan listens for an answer
// until the time at which a scan with the fixed Timeout would finish the target. It does
// the same for the open questions of a target that has answered.
type Schedule struct {
	Timeout    time.Duration // the wait of the first attempt, if nothing is learned
	Learned    time.Duration // the wait of the first attempt, if the scan has learned it; else 0
	Attempts   int           // how many times a question is sent
	SecondPass bool          // a silent target gets one more attempt when all other targets are finished
	// Cooldown is how long the scan recognises late replies of a finished target, and how
	// long it waits for late replies at its end.
	Cooldown time.Duration
	Learns   bool // the scan learns timeouts up to Timeout
	Cools    bool // the scan learns how long to wait at its end, up to Cooldown
}

const (
	// LeastTimeout is the shortest timeout that a scan learns. The shortest cooldown is a
	// third of it, because no record needs a reply that comes during the cooldown.
	LeastTimeout = 150 * time.Millisecond
	LearnTrips   = 256 // round trips that a scan must know before it learns timeouts
	LastTrips    = 500 // round trips that a scan must know before it shortens the waits at its end
	// lastAttempt is the minimum time from the first attempt to the last one in a scan
	// that learns its timeouts.
	lastAttempt = 1200 * time.Millisecond
)

// Requests returns how many times the scan sends the first question to a silent target.
func (s Schedule) Requests() int {
	if s.SecondPass {
		return s.Attempts + 1
	}
	return s.Attempts
}

// Wait returns how long an attempt of the first pass waits for an answer. Attempts are
// numbered from 1. A question may get more attempts than Schedule.Attempts.
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

// Silence returns how long the scan waits for a silent target, in all attempts together,
// including the second pass.
func (s Schedule) Silence() time.Duration {
	d := s.Sum(s.Attempts)
	if s.SecondPass {
		d += s.Longest()
	}
	return d
}

// Sum returns the sum of the waits of the first n attempts.
func (s Schedule) Sum(n int) (d time.Duration) {
	for attempt := range n {
		d += s.Wait(attempt + 1)
	}
	return d
}

// First returns how long the first attempt waits.
func (s Schedule) First() time.Duration {
	if s.Early() {
		return s.Learned
	}
	return s.Timeout
}

// Early reports whether the scan has learned a timeout that is shorter than Timeout, and
// so makes attempts earlier than with Timeout.
func (s Schedule) Early() bool { return s.Learned > 0 && s.Learned < s.Timeout }

// EarlyWait returns how long an attempt waits if Early is true. Its arguments are the time
// from the first attempt to this one, the number of this attempt, and the number of all
// attempts.
func (s Schedule) EarlyWait(after time.Duration, n, attempts int) time.Duration {
	switch d := (Schedule{Timeout: s.First()}).Wait(n); {
	case n >= attempts:
		return s.First()
	case n == attempts-1:
		return max(d, min(lastAttempt, s.Sum(n))-after)
	default:
		return d
	}
}

// EarlySum returns the sum of the waits of the first n attempts if Early is true.
func (s Schedule) EarlySum(n int) (d time.Duration) {
	for attempt := range n {
		d += s.EarlyWait(d, attempt+1, s.Attempts)
	}
	return d
}

// Least returns the shortest possible Silence and Cooldown of a scan with this number of
// targets. If there are enough targets to learn from, both may be shorter than s.Silence()
// and s.Cooldown.
func (s Schedule) Least(targets float64) (silence, cooldown time.Duration) {
	silence, cooldown = s.Silence(), s.Cooldown
	if !s.Learns || targets < LearnTrips {
		return silence, cooldown
	}
	if s.Cools {
		cooldown = min(cooldown, LeastTimeout/3)
	}
	if !s.SecondPass {
		s.Learned = LeastTimeout
		silence = s.EarlySum(s.Attempts)
	}
	return silence, cooldown
}
