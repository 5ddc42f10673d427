package fleet

import (
	"errors"
	"fmt"
	"iter"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/loopback"
	"github.com/a2sscan/a2sscan/scanner/udp"
)

// ErrFleet means that a port is in use by another fleet.
var ErrFleet = errors.New("another fleet uses this port")

const defaultPort = 27015

// The limits of a Config.
const (
	maxDelay = 10 * time.Second // the longest time for which a reply is held back
	MaxPorts = 256              // maximum number of ports; each costs a socket and a goroutine
)

// Config describes the fleet to simulate. The fields up to Night determine the
// servers. The fields from Loss on add faults and delays to the network between the
// servers and the scanner.
type Config struct {
	// The addresses of the servers: a prefix inside 127.0.0.0/8, or 127.0.0.0/8 itself.
	Network netip.Prefix
	// The ports of each address, at least one; New replaces a 0 with a free port.
	Ports []uint16
	// The fleet depends on the seed, but not on the port numbers.
	Seed uint64

	// Share of the pairs of an address and a port that have a server. Zero means all
	// pairs. The servers of fakers (see Fakes) exist whatever the share is.
	Alive        float64
	Hostile      float64 // share of the servers that are hostile
	Kinds        []Kind  // honest kinds to choose from; empty means UsualKinds
	HostileKinds []Kind  // hostile kinds to choose from; empty means all

	Games []string // IDs of the games that servers of kind Games run; empty means all
	// Share of the groups of 64 addresses that have a faker, whose 50 servers send false
	// answers.
	Fakes     float64
	FakeKinds []Kind // kinds of fakers to choose from; empty means all

	// Night is the number of nights that have passed. On another night, the servers of
	// kind Games and of fakers have other players, maps and clocks. On each night after
	// night 0, one in 50 pairs of an address and a port differs from night 0: the pair has
	// lost its server or gained one. Nothing else changes.
	Night uint64

	Life *Life // events while the fleet runs; nil means no events

	Loss      float64 // share of the datagrams lost in each direction
	Duplicate float64 // share of the replies sent twice
	Reorder   float64 // share of the replies that arrive after a later reply
	// Each server has a constant delay between DelayMin and DelayMax.
	DelayMin, DelayMax time.Duration
}

func (c *Config) check() error {
	switch {
	case !c.Network.IsValid():
		return errors.New("the network is missing; give a prefix inside 127.0.0.0/8")
	case !loopback.Contains(c.Network):
		return fmt.Errorf("the network %v must be inside 127.0.0.0/8", c.Network)
	case len(c.Ports) == 0:
		return errors.New("no ports are given")
	case len(c.Ports) > MaxPorts:
		return fmt.Errorf("%d ports are too many; give at most %d", len(c.Ports), MaxPorts)
	case c.DelayMin < 0 || c.DelayMax > maxDelay:
		return fmt.Errorf("the delays %v to %v must be between 0 and %v", c.DelayMin, c.DelayMax, maxDelay)
	case c.DelayMin > c.DelayMax:
		return fmt.Errorf("the minimum delay %v exceeds the maximum delay %v", c.DelayMin, c.DelayMax)
	}
	for i, p := range c.Ports {
		if p != 0 && slices.Contains(c.Ports[:i], p) {
			return fmt.Errorf("port %d is given twice", p)
		}
	}
	for name, share := range map[string]float64{
		"alive": c.Alive, "hostile": c.Hostile, "loss": c.Loss, "fakes": c.Fakes, "duplicate": c.Duplicate, "reorder": c.Reorder,
	} {
		if !(share >= 0 && share <= 1) { // also NaN
			return fmt.Errorf("%s: the share is %v, but must be between 0 and 1", name, share)
		}
	}
	for _, s := range []struct {
		what       string
		given, all []Kind
	}{
		{"kind", c.Kinds, HonestKinds()},
		{"hostile kind", c.HostileKinds, HostileKinds()},
		{"faker kind", c.FakeKinds, FakerKinds()},
	} {
		for _, k := range s.given {
			if !slices.Contains(s.all, k) {
				return fmt.Errorf("%s %v is not allowed; choose from %v", s.what, k, s.all)
			}
		}
	}
	for _, id := range c.Games {
		if findTitle(id) == nil {
			return fmt.Errorf("the game %q is not simulated; choose from %s", id, strings.Join(GameIDs(), ", "))
		}
	}
	return nil
}

// All yields every pair of an address and a port of the fleet, with or without a server, in
// the order of addresses and then of ports. If the Config is invalid, All yields nothing.
func (c Config) All() iter.Seq[netip.AddrPort] {
	return func(yield func(netip.AddrPort) bool) {
		m, err := newModel(c)
		if err != nil {
			return
		}
		for i := range m.places() {
			if !yield(udp.Unpack(m.place(i))) {
				return
			}
		}
	}
}
