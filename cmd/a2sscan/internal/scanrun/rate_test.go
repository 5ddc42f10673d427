package scanrun

import (
	"math"
	"testing"
)

// TestStep: a step changes the rate by a tenth, and the scan receives the newest
// rate. The rate has a limit at each end, unless the scan began beyond it.
func TestStep(t *testing.T) {
	c := newRateControl(5000)
	for _, want := range []float64{5500, 6050} {
		if _, to := c.step(true); math.Abs(to-want) > 1e-6 {
			t.Errorf("%v, want %v", to, want)
		}
	}
	from, to := c.step(false)
	if math.Abs(from-6050) > 1e-6 || math.Abs(to-5445) > 1e-6 {
		t.Errorf("down from %v to %v", from, to)
	}
	if got := <-c.rates; math.Abs(got-5445) > 1e-6 || len(c.rates) > 0 {
		t.Errorf("the scan receives %v", got)
	}
	if _, changes := c.state(); len(changes) != 3 || changes[0].From != 5000 || changes[2].To != to || changes[2].Time.IsZero() {
		t.Errorf("%+v", changes)
	}
	for _, test := range []struct {
		begun float64
		up    bool
		stop  float64
	}{{5000, true, 1e6}, {5000, false, 1}, {0.01, false, 0.01}, {2e6, true, 2e6}, {0.01, true, 1e6}, {2e6, false, 1}} {
		c := newRateControl(test.begun)
		for range 500 {
			c.step(test.up)
		}
		if from, to := c.step(test.up); from != test.stop || to != test.stop {
			t.Errorf("%+v: from %v to %v", test, from, to)
		}
	}
}
