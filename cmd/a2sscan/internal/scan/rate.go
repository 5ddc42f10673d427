package scan

import (
	"slices"
	"sync"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
)

// rateControl raises and lowers the rate of a running scan. Its methods may be called from
// several goroutines.
type rateControl struct {
	initial float64      // datagrams per second; 0: the rate is not fixed, and signals don't change it
	rates   chan float64 // holds the newest rate until the scan receives it

	mu      sync.Mutex
	now     float64
	changes []ledger.Change
}

// These are the limits of rateControl.step, in datagrams per second. If the initial rate is
// beyond one of the limits, the initial rate is the limit instead.
const (
	lowest  = 1
	highest = 1_000_000
)

func newRateControl(rate float64) *rateControl {
	return &rateControl{initial: rate, now: rate, rates: make(chan float64, 1)}
}

// step raises or lowers the rate by a tenth. It returns the rates before and after the
// step, which are equal at a limit.
func (c *rateControl) step(up bool) (from, to float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	from, to = c.now, c.now*0.9
	if up {
		to = c.now * 1.1
	}
	to = min(max(to, min(lowest, c.initial)), max(highest, c.initial))
	if to == from {
		return from, to
	}
	c.now = to
	c.changes = append(c.changes, ledger.Change{Time: time.Now().UTC(), From: from, To: to})
	select {
	case <-c.rates:
	default:
	}
	c.rates <- to // never blocks, because there is no other sender
	return from, to
}

func (c *rateControl) state() (now float64, changes []ledger.Change) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now, slices.Clone(c.changes)
}

func (s *Run) turnRate(up bool) {
	signal := "SIGUSR2"
	if up {
		signal = "SIGUSR1"
	}
	if s.rate.initial == 0 {
		s.term.Say("%s is ignored, because this scan chooses its own rate", signal)
		s.term.Hint("to change the rate with signals, start a scan with --rate N")
		return
	}
	from, to := s.rate.step(up)
	if from == to {
		s.term.Say("%s: the rate is %s/s already, and can't go further", signal, console.Short(to))
		return
	}
	s.term.Say("%s: the rate goes from %s/s to %s/s; the scan began with %s/s", signal,
		console.Short(from), console.Short(to), console.Short(s.rate.initial))
}
