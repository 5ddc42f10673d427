package scanner

import (
	"math"
	"time"
)

// pathRate finds the rate that the path carries, for a scan with Config.FindRate. A
// router, a provider or a network card that drops datagrams is invisible to the
// sender: all that shows is that fewer first requests are answered. Dead targets and
// random loss look the same. Only one thing tells them apart: loss on a path that is
// full follows the rate.
//
// So the scan compares. It divides its time into phases, each with one rate, and
// counts for each phase how many first requests it sent and how many of those were
// answered. A trial has phases at a lower and at a higher rate. If the share of
// answers is the same, the scan may send at the higher rate. If the share is smaller
// at the higher rate, the path is full.
//
//   - The rate begins at firstRate and doubles with each trial, until one fails.
//   - A failed trial shows what the path carried: the higher rate × its share of
//     answers ÷ the share at the lower rate. The scan stays a little below that,
//     rests, and tries 5 % more. A successful trial doubles the step; a failed trial
//     doubles the rest. If hardly more was answered at the higher rate than at the
//     lower one, the path was full at both, and the rate falls below the lower one.
//   - If a phase between trials loses more than usual, a trial compares the rate with
//     the rate that got through. If much was lost, the scan slows down at once, and
//     the trial has only one more phase, at the lower rate: the phase that lost counts
//     as that at the higher rate. If the lower rate loses as much, the loss does not
//     follow the rate, and the old rate is restored.
//
// The best evidence is the questions to servers that have answered before: if those
// stay silent, something was lost. But such questions go out first in each batch,
// and a full path may spare those datagrams. So the first requests to unknown targets
// count, too. The share of dead targets among them may vary along the list. If only
// unknown targets show loss, the trial has four pairs of phases in the order of a
// Thue-Morse sequence, in which a trend cancels out, and all pairs must agree.
//
// It has no clock and no I/O: counts in, rate out.
type pathRate struct {
	most   float64 // the maximum rate
	rate   float64 // between trials
	step   float64 // the next trial is at rate × (1 + step)
	proven bool    // a trial showed that the path carries more than a lower rate
	sparse bool    // few requests go to known servers
	flat   int     // trials in a row that found the path full at the lower rate, too

	trips  roundTrips
	phases [keptPhases]phase
	begun  int // phases begun; the last of them is under way
	judged int // phases judged

	trial     trial
	changedAt time.Duration // when rate changed last
	restUntil time.Duration
	rest      time.Duration // how long the next rest is
	usual     yield         // of known servers, lately, without loss that follows the rate

	seen PathRate
}

// The constants of pathRate.
const (
	firstRate   = 5000
	leastPath   = 50 // the minimum rate
	keptPhases  = 64
	leastPhase  = 60 * time.Millisecond
	mostPhase   = 500 * time.Millisecond
	sparsePhase = time.Second            // a phase with few requests ends after this time
	firstPhase  = 250 * time.Millisecond // minimum length of a phase before the round trips are known
	mostEchoing = time.Second            // an answer that takes longer counts as lost
	knownTrips  = 64                     // how many round trips make them known

	enoughKnown   = 300  // requests to known servers that make a phase long enough
	enoughFirst   = 1000 // the same for unknown targets
	judgeKnown    = 100  // requests to known servers that a comparison needs on each side
	judgeAnswers  = 40   // answers that a comparison of unknown targets needs, both sides together
	significant   = -4.5 // z score; strict, since requests that are sent together share their fate
	leastVariance = 0.01
	doubtful      = -2.0 // z score at which a trial with at least half the loss of a full path is repeated,
	doubtfulStill = -3.0 // and at which it has failed if it can't be repeated
	likely        = -2.5 // z score of known servers that is enough if the unknown targets agree
	enoughPairs   = 4    // pairs of phases that are needed if only unknown targets show loss
	leastLoss     = 0.02 // loss below that is not worth slowing down for
	suspectLoss   = 0.03 // loss that makes a phase between trials suspicious,
	suspiciousZ   = -6.0 // if its z score is also below this
	muchLoss      = 0.25 // loss at which the scan slows down at once
	keepBelow     = 0.97 // of what the path carried
	smallStep     = 0.05
	unclearStep   = 0.25
	leastRest     = time.Second
	mostRest      = 16 * time.Second
	usualMemory   = 0.8 // factor for the usual yield after each phase
	checkBelow    = 0.9 // lower rate of a trial at the maximum rate, as a part of that rate
	usedPart      = 0.8 // part of the rate that a phase between trials must use to count
	leastContrast = 0.5 // part of the intended difference of rates that a trial must reach to count
	carriedMore   = 1.1 // multiple of what the path carried at the last loss: a larger step ends there, and beyond it rests are short again
	fullPart      = 0.2 // of the additional requests; if fewer are answered, the path was full before
	mostRounds    = 2   // maximum number of repetitions of a pattern
)

