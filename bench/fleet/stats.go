package fleet

import "github.com/a2sscan/a2sscan/bench/fleet/internal/loopback"

// Stats are the statistics of a fleet. The counters only grow.
type Stats = loopback.Stats
