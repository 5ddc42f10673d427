package scanner

import (
	"context"
	"iter"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// inBubble runs a subtest in a bubble of testing/synctest.
func inBubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

// memNet is a network in memory. Under testing/synctest its delays take no real
// time, and a scan runs the same way every time.
type memNet struct {
	mu     sync.Mutex
	inbox  []udp.Packet
	bell   chan struct{} // rung when there is something to receive
	closed bool

	// serve is called for each request that arrives; it may reply.
	serve func(addr uint64, req wire.Request)
	// serveBytes, if set, is called instead of serve, with the undecoded datagram.
	serveBytes func(addr uint64, datagram []byte)
	// refuse, if set, is called before each datagram is sent.
	refuse func(addr uint64) error

	// route, if set, is called for each look-up of a route.
	route func(addr uint64) error

	sent []sending

	unreachable []uint64 // addresses that ICMP reports as unreachable
}

// sending is one datagram that went out.
type sending struct {
	at   time.Time
	addr uint64
	req  wire.Request
}

func newMemNet() *memNet { return &memNet{bell: make(chan struct{}, 1)} }

// halfSilent returns a network with a server at every other address.
func halfSilent() *memNet {
	n, s := newMemNet(), newServer()
	n.serve = func(addr uint64, req wire.Request) {
		if addr>>16%2 == 0 {
			s.answer(n, addr, req)
		}
	}
	return n
}

func (n *memNet) ring() {
	select {
	case n.bell <- struct{}{}:
	default:
	}
}

// reply delivers a datagram from addr after the given time.
func (n *memNet) reply(addr uint64, after time.Duration, datagram []byte) {
	datagram = slices.Clone(datagram)
	time.AfterFunc(after, func() {
		n.mu.Lock()
		n.inbox = append(n.inbox, udp.Packet{Addr: addr, Data: datagram})
		n.mu.Unlock()
		n.ring()
	})
}

func (n *memNet) Recv(ps []udp.Packet, wait time.Duration) (int, error) {
	if got := n.take(ps); got > 0 || wait == 0 {
		return got, nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-n.bell:
	case <-timer.C:
	}
	return n.take(ps), nil
}

func (n *memNet) take(ps []udp.Packet) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	got := copy(ps, n.inbox)
	n.inbox = n.inbox[got:]
	return got
}

func (n *memNet) Send(ps []udp.Packet) (int, error) {
	for i, p := range ps {
		if n.refuse != nil {
			if err := n.refuse(p.Addr); err != nil {
				return i, err
			}
		}
		if n.serveBytes != nil {
			n.serveBytes(p.Addr, p.Data)
			continue
		}
		req, err := wire.DecodeRequest(p.Data)
		if err != nil {
			panic(err)
		}
		n.sent = append(n.sent, sending{time.Now(), p.Addr, req})
		if n.serve != nil {
			n.serve(p.Addr, req)
		}
	}
	return len(ps), nil
}

func (n *memNet) Unreachable(addrs []uint64) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	got := copy(addrs, n.unreachable)
	n.unreachable = n.unreachable[got:]
	return got
}

func (n *memNet) Route(addr uint64) error {
	if n.route == nil {
		return nil
	}
	return n.route(addr)
}

func (n *memNet) Stats() udp.Stats { return udp.Stats{Sent: uint64(len(n.sent))} }
func (n *memNet) Interrupt()       { n.ring() }
func (n *memNet) Close() error     { n.closed = true; return nil }

// to returns how many datagrams were sent to addr.
func (n *memNet) to(addr uint64) (count int) {
	for _, s := range n.sent {
		if s.addr == addr {
			count++
		}
	}
	return count
}

// server is a game server that answers with fixed messages.
type server struct {
	info, players, rules []byte
	challenge            wire.Challenge // NoChallenge: the server wants none
	delay                time.Duration
}

const testRTT = 20 * time.Millisecond

func newServer() *server {
	in := wire.Info{
		Format: wire.FormatSource, Name: []byte("a"), Map: []byte("b"), Folder: []byte("c"),
		Game: []byte("d"), ShortAppID: 440, Players: 1, ServerType: 'd', Environment: 'l',
		Version: []byte("1"),
		Has: wire.HasProtocol | wire.HasName | wire.HasMap | wire.HasFolder | wire.HasGame |
			wire.HasAppID | wire.HasPlayers | wire.HasMaxPlayers | wire.HasBots | wire.HasServerType |
			wire.HasEnvironment | wire.HasPassword | wire.HasVAC | wire.HasVersion,
	}
	return &server{
		info:      wire.AppendInfo(nil, &in),
		players:   wire.AppendPlayers(nil, 1, []wire.Player{{Name: []byte("p"), Score: 3, Duration: 4}}),
		rules:     wire.AppendRules(nil, 1, []wire.Rule{{Name: []byte("k"), Value: []byte("v")}}),
		challenge: 77,
		delay:     testRTT,
	}
}

// answer replies to one request as an ordinary server does.
func (s *server) answer(n *memNet, addr uint64, req wire.Request) {
	if s.challenge != wire.NoChallenge && (!req.HasChallenge || req.Challenge != s.challenge) {
		n.reply(addr, s.delay, wire.AppendChallenge(nil, s.challenge))
		return
	}
	switch req.Kind {
	case wire.KindInfoRequest:
		n.reply(addr, s.delay, s.info)
	case wire.KindPlayersRequest:
		n.reply(addr, s.delay, s.players)
	case wire.KindRulesRequest:
		n.reply(addr, s.delay, s.rules)
	}
}

// addresses returns the first n addresses of a network, all with the same port.
func addresses(n int) []Target {
	ts := make([]Target, n)
	for i := range ts {
		ip := netip.AddrFrom4([4]byte{127, byte(i >> 16), byte(i >> 8), byte(i)})
		ts[i].Addr = netip.AddrPortFrom(ip, 27015)
	}
	return ts
}

// ports returns n targets with the same address and different ports.
func ports(n int) []Target {
	ts := make([]Target, n)
	for i := range ts {
		ts[i].Addr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 1, 2, 3}), uint16(20000+i))
	}
	return ts
}

func seqOf(ts []Target) iter.Seq[Target] { return slices.Values(ts) }

// run scans, and returns every result by its packed address.
func run(n *memNet, cfg Config, ts []Target) (map[uint64]*Result, Stats, error) {
	return runContext(context.Background(), n, cfg, ts)
}

// mustRun is run, and checks the ledger.
func mustRun(t *testing.T, n *memNet, cfg Config, ts []Target) (map[uint64]*Result, Stats) {
	t.Helper()
	got, st, err := run(n, cfg, ts)
	check(t, err)
	checkLedger(t, st, len(ts))
	return got, st
}

// answering returns a network of servers like that of newServer.
func answering() *memNet {
	n, s := newMemNet(), newServer()
	n.serve = func(addr uint64, req wire.Request) { s.answer(n, addr, req) }
	return n
}

func runContext(
	ctx context.Context, n *memNet, cfg Config, ts []Target,
) (map[uint64]*Result, Stats, error) {
	got := map[uint64]*Result{}
	cfg.Tuning.transport = n
	st, err := Scan(ctx, cfg, seqOf(ts), func(r *Result) {
		got[udp.Pack(r.Addr)] = r.Clone()
	})
	return got, st, err
}

// check ends the test if err is not nil.
func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
