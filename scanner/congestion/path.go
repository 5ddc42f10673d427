package congestion

import (
	"math"
	"time"

	"github.com/a2sscan/a2sscan/scanner/internal/trips"
)

// Path is what a scan with a maximum rate found out about its path.
type Path struct {
	On      bool    // whether the scan looks for the rate that its path carries
	Most    float64 // the maximum rate, in datagrams per second
	Now     float64 // the current rate
	Carried float64 // datagrams per second that the path carried when it was last full; 0 if it never was full
	Lost    float64 // share of first requests lost, from 0 to 1, when the path was last full

	Raised    uint64 // how many times the rate was raised
	Slowed    uint64 // how many times the rate was lowered
	Unrelated uint64 // how many times loss increased but did not follow the rate

	// Asked and Answered count the evidence: first requests by class, and their answers.
	Asked, Answered [numClasses]uint64

	Changes [16]Change // the last changes of the rate, the latest first
}

// Change is a change that a scan made to its rate.
type Change struct {
	At       time.Duration // time since the scan began; 0 if this element of Changes is unused
	From, To float64       // datagrams per second
	Why      string        // the reason: clear, loss, drops_here or few_answers
}

// trials find the rate that a path carries. Each trial compares two rates.
type trials struct {
	found   Path
	windows windows

	rate  float64 // the rate between trials (at rest), and the lower rate of a trial
	tried float64 // the higher rate of the trial; 0 if there is no trial
	down  bool    // the trial began because of loss
	usual yields  // the latest windows at rest
	high  yields  // the windows at the higher rate of the trial
	low   yields  // the windows at the lower rate of the trial

	step      float64 // the next trial is at rate × (1 + step)
	keep      float64 // the part of the rate to keep if the path is full at both rates of a trial
	restUntil time.Duration
	rest      time.Duration
}

// windows holds the latest windows in a ring. A window is judged at most about a second
// after its end. The ring has room for more windows than can begin in that time, so no
// window is overwritten before it is judged.
type windows struct {
	ring   [64]window
	begun  int // number of windows begun; the last of them is not over
	judged int // number of windows judged
}

func (w *windows) at(i int) *window { return &w.ring[i%len(w.ring)] }

// current returns the window that is not over.
func (w *windows) current() *window { return w.at(max(w.begun-1, 0)) }

// window is a span of time with one rate.
type window struct {
	yields
	rate     float64 // maximum number of datagrams per second
	from, to time.Duration
}

// yields is a set of counts for one or more windows.
type yields struct {
	asked, answered [numClasses]float64 // first requests and their answers
	sent, drops     float64             // datagrams that were sent; received datagrams that the kernel dropped
	seconds         float64             // length of the windows
}

func (y *yields) add(o *yields, part float64) {
	for c := range y.asked {
		y.asked[c] += part * o.asked[c]
		y.answered[c] += part * o.answered[c]
	}
	y.sent, y.drops, y.seconds = y.sent+part*o.sent, y.drops+part*o.drops, y.seconds+part*o.seconds
}

func (y *yields) speed() float64 { return y.sent / max(y.seconds, 1e-9) }

func (y *yields) share(c class) float64 { return y.answered[c] / max(y.asked[c], 1) }

// The constants of trials. Rates are datagrams per second.
const (
	firstRate = 5000
	leastPath = 50 // minimum rate

	// The minimum length of a window depends on the round trips. It is between leastWindow
	// and mostWindow.
	leastWindow   = 60 * time.Millisecond
	mostWindow    = 500 * time.Millisecond // every window ends after twice this time
	enoughKnown   = 300                    // requests to known servers after which a window may end
	enoughUnknown = 1000                   // requests to unknown targets after which a window may end
	judgeKnown    = 100                    // requests to known servers, at each rate, that a comparison needs if it excludes unknown targets
	judgeAnswers  = 40                     // answers, at both rates together, that a comparison needs if it includes unknown targets
	leastLoss     = 0.02                   // a smaller loss is no reason to slow down
	doubtful      = -2                     // a trial with a z score below this may get another window
	significant   = -4.5                   // a z score below this proves loss (see compare)
	suspectLoss   = 0.03                   // loss at rest that begins a trial
	keepBelow     = 0.9                    // when the path is full, the rate is set to this share of what the path carried
	// If at most fullPart of the additional datagrams at the higher rate get through, the
	// path was full at the lower rate, too.
	fullPart = 0.2
	// keepProven replaces 0.5 as trials.keep when a trial has shown that the path carries the
	// lower rate.
	keepProven = 0.85
	mostRest   = 16 * time.Second
)

