package fleet

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// TestNatureIsPure computes the nature of each server twice, the second time in
// another order and with other network faults in the Config.
func TestNatureIsPure(t *testing.T) {
	a := testConfig()
	a.Hostile = 0.2
	b := a
	b.Loss, b.Reorder, b.QueryLimit = 0.5, 0.5, 3
	var order []netip.AddrPort
	for addr := range a.All() {
		order = append(order, addr)
	}
	first := make(map[netip.AddrPort]Nature)
	for _, addr := range order {
		first[addr], _ = a.Nature(addr)
	}
	for i := range order {
		addr := order[len(order)-1-i]
		if n, _ := b.Nature(addr); n != first[addr] {
			t.Fatalf("%v: %+v, then %+v", addr, first[addr], n)
		}
	}
}

// TestNatureDependsOnAll checks that another seed, another address and another port
// each give another server.
func TestNatureDependsOnAll(t *testing.T) {
	c := testConfig()
	c.Ports = []uint16{27015, 27016}
	other := c
	other.Seed++
	at := netip.MustParseAddrPort("127.1.0.1:27015")
	m, _ := newModel(c)
	o, _ := newModel(other)
	base, _ := m.nature(udp.Pack(at))
	seed, _ := o.nature(udp.Pack(at))
	port, _ := m.nature(udp.Pack(at) + 1)
	ip, _ := m.nature(udp.Pack(at) + 1<<16)
	for name, n := range map[string]nature{"seed": seed, "port": port, "address": ip} {
		if n.hash == base.hash {
			t.Errorf("another %s, the same server", name)
		}
	}
}

// TestEveryKindAppears checks that a fleet of moderate size has every kind about as
// often as intended. It must also have every quirk, every usual set of challenged
// questions, every combination of extra data, and lists of almost the maximum
// length.
func TestEveryKindAppears(t *testing.T) {
	c := testConfig()
	c.Network, c.Hostile = netip.MustParsePrefix("127.1.0.0/18"), 0.25
	m, err := newModel(c)
	if err != nil {
		t.Fatal(err)
	}
	var kinds [numKinds]int
	var quirks quirk
	edf := make(map[uint8]bool)
	policies := make(map[scanner.Questions]bool)
	var said content
	most := [2]int{}
	for i := range m.places() {
		n, ok := m.nature(m.place(i))
		if !ok {
			t.Fatalf("no server at %v", udp.Unpack(m.place(i)))
		}
		kinds[n.kind]++
		quirks |= n.quirks
		policies[n.challenged] = true
		said.fill(&n, scanner.AskInfo)
		if n.kind == Source && said.info.Has&wire.HasEDF != 0 {
			edf[said.info.EDF] = true
		}
		if !n.kind.Hostile() {
			most[0], most[1] = max(most[0], n.players), max(most[1], n.rules)
		}
	}
	for k, got := range kinds {
		want := float64(m.places()) * 0.25 / float64(len(HostileKinds()))
		if k < numHonest {
			want = float64(m.places()) * 0.75 * float64(honestWeights[k]) / 1000
		}
		if Kind(k).Faker() {
			want = 0
		}
		if float64(got) < want*0.6 || float64(got) > want*1.4 {
			t.Errorf("%v: %d, want about %.0f", Kind(k), got, want)
		}
	}
	if quirks != 1<<numQuirks-1 {
		t.Errorf("quirks %b, want all of %d", quirks, numQuirks)
	}
	if len(edf) != 32 || len(policies) != 3 {
		t.Errorf("%d combinations of extra data, want 32; %d policies, want 3", len(edf), len(policies))
	}
	if most[0] < 190 || most[0] > 200 || most[1] < 390 || most[1] > 400 {
		t.Errorf("at most %d players and %d rules, want almost 200 and 400", most[0], most[1])
	}
}

// TestAliveAndHostileShares checks the shares of servers and of hostile servers.
func TestAliveAndHostileShares(t *testing.T) {
	c := testConfig()
	c.Network, c.Alive, c.Hostile = netip.MustParsePrefix("127.1.0.0/18"), 0.3, 0.2
	var all, alive, hostile float64
	for addr := range c.All() {
		all++
		n, ok := c.Nature(addr)
		if ok {
			alive++
		}
		if ok && n.Kind.Hostile() {
			hostile++
		}
	}
	if share := alive / all; share < 0.28 || share > 0.32 {
		t.Errorf("%v alive", share)
	}
	if share := hostile / alive; share < 0.18 || share > 0.22 {
		t.Errorf("%v hostile", share)
	}
	c.Alive = None
	for addr := range c.All() {
		if n, ok := c.Nature(addr); ok {
			t.Fatalf("%v is a %v in a fleet without servers", addr, n.Kind)
		}
	}
}

