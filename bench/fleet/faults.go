package fleet

import (
	"github.com/a2sscan/a2sscan/bench/fleet/internal/loopback"
	"github.com/a2sscan/a2sscan/bench/fleet/internal/random"
)

// newFaults returns the faults of the network of one port.
func newFaults(m *model, port uint16) *loopback.Faults {
	return loopback.NewFaults(loopback.FaultsConfig{
		Seed: random.Hash(m.Seed, uint64(m.seedPort(port)), 0xFA),
		Loss: m.Loss, Duplicate: m.Duplicate, Reorder: m.Reorder, DelayMax: m.DelayMax,
	})
}
