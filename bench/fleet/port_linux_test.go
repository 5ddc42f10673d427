package fleet

import (
	"bytes"
	"net/netip"
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
			t.Parallel()
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
	c.send(at, wire.AppendRequest(nil, wire.QuestionInfo, wire.NoChallenge))
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
