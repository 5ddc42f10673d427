package scanner

import (
	"math"
	"time"

	"github.com/a2sscan/a2sscan/scanner/internal/trips"
	"github.com/a2sscan/a2sscan/scanner/timing"
	"github.com/a2sscan/a2sscan/wire"
)

// rateFinder finds the rate of a scan that has none. It has no clock and no I/O: counts
// in, rate out.
//
// Without a maximum (Config.Rate is Off) only this machine limits the rate: the scan has
// none until the first sign of overload. Then the rate falls, returns almost to the rate of the
// overload, stays near it for some seconds, and rises further if no sign comes: a cubic
// function of the time, as in RFC 9438.
//
// With a maximum (Config.FindRate) it measures the path. Dead targets, random loss and
// servers without rules look like datagrams that a router dropped, but loss on a full
// path depends on the rate. So the time is divided into windows with one rate each, and a
// trial compares a window at a higher rate with the windows at the lower rate before and
// after it:
//
//	rest ──▶ high ──▶ low … until the high window and one low window are judged
//	  ▲                 │
//	  └─── no more loss: take the higher rate, and double the next step
//	       more loss: stay a little below what the path carried, and rest longer
//
// If a window at rest loses much more than usual, the rate falls to what got through, and
// the next window shows whether loss follows the rate; if not, the old rate is restored.
// As evidence, rateFinder uses requests to servers that have just answered. If there are too
// few such requests, first requests to unknown targets count, too. In this case the high
// window must be worse than the windows before and after it, since the share of dead
// targets may change along the list.
type rateFinder struct {
	most float64 // the maximum rate; Off: only this machine limits it
	now  float64 // the rate of the scan; Off: it has none yet

	at      time.Duration // when the last sample was taken
	seen    signs
	tooMuch float64 // the rate at the last overload of this machine
	fell    float64 // the share of tooMuch to which the rate then fell
	// slowed is the time of that overload, or 0 if there was none. It moves forward while
	// the scan uses little of its rate.
	slowed    time.Duration
	lately    float64 // mean rate of the last samples
	settled   float64 // mean rate while nothing else held the scan back
	overloads uint64  // samples in which this machine was overloaded

	trips     trips.Recent
	windows   [64]window // more windows than can begin within a second
	begun     int        // number of windows begun; the last of them is not over
	judged    int        // number of windows judged
	usual     yields     // the latest windows at rest
	high      yields     // the windows at the higher rate of the trial
	low       yields     // the windows at the lower rate of the trial
	rate      float64    // the rate at rest, and the lower rate of a trial
	tried     float64    // the higher rate of the trial; 0 if there is no trial
	down      bool       // the trial began because of loss
	step      float64    // the next trial is at rate × (1 + step)
	keep      float64    // the part of the rate to keep if the path is full at both rates of a trial
	restUntil time.Duration
	rest      time.Duration
	found     PathRate
}

// signs are the values of a sample. The first three are counters.
type signs struct {
	sent, drops, putOff uint64
	queued, room        int // bytes in the receive buffer, and its size in bytes
}

// window is a span of time with one rate.
type window struct {
	yields
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
	firstRate   = 5000 // with a maximum
	leastRate   = 1000 // minimum without a maximum
	leastPath   = 50   // minimum with a maximum
	sampleEvery = 10 * time.Millisecond
	nearMuch    = 0.95 // the plateau of the cubic function, as a share of the rate at the overload
	cubicUp     = 0.01 // factor of the cubic function; time is in seconds

	leastWindow   = 60 * time.Millisecond
	mostWindow    = 500 * time.Millisecond // minimum length of a window; twice this after few requests
	enoughKnown   = 300                    // requests to known servers that make a window long enough
	enoughUnknown = 1000                   // requests to unknown targets that make a window long enough
	judgeKnown    = 100                    // requests to known servers that a comparison needs at each rate
	judgeAnswers  = 40                     // answers that a comparison of unknown targets needs
	leastLoss     = 0.02                   // a smaller loss is no reason to slow down
	doubtful      = -2                     // z score at which a trial is repeated
	significant   = -4.5                   // z score that proves loss; strict, since requests sent together are lost together
	suspectLoss   = 0.03                   // loss at rest that begins a trial
	keepBelow     = 0.9                    // the share of what the path carried to which the rate is set
	// If less than fullPart of the additional requests at the higher rate are answered, the
	// path was full at the lower rate, too.
	fullPart = 0.2
	// keepProven is the share of the rate to keep if the path is full at both rates of a
	// trial, and an earlier trial had a clear result.
	keepProven = 0.85
	mostRest   = 16 * time.Second
)

func newRateFinder(most float64) *rateFinder {
	f := &rateFinder{most: most, now: Off, step: 1, keep: 0.5, rest: time.Second}
	if most == Off {
		return f
	}
	f.rate = max(min(firstRate, most/4), min(leastPath, most))
	f.found = PathRate{On: true, Most: most, Now: f.rate}
	f.begin(0, f.rate)
	return f
}

