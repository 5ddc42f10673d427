package scanner

import (
	"time"

	"github.com/a2sscan/a2sscan/scanner/internal/session"
	"github.com/a2sscan/a2sscan/wire"
)

// pacer decides how many datagrams a batch may hold, and accounts for the time in
// which nothing was sent although the rate allowed it.
type pacer struct {
	pace   *pace
	finder *rateFinder // finds the rate of a scan that has none; nil: the scan has a rate
	free   bool        // the scan has no rate and no maximum
	stats  *Stats

	unhindered bool // nothing but the rate held the scan back since the finder's last sample
	paced      bool // the loop sleeps because of the rate

	chargedAt   time.Duration // time up to here is accounted for
	allowed     float64       // Stats.Allowed, not rounded
	allowedAt   time.Duration // time up to here is included in allowed
	allowedWait time.Duration // sum of Stats.Waited at allowedAt
}

func newPacer(cfg *Config, start time.Time, stats *Stats) *pacer {
	p := &pacer{pace: newPace(cfg.Rate, start), stats: stats, free: cfg.Rate == Off}
	if p.free || cfg.FindRate {
		p.finder = newRateFinder(p.pace, cfg.Rate)
		stats.Path = p.finder.found
	}
	stats.Rate = cfg.Rate
	return p
}

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
	if !p.free {
		unused = p.pace.unused(now)
	}
	why := p.stats.Wait
	switch {
	case why != WaitNothing:
	case allStarted:
		why = WaitReplies
	case p.free && p.paced:
		why = waitLosses
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
	if paced := (now - p.allowedAt) - (waited - p.allowedWait); !p.free {
		p.allowed += p.pace.rate * paced.Seconds() // negative if waiting was recorded late
	}
	p.allowedAt, p.allowedWait = now, waited
	p.stats.Allowed = uint64(max(p.allowed, 0))
}

// change sets a new rate. It returns false if the value is not a valid rate or if
// the scan finds its own rate. The bucket keeps its tokens, so that no datagram goes out
// early.
func (p *pacer) change(now time.Duration, perSecond float64) bool {
	if p.finder != nil || !isRate(perSecond) {
		return false
	}
	p.allow(now)
	p.pace.limit(now, perSecond)
	p.stats.Rate = perSecond
	return true
}

// findRate gives the finder, if there is one, the counts of the scan and of the socket,
// a hundred times a second, so that it adjusts the rate.
func (p *pacer) findRate(now time.Duration, sock transport, charge func(now time.Duration)) {
	f := p.finder
	if f == nil || now-f.at < sampleEvery {
		return
	}
	if !p.free {
		charge(now)
		p.allow(now)
	}
	s := sock.Stats()
	overloaded := f.sample(now, signs{
		sent: p.stats.DatagramsSent(), drops: s.KernelDrops, putOff: p.stats.SendAgain,
		queued: s.RecvQueued, room: s.RecvBuffer,
	}, p.unhindered)
	if p.unhindered = true; !p.free {
		p.stats.Path = f.found
		return
	}
	if overloaded {
		p.stats.Slowed++
	}
	p.stats.Settled = f.settled
}

// noteAsked counts a request that was just sent, if it is the first for its question.
func (f *rateFinder) noteAsked(sl *slot, q wire.Question) {
	switch {
	case f.most == Off || !AskAll.Has(q):
	case sl.session.Got == nil && sl.sent == 1:
		f.current().asked[toUnknown]++
	case sl.session.Got != nil && sl.session.Agenda.Attempts[q] == 1:
		f.current().asked[toKnown]++
	}
}

// noteAnswered counts the answers that a datagram brought. before are the questions
// that were waited for before it came.
func (f *rateFinder) noteAnswered(now time.Duration, sl *slot, before Questions) {
	if sl.session.Got.Received == 1 {
		if sl.sent == 1 {
			f.answered(now, sl.session.Clock.FirstAt, toUnknown)
		}
		return
	}
	for q := range session.Each(before &^ sl.session.Agenda.Silent()) {
		if sl.session.Agenda.Attempts[q] == 1 {
			f.answered(now, sl.session.SentAt(q), toKnown)
		}
	}
}
