package master

import (
	"context"
	"time"
)

// Limit is a number of requests in any span of time.
type Limit struct {
	Requests int           // at most
	In       time.Duration // in any span of this length
}

// UDPLimits are kept with a master server unless others are given: 15 requests
// a minute, and 60 in five. Masters are said to take 30 a minute and 60 in
// five, and then to be silent for a minute; Valve said 20, and 15 was found to
// work best. A second is added to each span, since requests take their time on
// the way.
var UDPLimits = []Limit{{15, 61 * time.Second}, {60, 301 * time.Second}}

// WebLimits are kept with the Web API unless others are given: one request in
// 1.5 seconds and 200 in five minutes, which is what a key has been found to
// be good for.
var WebLimits = []Limit{{1, 1500 * time.Millisecond}, {200, 5 * time.Minute}}

// pace keeps limits. It remembers when the last requests were sent.
type pace struct {
	limits []Limit
	sent   []time.Time // oldest first; as many as the largest limit needs
}

// delay is how long the next request must wait.
func (p *pace) delay(now time.Time) (d time.Duration) {
	for _, l := range p.limits {
		if l.Requests > 0 && len(p.sent) >= l.Requests {
			oldest := p.sent[len(p.sent)-l.Requests]
			d = max(d, oldest.Add(l.In).Sub(now))
		}
	}
	return d
}

// note remembers a request that was sent now.
func (p *pace) note(now time.Time) {
	most := 0
	for _, l := range p.limits {
		most = max(most, l.Requests)
	}
	p.sent = append(p.sent, now)
	if len(p.sent) > most {
		p.sent = append(p.sent[:0], p.sent[len(p.sent)-most:]...)
	}
}

// sleep waits for d, or until ctx is done, whose error it returns then.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