// yield counts first requests, and those of them that were answered.
type yield struct{ asked, answered float64 }

func (y *yield) add(o yield) {
	y.asked += o.asked
	y.answered += o.answered
}

// share returns the share of requests that were answered.
func (y yield) share() float64 { return y.answered / max(y.asked, 1) }

// level says which rate a phase has: that between trials, or the lower or the higher
// one of a trial.
type level uint8

const (
	levelRest level = iota
	levelLow
	levelHigh
)

// phase is a span of time with one rate.
type phase struct {
	from, to time.Duration
	rate     float64 // the limit
	level    level
	first    yield // unknown targets
	known    yield // servers that answered before

	sent, drops uint64 // values when the phase began; after its end: counts of the phase
}

// seconds returns the length of an ended phase.
func (ph *phase) seconds() float64 { return (ph.to - ph.from).Seconds() }

// side sums up the phases of a trial that have one rate.
type side struct {
	first, known yield
	seconds      float64
	sent         float64
	drops        uint64
}

func (s *side) answered() float64 { return s.known.answered + s.first.answered }

func (s *side) add(ph *phase) {
	s.first.add(ph.first)
	s.known.add(ph.known)
	s.seconds += ph.seconds()
	s.sent += float64(ph.sent)
	s.drops += ph.drops
}

// rate returns the mean rate at which datagrams were sent.
func (s *side) rate() float64 { return s.sent / max(s.seconds, 1e-9) }

// trial compares two rates.
type trial struct {
	on        bool
	down      bool // begun because of loss; the present rate is the higher one
	pattern   string
	next      int // index into pattern
	left      int // phases to judge
	rounds    int // how many times the pattern was repeated
	rateLow   float64
	rateHigh  float64
	low, high side
	pairs     pairs
}

// The patterns of trials.
const (
	patternQuick  = "LH"
	patternPairs  = "LHHL"
	patternSparse = "LHHLHLLH"
	patternHigh   = "H" // the lower rate is the higher one of the last trial, whose phases count again
	patternLow    = "L" // the higher rate is that of the phase that gave rise to the trial
)

// pairs compares the unknown targets of adjacent phases.
type pairs struct {
	phases   int
	low      float64 // the share of the phase at the lower rate, in the present pair
	high     float64
	all      int
	lossHigh int // pairs with a smaller share at the higher rate
}

func (p *pairs) add(ph *phase) {
	if ph.level == levelHigh {
		p.high = ph.first.share()
	} else {
		p.low = ph.first.share()
	}
	if p.phases++; p.phases%2 == 0 {
		p.all++
		if p.high < p.low {
			p.lossHigh++
		}
	}
}

// agree reports whether less was answered at the higher rate in every pair.
func (p *pairs) agree() bool { return p.lossHigh == p.all }

// again returns a pair that begins with the last phase at the higher rate, which is
// the lower rate of the next trial.
func (p *pairs) again() pairs { return pairs{phases: 1, low: p.high} }

func newPathRate(most float64) *pathRate {
	p := &pathRate{most: most, rate: max(min(firstRate, most/4), min(leastPath, most)), step: 1, rest: leastRest}
	p.begin(0, 0, 0, levelRest, p.rate)
	p.seen = PathRate{On: true, Most: most, Now: p.rate}
	return p
}

// current returns the phase under way.
func (p *pathRate) current() *phase { return p.phase(p.begun - 1) }

func (p *pathRate) phase(i int) *phase { return &p.phases[i%keptPhases] }

// begin begins a phase.
func (p *pathRate) begin(now time.Duration, sent, drops uint64, l level, rate float64) {
	p.begun++
	*p.current() = phase{from: now, rate: rate, level: l, sent: sent, drops: drops}
}

