package fleet

import "github.com/a2sscan/a2sscan/bench/fleet/internal/loopback"

// Stats are the numbers of a fleet. They only grow.
type Stats = loopback.Stats
