package scanner

import "time"

// governor finds the rate of a scan that has none: as fast as it goes, and no
// faster. It looks at the socket a hundred times a second. It begins at
// startRate and doubles that as long as nothing is amiss; a sign that receiving
// doesn't keep up, or that the system doesn't send as fast, makes it slower at
// once, and if a round trip later it is still there, much slower. Then it goes
// up again, quickly until near the rate that was too much, and slowly from
// there on, so that it doesn't swing; the longer nothing happens, the less so.
//
// The signs: datagrams dropped for want of room, a receive buffer that is half
// full (before anything is lost), sends that the kernel puts off, and round
// trips that become much longer than they were a few seconds ago. The last one
// may have other reasons, such as a list that goes to the other end of the world
// or a machine that is busy: it makes the scan slower for a moment only.
type governor struct {
	pace *pace

	at    time.Duration // of the last look
	seen  signs
	bad   time.Duration // when something was last amiss
	slown time.Duration // when it was last made slower
	risen time.Duration // when it was last doubled

	tooMuch float64       // the rate at which something was amiss; 0: never so far
	lately  float64       // mean of what was reached in the last looks
	settled float64       // mean of what was reached while nothing else was in the way
	usual   time.Duration // mean round trip of the last seconds
	rttFrom time.Duration // since when those below are added up
	rttSum  time.Duration
	rtts    int
}

// signs are what a look is for. The first three only grow.
type signs struct {
	sent, drops, putOff uint64
	queued, room        int // bytes in the receive buffer, and how many it holds
}

// The governor's constants.
const (
	startRate    = 20_000
	leastRate    = 1000
	lookEvery    = 10 * time.Millisecond
	slowBy       = 0.8
	slowByAgain  = 0.5                    // when that was not enough
	calmTime     = 250 * time.Millisecond // after something was amiss, before it goes up again
	quickUp      = 1.025                  // a look, far from the rate that was too much
	slowUp       = 0.02                   // a second, near it: two in a hundred
	slowUpTime   = 2 * time.Second        // after which it is double that, and grows with the square
	near         = 0.9
	settleTime   = 2 * time.Second        // what settled and usual are means of
	latelyTime   = 50 * time.Millisecond  // what lately is a mean of
	longerEvery  = 500 * time.Millisecond // between two times of being slower for long round trips
	enoughRTTs   = 64                     // for a mean, of those of
	rttTime      = 300 * time.Millisecond // or more
	longerRTT    = 2                      // times the usual one, and
	longerRTTMin = 50 * time.Millisecond  // more than that is much longer
	mostEcho     = 500 * time.Millisecond // a round trip that is waited for, at most
)

func newGovernor(p *pace) *governor {
	p.limit(0, startRate)
	return &governor{pace: p}
}

// roundTrip notes one.
func (g *governor) roundTrip(d time.Duration) {
	g.rttSum += d
	g.rtts++
}

// due reports whether it is time for a look.
func (g *governor) due(now time.Duration) bool { return now-g.at >= lookEvery }

// sample sets the pace by what there is to see. free says that nothing but the
// rate and the processor kept the scan from sending since the last look. It
// reports whether something was amiss.
func (g *governor) sample(now time.Duration, s signs, free bool) (amiss bool) {
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

// part is the weight of the last so many seconds in a mean of some time.
func part(seconds float64, mean time.Duration) float64 { return min(1, seconds/mean.Seconds()) }

// fills reports whether the receive buffer is half full, and not emptier than
// it was.
func (s *signs) fills(before *signs) bool {
	return s.queued > s.room/2 && s.queued >= before.queued && s.room > 0
}

// average takes a rate into the mean.
func (g *governor) average(reached, took float64) {
	if g.settled == 0 {
		g.settled = reached
	}
	g.settled += (reached - g.settled) * part(took, settleTime)
}

// longer reports whether round trips take much longer than they used to. What
// is usual follows, so that a list that goes to the other end of the world is
// taken for a reason for a second or two only.
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

// echo is how long it takes until a change of the pace shows.
func (g *governor) echo() time.Duration { return lookEvery + min(g.usual, mostEcho) }

// current is the rate that the scan reached lately, within its pace.
func (g *governor) current() float64 {
	if g.pace.rate == Off {
		return g.lately
	}
	return min(g.lately, g.pace.rate)
}

// down makes the pace slower, and gives that the time to show.
func (g *governor) down(now time.Duration) {
	g.bad = now
	if g.tooMuch > 0 && now-g.slown < g.echo() {
		return
	}
	by := slowBy
	if g.tooMuch > 0 && now-g.slown < 2*g.echo()+lookEvery {
		by = slowByAgain
	}
	g.slown = now
	g.tooMuch = max(g.current(), leastRate)
	g.pace.limit(now, max(g.tooMuch*by, leastRate))
}

// ease makes the pace slower for a moment, since something on the way may be
// filling up: nothing is known to be too much.
func (g *governor) ease(now time.Duration) {
	g.bad = now
	if now-g.slown >= longerEvery {
		g.slown = now
		g.pace.limit(now, max(slowBy*g.current(), g.settled/2, leastRate))
	}
}

// up makes the pace quicker, unless the last one wasn't reached anyway.
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
