package scanner

import (
	"math"
	"time"

	"github.com/a2sscan/a2sscan/scanner/internal/session"
)

// rateFinder finds the rate of a scan that has none. It has no clock and no I/O: counts
// in, rate out.
//
// Without a maximum (Config.Rate is Off) only this machine limits the rate: it doubles
// until the first sign of overload, and falls at once. Then it returns almost to the rate
// of the overload, stays near it for some seconds, and rises further if no sign comes: a
// cubic function of the time, as in RFC 9438.
//
// With a maximum (Config.FindRate) it measures the path. Dead targets, random loss and
// servers without rules look like what a router drops, but loss on a full path follows
// the rate. So the time is divided into windows with one rate each, and a trial compares
// a window at a higher rate with those at the lower one before and after it:
//
//	rest ──▶ high ──▶ low … until the high window and one low window are judged
//	  ▲                 │
//	  └─── no more loss: take the higher rate, and double the next step
//	       more loss: stay a little below what the path carried, and rest longer
//
// If a window at rest loses much more than usual, the rate falls to what got through,
// and the next window tells whether loss follows the rate; if not, the old rate is
// restored. The evidence is requests to servers that just answered. If there are too few
// of them, first requests to unknown targets count, too, and both sides must agree,
// since the share of dead targets may change along the list.
type rateFinder struct {
	pace *pace
	most float64 // the maximum rate; Off: only this machine limits it

	at      time.Duration // when the last sample was taken
	seen    signs
	tooMuch float64       // the rate at the last overload of this machine
	fell    float64       // the share of tooMuch to which the rate fell then
	slowed  time.Duration // when that was, not counting time in which the scan used little of its rate; 0: never
	risen   time.Duration // when the rate was last doubled
	lately  float64       // mean rate of the last samples
	settled float64       // mean rate while nothing else held the scan back

	trips     roundTrips
	windows   [64]window
	begun     int // windows begun; the last of them is under way
	judged    int // windows judged
	state     windowKind
	high      yields // of the trial
	low       yields // likewise
	usual     yields // at rest, lately
	rate      float64
	tried     float64 // the higher rate of the trial
	down      bool    // the trial began because of loss
	proven    bool    // a trial told two rates apart
	step      float64 // the next trial is at rate × (1 + step)
	restUntil time.Duration
	rest      time.Duration
	found     PathRate
}

// signs are the values of a sample. The first three are counters.
type signs struct {
	sent, drops, putOff uint64
	queued, room        int // bytes in the receive buffer, and its size in bytes
}

// windowKind says what a window is for.
type windowKind uint8

const (
	windowRest windowKind = iota
	windowHigh
	windowLow
)

// window is a span of time with one rate.
type window struct {
	yields
	kind     windowKind
	rate     float64 // the limit
	from, to time.Duration
}

// yields count first requests and their answers, by class.
type yields struct {
	asked, answered [2]float64
	sent, drops     float64
	seconds         float64
}

// The classes of first requests.
const (
	toUnknown = iota // to a target that has sent nothing yet
	toKnown          // to a server that answered before
)

// add adds the given part of o to y.
func (y *yields) add(o *yields, part float64) {
	for c := range y.asked {
		y.asked[c] += part * o.asked[c]
		y.answered[c] += part * o.answered[c]
	}
	y.sent, y.drops, y.seconds = y.sent+part*o.sent, y.drops+part*o.drops, y.seconds+part*o.seconds
}

// speed returns the mean rate at which datagrams were sent.
func (y *yields) speed() float64 { return y.sent / max(y.seconds, 1e-9) }

// share returns the part of the requests of a class that was answered.
func (y *yields) share(class int) float64 { return y.answered[class] / max(y.asked[class], 1) }

