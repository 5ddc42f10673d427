package watch

import "time"

// schedule spreads the checks of a cycle evenly over it.
type schedule struct {
	order  []int // the servers to ask, in the order of a cycle
	pos    int   // in order
	cycle  int   // number of complete cycles
	anchor time.Time
	done   int           // checks since anchor
	began  time.Time     // when the current cycle began
	took   time.Duration // how long the latest complete one took; 0: none, or the list changed
}

// late is how far the checks may fall behind before the schedule gives the time up: without
// that, what a slow rate or a pause left undone would follow in one burst.
const late = time.Second

// rearrange begins a cycle, also after the order has changed, and after a pause.
func (c *schedule) rearrange(now time.Time) {
	if c.pos >= len(c.order) {
		c.pos = 0
	}
	c.anchor, c.began, c.done, c.took = now, now, 0, 0
}

// next returns the server that is due, or the time to wait.
func (c *schedule) next(now time.Time, every time.Duration) (i int, wait time.Duration) {
	n := len(c.order)
	if n == 0 {
		return 0, time.Second
	}
	due := c.anchor.Add(time.Duration(float64(c.done) / float64(n) * float64(every)))
	if wait := due.Sub(now); wait > 0 {
		return 0, min(wait, time.Second)
	}
	if now.Sub(due) > late {
		c.anchor, c.done = now, 0
	}
	if c.pos == n {
		c.pos, c.cycle, c.took, c.began = 0, c.cycle+1, now.Sub(c.began), now
	}
	i = c.order[c.pos]
	c.pos++
	c.done++
	return i, 0
}
