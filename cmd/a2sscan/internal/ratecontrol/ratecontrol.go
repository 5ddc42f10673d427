// Package ratecontrol changes the rate of a running scan and records the changes.
package ratecontrol

import (
	"sync"
	"time"

	"github.com/a2sscan/a2sscan/scanner"
)

// Control raises and lowers the rate of one scan. Its methods may be called from
// several goroutines.
type Control struct {
	mu      sync.Mutex
	initial float64 // datagrams per second; 0: the scan controls its rate itself
	now     float64
	rates   chan float64 // holds the newest rate until the scan receives it
	changes []Change
}

// Change is one change of the rate. Its JSON is part of the summary.
type Change struct {
	Time time.Time `json:"time"`
	From float64   `json:"from"` // datagrams per second
	To   float64   `json:"to"`
}

// Step keeps the rate between lowest and highest, in datagrams per second, or at
// the initial rate if that is beyond them. changesKept is the maximum number of
// recorded changes; the oldest are dropped.
const (
	lowest      = 1
	highest     = 1_000_000
	changesKept = 1000
)

// New returns the control of a scan that begins with this rate in datagrams per
// second. 0 means that the scan controls its rate itself, and that nothing can be
// changed.
func New(rate float64) *Control {
	return &Control{initial: rate, now: rate, rates: make(chan float64, 1)}
}

// Initial returns the rate at which the scan began.
func (c *Control) Initial() float64 { return c.initial }

// Step changes the rate by a tenth. It returns the rates before and after, which
// are equal at the limit. ok is false if the scan controls its rate itself.
func (c *Control) Step(up bool) (from, to float64, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.initial == 0 {
		return 0, 0, false
	}
	from, to = c.now, c.now*0.9
	if up {
		to = c.now * 1.1
	}
	to = min(max(to, min(lowest, c.initial)), max(highest, c.initial))
	if to == from {
		return from, to, true
	}
	c.now = to
	c.changes = append(c.changes, Change{time.Now().UTC(), from, to})
	c.changes = c.changes[max(0, len(c.changes)-changesKept):]
	select {
	case <-c.rates:
	default:
	}
	c.rates <- to // this never blocks, because there is no other sender
	return from, to, true
}

// Rates returns the channel on which the scan receives each new rate.
func (c *Control) Rates() <-chan float64 { return c.rates }

// Rate returns the current rate, or scanner.Off if the scan controls its rate
// itself.
func (c *Control) Rate() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.initial == 0 {
		return scanner.Off
	}
	return c.now
}

// Changes returns the recorded changes.
func (c *Control) Changes() []Change {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Change(nil), c.changes...)
}
