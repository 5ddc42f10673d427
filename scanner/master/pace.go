package master

import (
	"context"
	"time"
)

// Limit is the maximum number of requests in any time span of a given length.
type Limit struct {
	Requests int           // the maximum; zero: no limit
	In       time.Duration // length of the span
}

// UDPLimits are the default limits for a master server: 15 requests per minute and
// 60 per five minutes. Masters are said to accept 30 per minute and 60 per five
// minutes, and to ignore a client for a minute if it exceeds that. Valve has stated
// a limit of 20 per minute, but 15 works best in practice. Each span is a second
// longer, because network delay varies between requests.
var UDPLimits = []Limit{{15, 61 * time.Second}, {60, 301 * time.Second}}

// WebLimits are the default limits for the Web API: one request per 1.5 seconds and
// 200 per five minutes. The API has been observed to accept this rate from one key.
var WebLimits = []Limit{{1, 1500 * time.Millisecond}, {200, 5 * time.Minute}}

// pace calculates how long each request must wait so that the limits are observed.
type pace struct {
	limits []Limit
	sent   []time.Time // times of the last requests, oldest first; at most as many as the largest limit
}

// delay returns how long the next request must wait, counted from now.
func (p *pace) delay(now time.Time) (d time.Duration) {
	for _, l := range p.limits {
		if l.Requests > 0 && len(p.sent) >= l.Requests {
			oldest := p.sent[len(p.sent)-l.Requests]
			d = max(d, oldest.Add(l.In).Sub(now))
		}
	}
	return d
}

// note records that a request is sent at the time now.
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

// sleep waits for d. If ctx ends before that, sleep returns ctx's error.
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
