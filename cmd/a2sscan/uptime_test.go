package main

import (
	"testing"
	"time"
)

// TestCompact: a duration is exact below an hour, and rounded to the nearest above.
func TestCompact(t *testing.T) {
	const day = 24 * time.Hour
	for d, want := range map[time.Duration]string{
		0: "0s", 20 * time.Second: "20s", 725 * time.Second: "12m5s", time.Hour - 31*time.Second: "59m29s", time.Hour - time.Second: "1h0m",
		3*time.Hour + 12*time.Minute + 29*time.Second: "3h12m", 3*time.Hour + 12*time.Minute + 30*time.Second: "3h13m",
		100*time.Hour - time.Second: "4d4h", 5*day + 3*time.Hour + 20*time.Minute: "5d3h", 400*day + 30*time.Minute: "400d1h",
	} {
		if got := compact(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}
