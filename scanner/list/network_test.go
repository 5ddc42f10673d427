package list

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/scanner/target"
)

func TestAllowReserved(t *testing.T) {
	const list = "0.0.0.0:1\n8.8.8.8:0\n127.0.0.1:1\n169.254.1.1:1\n224.0.0.1:1\n8.8.8.8:1\n10.0.0.1:1\n10.0.0.2:1\n"
	tests := []struct {
		allow bool
		want  string
		stats Stats
		left  string
	}{
		{false, "8.8.8.8:1", Stats{Read: 8, Unscannable: 3, NoPort: 1, Excluded: 4, Given: 1},
			"0.0.0.0/32 true 1, 10.0.0.0/8 false 2, 127.0.0.0/8 false 1, 169.254.0.0/16 true 1, 224.0.0.0/4 false 1, "},
		{true, "127.0.0.1:1 224.0.0.1:1 8.8.8.8:1 10.0.0.1:1 10.0.0.2:1",
			Stats{Read: 8, Unscannable: 3, NoPort: 1, Given: 5}, "0.0.0.0/32 true 1, 169.254.0.0/16 true 1, "},
	}
	for _, test := range tests {
		l := mustOpen(t, Config{
			InOrder:    true,
			Stdin:      strings.NewReader(list),
			Exclusions: mustExclude(t, exclusionConfig{AllowReserved: test.allow}),
		})
		if got := strings.Join(texts(l.From(0)), " "); got != test.want {
			t.Errorf("allowed %v: %s", test.allow, got)
		}
		if s := l.Stats(); s != test.stats {
			t.Errorf("allowed %v: %+v", test.allow, s)
		}
		left := ""
		for _, r := range leftOut(l) {
			left += fmt.Sprintf("%v %v %d, ", r.Network, r.Unscannable, r.Targets)
		}
		if left != test.left {
			t.Errorf("allowed %v: left out %s", test.allow, left)
		}
	}
}

// model does what List does with OrderInput, in the obvious way: it expands every
// network and stores every target.
type model struct {
	ports []uint16
	seen  map[string]bool
	rules *Exclusions
	out   []target.Target
	stats Stats

	places uint64
}

func (m *model) name(s, tag string) {
	ports := m.ports
	if p, err := netip.ParsePrefix(s); err == nil {
		for _, port := range ports {
			for ip := p.Masked().Addr(); p.Contains(ip); ip = ip.Next() {
				m.target(ip, port, tag)
			}
		}
		return
	}
	if a, err := netip.ParseAddrPort(s); err == nil {
		m.target(a.Addr(), a.Port(), tag)
		return
	}
	for _, port := range ports {
		m.target(netip.MustParseAddr(s), port, tag)
	}
}

func (m *model) target(ip netip.Addr, port uint16, tag string) {
	t := target.Target{Addr: netip.AddrPortFrom(ip, port), Tag: tag}
	m.stats.Read++
	key := t.Addr.String()
	if m.seen[key] {
		m.stats.Duplicate++
		return
	}
	m.seen[key] = true
	t.Place = m.places
	m.places++
	switch rule := m.rules.find(ipOf(ip)); {
	case rule != nil && !rule.Unscannable:
		m.stats.Excluded++
	case rule != nil:
		m.stats.Unscannable++
	default:
		m.stats.Given++
		m.out = append(m.out, t)
	}
}

// randomName returns an address, an address with a port, or a network. It is near
// an address where an exclusion begins or ends, and many names overlap.
func randomName(r *rand.Rand) string {
	corners := []uint32{0x01000000, 0x09FFFFF0, 0xC0000000, 0xA9FDFFF8, 0xDFFFFFF8, 0}
	ip := addrOf(corners[r.IntN(len(corners))] + r.Uint32N(16))
	switch r.IntN(3) {
	case 0:
		return fmt.Sprintf("%v/%d", ip, 27+r.IntN(6))
	case 1:
		return fmt.Sprintf("%v:%d", ip, 1+r.IntN(4))
	}
	return ip.String()
}

// TestModel gives List and model the same inputs, and compares every target, the
// order and the statistics.
func TestModel(t *testing.T) {
	for seed := range 3 * *seedsFlag {
		r := rand.New(rand.NewPCG(seed, 1))
		m := &model{ports: mustPorts(t, "3,1"), seen: map[string]bool{}, rules: mustExclude(t, exclusionConfig{})}
		cfg := Config{Ports: m.ports, InOrder: true}
		lists := 0
		for range 1 + r.IntN(6) {
			if r.IntN(3) > 0 {
				arg := randomName(r)
				cfg.Args = append(cfg.Args, arg)
				m.name(arg, "")
				continue
			}
			var file strings.Builder
			for range r.IntN(8) {
				if r.IntN(8) == 0 {
					file.WriteString("nonsense\n")
					m.stats.Read++
					m.stats.Invalid++
					continue
				}
				line, tag := randomName(r), []string{"", "tag"}[r.IntN(2)]
				file.WriteString(line + " " + tag + "\n")
				m.name(line, tag)
			}
			lists++
			cfg.Args = append(cfg.Args, writeFile(t, "list", file.String()))
		}
		l := mustOpen(t, cfg)
		size, known := l.Size()
		got := slices.Collect(l.From(0))
		if !slices.Equal(got, m.out) {
			t.Fatalf("seed %d, %q:\n     %v\nwant %v", seed, cfg.Args, got, m.out)
		}
		if l.Stats() != m.stats {
			t.Fatalf("seed %d: %+v, want %+v", seed, l.Stats(), m.stats)
		}
		if known != (lists == 0) || known && size != m.places {
			t.Fatalf("seed %d: size %d, %v; want %d", seed, size, known, m.places)
		}
		if _, part, known := l.Progress(); known && part != 1 {
			t.Fatalf("seed %d: progress %v, %v", seed, part, known)
		}
	}
}