// asked counts a first request: to a server that answered before, or to an unknown
// target.
func (p *pathRate) asked(known bool) {
	if ph := p.current(); known {
		ph.known.asked++
	} else {
		ph.first.asked++
	}
}

// answered counts the answer to a first request that was sent at the time at.
func (p *pathRate) answered(now, at time.Duration, known bool) {
	p.trips.add(now - at)
	for i := p.begun - 1; i >= p.judged; i-- {
		ph := p.phase(i)
		if at < ph.from-time.Microsecond { // a session's times are rounded
			continue
		}
		if known {
			ph.known.answered++
		} else {
			ph.first.answered++
		}
		return
	}
}

// echo returns how long to wait for the answers to a phase.
func (p *pathRate) echo() time.Duration {
	if p.trips.known() < knownTrips {
		return mostEchoing
	}
	return min(max(p.rareTrip()+queueMargin, LeastTimeout), mostEchoing)
}

func (p *pathRate) rareTrip() time.Duration { return p.trips.upper(rareTrip) * 5 / 4 }

// long reports whether the phase under way has lasted long enough. Since round trips
// differ, the answers to short phases would arrive mixed.
func (p *pathRate) long(now time.Duration) bool {
	ph := p.current()
	least := firstPhase
	if p.trips.known() >= knownTrips {
		least = min(max(p.rareTrip(), leastPhase), mostPhase)
	}
	took := now - ph.from
	enough := ph.known.asked >= enoughKnown || ph.first.asked >= enoughFirst
	return took >= least && (enough || took >= sparsePhase)
}

// sample is given how many datagrams were sent and how many this machine dropped so
// far, and returns the rate from now on.
func (p *pathRate) sample(now time.Duration, sent, drops uint64) float64 {
	if p.long(now) {
		p.turn(now, sent, drops)
	}
	for p.judged < p.begun-1 && now >= p.phase(p.judged).to+p.echo() {
		if ph := p.phase(p.judged); p.judge(now, ph) {
			p.turn(now, sent, drops)
		}
		p.judged++
	}
	return p.current().rate
}

// turn ends the phase under way and begins the next one.
func (p *pathRate) turn(now time.Duration, sent, drops uint64) {
	if p.begun-p.judged == keptPhases {
		p.judged++
	}
	ph := p.current()
	ph.to, ph.sent, ph.drops = now, sent-ph.sent, drops-ph.drops
	l, rate := p.next(now)
	p.begin(now, sent, drops, l, rate)
}

// next returns the level and the rate of the next phase. If the rest is over, it
// begins a trial of a higher rate.
func (p *pathRate) next(now time.Duration) (level, float64) {
	t := &p.trial
	if !t.on && now >= p.restUntil && p.judged > 0 {
		p.tryMore()
	}
	switch {
	case !t.on:
		return levelRest, p.rate
	case t.next == len(t.pattern):
		return levelRest, t.rateLow
	}
	t.next++
	if t.pattern[t.next-1] == 'H' {
		return levelHigh, t.rateHigh
	}
	return levelLow, t.rateLow
}

// tryMore begins a trial of a higher rate. If the rate is the maximum already, the
// trial compares it with a lower one.
func (p *pathRate) tryMore() {
	low, high := p.rate, min(p.most, p.rate*(1+p.step))
	if known := p.seen.Carried * carriedMore; p.rate < known {
		high = min(high, max(known, p.rate*(1+smallStep)), p.most)
	}
	if p.rate >= p.most {
		low = p.most * checkBelow
	}
	before := p.trial
	p.trial = trial{on: true, pattern: patternPairs, rateLow: low, rateHigh: high}
	t := &p.trial
	switch {
	case p.sparse:
		t.pattern = patternSparse
	case p.step == 1 && before.rateHigh == low:
		t.pattern, t.low, t.pairs = patternHigh, before.high, before.pairs.again()
	case p.step == 1:
		t.pattern = patternQuick
	}
	t.left = len(t.pattern)
}

