package scanner

import (
	"math"
	"time"

	"golang.org/x/time/rate"

	"github.com/a2sscan/a2sscan/scanner/congestion"
	"github.com/a2sscan/a2sscan/wire"
)

// pace is the token bucket of the entire scan. The bucket starts empty. It has room for
// the datagrams that the rate allows in 5 ms, and for at least one. So after a pause the
// scan catches up by at most one bucket.
//
// A sleep takes up to a millisecond longer than requested, and a bucket with room for just
// one datagram would lose the tokens of this millisecond. At low rates it therefore has
// room for one datagram and a fraction of the next. To count fractions, the limiter has a
// hundred tokens per datagram.
type pace struct {
	limiter *rate.Limiter // nil: no limit
	base    time.Time     // the start of the scan's clock
	rate    float64       // datagrams per second, or Off
	burst   int           // maximum number of datagrams at once
	fullAt  time.Duration // when the bucket will be full, or the last call of unused
}

const (
	burstTime  = 5 * time.Millisecond
	tokensEach = 100 // tokens of the limiter per datagram
)

// limit sets the rate from now on. The bucket keeps its tokens; if there was no limit
// before, the bucket is empty.
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

// mostTokens returns the size of the bucket, in tokens.
func (p *pace) mostTokens() int {
	if p.burst > 1 {
		return p.burst * tokensEach
	}
	part := min(p.rate*burstTime.Seconds(), 0.5)
	return tokensEach + int(math.Ceil(part*tokensEach))
}

func (p *pace) at(now time.Duration) time.Time { return p.base.Add(now) }

func (p *pace) have(now time.Duration) float64 {
	return p.limiter.TokensAt(p.at(now)) / tokensEach
}

// time returns how long the bucket takes to gain n datagrams.
func (p *pace) time(n float64) time.Duration {
	return time.Duration(math.Ceil(n / p.rate * float64(time.Second)))
}

// tokens returns how many datagrams may be sent now. Its last argument is the maximum.
// It returns 0 until the bucket holds enough datagrams for a batch (see pace.worth).
func (p *pace) tokens(now time.Duration, most int) int {
	if p.limiter == nil {
		return most
	}
	// Floating-point error may leave the bucket just below an integral number of
	// datagrams.
	n := int(p.have(now) + 1e-6)
	if float64(n) < p.worth() {
		return 0
	}
	return min(n, most, p.burst)
}

// worth returns the minimum number of datagrams that justifies the overhead of a batch.
func (p *pace) worth() float64 { return float64(max(1, min(p.burst/4, batchLen/2))) }

// take removes the tokens of n datagrams, after pace.tokens has allowed them.
func (p *pace) take(now time.Duration, n int) {
	if p.limiter != nil && n > 0 {
		p.limiter.ReserveN(p.at(now), n*tokensEach)
		p.noteFull(now)
	}
}

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

// wait returns how long it takes until the bucket holds enough datagrams for a batch.
func (p *pace) wait(now time.Duration) time.Duration {
	if p.limiter == nil {
		return 0
	}
	return max(0, p.time(p.worth()-p.have(now)))
}

// pacer decides how many datagrams a batch may hold, and accounts for the time in
// which nothing was sent although the rate allowed it.
type pacer struct {
	pace  *pace
	free  bool // the scan has no rate and no maximum
	finds bool // the scan finds its own rate

	unhindered bool // since the last sample, only the rate held the scan back
	paced      bool // the loop sleeps because of the rate

	waited      [NumWaits]uint64 // Stats.Waited
	chargedAt   time.Duration    // when charge was last called
	allowed     float64          // Stats.Allowed, not rounded
	allowedAt   time.Duration    // when allow was last called
	allowedWait time.Duration    // the sum of p.waited when allow was last called
}

func newPacer(cfg *settings, start time.Time) *pacer {
	p, free := &pace{base: start, rate: cfg.Rate}, cfg.Rate == Off
	if !free {
		p.limit(0, cfg.Rate)
	}
	return &pacer{pace: p, free: free, finds: free || cfg.FindRate}
}

// charge adds to p.waited the part of the time since its last call in which the rate
// allowed datagrams and none was sent. Without a rate, it adds all of this time. Its
// second argument is the reason; if it is WaitNothing, charge determines the reason.
// allStarted means that every target was started and no request is due.
func (p *pacer) charge(now time.Duration, why Wait, allStarted bool) {
	unused := now - p.chargedAt
	p.chargedAt = now
	if !p.free {
		unused = p.pace.unused(now)
	}
	switch {
	case why != WaitNothing:
	case allStarted:
		why = WaitReplies
	case p.free && p.paced:
		why = waitLosses
	default:
		why = WaitSending
	}
	p.waited[why] += uint64(unused / time.Microsecond)
}

// allow adds to p.allowed the number of datagrams that the rate allowed since the last
// call. It counts only the time in which the rate alone held the scan back.
func (p *pacer) allow(now time.Duration) {
	var waited time.Duration
	for _, us := range p.waited {
		waited += time.Duration(us) * time.Microsecond
	}
	if paced := (now - p.allowedAt) - (waited - p.allowedWait); !p.free {
		p.allowed += p.pace.rate * paced.Seconds() // paced is negative if waiting was recorded late
	}
	p.allowedAt, p.allowedWait = now, waited
}

// change sets a new rate. It returns false if the value is not a valid rate or if the
// scan finds its own rate. The bucket keeps its tokens, so that no datagram goes out
// early.
func (p *pacer) change(now time.Duration, perSecond float64) bool {
	if p.finds || !isRate(perSecond) {
		return false
	}
	p.allow(now)
	p.pace.limit(now, perSecond)
	return true
}

// findRate does nothing if the scan has a fixed rate. Otherwise it samples the scan and
// the socket, up to a hundred times a second, and adopts the resulting rate.
func (e *engine) findRate(now time.Duration) {
	p := e.pacer
	if e.rate == nil || !e.rate.Due(now) {
		return
	}
	if !p.free {
		e.charge(now)
		p.allow(now)
	}
	s := e.sock.Stats()
	e.rate.Sample(now, congestion.Signs{
		Sent: e.stats.DatagramsSent(), Drops: s.KernelDrops, PutOff: e.sender.refused,
		Queued: s.RecvQueued, Room: s.RecvBuffer,
	}, p.unhindered)
	p.unhindered = true
	p.adopt(now, e.rate.Rate)
}

// adopt sets the rate that was found. The rate is 0 if none has been found yet.
func (p *pacer) adopt(now time.Duration, rate float64) {
	if rate > 0 && rate != p.pace.rate {
		p.pace.limit(now, rate)
	}
}

// asked reports a request for q that was sent to e.rate, if it is the first one.
func (e *engine) asked(sl *slot, q wire.Question) {
	heard := sl.session.Got != nil
	switch {
	case !wire.AskAll.Has(q):
	case !heard && sl.sent == 1, heard && sl.session.Agenda.Attempts[q] == 1:
		e.rate.Sent(heard)
	}
}

// answered reports to e.rate the first requests that a datagram answers. Its last argument
// has the questions that were outstanding when the datagram came.
func (e *engine) answered(now time.Duration, sl *slot, before wire.Questions) {
	if sl.session.Got.Received == 1 {
		if sl.sent == 1 {
			e.rate.Answered(now, sl.session.Clock.FirstAt, false)
		}
		return
	}
	for q := range (before &^ sl.session.Agenda.Silent()).Each() {
		if sl.session.Agenda.Attempts[q] == 1 {
			e.rate.Answered(now, sl.session.SentAt(q), true)
		}
	}
}