func newTrials(most float64) *trials {
	rate := max(min(firstRate, most/4), min(leastPath, most))
	t := &trials{
		found: Path{On: true, Most: most, Now: rate},
		rate:  rate, step: 1, keep: 0.5, rest: time.Second,
	}
	t.begin(0, rate)
	return t
}

func (t *trials) begin(now time.Duration, rate float64) {
	w := t.windows.current()
	w.to, w.seconds = now, (now - w.from).Seconds()
	t.windows.begun++
	*t.windows.current() = window{rate: rate, from: now}
}

// answered counts the answer to a first request in the window in which the request was
// sent.
func (t *trials) answered(at time.Duration, c class) {
	for i := t.windows.begun - 1; i >= t.windows.judged; i-- {
		if w := t.windows.at(i); at >= w.from-time.Microsecond { // a session's times are rounded
			t.found.Answered[c]++
			w.yields.answered[c]++
			return
		}
	}
}

// sample counts the datagrams that were sent and dropped since the last sample. It ends
// the current window if the window is long enough, judges the earlier windows whose
// answers have had time to arrive, and returns the rate.
func (t *trials) sample(now time.Duration, sent, dropped float64, recent *trips.Recent) float64 {
	least, echo := mostWindow/2, time.Second
	if recent.Known() >= enoughTrips {
		rare := recent.Upper(trips.Rare)
		least, echo = min(max(rare*5/4, leastWindow), mostWindow), min(trips.Timeout(rare), time.Second)
	}
	w := t.windows.current()
	w.sent, w.drops = w.sent+sent, w.drops+dropped
	age := now - w.from
	if age >= 2*mostWindow || age >= least && (w.asked[known] >= enoughKnown || w.asked[unknown] >= enoughUnknown) {
		rate := t.rate
		if t.tried == 0 && now >= t.restUntil && t.usual.seconds > 0 && rate < t.found.Most {
			rate = min(t.found.Most, rate*(1+t.step))
			t.high, t.low, t.down, t.tried = yields{}, yields{}, false, rate
		}
		t.begin(now, rate)
	}
	for t.windows.judged < t.windows.begun-1 && now >= t.windows.at(t.windows.judged).to+echo {
		w := t.windows.at(t.windows.judged)
		t.windows.judged++
		switch {
		case w.rate == t.tried:
			t.high.add(&w.yields, 1)
		case w.rate != t.rate: // this window belongs to an earlier trial
		case t.tried == 0:
			t.watch(now, w)
		case t.high.seconds > 0:
			t.low.add(&w.yields, 1)
			t.decide(now)
		}
	}
	return t.windows.current().rate
}

// watch compares the share of answers in a window at rest with the usual share. If the
// share in the window is much lower, watch lowers the rate and begins a trial.
func (t *trials) watch(now time.Duration, w *window) {
	lost, z, _ := compare(&t.usual, &w.yields)
	busy := w.speed() < 0.8*w.rate // this machine or the list is slow, so the rate is probably not the cause of the loss
	if !busy && t.rate > leastPath && w.asked[known] >= judgeKnown && lost > suspectLoss && z < significant-1.5 {
		t.high, t.low, t.down, t.tried = w.yields, yields{}, true, t.rate
		t.rate = max(min(w.speed()*(1-lost)*keepBelow, 0.95*t.rate), t.rate/4, leastPath)
		t.begin(now, t.rate)
	} else {
		t.usual.add(&t.usual, -0.5) // older windows count half
		t.usual.add(&w.yields, 1)
	}
}

