package loopback

import (
	"time"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/random"
)

// Faults adds faults to the network between servers and scanner. It takes its
// random numbers from a seed: if the datagrams come in the same order, they have
// the same faults.
type Faults struct {
	FaultsConfig
	random random.Stream
	held   wheel
	kept   []Datagram
}

// FaultsConfig lists the faults of a network.
type FaultsConfig struct {
	Seed      uint64
	Loss      float64       // share of datagrams lost, each way
	Duplicate float64       // share of replies sent twice
	Reorder   float64       // share of replies held back until later ones are sent
	DelayMax  time.Duration // no Datagram has a longer Delay
}

// The shortest and the longest time for which a datagram is held back to reorder
// it.
const (
	reorderMin = time.Millisecond
	reorderMax = 5 * time.Millisecond
)

// NewFaults returns the faults of one port.
func NewFaults(c FaultsConfig) *Faults {
	return &Faults{
		FaultsConfig: c,
		random:       random.Stream(c.Seed),
		held:         newWheel(c.DelayMax + reorderMax),
	}
}

// any reports whether any faults or delays are configured.
func (f *Faults) any() bool {
	return f.Loss > 0 || f.Duplicate > 0 || f.Reorder > 0 || f.DelayMax > 0
}

// losesQuery reports whether the next query is lost on its way to the server.
func (f *Faults) losesQuery() bool { return f.random.Chance(f.Loss) }

// apply loses, duplicates and holds back datagrams in out.List, from index first
// on.
func (f *Faults) apply(now time.Duration, out *Outbox, first int, s *Stats) {
	f.kept = f.kept[:0]
	for i := first; i < len(out.List); i++ {
		d := out.List[i]
		if f.random.Chance(f.Loss) {
			s.LostReplies++
			continue
		}
		f.pass(now, out, d, s)
		if f.random.Chance(f.Duplicate) {
			s.Duplicated++
			f.pass(now, out, d, s)
		}
	}
	out.List = append(out.List[:first], f.kept...)
}

// pass keeps a datagram that is due at once, and holds back any other.
func (f *Faults) pass(now time.Duration, out *Outbox, d Datagram, s *Stats) {
	if d.Delay > 0 {
		s.Delayed++
	}
	if f.random.Chance(f.Reorder) {
		s.Reordered++
		d.Delay += reorderMin + time.Duration(f.random.Below(int(reorderMax-reorderMin)))
	}
	switch {
	case d.Delay == 0:
		f.kept = append(f.kept, d)
	case !f.held.hold(now, d, out.Bytes(&d)):
		s.Overflow++
	}
}
