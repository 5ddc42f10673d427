package scanner_test

import (
	"io"
	"iter"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/bench/fleet/judge"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/sink/record"
	"github.com/a2sscan/a2sscan/wire"
)

// hostileFleet returns a fleet in which three of ten servers are hostile; all
// hostile kinds occur.
func hostileFleet(network string) fleet.Config {
	return fleet.Config{
		Network: netip.MustParsePrefix(network), Ports: []uint16{27015}, Seed: 11, Hostile: 0.3,
	}
}

// TestHostileFleet scans a fleet in which three of ten servers are hostile, over a
// network without loss. Every honest server must be complete, and every hostile one
// must have an error that fits. No record may contain anything that its server does
// not have, and the memory for replies must stay within its budget.
func TestHostileFleet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := hostileFleet("127.1.0.0/22")
		wantAllKinds(t, c)
		n := newFleetNet(t, c)
		n.room, n.queue = make([]byte, 0, 256<<20), make([]udp.Packet, 0, 1<<18)
		cfg := scanner.Config{
			Rate: 20_000, Cooldown: time.Second, Tuning: scanner.Tuning{ByteBudget: 4 << 20}, Control: scanner.Control{Monitor: new(scanner.Monitor)},
		}.Over(n)
		var records [][]byte
		peak := int64(0)
		st, err := scanner.Scan(t.Context(), cfg, placesOf(c), func(r *scanner.Result) {
			if r.Status != scanner.StatusNoReply {
				records = append(records, record.Append(nil, "", r))
			}
			peak = max(peak, cfg.Control.Monitor.Stats().Bytes)
		})
		if err != nil || n.lost > 0 {
			t.Fatalf("%v, the network lost %d datagrams", err, n.lost)
		}
		holdTrue(t, c, records)
		if peak = max(peak, st.PeakBytes); peak > cfg.Tuning.ByteBudget {
			t.Errorf("%d bytes held, the budget is %d", peak, cfg.Tuning.ByteBudget)
		}
		t.Logf("%d datagrams sent, %d received, at most %d bytes held, errors %v",
			st.DatagramsSent(), st.DatagramsReceived(), peak, st.Errors)
	})
}

// wantAllKinds checks that a fleet has every kind of server, except the kinds that a
// fleet has only if its Config names them.
func wantAllKinds(t *testing.T, c fleet.Config) {
	t.Helper()
	count := map[fleet.Kind]int{}
	for at := range c.All() {
		n, _ := c.Nature(at)
		count[n.Kind]++
	}
	onlyNamed := []fleet.Kind{
		fleet.OwnChallenge, fleet.ShortChallenge, fleet.GetChallenge, fleet.TrailingNUL, fleet.PlayersOnly, fleet.Games,
	}
	for _, k := range append(fleet.HonestKinds(), fleet.HostileKinds()...) {
		if count[k] == 0 && !slices.Contains(onlyNamed, k) {
			t.Errorf("the fleet has no %v", k)
		}
	}
}

func placesOf(c fleet.Config) iter.Seq[scanner.Target] {
	return func(yield func(scanner.Target) bool) {
		for at := range c.All() {
			if !yield(scanner.Target{Addr: at}) {
				return
			}
		}
	}
}

// holdTrue fails the test if a server that answers has no record that matches it, if a
// server has two records, or if a record is of no server of the fleet.
func holdTrue(t *testing.T, c fleet.Config, records [][]byte) {
	t.Helper()
	r, err := judge.Compare(c, wire.AskAll, func() ([]byte, error) {
		if len(records) == 0 {
			return nil, io.EOF
		}
		line := records[0]
		records = records[1:]
		return line, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.AsTheyAre != r.Servers || r.Invented+r.Twice > 0 {
		t.Errorf("%+v", r)
	}
}
