package main

import (
	"sync"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
)

// dial turns the rate of a scan that runs up and down.
type dial struct {
	mu      sync.Mutex
	begun   float64 // datagrams a second; 0: the scan governs itself
	now     float64
	rates   chan float64 // of one place: a newer rate replaces one that was not taken
	changes []rateChange
}

// rateChange is one turn of the dial. Its JSON is part of the summary.
type rateChange struct {
	Time time.Time `json:"time"`
	From float64   `json:"from"` // datagrams a second
	To   float64   `json:"to"`
}

// Where the dial stops, unless the scan began beyond that, and how many turns
// are remembered, the last ones.
const (
	leastDialled = 1
	mostDialled  = 1_000_000
	changesKept  = 1000
)

func newDial(r rate) *dial {
	return &dial{begun: float64(r), now: float64(r), rates: make(chan float64, 1)}
}

// turn changes the rate by a tenth. It reports the rates before and after, which
// are equal at the stop, and false where there is nothing to turn.
func (d *dial) turn(up bool) (from, to float64, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.begun == 0 {
		return 0, 0, false
	}
	from, to = d.now, d.now*0.9
	if up {
		to = d.now * 1.1
	}
	to = min(max(to, min(leastDialled, d.begun)), max(mostDialled, d.begun))
	if to == from {
		return from, to, true
	}
	d.now = to
	d.changes = append(d.changes, rateChange{time.Now().UTC(), from, to})
	d.changes = d.changes[max(0, len(d.changes)-changesKept):]
	select {
	case <-d.rates:
	default:
	}
	d.rates <- to // there is room: this is the only one who sends
	return from, to, true
}

// source is where a scan's new rates come from.
func (d *dial) source() <-chan float64 {
	if d == nil {
		return nil
	}
	return d.rates
}

// rate is the rate now, scanner.Off where the scan governs itself.
func (d *dial) rate() float64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.begun == 0 {
		return scanner.Off
	}
	return d.now
}

// turns returns the changes until now.
func (d *dial) turns() []rateChange {
	if d == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]rateChange(nil), d.changes...)
}

// turnRate turns the dial and says what that did.
func (j *job) turnRate(up bool) {
	from, to, ok := j.dial.turn(up)
	signal, way := "SIGUSR1", "up"
	if !up {
		signal, way = "SIGUSR2", "down"
	}
	switch {
	case !ok:
		j.Say("%s: without a rate the scan governs itself, as fast as it goes", signal)
		j.Hint("--rate N sets one that can be turned up and down")
	case from == to:
		j.Say("%s: the rate is %s/s, and goes no further %s", signal, console.Short(to), way)
	default:
		j.Say("%s: rate turned %s from %s/s to %s/s, begun with %s/s", signal, way,
			console.Short(from), console.Short(to), console.Short(j.dial.begun))
	}
}
