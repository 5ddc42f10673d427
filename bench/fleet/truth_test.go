package fleet

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"testing"

	"github.com/a2sscan/a2sscan/scanner"
)

// truthLines returns the records that WriteTruth writes.
func truthLines(t testing.TB, c Config, asked scanner.Questions) (lines [][]byte) {
	t.Helper()
	var b bytes.Buffer
	if err := c.WriteTruth(&b, "test", asked); err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(b.Bytes()) {
		lines = append(lines, line)
	}
	return lines
}

// addressOf returns the address in a record.
func addressOf(t *testing.T, line []byte) netip.AddrPort {
	t.Helper()
	var r struct {
		IP   netip.Addr
		Port uint16
	}
	if err := json.Unmarshal(line, &r); err != nil {
		t.Fatal(err)
	}
	return netip.AddrPortFrom(r.IP, r.Port)
}

// TestWriteTruthIsInOrder checks that the records are in the order of addresses and
// then ports, and that there are none of addresses without an answering server.
func TestWriteTruthIsInOrder(t *testing.T) {
	c := testConfig()
	c.Ports = []uint16{27016, 27015}
	c.Alive = 0.5
	var last netip.AddrPort
	count := 0
	for _, line := range truthLines(t, c, scanner.AskAll) {
		addr := addressOf(t, line)
		if addr.Compare(last) <= 0 {
			t.Fatalf("%v after %v", addr, last)
		}
		if n, ok := c.Nature(addr); !ok || n.Kind == Silent {
			t.Errorf("%v has a record, and is %v", addr, n.Kind)
		}
		last = addr
		count++
	}
	if count < 150 || count > 350 {
		t.Errorf("%d records of 512 places", count)
	}
}

// oneServer returns a fleet of one server of a kind. The server has no quirks, or
// only quirkMiscounted. A Source server has three players.
func oneServer(t *testing.T, k Kind) Config {
	c := testConfig()
	c.Network = netip.MustParsePrefix("127.1.0.1/32")
	if k.Hostile() {
		c.Hostile, c.HostileKinds = 1, []Kind{k}
	} else {
		c.Kinds = []Kind{k}
	}
	for range 10000 {
		m, _ := newModel(c)
		n, _ := m.nature(m.place(0))
		fits := n.quirks&^quirkMiscounted == 0 && (n.rules > 2 || k.Hostile())
		if fits && k == Source {
			fits = n.players == 3
		}
		if fits {
			return c
		}
		c.Seed++
	}
	t.Fatal("no such server")
	return c
}
