package ratecontrol

import (
	"math"
	"testing"
)

// TestStep: a step changes the rate by a tenth, and the scan receives the newest
// rate. The rate has a limit at each end, unless the scan began beyond it.
func TestStep(t *testing.T) {
	c := New(5000)
	for _, want := range []float64{5500, 6050} {
		if _, to, ok := c.Step(true); !ok || math.Abs(to-want) > 1e-6 {
			t.Errorf("%v, %v, want %v", to, ok, want)
		}
	}
	from, to, _ := c.Step(false)
	if math.Abs(from-6050) > 1e-6 || math.Abs(to-5445) > 1e-6 {
		t.Errorf("down from %v to %v", from, to)
	}
	if got := <-c.Rates(); math.Abs(got-5445) > 1e-6 || len(c.Rates()) > 0 {
		t.Errorf("the scan receives %v", got)
	}
	if changes := c.Changes(); len(changes) != 3 || changes[0].From != 5000 || changes[2].To != to || changes[2].Time.IsZero() {
		t.Errorf("%+v", changes)
	}

	for _, test := range []struct {
		begun float64
		up    bool
		stop  float64
	}{{5000, true, 1e6}, {5000, false, 1}, {0.01, false, 0.01}, {2e6, true, 2e6}, {0.01, true, 1e6}, {2e6, false, 1}} {
		c := New(test.begun)
		for range 500 {
			c.Step(test.up)
		}
		from, to, ok := c.Step(test.up)
		if from != test.stop || to != test.stop || !ok {
			t.Errorf("%+v: from %v to %v", test, from, to)
		}
		if n := len(c.Changes()); n == 0 != (test.begun == test.stop) || n > changesKept {
			t.Errorf("%+v: %d changes", test, n)
		}
	}

	c = New(0)
	if _, _, ok := c.Step(true); ok || len(c.rates) > 0 || len(c.Changes()) > 0 {
		t.Error("the rate of a scan without one can be changed")
	}
}