// The constants of rateFinder. Rates are datagrams per second.
const (
	startRate   = 20_000 // without a maximum,
	firstRate   = 5000   // and with one
	leastRate   = 1000   // of this machine,
	leastPath   = 50     // and of the path
	sampleEvery = 10 * time.Millisecond
	nearMuch    = 0.95 // of the rate of an overload: the plateau of the cubic function
	cubicUp     = 0.01 // its factor, for seconds

	leastWindow   = 60 * time.Millisecond
	mostWindow    = 500 * time.Millisecond // without many requests: a second
	enoughKnown   = 300                    // requests to known servers that make a window long enough
	enoughUnknown = 1000                   // the same for unknown targets
	judgeKnown    = 100                    // requests to known servers that a comparison needs on each side
	judgeAnswers  = 40                     // answers that it needs without them
	leastVariance = 0.01
	leastLoss     = 0.02 // loss below that is not worth slowing down for
	significant   = -4.5 // z score; strict, since requests that are sent together share their fate
	doubtful      = -2   // z score at which a trial is repeated
	suspectLoss   = 0.03 // loss at rest that begins a trial
	keepBelow     = 0.95 // of what the path carried
	fullPart      = 0.2  // of the additional requests; if fewer are answered, the path was full at the lower rate, too
	smallStep     = 0.05
	mostRest      = 16 * time.Second
)

func newRateFinder(p *pace, most float64) *rateFinder {
	f := &rateFinder{pace: p, most: most, step: 1, rest: time.Second}
	if most == Off {
		p.limit(0, startRate)
		return f
	}
	f.rate = max(min(firstRate, most/4), min(leastPath, most))
	f.found = PathRate{On: true, Most: most, Now: f.rate}
	f.begin(0)
	return f
}

// sample is called a hundred times a second, and adjusts the pace. free means that
// nothing but the rate and the processor held the scan back since the last sample. It
// reports whether this machine is overloaded.
func (f *rateFinder) sample(now time.Duration, s signs, free bool) (overload bool) {
	took := (now - f.at).Seconds()
	reached := float64(s.sent-f.seen.sent) / took
	filling := s.room > 0 && s.queued > s.room/2 && s.queued >= f.seen.queued
	overload = s.drops > f.seen.drops || s.putOff > f.seen.putOff || filling
	w := f.current()
	w.sent, w.drops = w.sent+float64(s.sent-f.seen.sent), w.drops+float64(s.drops-f.seen.drops)
	f.at, f.seen = now, s
	f.lately += (reached - f.lately) * min(1, took/0.05)
	if free {
		if f.settled == 0 {
			f.settled = reached
		}
		f.settled += (reached - f.settled) * min(1, took/2)
	}
	switch {
	case f.most != Off:
		f.measure(now)
	case overload:
		f.overloaded(now)
	default:
		f.rise(now)
	}
	return overload
}

// overloaded lowers the rate, unless it is too early to see the effect of the last
// reduction.
func (f *rateFinder) overloaded(now time.Duration) {
	since, by := now-f.slowed, 0.8
	switch {
	case f.slowed == 0:
	case since < f.echo():
		return
	case since < 2*f.echo()+sampleEvery:
		by = 0.5 // the last reduction was not enough
	}
	f.tooMuch, f.fell, f.slowed = f.lately, by, now
	if f.pace.rate != Off {
		f.tooMuch = min(f.lately, f.pace.rate)
	}
	f.pace.limit(now, max(f.tooMuch*by, leastRate))
}

// echo returns how long a change of the rate takes to show in the signs.
func (f *rateFinder) echo() time.Duration {
	if f.trips.known() < 64 {
		return sampleEvery
	}
	return sampleEvery + min(f.trips.upper(2), mostWindow)
}

// rise raises the rate of a scan without a maximum. If the scan uses less than half of
// it, rise leaves it unchanged or, if there was no overload yet, removes the limit.
func (f *rateFinder) rise(now time.Duration) {
	rate := f.pace.rate
	switch {
	case rate == Off:
		return
	case f.lately < rate/2:
		if f.slowed == 0 {
			f.pace.limiter, f.pace.rate = nil, Off
		} else {
			f.slowed += sampleEvery
		}
		return
	case f.slowed == 0 && now-f.risen < f.echo():
		return
	case f.slowed == 0:
		f.risen = now
		rate *= 2
	default:
		t := (now - f.slowed).Seconds() - math.Cbrt((nearMuch-f.fell)/cubicUp)
		rate = max(rate, f.tooMuch*(nearMuch+cubicUp*t*t*t))
	}
	f.pace.limit(now, min(rate, maxRate))
}

