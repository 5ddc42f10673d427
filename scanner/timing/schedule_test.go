package timing

import (
	"slices"
	"testing"
	"time"
)

// TestSchedule checks the wait of every attempt, the number of attempts, and the sum
// of their waits.
func TestSchedule(t *testing.T) {
	s := Schedule{Timeout: 100 * time.Millisecond}
	var waits []time.Duration
	for attempt := range 5 {
		waits = append(waits, s.Wait(attempt+1)/time.Millisecond)
	}
	if want := []time.Duration{100, 150, 200, 200, 200}; !slices.Equal(waits, want) {
		t.Errorf("waits of %v ms, want %v", waits, want)
	}
	for _, test := range []struct {
		retries    int
		secondPass bool
		attempts   int
		silence    time.Duration
	}{
		{0, false, 1, 100 * time.Millisecond},
		{1, false, 2, 250 * time.Millisecond},
		{2, false, 3, 450 * time.Millisecond},
		{3, false, 4, 650 * time.Millisecond},
		{0, true, 2, 300 * time.Millisecond},
		{2, true, 4, 650 * time.Millisecond},
	} {
		s.Attempts, s.SecondPass = 1+test.retries, test.secondPass
		if s.Requests() != test.attempts || s.Silence() != test.silence {
			t.Errorf("%+v: %d attempts in %v, want %d in %v", s, s.Requests(), s.Silence(), test.attempts, test.silence)
		}
	}
}
