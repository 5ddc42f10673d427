package scanner

import "time"

// governor finds the rate of a scan that has none set: the highest rate at which
// nothing is lost. It samples the socket a hundred times a second. It begins at
// startRate and doubles the rate until it sees a sign of overload. Then it lowers
// the rate at once, and lowers it further if the overload lasts longer than a round
// trip. After that the rate rises again: quickly until it is near the rate of the
// last overload, and slowly from there on, so that it does not oscillate. The
// longer there is no overload, the faster it rises.
//
// The signs of overload are that the kernel dropped datagrams, that the receive
// buffer is half full (before anything is lost), that the kernel refused to send
// with ErrAgain, or that round trips are much longer than a few seconds ago. Long
// round trips may have other causes, such as a list that moves on to another
// continent, or a busy machine; they slow the scan down only briefly.
type governor struct {
	pace *pace

	at    time.Duration // when the last sample was taken
	seen  signs
	bad   time.Duration // when the last overload was seen
	slown time.Duration // when the rate was last lowered
	risen time.Duration // when the rate was last doubled

	tooMuch float64       // the rate at the last overload; 0: none so far
	lately  float64       // mean rate of the last samples
	settled float64       // mean rate while nothing else held the scan back
	usual   time.Duration // mean round trip of the last seconds
	rttFrom time.Duration // when the sums below were last reset
	rttSum  time.Duration
	rtts    int
}

// signs are the values of a sample. The first three are counters.
type signs struct {
	sent, drops, putOff uint64
	queued, room        int // bytes in the receive buffer, and its size in bytes
}

// The governor's constants.
const (
	startRate    = 20_000
	leastRate    = 1000
	sampleEvery  = 10 * time.Millisecond
	slowBy       = 0.8
	slowByAgain  = 0.5                    // if slowBy was not enough
	calmTime     = 250 * time.Millisecond // after an overload, before the rate rises again
	quickUp      = 1.025                  // per sample, far below the rate of the last overload
	slowUp       = 0.02                   // per second, near that rate: two percent
	slowUpTime   = 2 * time.Second        // after this time the rise is twice slowUp; it grows with the square of the time
	near         = 0.9
	settleTime   = 2 * time.Second        // the span of the means settled and usual
	latelyTime   = 50 * time.Millisecond  // the span of the mean lately
	longerEvery  = 500 * time.Millisecond // minimum time between two slowdowns for long round trips
	enoughRTTs   = 64                     // a mean needs at least this many round trips
	rttTime      = 300 * time.Millisecond // and at least this time
	longerRTT    = 2                      // a mean is too long above this multiple of the usual round trip,
	longerRTTMin = 50 * time.Millisecond  // plus this
	mostEcho     = 500 * time.Millisecond // the longest round trip that echo assumes
)

func newGovernor(p *pace) *governor {
	p.limit(0, startRate)
	return &governor{pace: p}
}

// roundTrip includes a round trip in the current mean.
func (g *governor) roundTrip(d time.Duration) {
	g.rttSum += d
	g.rtts++
}

// due reports whether it is time for a sample.
func (g *governor) due(now time.Duration) bool { return now-g.at >= sampleEvery }

// sample adjusts the pace to the signs. free means that nothing but the rate and
// the processor has held the scan back since the last sample. It reports whether
// there is a sign of overload.
func (g *governor) sample(now time.Duration, s signs, free bool) (overload bool) {
	took := (now - g.at).Seconds()
	reached := float64(s.sent-g.seen.sent) / took
	full := s.drops > g.seen.drops || s.putOff > g.seen.putOff || s.fills(&g.seen)
	longer := g.longer(now)
	g.at, g.seen = now, s
	g.lately += (reached - g.lately) * part(took, latelyTime)
	if free {
		g.average(reached, took)
	}
	switch {
	case full:
		g.down(now)
	case longer:
		g.ease(now)
	case now-g.bad >= calmTime || g.tooMuch == 0:
		g.up(now, took)
	}
	return full || longer
}

// part returns the weight that the last interval, of the given length in seconds,
// has in a moving mean over the time mean.
func part(seconds float64, mean time.Duration) float64 { return min(1, seconds/mean.Seconds()) }

// fills reports whether the receive buffer is more than half full and is not emptying.
func (s *signs) fills(before *signs) bool {
	return s.queued > s.room/2 && s.queued >= before.queued && s.room > 0
}

// average includes a rate in settled.
func (g *governor) average(reached, took float64) {
	if g.settled == 0 {
		g.settled = reached
	}
	g.settled += (reached - g.settled) * part(took, settleTime)
}

// longer reports whether round trips take much longer than usual. The usual value
// adapts within a second or two, so that a list that moves on to another continent
// soon counts as normal.
func (g *governor) longer(now time.Duration) bool {
	took := now - g.rttFrom
	if g.rtts < enoughRTTs || took < rttTime {
		return false
	}
	mean := g.rttSum / time.Duration(g.rtts)
	g.rttFrom, g.rttSum, g.rtts = now, 0, 0
	if g.usual == 0 {
		g.usual = mean
	}
	longer := mean > longerRTT*g.usual+longerRTTMin
	g.usual += time.Duration(float64(mean-g.usual) * part(took.Seconds(), settleTime))
	return longer
}

// echo returns how long a change of the rate takes to show in the signs.
func (g *governor) echo() time.Duration { return sampleEvery + min(g.usual, mostEcho) }

// current returns the mean rate of the last samples, limited to the pace.
func (g *governor) current() float64 {
	if g.pace.rate == Off {
		return g.lately
	}
	return min(g.lately, g.pace.rate)
}

// down lowers the rate, unless it is too early to see the effect of the last
// reduction. If that one was not enough, down lowers the rate further.
func (g *governor) down(now time.Duration) {
	g.bad = now
	if g.tooMuch > 0 && now-g.slown < g.echo() {
		return
	}
	by := slowBy
	if g.tooMuch > 0 && now-g.slown < 2*g.echo()+sampleEvery {
		by = slowByAgain
	}
	g.slown = now
	g.tooMuch = max(g.current(), leastRate)
	g.pace.limit(now, max(g.tooMuch*by, leastRate))
}

// ease lowers the rate briefly, since a queue on the path may be filling up.
func (g *governor) ease(now time.Duration) {
	g.bad = now
	if now-g.slown >= longerEvery {
		g.slown = now
		g.pace.limit(now, max(slowBy*g.current(), g.settled/2, leastRate))
	}
}

// up raises the rate. If the scan uses less than half of the current rate, up leaves
// it unchanged or, if there was no overload yet, removes the limit.
func (g *governor) up(now time.Duration, took float64) {
	rate := g.pace.rate
	switch {
	case rate == Off:
		return
	case g.lately < rate/2:
		if g.tooMuch == 0 {
			g.pace.unlimit()
		}
		return
	case g.tooMuch == 0 && now-g.risen < g.echo():
		return
	case g.tooMuch == 0:
		g.risen = now
		rate *= 2
	case rate < near*g.tooMuch:
		rate *= quickUp
	default:
		calm := (now - g.bad).Seconds() / slowUpTime.Seconds()
		rate *= 1 + slowUp*(1+calm*calm)*took
	}
	g.pace.limit(now, min(rate, maxRate))
}