func (f *rateFinder) window(i int) *window { return &f.windows[i%len(f.windows)] }
func (f *rateFinder) current() *window     { return f.window(max(f.begun-1, 0)) }

// begin begins the next window, with the rate that the state demands.
func (f *rateFinder) begin(now time.Duration) {
	if f.begun > 0 {
		w := f.current()
		w.to, w.seconds = now, (now - w.from).Seconds()
		f.judged = max(f.judged, f.begun+1-len(f.windows))
	}
	rate := f.rate
	if f.state == windowHigh {
		rate = f.tried
	}
	f.begun++
	*f.current() = window{kind: f.state, rate: rate, from: now}
	f.pace.limit(now, rate)
}

// answered counts the answer to a first request that was sent at the time at.
func (f *rateFinder) answered(now, at time.Duration, class int) {
	f.trips.add(now-at, true)
	for i := f.begun - 1; i >= f.judged; i-- {
		if w := f.window(i); at >= w.from-time.Microsecond { // a session's times are rounded
			w.yields.answered[class]++
			return
		}
	}
}

// measure ends the window under way if it is long enough, and judges those whose
// answers have arrived.
func (f *rateFinder) measure(now time.Duration) {
	least, echo := mostWindow/2, time.Second
	if f.trips.known() >= 64 {
		rare := f.trips.upper(rareTrip) * 5 / 4
		least, echo = min(max(rare, leastWindow), mostWindow), min(max(rare+queueMargin, session.LeastTimeout), time.Second)
	}
	w := f.current()
	enough := w.asked[toKnown] >= enoughKnown || w.asked[toUnknown] >= enoughUnknown
	if age := now - w.from; age >= least && enough || age >= 2*mostWindow {
		switch {
		case f.state == windowHigh:
			f.state = windowLow
		case f.state == windowRest && now >= f.restUntil && f.usual.seconds > 0:
			f.high, f.low, f.down, f.tried = yields{}, yields{}, false, min(f.most, f.rate*(1+f.step))
			if f.tried > f.rate {
				f.state = windowHigh
			}
		}
		f.begin(now)
	}
	for f.judged < f.begun-1 && now >= f.window(f.judged).to+echo {
		w := f.window(f.judged)
		f.judged++
		switch {
		case w.kind == windowHigh && f.state == windowLow:
			f.high.add(&w.yields, 1)
		case w.kind == windowLow && f.state == windowLow:
			if f.low.add(&w.yields, 1); f.high.seconds > 0 {
				f.decide(now)
			}
		case w.kind == windowRest && f.state == windowRest && w.rate == f.rate:
			f.watch(now, w)
		}
	}
}

// watch compares a window at rest with the usual share.
func (f *rateFinder) watch(now time.Duration, w *window) {
	lost, z, ok := compare(&f.usual, &w.yields)
	busy := w.speed() < 0.8*w.rate // this machine or the list is slow: other loss is likely
	if ok && !busy && w.asked[toKnown] >= judgeKnown && lost > suspectLoss && z < significant-1.5 {
		f.high, f.low, f.down, f.tried, f.state = w.yields, yields{}, true, f.rate, windowLow
		f.rate = max(min(w.speed()*(1-lost)*keepBelow, 0.95*f.rate), f.rate/4, leastPath)
		f.begin(now)
		return
	}
	f.remember(&w.yields)
}

// remember includes a window in the usual share, in which older windows count half.
func (f *rateFinder) remember(y *yields) {
	sum := *y
	sum.add(&f.usual, 0.5)
	f.usual = sum
}

