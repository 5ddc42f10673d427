package scanner

import (
	"math"
	"time"

	"golang.org/x/time/rate"
)

// pace is the token bucket of the whole scan, asked once a batch. It starts
// empty and holds 5 ms of the rate: what goes out at once is at most that, but
// at least one datagram, and after a pause nothing beyond it is made up for.
//
// Sleeping takes up to a millisecond longer than asked for. At rates of which
// 5 ms are less than two datagrams the bucket would lose that time, so there it
// holds one datagram and a part of the next: after a pause the second comes up
// to 5 ms early, never more than half of its time.
type pace struct {
	limiter *rate.Limiter // nil: no limit
	base    time.Time     // what the scan's clock counts from
	rate    float64
	burst   int           // datagrams at once
	room    float64       // tokens that the bucket holds
	full    time.Duration // when the bucket is full if nothing is taken
	skipped time.Duration // time in which it was full: the limiter's clock stood still
	told    time.Duration // of that, what unused has returned
}

const burstTime = 5 * time.Millisecond

func newPace(perSecond float64, base time.Time) *pace {
	p := &pace{base: base, rate: perSecond}
	if !math.IsInf(perSecond, 1) {
		p.limit(0, perSecond)
	}
	return p
}

// limit makes the rate another one from now on. The bucket keeps its tokens;
// that of a pace that had no limit is empty.
func (p *pace) limit(now time.Duration, perSecond float64) {
	tokens := 0.0
	if p.limiter != nil {
		tokens = p.have(now)
	}
	p.rate = perSecond
	p.burst = max(1, int(perSecond*burstTime.Seconds()))
	p.room = float64(p.burst)
	if p.burst == 1 {
		p.room += min(perSecond*burstTime.Seconds(), 0.5)
	}
	most := int(math.Ceil(p.room))
	if p.limiter == nil {
		p.limiter = rate.NewLimiter(rate.Limit(perSecond), most)
		p.limiter.AllowN(p.at(now), most)
	} else {
		p.limiter.SetLimitAt(p.at(now), rate.Limit(perSecond))
		p.limiter.SetBurstAt(p.at(now), most)
	}
	p.full = now + p.time(p.room-min(tokens, p.room))
}

// unlimit takes the limit away.
func (p *pace) unlimit() { p.limiter, p.rate = nil, math.Inf(1) }

// at is the time on the limiter's clock.
func (p *pace) at(now time.Duration) time.Time { return p.base.Add(now - p.skipped) }

// time is how long n tokens take.
func (p *pace) time(n float64) time.Duration {
	return time.Duration(math.Ceil(n / p.rate * float64(time.Second)))
}

// have is how many tokens there are. While the bucket is full the limiter's
// clock stands still, since the room needn't be a whole number of tokens.
func (p *pace) have(now time.Duration) float64 {
	if now > p.full {
		p.skipped += now - p.full
		p.full = now
	}
	return p.limiter.TokensAt(p.at(now))
}

// tokens is how many datagrams may go out now, at most most: none until a batch
// is worth it.
func (p *pace) tokens(now time.Duration, most int) int {
	if p.limiter == nil {
		return most
	}
	// The bucket counts in floating point: a hair below a whole token is one.
	n := int(p.have(now) + 1e-6)
	if float64(n) < p.worth() {
		return 0
	}
	return min(n, most, p.burst)
}

// worth is how many tokens are worth a batch, and the work that comes with it.
func (p *pace) worth() float64 { return float64(max(1, min(p.burst/4, batchLen/2))) }

// take takes n tokens that tokens promised.
func (p *pace) take(now time.Duration, n int) {
	if p.limiter != nil && n > 0 {
		p.limiter.ReserveN(p.at(now), n)
		p.full = now + p.time(p.room-p.have(now))
	}
}

// unused is how much time went by since it was last asked in which the bucket
// was full: the rate was there, and nothing was sent.
func (p *pace) unused(now time.Duration) time.Duration {
	p.have(now)
	d := p.skipped - p.told
	p.told = p.skipped
	return d
}

// wait is how long it takes until the next batch is worth sending: until
// there is a token, or at high rates a part of the bucket.
func (p *pace) wait(now time.Duration) time.Duration {
	if p.limiter == nil {
		return 0
	}
	return max(0, p.time(p.worth()-p.have(now)))
}
