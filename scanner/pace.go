package scanner

import (
	"math"
	"time"

	"golang.org/x/time/rate"
)

// pace is the token bucket of the whole scan. It asks a rate.Limiter once for each
// batch. The bucket starts empty and holds the datagrams of 5 ms, but at least one:
// after a pause the scan never catches up by more than that.
//
// Sleeping takes up to a millisecond longer than requested. At rates below two
// datagrams in 5 ms, a bucket of one datagram would lose that time. There the
// bucket holds one datagram and a part of the next: after a pause the second
// datagram goes out up to 5 ms early, but never by more than half of its interval.
// To count parts, the limiter has a hundred tokens for each datagram.
type pace struct {
	limiter *rate.Limiter // nil: no limit
	base    time.Time     // the start of the scan's clock
	rate    float64       // datagrams per second, or Off
	burst   int           // maximum number of datagrams at once
	fullAt  time.Duration // when the bucket will be full; after a call of unused, at least the time of that call
}

const (
	burstTime  = 5 * time.Millisecond
	tokensEach = 100 // tokens of the limiter per datagram
)

func newPace(perSecond float64, base time.Time) *pace {
	p := &pace{base: base, rate: perSecond}
	if perSecond != Off {
		p.limit(0, perSecond)
	}
	return p
}

// limit sets the rate from now on. The bucket keeps its tokens; if there was no
// limit before, it is empty.
func (p *pace) limit(now time.Duration, perSecond float64) {
	p.rate = perSecond
	p.burst = max(1, int(perSecond*burstTime.Seconds()))
	limit, most := rate.Limit(perSecond*tokensEach), p.mostTokens()
	if p.limiter == nil {
		p.limiter = rate.NewLimiter(limit, most)
		p.limiter.AllowN(p.at(now), most)
	} else {
		p.limiter.SetLimitAt(p.at(now), limit)
		p.limiter.SetBurstAt(p.at(now), most)
	}
	p.noteFull(now)
}

// mostTokens returns the size of the bucket in tokens of the limiter.
func (p *pace) mostTokens() int {
	if p.burst > 1 {
		return p.burst * tokensEach
	}
	part := min(p.rate*burstTime.Seconds(), 0.5)
	return tokensEach + int(math.Ceil(part*tokensEach))
}

// at converts a time of the scan to the limiter's clock.
func (p *pace) at(now time.Duration) time.Time { return p.base.Add(now) }

// have returns how many datagrams the bucket holds.
func (p *pace) have(now time.Duration) float64 {
	return p.limiter.TokensAt(p.at(now)) / tokensEach
}

// time returns how long the bucket takes to gain n datagrams.
func (p *pace) time(n float64) time.Duration {
	return time.Duration(math.Ceil(n / p.rate * float64(time.Second)))
}

// tokens returns how many datagrams may go out now, up to most. It returns 0 until
// there are enough for a batch (see worth).
func (p *pace) tokens(now time.Duration, most int) int {
	if p.limiter == nil {
		return most
	}
	// Floating-point error may leave the bucket just below a whole number of
	// datagrams.
	n := int(p.have(now) + 1e-6)
	if float64(n) < p.worth() {
		return 0
	}
	return min(n, most, p.burst)
}

// worth returns the minimum number of datagrams that justifies the overhead of a
// batch.
func (p *pace) worth() float64 { return float64(max(1, min(p.burst/4, batchLen/2))) }

// take takes n datagrams, which tokens has granted, out of the bucket.
func (p *pace) take(now time.Duration, n int) {
	if p.limiter != nil && n > 0 {
		p.limiter.ReserveN(p.at(now), n*tokensEach)
		p.noteFull(now)
	}
}

// noteFull sets fullAt to the time at which the bucket will be full if nothing more is
// taken.
func (p *pace) noteFull(now time.Duration) {
	p.fullAt = now + p.time(float64(p.mostTokens())/tokensEach-p.have(now))
}

// unused returns how long the bucket has been full since the last call: the time in
// which the rate allowed sending and nothing was sent.
func (p *pace) unused(now time.Duration) time.Duration {
	d := max(0, now-p.fullAt)
	p.fullAt = max(p.fullAt, now)
	return d
}

// wait returns how long it takes until the bucket holds enough for a batch.
func (p *pace) wait(now time.Duration) time.Duration {
	if p.limiter == nil {
		return 0
	}
	return max(0, p.time(p.worth()-p.have(now)))
}
