package bench

import (
	"testing"
	"time"
)

// distances returns a scan, at full speed, of n servers that are 50 ms away.
func distances(n int) Config {
	c := Throughput(n)
	c.Output, c.Window, c.Trips = Zstd, 0, true
	c.Fleet.DelayMin, c.Fleet.DelayMax = 50*time.Millisecond, 50*time.Millisecond
	return c
}

// barsOfTrips compares the round trips of the records with those that the fleet
// measured.
func barsOfTrips(t *testing.T) {
	for _, s := range measure(t, *roundsFlag, distances(*serversFlag)) {
		within := s.median(func(r *Result) float64 { return 100 * r.Trips.Within(500*time.Microsecond) })
		for _, r := range s {
			t.Logf("%d round trips; half are within %v, 99 %% within %v, 99.9 %% within %v", r.Trips.N,
				r.Trips.Quantile(0.5), r.Trips.Quantile(0.99), r.Trips.Quantile(0.999))
		}
		hold(t, bar{what: "round trips within 0.5 ms, %", got: within, limit: 99, least: true})
	}
}

// testSmallTrips checks that the fleet measured every answer that has a round trip
// in the records, and that at least half of the round trips are within 20 ms of its
// measurements.
func testSmallTrips(t *testing.T) {
	c := distances(500)
	c.Rate = 5000
	r := run(t, c)
	if r.Trips.N < 3*400 || r.Trips.Within(20*time.Millisecond) < 0.5 {
		t.Errorf("%d round trips, %.3f of them within 20 ms", r.Trips.N, r.Trips.Within(20*time.Millisecond))
	}
}
