package scanner

import "time"

// Schedule is how often a question without an answer is sent, and how long each
// attempt waits. It is the only place that knows:
//
//	attempt        1     2     3 and later   second pass
//	wait           1     1.5   2             2            timeouts
//
// A target that stays silent is sent its first question so often and is then
// given up. One that answers may wait longer: never less than two of its round
// trips, and more often, if part of an answer came (see session.go).
type Schedule struct {
	Timeout    time.Duration // the wait of the first attempt
	Retries    int           // attempts after the first
	SecondPass bool          // a silent target gets one more attempt when all others are finished
}

// Attempts is how often a silent target is sent its first question.
func (s Schedule) Attempts() int {
	if s.SecondPass {
		return 2 + s.Retries
	}
	return 1 + s.Retries
}

// Wait is how long an attempt of the first pass waits for an answer. The first
// attempt is 1. There may be more of them than Attempts says.
func (s Schedule) Wait(attempt int) time.Duration {
	switch {
	case attempt <= 1:
		return s.Timeout
	case attempt == 2:
		return s.Timeout * 3 / 2
	}
	return s.Longest()
}

// Longest is the longest wait of an attempt, and that of the second pass.
func (s Schedule) Longest() time.Duration { return 2 * s.Timeout }

// Silence is how long a silent target is waited for in all.
func (s Schedule) Silence() (d time.Duration) {
	for attempt := range 1 + s.Retries {
		d += s.Wait(attempt + 1)
	}
	if s.SecondPass {
		d += s.Longest()
	}
	return d
}
