package watch

import (
	"time"

	"golang.org/x/time/rate"
)

// schedule spreads the checks evenly over a cycle.
type schedule struct {
	order []int // indexes of the servers, in the order in which a cycle checks them
	pos   int   // the next server to check is order[pos]
	cycle int   // number of complete cycles
	pace  *rate.Limiter
	began time.Time // when the current cycle began
	// took is the length of the latest complete cycle. It is 0 if no cycle has been
	// completed since the latest call of rearrange.
	took time.Duration
}

// rearrange starts the timing of the cycle anew. It must be called at the start, after
// schedule.order has changed, and after a pause.
func (c *schedule) rearrange(now time.Time, every time.Duration) {
	if c.pos >= len(c.order) {
		c.pos = 0
	}
	c.began, c.took = now, 0
	// Checks that are late may follow in one burst, but only about as many as are due in one
	// second.
	perSecond := float64(len(c.order)) / every.Seconds()
	c.pace = rate.NewLimiter(rate.Limit(perSecond), 2+int(perSecond))
	c.pace.AllowN(now, 1+int(perSecond))
}

func (c *schedule) next(now time.Time) (i int, due bool) {
	if len(c.order) == 0 || !c.pace.AllowN(now, 1) {
		return 0, false
	}
	if c.pos == len(c.order) {
		c.pos, c.cycle, c.took, c.began = 0, c.cycle+1, now.Sub(c.began), now
	}
	c.pos++
	return c.order[c.pos-1], true
}