// TestConfigRefuses checks that the error for an invalid Config names the invalid
// value.
func TestConfigRefuses(t *testing.T) {
	tests := []struct {
		spoil func(*Config)
		want  string
	}{
		{func(c *Config) { c.Network = netip.Prefix{} }, "network"},
		{func(c *Config) { c.Network = netip.MustParsePrefix("10.0.0.0/8") }, "not inside 127"},
		{func(c *Config) { c.Network = netip.MustParsePrefix("126.0.0.0/7") }, "not inside 127"},
		{func(c *Config) { c.Network = netip.MustParsePrefix("0.0.0.0/0") }, "not inside 127"},
		{func(c *Config) { c.Network = netip.MustParsePrefix("::1/128") }, "not inside 127"},
		{func(c *Config) { c.Network = netip.MustParsePrefix("::ffff:127.0.0.0/104") }, "not inside 127"},
		{func(c *Config) { c.Ports = nil }, "ports"},
		{func(c *Config) { c.Ports = []uint16{0} }, "port 0"},
		{func(c *Config) { c.Ports = []uint16{5, 5} }, "port 5"},
		{func(c *Config) { c.Ports = make([]uint16, 300) }, "ports"},
		{func(c *Config) { c.Alive = 1.5 }, "alive"},
		{func(c *Config) { c.Loss = -0.5 }, "loss"},
		{func(c *Config) { c.Duplicate = 2 }, "duplicate"},
		{func(c *Config) { c.Reorder = 2 }, "reorder"},
		{func(c *Config) { c.Hostile = 2 }, "hostile"},
		{func(c *Config) { c.DelayMin = time.Second }, "delay"},
		{func(c *Config) { c.DelayMax = time.Hour }, "delay"},
		{func(c *Config) { c.QueryLimit = -1 }, "query limit"},
		{func(c *Config) { c.Kinds = []Kind{Bomb} }, "bomb"},
		{func(c *Config) { c.HostileKinds = []Kind{Source} }, "source"},
		{func(c *Config) { c.HostileKinds = []Kind{numKinds} }, "unknown"},
		{func(c *Config) { c.HostileKinds = []Kind{FarmList} }, "farm-list"},
		{func(c *Config) { c.FakeKinds = []Kind{Source} }, "source"},
		{func(c *Config) { c.Fakes = 2 }, "fakes"},
		{func(c *Config) { c.Games = []string{"rust", "rusty"} }, "rusty"},
	}
	for _, test := range tests {
		c := testConfig()
		test.spoil(&c)
		if _, err := newModel(c); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v, want an error with %q", c, err, test.want)
		}
	}
}

// TestSplitsFit checks that servers of the kinds that split replies send RULES in
// at least two fragments, and never more fragments than the headers can count.
func TestSplitsFit(t *testing.T) {
	c := testConfig()
	c.Network, c.Kinds = netip.MustParsePrefix("127.1.0.0/20"), []Kind{Split, SplitNoSize, SplitGoldSource}
	m, _ := newModel(c)
	r := newResponder(m, 27015)
	for i := range m.places() {
		n, _ := m.nature(m.place(i))
		for q := range wire.Question(wire.NumQuestions) {
			r.out.Reset()
			r.c.fill(&n, 1<<q)
			r.say(&n, q)
			count := len(r.out.List)
			must := q == wire.QuestionRules || q == wire.QuestionInfo && n.quirks&quirkSplitInfo != 0
			if must && count < 2 || count > 15 && n.kind == SplitGoldSource || count > 30 {
				t.Fatalf("%v: %v in %d fragments", n.kind, q, count)
			}
		}
	}
}

// testConfig returns a small fleet of the usual kinds.
func testConfig() Config {
	return Config{Network: netip.MustParsePrefix("127.1.0.0/24"), Ports: []uint16{27015}, Seed: 1}
}
