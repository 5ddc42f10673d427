package scanner

import (
	"math"
	"time"

	"golang.org/x/time/rate"
)

// pace is the token bucket of the whole scan, a rate.Limiter that is asked once
// a batch. The bucket starts empty and holds 5 ms of the rate, but at least one
// datagram: the scan never catches up by more than that after a pause.
//
// Sleeping takes up to a millisecond longer than asked for. At rates of which
// 5 ms are less than two datagrams a bucket of one datagram would lose that
// time, so there it holds one and a part of the next: after a pause the second
// goes out up to 5 ms early, never more than half of its time. The limiter counts
// in hundredths of a datagram for that reason.
type pace struct {
	limiter *rate.Limiter // nil: no limit
	base    time.Time     // what the scan's clock counts from
	rate    float64       // datagrams a second, or Off
	burst   int           // datagrams at once
	fullAt  time.Duration // when the bucket is full, or was last seen to be full
}

const (
	burstTime  = 5 * time.Millisecond
	tokensEach = 100 // tokens of the limiter for a datagram
)

func newPace(perSecond float64, base time.Time) *pace {
	p := &pace{base: base, rate: perSecond}
	if perSecond != Off {
		p.limit(0, perSecond)
	}
	return p
}

// limit sets the rate from now on. The bucket keeps its tokens. After no limit
// it is empty.
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

// mostTokens is the size of the bucket.
func (p *pace) mostTokens() int {
	if p.burst > 1 {
		return p.burst * tokensEach
	}
	part := min(p.rate*burstTime.Seconds(), 0.5)
	return tokensEach + int(math.Ceil(part*tokensEach))
}

// unlimit takes the limit away.
func (p *pace) unlimit() { p.limiter, p.rate = nil, Off }

// at is a time of the scan on the limiter's clock.
func (p *pace) at(now time.Duration) time.Time { return p.base.Add(now) }

// have is how many datagrams the bucket holds.
func (p *pace) have(now time.Duration) float64 {
	return p.limiter.TokensAt(p.at(now)) / tokensEach
}

// time is how long the bucket takes to fill by n datagrams.
func (p *pace) time(n float64) time.Duration {
	return time.Duration(math.Ceil(n / p.rate * float64(time.Second)))
}

// tokens is how many datagrams may go out now, at most most: none until a batch
// is worth it.
func (p *pace) tokens(now time.Duration, most int) int {
	if p.limiter == nil {
		return most
	}
	// The bucket counts in floating point: a hair below a datagram is one.
	n := int(p.have(now) + 1e-6)
	if float64(n) < p.worth() {
		return 0
	}
	return min(n, most, p.burst)
}

// worth is how many datagrams are worth a batch, and the work that comes with it.
func (p *pace) worth() float64 { return float64(max(1, min(p.burst/4, batchLen/2))) }

// take takes n datagrams that tokens promised.
func (p *pace) take(now time.Duration, n int) {
	if p.limiter != nil && n > 0 {
		p.limiter.ReserveN(p.at(now), n*tokensEach)
		p.noteFull(now)
	}
}

// noteFull notes when the bucket is full if nothing more is taken.
func (p *pace) noteFull(now time.Duration) {
	p.fullAt = now + p.time(float64(p.mostTokens())/tokensEach-p.have(now))
}

// unused is the time since the last call in which the bucket was full: the rate
// was there, and nothing was sent.
func (p *pace) unused(now time.Duration) time.Duration {
	d := max(0, now-p.fullAt)
	p.fullAt = max(p.fullAt, now)
	return d
}

// wait is how long it takes until the next batch is worth sending.
func (p *pace) wait(now time.Duration) time.Duration {
	if p.limiter == nil {
		return 0
	}
	return max(0, p.time(p.worth()-p.have(now)))
}
