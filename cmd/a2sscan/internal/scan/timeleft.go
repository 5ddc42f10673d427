package scan

import (
	"time"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/timing"
	"github.com/a2sscan/a2sscan/wire"
)

// targets estimates how many targets this run will have started at its end. Its second
// argument, part, is the fraction of the input that was read.
func (p *Tracker) targets(s *scanner.Stats, part float64) float64 {
	return float64(max(p.cfg.Given(), s.Taken)) / (part - p.cfg.Begun) * (1 - p.cfg.Begun)
}

// left estimates how long the scan goes on, if it starts all targets. First it starts the
// targets of this pass and waits for the last of them. Then there may be a second pass and a
// cooldown. The result is negative if it is unknown.
func (p *Tracker) left(s *scanner.Stats, all float64) (d time.Duration) {
	growth := all / float64(max(s.Taken, 1))
	pace := float64(s.Elapsed) / float64(max(s.DatagramsSent(), 1)) // time for one datagram
	wait, start := p.lastWait(s, growth), max(p.toStart(s, all, pace), s.HeldFor)
	longest := p.cfg.Schedule.Longest() // the wait of the second pass
	if p.second {
		wait, start = longest, time.Duration(float64(s.Silent)*pace)
	}
	if d = start + wait; p.started > 0 {
		d = p.started + wait - s.Elapsed
	}
	if p.cfg.Draining != nil && p.cfg.Draining() {
		return max(0, d)
	}
	if p.cfg.Schedule.SecondPass && !p.second {
		if d < 0 { // some targets are slow, and the second pass waits for them
			return -1
		}
		d += time.Duration(float64(s.Silent+s.Open)*growth*pace) + longest // most open targets are silent
	}
	return max(0, d+p.cooldown(s, growth))
}

// toStart estimates how long it takes to start the remaining targets of all targets. It
// assumes that each of them needs as many datagrams as the started targets did on average.
func (p *Tracker) toStart(s *scanner.Stats, all, pace float64) time.Duration {
	// Most open targets are silent, and some of the repeats to them are still to come. Each
	// target has been open for a time between 0 and oldest.
	schedule, sum, open := p.cfg.Schedule, timing.Schedule.Sum, float64(s.Open)
	if schedule.Learned = s.Timeouts.Now; s.Timeouts.Learned && schedule.Early() {
		sum, open = timing.Schedule.EarlySum, float64(s.Open-s.Timeouts.Listening)
	}
	oldest := max(min(s.Elapsed, sum(schedule, schedule.Attempts)), 1)
	datagrams := float64(s.DatagramsSent())
	for n := 1; n < schedule.Attempts; n++ {
		datagrams += open * min(1, float64(sum(schedule, n))/float64(oldest))
	}
	taken := float64(s.Taken)
	return time.Duration(max(all-taken, 0) / max(taken, 1) * datagrams * pace)
}

// lastWait estimates how long this pass takes after it has started its last target. Its
// second argument is how many times as many targets it will then have started as now.
//
// The scan waits for the last silent target, and for the last targets with one open question
// and with several. If these are rare, the last of them was probably started earlier.
func (p *Tracker) lastWait(s *scanner.Stats, growth float64) (longest time.Duration) {
	noReply, partial := int(s.Finished[scanner.StatusNoReply]), int(s.Finished[scanner.StatusPartial])
	silent := max(noReply+s.Silent+s.Timeouts.Listening, int(s.Repeats)/max(p.cfg.Schedule.Attempts-1, 1))
	open := int(s.Errors[wire.ErrTimeout]) - noReply*howMany(p.cfg.Questions&wire.AskAll)
	waits := p.waits(s, growth)
	for i, n := range [...]int{silent, min(partial, open), open - partial} {
		switch {
		case n > 0:
			longest = max(longest, waits[i]-s.Elapsed/time.Duration(n))
		case i == 0 && s.Elapsed <= p.cfg.Schedule.Timeout: // no silence is known so early
			longest = waits[0]
		}
	}
	return longest
}

// waits estimates how long the scan waits, at its end, for a silent target, for a target with
// one open question, and for a target with several. Session.suspectLimit asks these one by
// one. See also session.LastWaits: the Stats do not have the round trips from which these
// follow, so waits uses the learned timeout.
func (p *Tracker) waits(s *scanner.Stats, growth float64) [3]time.Duration {
	schedule := p.schedule(s, growth)
	fixed := schedule.Sum(schedule.Attempts)
	silent, several := fixed, schedule.Sum(schedule.Attempts+1)+schedule.Timeout
	if p.cfg.Fallback {
		silent += schedule.Timeout
	}
	switch {
	case !schedule.Early():
		return [...]time.Duration{silent, fixed, several}
	case schedule.SecondPass || float64(s.Answered())*growth < timing.LastTrips:
		return [...]time.Duration{silent, fixed, 2 * fixed}
	}
	lastAttempt, trips := schedule.EarlySum(schedule.Attempts-1), 2*schedule.Learned
	heard := max(schedule.Timeout, 5*schedule.Learned) // twice the time to an answer that needed two repeats
	if !p.cfg.Fallback {
		silent = min(silent, lastAttempt+trips)
	}
	return [...]time.Duration{silent, min(fixed, lastAttempt+heard), 3*lastAttempt + trips + heard}
}

// schedule returns the schedule that the scan will have when it has started growth times as
// many targets as now. A scan that has not learned its timeouts yet, but will, probably learns
// the shortest.
func (p *Tracker) schedule(s *scanner.Stats, growth float64) timing.Schedule {
	schedule := p.cfg.Schedule
	switch {
	case s.Timeouts.Learned:
		schedule.Learned = s.Timeouts.Now
	case schedule.Learns && float64(s.Answered())*growth >= timing.LearnTrips:
		schedule.Learned = timing.LeastTimeout
	}
	return schedule
}

// cooldown estimates how long the scan waits for late replies at its end.
func (p *Tracker) cooldown(s *scanner.Stats, growth float64) time.Duration {
	schedule := p.schedule(s, growth)
	if !schedule.Cools || schedule.Learned == 0 {
		return schedule.Cooldown
	}
	return min(schedule.Cooldown, schedule.Learned*3/2) // about two of the longest round trips
}