// sample is called a hundred times a second, and adjusts the rate. free means that
// nothing but the rate and the processor held the scan back since the last sample.
func (f *rateFinder) sample(now time.Duration, s signs, free bool) {
	took := (now - f.at).Seconds()
	reached := float64(s.sent-f.seen.sent) / took
	filling := s.room > 0 && s.queued > s.room/2 && s.queued >= f.seen.queued
	overload := s.drops > f.seen.drops || s.putOff > f.seen.putOff || filling
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
	if f.most == Off {
		f.adapt(now, overload)
		if overload {
			f.overloads++
		}
	} else {
		f.measure(now)
	}
}

// adapt sets the rate of a scan without a maximum. After a fall it waits until the fall
// can show in the signs.
func (f *rateFinder) adapt(now time.Duration, overload bool) {
	rate, since, echo := f.now, now-f.slowed, sampleEvery
	if f.trips.Known() >= 64 {
		echo += min(f.trips.Upper(2), mostWindow)
	}
	switch {
	case overload && (f.slowed == 0 || since >= echo):
		f.tooMuch, f.fell = f.lately, 0.8
		if rate != Off {
			f.tooMuch = min(f.lately, rate)
		}
		if f.slowed > 0 && since < 2*echo+sampleEvery {
			f.fell = 0.5 // the last reduction was not enough
		}
		f.slowed = now
		f.now = max(f.tooMuch*f.fell, leastRate)
	case overload || rate == Off:
	case f.lately < rate/2:
		f.slowed += sampleEvery // the scan does not use the rate
	default:
		t := since.Seconds() - math.Cbrt((nearMuch-f.fell)/cubicUp)
		f.now = min(max(rate, f.tooMuch*(nearMuch+cubicUp*t*t*t)), maxRate)
	}
}

func (f *rateFinder) window(i int) *window { return &f.windows[i%len(f.windows)] }
func (f *rateFinder) current() *window     { return f.window(max(f.begun-1, 0)) }

// begin begins the next window, with the given rate.
func (f *rateFinder) begin(now time.Duration, rate float64) {
	w := f.current()
	w.to, w.seconds = now, (now - w.from).Seconds()
	f.begun++
	*f.current() = window{rate: rate, from: now}
	f.now = rate
}

// answered counts the answer to a first request. The parameter at is the time at which the
// request was sent.
func (f *rateFinder) answered(now, at time.Duration, class int) {
	f.trips.Add(now-at, true)
	for i := f.begun - 1; i >= f.judged; i-- {
		if w := f.window(i); at >= w.from-time.Microsecond { // a session's times are rounded
			w.yields.answered[class]++
			return
		}
	}
}

// measure ends the current window if it is long enough, and judges the earlier windows
// whose answers have had the time to arrive.
func (f *rateFinder) measure(now time.Duration) {
	least, echo := mostWindow/2, time.Second
	if f.trips.Known() >= 64 {
		rare := f.trips.Upper(rareTrip) * 5 / 4
		least, echo = min(max(rare, leastWindow), mostWindow), min(max(rare+queueMargin, timing.LeastTimeout), time.Second)
	}
	w, age := f.current(), now-f.current().from
	if age >= 2*mostWindow || age >= least && (w.asked[toKnown] >= enoughKnown || w.asked[toUnknown] >= enoughUnknown) {
		rate := f.rate
		if f.tried == 0 && now >= f.restUntil && f.usual.seconds > 0 && rate < f.most {
			rate = min(f.most, rate*(1+f.step))
			f.high, f.low, f.down, f.tried = yields{}, yields{}, false, rate
		}
		f.begin(now, rate)
	}
	for f.judged < f.begun-1 && now >= f.window(f.judged).to+echo {
		w := f.window(f.judged)
		f.judged++
		switch {
		case w.rate == f.tried:
			f.high.add(&w.yields, 1)
		case w.rate != f.rate: // this window belongs to an earlier trial
		case f.tried == 0:
			f.watch(now, w)
		case f.high.seconds > 0:
			f.low.add(&w.yields, 1)
			f.decide(now)
		}
	}
}

// watch compares the share of answers in a window at rest with the usual share.
func (f *rateFinder) watch(now time.Duration, w *window) {
	lost, z, _ := compare(&f.usual, &w.yields)
	busy := w.speed() < 0.8*w.rate // this machine or the list is slow: loss probably has another cause
	if !busy && f.rate > leastPath && w.asked[toKnown] >= judgeKnown && lost > suspectLoss && z < significant-1.5 {
		f.high, f.low, f.down, f.tried = w.yields, yields{}, true, f.rate
		f.rate = max(min(w.speed()*(1-lost)*keepBelow, 0.95*f.rate), f.rate/4, leastPath)
		f.begin(now, f.rate)
	} else {
		f.usual.add(&f.usual, -0.5) // older windows count half
		f.usual.add(&w.yields, 1)
	}
}

