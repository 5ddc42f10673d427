package fleet

import (
	"bytes"
	"context"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/wire"
)

// anyPort stands for a free port.
var anyPort = []uint16{0}

// start serves a fleet until the test ends.
func start(t testing.TB, c Config) *Fleet {
	t.Helper()
	f, err := New(c)
	check(t, err)
	serve(t, f)
	return f
}

// serve runs a fleet until the test ends, and then closes it.
func serve(t testing.TB, f *Fleet) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- f.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
}

// client is a minimal scanner with one socket, which asks one question at a time.
type client struct {
	t    testing.TB
	conn *net.UDPConn
	buf  []byte
}

func newClient(t testing.TB) *client {
	t.Helper()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	check(t, err)
	t.Cleanup(func() { conn.Close() })
	return &client{t, conn, make([]byte, 1<<16)}
}

func (c *client) send(to netip.AddrPort, datagram []byte) {
	c.t.Helper()
	if _, err := c.conn.WriteToUDPAddrPort(datagram, to); err != nil {
		c.t.Fatal(err)
	}
}

// receive returns the next datagram. It returns nil if none arrives within wait.
func (c *client) receive(wait time.Duration) (datagram []byte, from netip.AddrPort) {
	c.t.Helper()
	c.conn.SetReadDeadline(time.Now().Add(wait))
	n, from, err := c.conn.ReadFromUDPAddrPort(c.buf)
	if err != nil {
		return nil, netip.AddrPort{}
	}
	return bytes.Clone(c.buf[:n]), from
}

const replyTimeout = time.Minute // for a reply that must come, on a machine that others use

// TestAnswersFromTheAddressAsked queries every address of a network. The answer
// must come from that address, and be a challenge or the INFO of the model.
func TestAnswersFromTheAddressAsked(t *testing.T) {
	cfg := Config{
		Network: netip.MustParsePrefix("127.9.0.0/25"), Ports: anyPort,
		Kinds: []Kind{Source, SourceLists, SourceOpen},
	}
	cfg = start(t, cfg).Config()
	c := newClient(t)
	for addr := range cfg.All() {
		c.send(addr, wire.AppendRequest(nil, wire.QuestionInfo, wire.NoChallenge))
		got, from := c.receive(replyTimeout)
		if from != addr {
			t.Fatalf("asked %v, answered by %v", addr, from)
		}
		if ch, err := wire.DecodeChallenge(got); err == nil {
			c.send(addr, wire.AppendRequest(nil, wire.QuestionInfo, ch))
			got, from = c.receive(replyTimeout)
		}
		var info wire.Info
		if err := info.Decode(got); err != nil || from != addr {
			t.Fatalf("%v: %v from %v", addr, err, from)
		}
		if want := cfg.Truth(addr, 1).Info; !bytes.Equal(info.Name, want.Name) {
			t.Errorf("%v: name %q, want %q", addr, info.Name, want.Name)
		}
	}
}

// TestFreePorts checks that fleets on free ports can run side by side, and have the
// servers of a fleet on ports 27015 and 27016.
func TestFreePorts(t *testing.T) {
	cfg := Config{Network: netip.MustParsePrefix("127.9.1.0/28"), Ports: []uint16{0, 0}, Seed: 4}
	one, other := start(t, cfg), start(t, cfg)
	seen := map[uint16]bool{}
	for _, f := range []*Fleet{one, other} {
		named := cfg
		named.Ports = []uint16{27015, 27016}
		for i, port := range f.Config().Ports {
			if port == 0 || seen[port] {
				t.Fatalf("port %d: zero or taken twice", port)
			}
			seen[port] = true
			sameNature(t, f.Config(), named, port, named.Ports[i])
		}
	}
}

// sameNature fails the test if the servers of fleet one on a port differ from those
// of fleet other on port of.
func sameNature(t *testing.T, one, other Config, port, of uint16) {
	t.Helper()
	addr := one.Network.Addr()
	for ; one.Network.Contains(addr); addr = addr.Next() {
		at, there := netip.AddrPortFrom(addr, port), netip.AddrPortFrom(addr, of)
		got, _ := one.Nature(at)
		want, ok := other.Nature(there)
		same := ok && got == want
		if r, o := one.Truth(at, wire.AskPlayers), other.Truth(there, wire.AskPlayers); same && r != nil {
			same = bytes.Equal(wire.AppendPlayers(nil, 0, r.Players), wire.AppendPlayers(nil, 0, o.Players))
		}
		if !same {
			t.Errorf("port %d has %+v, port %d %+v", port, got, of, want)
		}
	}
}
