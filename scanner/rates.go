package scanner

import "time"

// changeRate takes a new rate over, if one was sent: what is in the bucket
// stays, so that no datagram goes out early.
func (e *engine) changeRate(now time.Duration) {
	select {
	case r := <-e.cfg.Rates:
		if e.governor == nil && r > 0 && r <= maxRate {
			e.charge(now)
			e.allow(now)
			e.pace.limit(now, r)
			e.cfg.Rate, e.stats.Rate = r, r
			e.cfg.fitInFlight()
		}
	default:
	}
}

// fitInFlight lets a higher rate have more targets open, unless it was said how
// many.
func (cfg *Config) fitInFlight() {
	if cfg.freeInFlight {
		cfg.InFlight = max(cfg.InFlight, cfg.defaultInFlight())
	}
}

// allow adds up what the rate would have let go out since it was last called, in
// the time in which nothing else was in the way.
func (e *engine) allow(now time.Duration) {
	var waited time.Duration
	for _, us := range e.stats.Waited {
		waited += time.Duration(us) * time.Microsecond
	}
	if paced := (now - e.allowedAt) - (waited - e.allowedWait); e.governor == nil {
		e.allowed += e.pace.rate * paced.Seconds() // less than 0 where waiting was noted late
	}
	e.allowedAt, e.allowedWait = now, waited
	e.stats.Allowed = uint64(max(e.allowed, 0))
}
