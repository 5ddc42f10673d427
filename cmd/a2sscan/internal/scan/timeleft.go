package scan

import (
	"time"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/timing"
)

// targets estimates how many targets this run will have started at its end. Its second
// argument, part, is the fraction of the input that was read.
func (p *Tracker) targets(s *scanner.Stats, part float64) float64 {
	return float64(max(p.cfg.Given(), s.Taken)) / (part - p.cfg.Begun) * (1 - p.cfg.Begun)
}

// toStart estimates how long it takes to start the remaining targets of all targets. It
// assumes that each of them needs as many datagrams as the started targets did on average.
func (p *Tracker) toStart(s *scanner.Stats, all float64) time.Duration {
	taken, sent := float64(s.Taken), float64(s.DatagramsSent())
	if taken == 0 || sent == 0 {
		return 0
	}
	// Most open targets are silent, and some of the repeats to them are still to come. Each
	// target has been open for a time between 0 and oldest.
	schedule, sum, open := p.cfg.Schedule, timing.Schedule.Sum, float64(s.Open)
	oldest := schedule.Silence()
	if schedule.Learned = s.Timeouts.Now; s.Timeouts.Learned && schedule.Early() {
		sum, open = timing.Schedule.EarlySum, float64(s.Open-s.Timeouts.Listening)
		oldest = schedule.EarlySum(schedule.Attempts)
	}
	oldest = max(min(s.Elapsed, oldest), 1)
	repeats := 0.0
	for n := 1; n < schedule.Requests(); n++ {
		repeats += open * min(1, float64(sum(schedule, n))/float64(oldest))
	}
	datagrams := max(all-taken, 0) * (sent + repeats) / taken
	if schedule.SecondPass { // one more request for each silent target
		datagrams += all * float64(s.Silent) / taken
	}
	return time.Duration(float64(s.Elapsed) * datagrams / sent)
}

// tail estimates how long the scan takes after it has started its last target. Its second
// argument is how many times as many targets the scan will then have started as now.
//
// The scan waits for the last silent target, and for the last target with an open question.
// If these are rare, the last one of them was probably started before the last target.
func (p *Tracker) tail(s *scanner.Stats, growth float64) time.Duration {
	forSilent, forOpen := p.waits(s, growth)
	silent := s.Finished[scanner.StatusNoReply] + uint64(s.Silent+s.Timeouts.Listening)
	silent = max(silent, s.Repeats/uint64(max(p.cfg.Schedule.Requests()-1, 1)))
	last := func(n uint64, wait time.Duration) time.Duration {
		switch {
		case n > 0:
			return max(0, wait-s.Elapsed/time.Duration(n))
		case s.Elapsed <= p.cfg.Schedule.Timeout: // no silence is known so early
			return wait
		}
		return 0
	}
	d := max(last(silent, forSilent), last(s.Finished[scanner.StatusPartial], forOpen))
	if p.cfg.Draining != nil && p.cfg.Draining() {
		return d
	}
	return d + p.cooldown(s, growth)
}

// waits estimates how long the scan waits, at its end, for a silent target and for a target
// with an open question. See session.LastWaits: the scan knows round trips that the Stats do
// not have, so waits estimates them from the learned timeout.
func (p *Tracker) waits(s *scanner.Stats, growth float64) (silent, open time.Duration) {
	schedule := p.schedule(s, growth)
	silent, open = schedule.Silence(), schedule.Sum(schedule.Attempts)
	switch {
	case schedule.SecondPass && s.Silent < p.silent: // the second pass has begun
		return schedule.Longest(), open
	case p.cfg.Fallback:
		return silent + schedule.Timeout, open
	case schedule.SecondPass || !schedule.Early() || float64(s.Answered())*growth < timing.LastTrips:
		return silent, open
	}
	lastAttempt, trips := schedule.EarlySum(schedule.Attempts-1), 2*schedule.Learned
	return min(silent, lastAttempt+trips), min(open, lastAttempt+max(schedule.Timeout, trips))
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
