package bench

import (
	"fmt"
	"math"
	"testing"
	"time"
)

// TestCost compares the model with measured scans in which about half of the
// targets had a simulated server. The numbers of datagrams must be equal, the
// numbers of bytes within 16 %.
func TestCost(t *testing.T) {
	for _, m := range []struct{ live, silent, sent, payload, census uint64 }{
		{127, 129, 895, 18_819 + 186_547, 106_823},
		{522, 502, 3594, 75_234 + 792_093, 433_289},
		{2023, 2073, 14_311, 301_131 + 2_849_701, 1_576_984},
	} {
		c := Workload{Live: m.live, Silent: m.silent, Attempts: 3, Rate: 1, Nights: 1}.Cost()
		if c.Sent != m.sent {
			t.Errorf("%d servers: %d datagrams sent, measured %d", m.live+m.silent, c.Sent, m.sent)
		}
		wire := m.payload + headers*(m.sent+repliesLive*m.live)
		for what, pair := range map[string][2]uint64{"bytes": {c.Wire, wire}, "bytes of census": {c.Census, m.census}} {
			if off := math.Abs(float64(pair[0])/float64(pair[1]) - 1); off > 0.16 {
				t.Errorf("%d servers: %d %s, measured %d", m.live+m.silent, pair[0], what, pair[1])
			}
		}
	}
}

// These are the three plans of README.md.
func ExampleWorkload_Cost() {
	for _, plan := range []struct {
		name string
		Workload
	}{
		{"a list of 1 M", Workload{Live: 800_000, Silent: 200_000, Attempts: 3, Rate: 20_000, Nights: 1}},
		{"all of IPv4", Workload{Live: 1_000_000, Silent: 3_700_000_000, Attempts: 3, Rate: 320_000, Nights: 1}},
		{"365 nights", Workload{Live: 800_000, Silent: 200_000, Attempts: 3, Rate: 20_000, Nights: 365}},
	} {
		c := plan.Cost()
		fmt.Printf("%s: %.1f M sent, %.1f M received, %.1f GB, %.1f h, %.1f h of CPU, census %.1f GB\n", plan.name,
			float64(c.Sent)/1e6, float64(c.Received)/1e6, float64(c.Wire)/1e9,
			c.Time.Hours(), c.CPU.Round(time.Second).Hours(), float64(c.Census)/1e9)
	}
	// Output:
	// a list of 1 M: 3.8 M sent, 3.2 M received, 1.4 GB, 0.1 h, 0.0 h of CPU, census 0.7 GB
	// all of IPv4: 11104.0 M sent, 4.0 M received, 545.7 GB, 9.6 h, 17.0 h of CPU, census 0.9 GB
	// 365 nights: 1387.0 M sent, 1168.0 M received, 524.1 GB, 19.3 h, 3.6 h of CPU, census 262.8 GB
}
