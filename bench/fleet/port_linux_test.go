package fleet

import (
	"bytes"
	"context"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/loopback"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/sink/record"
	"github.com/a2sscan/a2sscan/wire"
)

// overSockets returns a function that queries a fleet through a client's socket.
// The answer is everything that arrives until nothing comes for 20 ms.
func overSockets(c *client) func(server uint64, request []byte) [][]byte {
	return func(server uint64, request []byte) (ds [][]byte) {
		c.send(udp.Unpack(server), request)
		for wait := replyTimeout; ; wait = 20 * time.Millisecond {
			d, from := c.receive(wait)
			if d == nil {
				return ds
			}
			if from != udp.Unpack(server) {
				c.t.Fatalf("asked %v, answered by %v", udp.Unpack(server), from)
			}
			ds = append(ds, d)
		}
	}
}

// TestTruthOverSockets compares the answers that come over a socket with the truth.
// It queries a server of each plain kind that answers everything, including kinds
// that send fragments and datagrams of 64 KiB.
func TestTruthOverSockets(t *testing.T) {
	for _, k := range plainKinds() {
		if k == Silent || k == InfoOnly || k == GetChallenge || k == TrailingNUL {
			continue // it does not answer everything, and waiting for nothing takes long
		}
		t.Run(k.String(), func(t *testing.T) {
			cfg := oneServer(t, k)
			cfg.Ports = anyPort
			cfg = start(t, cfg).Config()
			p := &perfect{t: t, ask: overSockets(newClient(t))}
			for addr := range cfg.All() {
				r := p.scan(addr, scanner.AskAll)
				interpret(cfg, addr, r)
				got := record.Append(nil, "", r)
				want := record.Append(nil, "", cfg.Truth(addr, scanner.AskAll))
				if !bytes.Equal(got, want) {
					t.Errorf("sent  %.500s\ntruth %.500s", got, want)
				}
			}
		})
	}
}

// TestStrayReplies checks that the replies of OtherPort and OtherAddress come from
// a source that was not queried, but is inside 127.0.0.0/8.
func TestStrayReplies(t *testing.T) {
	for kind, network := range map[Kind]string{OtherPort: "127.1.0.1/32", OtherAddress: "127.1.0.0/24"} {
		t.Run(kind.String(), func(t *testing.T) { testStray(t, kind, network) })
	}
	t.Run("everywhere", func(t *testing.T) { testStray(t, OtherAddress, "127.0.0.0/8") })
}

func testStray(t *testing.T, kind Kind, network string) {
	cfg := Config{
		Network: netip.MustParsePrefix(network), Ports: anyPort,
		Hostile: 1, HostileKinds: []Kind{kind},
	}
	f := start(t, cfg)
	cfg = f.Config()
	c := newClient(t)
	at := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 1, 0, 1}), cfg.Ports[0])
	c.send(at, wire.AppendInfoRequest(nil, wire.NoChallenge))
	got, from := c.receive(replyTimeout)
	if wire.KindOf(got) != wire.KindInfo {
		t.Fatalf("answered by %X", got)
	}
	inFleet := cfg.Network.Contains(from.Addr()) && from.Port() == cfg.Ports[0]
	if inFleet || !loopback.Network.Contains(from.Addr()) {
		t.Errorf("asked %v, answered from %v", at, from)
	}
	if kind == OtherPort && from.Addr() != at.Addr() || network != "127.0.0.0/8" && kind == OtherAddress && from.Port() != at.Port() {
		t.Errorf("asked %v, answered from %v", at, from)
	}
	if cfg.Truth(at, scanner.AskAll) != nil {
		t.Error("a record is expected of a server that is never heard")
	}
	waitFor(t, f, func(s Stats) bool { return s.Replies == 1 })
}

// waitFor waits until ok returns true for the statistics of a fleet, which are
// updated after each batch.
func waitFor(t *testing.T, f *Fleet, ok func(Stats) bool) {
	t.Helper()
	for end := time.Now().Add(replyTimeout); !ok(f.Stats()); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%+v", f.Stats())
		}
	}
}

// TestDelayOverSockets checks that a delayed answer is sent even if no other
// datagram wakes the port. The length of the delay is tested in package loopback,
// with a simulated clock.
func TestDelayOverSockets(t *testing.T) {
	cfg := Config{
		Network: netip.MustParsePrefix("127.1.0.1/32"), Ports: anyPort,
		Kinds: []Kind{SourceOpen}, DelayMin: 60 * time.Millisecond, DelayMax: 80 * time.Millisecond,
	}
	f := start(t, cfg)
	c := newClient(t)
	server := netip.AddrPortFrom(cfg.Network.Addr(), f.Ports()[0])
	for range 3 {
		c.send(server, wire.AppendInfoRequest(nil, wire.NoChallenge))
		got, from := c.receive(replyTimeout)
		for got != nil && from != server { // a port's last user may still be answered
			got, from = c.receive(replyTimeout)
		}
		if wire.KindOf(got) != wire.KindInfo {
			t.Fatalf("answered by %X", got)
		}
	}
	waitFor(t, f, func(s Stats) bool { return s.Delayed >= 3 })
}

// TestServeEnds checks that Serve returns nil when its context is done, and when
// the Fleet is closed.
func TestServeEnds(t *testing.T) {
	for name, end := range map[string]func(*Fleet, context.CancelFunc){
		"context": func(_ *Fleet, stop context.CancelFunc) { stop() },
		"close":   func(f *Fleet, _ context.CancelFunc) { f.Close() },
	} {
		f, err := New(Config{Network: loopback.Network, Ports: anyPort})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- f.Serve(ctx) }()
		end(f, stop)
		if err := <-done; err != nil {
			t.Errorf("%s: %v", name, err)
		}
		f.Close()
		stop()
	}
}

// TestPortTaken checks that the error for a port that is in use names the port.
func TestPortTaken(t *testing.T) {
	f, err := New(Config{Network: loopback.Network, Ports: anyPort})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	second, err := New(f.Config())
	if err == nil {
		second.Close()
		t.Fatal("two fleets on one port")
	}
	if port := fmt.Sprint(f.Ports()[0]); !strings.Contains(err.Error(), port) {
		t.Errorf("%v: names no port %s", err, port)
	}
}