// compare compares the answers at two rates. It returns the share of the answers expected
// at the higher rate that did not come, and the significance z of this loss: the difference
// in standard deviations, negative if fewer answers came. ok is false if there is too
// little to compare.
//
// A server that has answered before answers far more often than an unknown target, and
// the mix of both classes may differ between the two rates. So the classes are compared
// each on its own, and the differences are added (the test of Cochran, Mantel and
// Haenszel). The test assumes that the rate makes no difference. For a class with l
// requests at the lower rate and h requests at the higher rate, p is the share of all these
// requests that was answered, and the test computes:
//
//	weight      w = l×h / (l+h)                      small if either rate has few requests
//	difference  w × (share at high − share at low)   0 on average
//	variance    w × p × (1−p)                        at least w × 0.01, so never 0
//	z           sum of the differences / √(sum of the variances)
//
// By chance alone, z is below −2 once in 44 comparisons, and below −4.5 once in 300,000.
// Datagrams that are sent together are often lost together, so the limits are strict.
func compare(low, high *yields) (lost, z float64, ok bool) {
	first := known
	if min(low.asked[known], high.asked[known]) < judgeKnown {
		first = unknown
	}
	var answers, expected, got, difference, variance float64
	for c := first; c <= known; c++ {
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
	if expected == 0 || first == unknown && answers < judgeAnswers {
		return 0, 0, false
	}
	return 1 - got/expected, difference / math.Sqrt(variance), true
}

// decide ends a trial, or begins another window at the higher rate if the evidence is
// doubtful.
func (t *trials) decide(now time.Duration) {
	low := t.low
	if !t.down {
		low.add(&t.usual, 1)
	}
	lost, z, ok := compare(&low, &t.high)
	follows := lost > leastLoss && (t.down || min(low.asked[known], t.high.asked[known]) >= judgeKnown ||
		t.high.share(unknown) < min(t.low.share(unknown), t.usual.share(unknown)))
	switch {
	case !t.down && t.high.speed() < (low.speed()+t.tried)/2*0.9 && low.speed() < 0.9*t.rate:
		t.restUntil = now + time.Second // the scan sends less than the rate allows
	case !ok:
		t.set(now, min(t.tried, t.rate*1.25), "few_answers")
	case follows && z < significant:
		carried, why := t.high.speed()*(1-lost), "loss"
		rate := min(max(carried, t.rate), t.tried) * keepBelow
		if carried-low.speed() <= (t.high.speed()-low.speed())*fullPart { // the path was full at the lower rate, too
			rate, t.usual = max(min(carried*keepBelow, t.rate*t.keep), t.rate/4), yields{}
		} else {
			t.step, t.keep = 0.05, keepProven
			t.restUntil, t.rest = now+t.rest, min(2*t.rest, mostRest)
		}
		if t.high.drops > 0 {
			why = "drops_here"
		}
		t.found.Carried, t.found.Lost = carried, lost
		t.set(now, max(rate, min(leastPath, t.found.Most)), why)
	case follows && z < doubtful && !t.down && t.high.seconds < 1:
		t.begin(now, t.tried)
		return
	default: // loss did not follow the rate
		if t.usual = low; t.down { // so loss is now this high at the lower rate, too
			t.usual.add(&t.high, 1)
			t.found.Unrelated++
		} else {
			t.step, t.keep = min(1, 2*t.step), keepProven
		}
		if t.set(now, t.tried, "clear"); t.rate > 1.1*t.found.Carried {
			t.rest = time.Second
		}
	}
	t.tried = 0
	t.begin(now, t.rate)
}

func (t *trials) set(now time.Duration, rate float64, why string) {
	t.rate = rate
	switch {
	case rate == t.found.Now:
		return
	case rate > t.found.Now:
		t.found.Raised++
	default:
		t.found.Slowed++
	}
	copy(t.found.Changes[1:], t.found.Changes[:])
	t.found.Changes[0] = Change{At: now, From: t.found.Now, To: rate, Why: why}
	t.found.Now = rate
}