// judge evaluates a phase whose answers have arrived. It reports whether the phase
// under way is to end.
func (p *pathRate) judge(now time.Duration, ph *phase) (turn bool) {
	t := &p.trial
	if ph.to-ph.from >= leastPhase {
		p.sparse = ph.known.asked < judgeKnown
	}
	switch {
	case ph.level == levelRest && !t.on && ph.from >= p.changedAt:
		return p.watch(ph)
	case ph.level == levelRest && t.pattern == patternLow && t.on && ph.rate == t.rateHigh:
		t.high.add(ph) // begun before the trial, after the phase that gave rise to it
		return false
	case ph.level == levelRest || !t.on:
		return false
	case ph.level == levelLow:
		t.low.add(ph)
	default:
		t.high.add(ph)
	}
	t.pairs.add(ph)
	if t.left--; t.left == 0 {
		p.decide(now)
	}
	return t.left == 0 || t.next == 0
}

// watch compares a phase between trials with the usual yield. It reports whether it
// began a trial because the phase lost more than usual.
func (p *pathRate) watch(ph *phase) bool {
	sent := float64(ph.sent) / ph.seconds()
	if sent < usedPart*p.rate {
		return false // the machine was busy: other loss is likely
	}
	var c contrast
	c.add(p.usual, ph.known)
	lost, z := c.result()
	if p.usual.asked < enoughKnown || ph.known.asked < judgeKnown || z > suspiciousZ || lost < suspectLoss {
		p.remember(ph.known)
		return false
	}
	t := trial{on: true, down: true, pattern: patternPairs, rateHigh: p.rate}
	t.rateLow = max(min(keepBelow*sent*(1-lost), 0.95*p.rate), p.rate/2, leastPath)
	if lost >= muchLoss {
		t.pattern = patternLow
	}
	t.left = len(t.pattern)
	p.trial = t
	return true
}

// remember includes a yield of known servers in the usual one.
func (p *pathRate) remember(y yield) {
	p.usual.asked *= usualMemory
	p.usual.answered *= usualMemory
	p.usual.add(y)
}

// contrast adds up the differences between two yields, separately for each class of
// requests.
type contrast struct{ expected, got, difference, variance float64 }

// add includes the yields of one class of requests, at the lower and at the higher
// rate (the test of Cochran, Mantel and Haenszel).
func (c *contrast) add(low, high yield) {
	if low.asked == 0 || high.asked == 0 {
		return
	}
	c.expected += high.asked * low.share()
	c.got += high.answered
	both := (low.answered + high.answered) / (low.asked + high.asked)
	weight := low.asked * high.asked / (low.asked + high.asked)
	c.difference += weight * (high.share() - low.share())
	c.variance += weight * max(both*(1-both), leastVariance)
}

// result returns the share that was lost, and the z score of the difference.
func (c *contrast) result() (lost, z float64) {
	if c.expected == 0 || c.variance == 0 {
		return 0, 0
	}
	return 1 - c.got/c.expected, c.difference / math.Sqrt(c.variance)
}

// trialOutcome is the outcome of a trial.
type trialOutcome uint8

const (
	trialClear   trialOutcome = iota // loss did not follow the rate
	trialLoss                        // loss followed the rate
	trialUnclear                     // there were too few answers
	trialAgain                       // loss may have followed the rate; the trial goes on, because more answers will tell
	trialUnused                      // the rates that were sent differed too little
)

// outcome returns how a trial ended, and the share that was lost at the higher rate.
func (t *trial) outcome() (o trialOutcome, lost float64) {
	low, high := t.low.rate(), t.high.rate()
	if high < low*(1+leastContrast*(t.rateHigh/t.rateLow-1)) {
		return trialUnused, 0
	}
	answers := t.low.answered() + t.high.answered()
	lost, z := t.contrast(true)
	known, zKnown := t.contrast(false)
	loses := z < significant && lost > leastLoss && t.pairs.agree()
	switch {
	case min(t.low.known.asked, t.high.known.asked) < judgeKnown && answers < judgeAnswers:
		return trialUnclear, 0
	case zKnown < significant && known > leastLoss, loses && zKnown < likely:
		if !t.pairs.agree() {
			lost = known
		}
		return trialLoss, max(lost, known)
	case loses && (t.pairs.all >= enoughPairs || lost >= muchLoss):
		return trialLoss, lost
	case loses:
		t.pattern = patternSparse
		return trialAgain, lost
	}
	half := (1 - low/high) / 2 // of what a full path would lose
	switch seen := min(zIf(known > half, zKnown), zIf(lost > half && t.pairs.agree(), z)); {
	case seen < doubtful && t.rounds < mostRounds:
		return trialAgain, lost
	case seen < doubtfulStill:
		return trialLoss, max(lost, known)
	}
	return trialClear, lost
}

