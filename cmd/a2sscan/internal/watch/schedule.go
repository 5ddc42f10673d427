package watch

import (
	"time"

	"golang.org/x/time/rate"
)

// schedule spreads the checks of a cycle evenly over it.
type schedule struct {
	order []int // the servers to ask, in the order of a cycle
	pos   int   // in order
	cycle int   // number of complete cycles
	pace  *rate.Limiter
	began time.Time     // when the current cycle began
	took  time.Duration // how long the latest complete one took; 0: none, or the list changed
}

// rearrange begins a cycle, also after the order has changed, and after a pause.
func (c *schedule) rearrange(now time.Time, every time.Duration) {
	if c.pos >= len(c.order) {
		c.pos = 0
	}
	c.began, c.took = now, 0
	// The checks may fall behind by a second. What a slow rate or a pause left undone for longer
	// must not follow in one burst.
	perSecond := float64(len(c.order)) / every.Seconds()
	c.pace = rate.NewLimiter(rate.Limit(perSecond), 2+int(perSecond))
	c.pace.AllowN(now, 1+int(perSecond))
}

// next returns the server that is due, if there is one.
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