// compare returns the share that was lost at the higher of two rates compared with the
// lower one, and the z score of the difference (the test of Cochran, Mantel and
// Haenszel). ok is false if there is too little to compare.
func compare(low, high *yields) (lost, z float64, ok bool) {
	classes := []int{toKnown}
	if min(low.asked[toKnown], high.asked[toKnown]) < judgeKnown {
		classes = append(classes, toUnknown)
		answers := low.answered[toKnown] + high.answered[toKnown] + low.answered[toUnknown] + high.answered[toUnknown]
		if answers < judgeAnswers {
			return 0, 0, false
		}
	}
	var expected, got, difference, variance float64
	for _, c := range classes {
		l, h := low.asked[c], high.asked[c]
		if l == 0 || h == 0 {
			continue
		}
		expected += h * low.share(c)
		got += high.answered[c]
		both := (low.answered[c] + high.answered[c]) / (l + h)
		weight := l * h / (l + h)
		difference += weight * (high.share(c) - low.share(c))
		variance += weight * max(both*(1-both), leastVariance)
	}
	if expected == 0 || variance == 0 {
		return 0, 0, false
	}
	return 1 - got/expected, difference / math.Sqrt(variance), true
}

// decide ends a trial, or repeats it if the evidence is doubtful.
func (f *rateFinder) decide(now time.Duration) {
	low := f.low
	if !f.down {
		low.add(&f.usual, 1)
	}
	lost, z, ok := compare(&low, &f.high)
	agree := min(low.asked[toKnown], f.high.asked[toKnown]) >= judgeKnown || f.down ||
		f.high.share(toUnknown) < min(f.low.share(toUnknown), f.usual.share(toUnknown))
	f.state = windowRest
	switch {
	case !f.down && f.high.speed() < (low.speed()+f.tried)/2*0.9 && low.speed() < 0.9*f.rate:
		f.step = max(f.step, min(2*f.step, 0.25)) // the scan does not use the rate
		f.restUntil = now + time.Second
	case !ok:
		f.set(now, min(f.tried, f.rate*1.25), "few_answers")
	case lost > leastLoss && z < significant && agree:
		f.slower(now, &low, lost)
	case lost > leastLoss && z < doubtful && agree && !f.down && f.high.seconds < 1: // more windows will tell
		f.state = windowHigh
	default: // loss did not follow the rate
		if f.down {
			f.usual = yields{} // the path loses this much at any rate now
			f.found.Unrelated++
			f.remember(&f.high)
		} else {
			f.step = min(1, 2*f.step)
		}
		f.remember(&low)
		f.proven = true
		if f.set(now, f.tried, "clear"); f.rate > 1.1*f.found.Carried {
			f.rest = time.Second
		}
	}
	f.begin(now)
}

// slower ends a trial in which loss followed the rate.
func (f *rateFinder) slower(now time.Duration, low *yields, lost float64) {
	carried := f.high.speed() * (1 - lost)
	rate := min(max(carried, f.rate), f.tried) * keepBelow
	full := carried/low.speed()-1 <= (f.high.speed()/low.speed()-1)*fullPart // at the lower rate, too
	if full {
		if f.usual = (yields{}); f.proven {
			rate = max(min(carried*keepBelow, 0.85*f.rate), f.rate/4)
		} else {
			rate = f.rate / 2
		}
	} else {
		f.proven, f.step = true, smallStep
		f.restUntil, f.rest = now+f.rest, min(2*f.rest, mostRest)
	}
	why := "loss"
	if f.high.drops > 0 {
		why = "drops_here"
	}
	f.found.Carried, f.found.Lost = carried, lost
	f.set(now, max(rate, min(leastPath, f.most)), why)
}

// set changes the rate between trials.
func (f *rateFinder) set(now time.Duration, rate float64, why string) {
	f.rate = rate
	switch {
	case rate == f.found.Now:
		return
	case rate > f.found.Now:
		f.found.Raised++
	default:
		f.found.Slowed++
	}
	copy(f.found.Changes[1:], f.found.Changes[:])
	f.found.Changes[0] = rateChange{At: now, From: f.found.Now, To: rate, Why: why}
	f.found.Now = rate
}
