package scanner

import (
	"math"
	"time"

	"golang.org/x/time/rate"
)

// pace is the token bucket of the whole scan, asked once a batch. It starts
// empty. What goes out at once is at most 5 ms of the rate, but at least one
// datagram. The bucket holds one more than that, so that a low rate is kept
// although sleeping takes a millisecond longer than asked for; after a pause
// nothing is made up for beyond it.
type pace struct {
	limiter *rate.Limiter // nil: no limit
	base    time.Time     // what the scan's clock counts from
	rate    float64
	burst   int           // datagrams at once
	gap     time.Duration // between two that go out alone
	last    time.Duration // when tokens were last taken
}

const burstTime = 5 * time.Millisecond

func newPace(perSecond float64, base time.Time) *pace {
	p := &pace{base: base, rate: perSecond}
	if math.IsInf(perSecond, 1) {
		return p
	}
	p.burst = max(1, int(perSecond*burstTime.Seconds()))
	if p.burst == 1 {
		p.gap = time.Duration(float64(time.Second) / perSecond / 2)
	}
	p.limiter = rate.NewLimiter(rate.Limit(perSecond), p.burst+1)
	p.limiter.AllowN(base, p.burst+1)
	return p
}

// tokens is how many datagrams may go out now, at most most.
func (p *pace) tokens(now time.Duration, most int) int {
	if p.limiter == nil {
		return most
	}
	if p.last > 0 && now < p.last+p.gap {
		return 0
	}
	// The bucket counts in floating point: a hair below a whole token is one.
	n := int(p.limiter.TokensAt(p.base.Add(now)) + 1e-6)
	return max(0, min(n, most, p.burst))
}

// take takes n tokens that tokens promised.
func (p *pace) take(now time.Duration, n int) {
	if p.limiter != nil && n > 0 {
		p.last = now
		p.limiter.ReserveN(p.base.Add(now), n)
	}
}

// wait is how long it takes until the next batch is worth sending: until
// there is a token, or at high rates a part of the bucket.
func (p *pace) wait(now time.Duration) time.Duration {
	if p.limiter == nil {
		return 0
	}
	want := max(1, float64(p.burst)/4)
	missing := want - p.limiter.TokensAt(p.base.Add(now))
	wait := time.Duration(math.Ceil(missing / p.rate * float64(time.Second)))
	if p.last > 0 {
		wait = max(wait, p.last+p.gap-now)
	}
	return max(0, wait)
}