// compare compares the answers at two rates. At the higher rate, the same share of the
// requests should be answered as at the lower rate; lost is the share of these expected
// answers that did not come. z says how unlikely this loss is by chance: it is the
// difference in standard deviations, and negative if fewer answers came at the higher rate.
// ok is false if there is too little to compare.
//
// A server that has answered before answers far more often than an unknown target, and
// the two rates may have a different mix of both. So the classes are not added up, but
// compared each on its own, and the differences are added (the test of Cochran, Mantel
// and Haenszel). For a class with l requests at the lower rate and h requests at the
// higher rate, of which together a share p was answered, the test computes as follows. It
// assumes that the rate makes no difference.
//
//	weight      w = l×h / (l+h)                   few requests on one side count little
//	difference  w × (share at high − share at low)   0 on average
//	variance    w × p × (1−p)                     at least w × 0.01, so that chance never looks certain
//	z           sum of the differences / √(sum of the variances)
//
// By chance alone, z is below −2 once in 44 comparisons, and below −4.5 once in 300,000.
// Datagrams that are sent together are lost together, which makes large values more
// likely than that. Therefore significant is strict, and a doubtful trial is repeated.
func compare(low, high *yields) (lost, z float64, ok bool) {
	first := toKnown
	if min(low.asked[toKnown], high.asked[toKnown]) < judgeKnown {
		first = toUnknown
	}
	var answers, expected, got, difference, variance float64
	for c := toKnown; c >= first; c-- {
		l, h := low.asked[c], high.asked[c]
		answers += low.answered[c] + high.answered[c]
		if l == 0 || h == 0 {
			continue
		}
		expected += h * low.share(c)
		got += high.answered[c]
		both := (low.answered[c] + high.answered[c]) / (l + h)
		weight := l * h / (l + h)
		difference += weight * (high.share(c) - low.share(c))
		variance += weight * max(both*(1-both), 0.01)
	}
	if expected == 0 || first == toUnknown && answers < judgeAnswers {
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
	follows := lost > leastLoss && (f.down || min(low.asked[toKnown], f.high.asked[toKnown]) >= judgeKnown ||
		f.high.share(toUnknown) < min(f.low.share(toUnknown), f.usual.share(toUnknown)))
	switch {
	case !f.down && f.high.speed() < (low.speed()+f.tried)/2*0.9 && low.speed() < 0.9*f.rate:
		f.restUntil = now + time.Second // the scan does not use the rate
	case !ok:
		f.set(now, min(f.tried, f.rate*1.25), "few_answers")
	case follows && z < significant:
		carried, why := f.high.speed()*(1-lost), "loss"
		rate := min(max(carried, f.rate), f.tried) * keepBelow
		if carried-low.speed() <= (f.high.speed()-low.speed())*fullPart { // the path was full at the lower rate, too
			rate, f.usual = max(min(carried*keepBelow, f.rate*f.keep), f.rate/4), yields{}
		} else {
			f.step, f.keep = 0.05, keepProven
			f.restUntil, f.rest = now+f.rest, min(2*f.rest, mostRest)
		}
		if f.high.drops > 0 {
			why = "drops_here"
		}
		f.found.Carried, f.found.Lost = carried, lost
		f.set(now, max(rate, min(leastPath, f.most)), why)
	case follows && z < doubtful && !f.down && f.high.seconds < 1:
		f.begin(now, f.tried) // another window at the higher rate gives more evidence
		return
	default: // loss did not follow the rate
		if f.usual = low; f.down { // the path loses this much at any rate now
			f.usual.add(&f.high, 1)
			f.found.Unrelated++
		} else {
			f.step, f.keep = min(1, 2*f.step), keepProven
		}
		if f.set(now, f.tried, "clear"); f.rate > 1.1*f.found.Carried {
			f.rest = time.Second
		}
	}
	f.tried = 0
	f.begin(now, f.rate)
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
	f.found.Changes[0] = RateChange{At: now, From: f.found.Now, To: rate, Why: why}
	f.found.Now = rate
}

// sent counts a request that was just sent, if it is the first for its question.
func (f *rateFinder) sent(sl *slot, q wire.Question) {
	switch {
	case f.most == Off || !wire.AskAll.Has(q):
	case sl.session.Got == nil && sl.sent == 1:
		f.current().asked[toUnknown]++
	case sl.session.Got != nil && sl.session.Agenda.Attempts[q] == 1:
		f.current().asked[toKnown]++
	}
}

// heard counts the answers that a datagram brought. before has the questions that were
// outstanding before the datagram came.
func (f *rateFinder) heard(now time.Duration, sl *slot, before wire.Questions) {
	if sl.session.Got.Received == 1 {
		if sl.sent == 1 {
			f.answered(now, sl.session.Clock.FirstAt, toUnknown)
		}
		return
	}
	for q := range (before &^ sl.session.Agenda.Silent()).Each() {
		if sl.session.Agenda.Attempts[q] == 1 {
			f.answered(now, sl.session.SentAt(q), toKnown)
		}
	}
}
