package scanner

import (
	"testing"
	"time"
)

// TestClockSet: if the clock of the machine is set by an hour, ahead or back, between the
// arrival of a datagram and its reading, the time of the reading counts.
func TestClockSet(t *testing.T) {
	const now, trip = 10 * time.Minute, 5 * time.Millisecond
	d := drained{before: now - time.Second}
	const wall = int64(1_800_000_000_000_000_000)
	for jump, want := range map[time.Duration]time.Duration{0: now - trip, time.Hour: now, -time.Hour: now} {
		if got := d.arrival(now, wall+int64(jump), wall-int64(trip)); got != want {
			t.Errorf("set by %v: %v, want %v", jump, got, want)
		}
	}
}
