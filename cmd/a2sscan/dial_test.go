package main

import (
	"math"
	"testing"
)

// TestDial: a turn is a tenth, the newest rate is the one that is taken, and
// there is a stop at each end, unless the scan began beyond it.
func TestDial(t *testing.T) {
	d := newDial(5000)
	for _, want := range []float64{5500, 6050} {
		if _, to, ok := d.turn(true); !ok || math.Abs(to-want) > 1e-6 {
			t.Errorf("%v, %v, want %v", to, ok, want)
		}
	}
	from, to, _ := d.turn(false)
	if math.Abs(from-6050) > 1e-6 || math.Abs(to-5445) > 1e-6 {
		t.Errorf("down from %v to %v", from, to)
	}
	if got := <-d.source(); math.Abs(got-5445) > 1e-6 || len(d.source()) > 0 {
		t.Errorf("%v is taken", got)
	}
	if turns := d.turns(); len(turns) != 3 || turns[0].From != 5000 || turns[2].To != to || turns[2].Time.IsZero() {
		t.Errorf("%+v", turns)
	}

	for _, test := range []struct {
		begun rate
		up    bool
		stop  float64
	}{{5000, true, 1e6}, {5000, false, 1}, {0.01, false, 0.01}, {2e6, true, 2e6}, {0.01, true, 1e6}, {2e6, false, 1}} {
		d := newDial(test.begun)
		for range 500 {
			d.turn(test.up)
		}
		from, to, ok := d.turn(test.up)
		if from != test.stop || to != test.stop || !ok {
			t.Errorf("%+v: from %v to %v", test, from, to)
		}
		if n := len(d.turns()); n == 0 != (float64(test.begun) == test.stop) || n > changesKept {
			t.Errorf("%+v: %d changes", test, n)
		}
	}

	d = newDial(0)
	if _, _, ok := d.turn(true); ok || len(d.rates) > 0 || len(d.turns()) > 0 {
		t.Error("a scan without a rate has one")
	}
	if d = nil; d.source() != nil || d.turns() != nil {
		t.Error("no dial turns")
	}
}