// zIf returns z if loss is set, and 0 if not.
func zIf(loss bool, z float64) float64 {
	if loss {
		return z
	}
	return 0
}

// contrast returns the share of answers that were lost at the higher rate compared
// with the lower one, and the z score of the difference. If all is false, it considers
// only requests to known servers.
func (t *trial) contrast(all bool) (lost, z float64) {
	var c contrast
	c.add(t.low.known, t.high.known)
	if all {
		c.add(t.low.first, t.high.first)
	}
	return c.result()
}

// decide ends a trial whose phases have all been judged, or continues it with another
// round of its pattern.
func (p *pathRate) decide(now time.Duration) {
	t := &p.trial
	o, lost := t.outcome()
	t.on = o == trialAgain
	switch o {
	case trialAgain:
		t.next, t.left = 0, len(t.pattern)
		t.rounds++
	case trialLoss:
		p.slower(now, lost)
	case trialClear:
		p.clear(now)
	case trialUnclear:
		p.set(now, min(t.rateHigh, t.rateLow*(1+unclearStep)), WhyUnclear)
	case trialUnused:
		p.restUntil = now + leastRest
		p.step = max(p.step, min(2*p.step, unclearStep)) // a larger step shows even if the machine is unsteady
	}
}

// clear ends a trial in which loss did not follow the rate.
func (p *pathRate) clear(now time.Duration) {
	t := &p.trial
	p.proven = true
	if t.down {
		p.usual = yield{} // the path loses this much at any rate now
		p.changedAt = now
	}
	p.remember(t.low.known)
	p.remember(t.high.known)
	switch {
	case t.rateHigh > p.rate:
		p.set(now, t.rateHigh, WhyClear)
		p.step = min(1, 2*p.step)
	case t.down:
		p.seen.Unrelated++
	}
	if p.rate > carriedMore*p.seen.Carried {
		p.rest = leastRest
	}
	if p.rate >= p.most {
		p.restUntil = now + mostRest
	}
}

// slower ends a trial in which loss followed the rate.
func (p *pathRate) slower(now time.Duration, lost float64) {
	t := &p.trial
	carried := t.high.rate() * (1 - lost)
	if low := t.low.known; low.asked >= judgeKnown && p.usual.asked > 0 {
		carried *= min(1, low.share()/p.usual.share())
	}
	rate := min(max(carried, t.rateLow), t.rateHigh) * keepBelow
	if p.full(lost) {
		rate = t.rateLow * p.backOff()
	} else {
		p.proven = true
	}
	why := WhyLoss
	if t.high.drops > 0 {
		why = WhyMachine
	}
	p.seen.Carried, p.seen.Lost = carried, lost
	p.set(now, max(rate, min(leastPath, p.most)), why)
	if !p.proven {
		return
	}
	p.step = smallStep
	p.restUntil = now + leastRest
	if p.flat == 0 {
		p.restUntil = now + p.rest
		p.rest = min(2*p.rest, mostRest)
	}
}

// full reports whether the path was full at the lower rate, too: at the higher one
// hardly more was answered. It counts such trials in a row.
func (p *pathRate) full(lost float64) bool {
	t := &p.trial
	more := t.high.rate()/t.low.rate() - 1
	if t.high.rate()*(1-lost)/t.low.rate()-1 > more*fullPart {
		p.flat = 0
		return false
	}
	p.flat++
	return true
}

// backOff returns the factor by which to lower a rate at which the path is full: 0.9
// the first time in a row, 0.8 after that. A rate that no trial has proven is
// halved.
func (p *pathRate) backOff() float64 {
	if !p.proven {
		return 0.5
	}
	return max(1-0.1*float64(p.flat), 0.8)
}

// set changes the rate between trials.
func (p *pathRate) set(now time.Duration, rate float64, why Why) {
	switch {
	case rate > p.rate:
		p.seen.Raised++
	case rate < p.rate:
		p.seen.Slowed++
	}
	if rate != p.rate {
		p.seen.note(RateChange{At: now, From: p.rate, To: rate, Why: why})
	}
	p.rate, p.changedAt, p.seen.Now = rate, now, rate
}
