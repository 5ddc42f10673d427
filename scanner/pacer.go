package scanner

import "time"

// pacer decides how many datagrams a batch may hold, and accounts for the time in
// which nothing was sent although the rate allowed it.
type pacer struct {
	pace     *pace
	governor *governor // finds the rate of a scan that has none; nil: the scan has a rate
	path     *pathRate // finds the rate that the path carries; nil: not wanted
	stats    *Stats

	unhindered bool // nothing but the rate held the scan back since the governor's last sample
	paced      bool // the loop sleeps because of the rate

	followedAt  time.Duration // when the path rate was last sampled
	chargedAt   time.Duration // time up to here is accounted for
	allowed     float64       // Stats.Allowed, not rounded
	allowedAt   time.Duration // time up to here is included in allowed
	allowedWait time.Duration // sum of Stats.Waited at allowedAt
}

func newPacer(perSecond float64, start time.Time, stats *Stats) pacer {
	p := pacer{pace: newPace(perSecond, start), stats: stats}
	if perSecond == Off {
		p.governor = newGovernor(p.pace)
	}
	stats.Rate = perSecond
	return p
}

// room returns how many datagrams the next batch may hold.
func (p *pacer) room(now time.Duration) int { return p.pace.tokens(now, batchLen) }

// filled takes the tokens for a batch that is about to be sent.
func (p *pacer) filled(now time.Duration, n int) {
	p.pace.take(now, n)
	p.unhindered = p.unhindered && p.stats.Wait == WaitNothing
}

// sleep returns how long to sleep until the bucket holds enough for a batch.
func (p *pacer) sleep(now time.Duration) time.Duration {
	d := p.pace.wait(now)
	p.paced = d > 0
	return d
}

// charge accounts for the time since the last call in which the rate allowed datagrams
// and none went out: it adds that time to Stats.Waited, under the reason. allStarted
// means that no session and no target has anything to send.
func (p *pacer) charge(now time.Duration, allStarted bool) {
	unused := now - p.chargedAt
	p.chargedAt = now
	if p.governor == nil {
		unused = p.pace.unused(now)
	}
	why := p.stats.Wait
	switch {
	case why != WaitNothing:
	case allStarted:
		why = WaitReplies
	case p.governor != nil && p.paced:
		why = WaitLosses
	default:
		why = WaitSending
	}
	p.stats.Waited[why] += uint64(unused / time.Microsecond)
}

// allow adds to Stats.Allowed the datagrams that the rate allowed since the last
// call. Only time in which nothing but the rate held the scan back counts.
func (p *pacer) allow(now time.Duration) {
	var waited time.Duration
	for _, us := range p.stats.Waited {
		waited += time.Duration(us) * time.Microsecond
	}
	if paced := (now - p.allowedAt) - (waited - p.allowedWait); p.governor == nil {
		p.allowed += p.pace.rate * paced.Seconds() // negative if waiting was recorded late
	}
	p.allowedAt, p.allowedWait = now, waited
	p.stats.Allowed = uint64(max(p.allowed, 0))
}

// change sets a new rate. It returns false if the value is not a valid rate or if
// the scan finds its own rate. The bucket keeps its tokens, so that no datagram goes out
// early.
func (p *pacer) change(now time.Duration, perSecond float64) bool {
	if p.governor != nil || p.path != nil || !isRate(perSecond) {
		return false
	}
	p.allow(now)
	p.pace.limit(now, perSecond)
	p.stats.Rate = perSecond
	return true
}

// govern gives the governor, if there is one, the socket's statistics, so that it
// adjusts the rate.
func (p *pacer) govern(now time.Duration, sock transport) {
	if p.governor == nil || !p.governor.due(now) {
		return
	}
	s := sock.Stats()
	overloaded := p.governor.sample(now, signs{
		sent: p.stats.DatagramsSent(), drops: s.KernelDrops, putOff: p.stats.SendAgain,
		queued: s.RecvQueued, room: s.RecvBuffer,
	}, p.unhindered)
	if overloaded {
		p.stats.Slowed++
	}
	p.unhindered = true
	p.stats.Settled = p.governor.settled
}
