package scanner

import (
	"context"
	"iter"
	"math"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// flatNet answers every request at once and allocates nothing itself, so that the
// cost and the allocations of a scan over it are the scanner's own.
type flatNet struct {
	challenge, info, players []byte
	rules                    [][]byte // one datagram, or fragments
	challenged               bool

	ring       []udp.Packet
	head, tail int
}

func newFlatNet(rules int, layout wire.Layout) *flatNet {
	s := newServer()
	ps := make([]wire.Player, 12)
	for i := range ps {
		ps[i] = wire.Player{Name: []byte("somebody who plays"), Score: int32(i), Duration: 3.25 * float32(i)}
	}
	rs := make([]wire.Rule, rules)
	for i := range rs {
		rs[i] = wire.Rule{Name: []byte{'s', 'v', '_', byte('a' + i/26), byte('a' + i%26)}, Value: []byte("0.125")}
	}
	n := &flatNet{
		challenge: wire.AppendChallenge(nil, 77), challenged: true,
		info:    s.info,
		players: wire.AppendPlayers(nil, len(ps), ps),
		ring:    make([]udp.Packet, 1<<12),
	}
	whole := wire.AppendRules(nil, len(rs), rs)
	if layout == wire.LayoutUnknown {
		n.rules = [][]byte{whole}
		return n
	}
	const room = 1200
	total := (len(whole) + room - 1) / room
	for i := range total {
		f := wire.Fragment{Layout: layout, ID: 5, Total: uint8(total), Number: uint8(i), Size: 1248,
			Payload: whole[i*room : min((i+1)*room, len(whole))]}
		n.rules = append(n.rules, wire.AppendFragment(nil, &f))
	}
	return n
}

func (n *flatNet) push(addr uint64, datagram []byte) {
	n.ring[n.tail%len(n.ring)] = udp.Packet{Addr: addr, Data: datagram}
	n.tail++
}

func (n *flatNet) Send(ps []udp.Packet) (int, error) {
	for i := range ps {
		p := &ps[i]
		req, _ := wire.DecodeRequest(p.Data)
		switch {
		case n.challenged && (!req.HasChallenge || req.Challenge == wire.NoChallenge):
			n.push(p.Addr, n.challenge)
		case req.Kind == wire.KindInfoRequest:
			n.push(p.Addr, n.info)
		case req.Kind == wire.KindPlayersRequest:
			n.push(p.Addr, n.players)
		default:
			for _, f := range n.rules {
				n.push(p.Addr, f)
			}
		}
	}
	return len(ps), nil
}

func (n *flatNet) Recv(ps []udp.Packet, wait time.Duration) (got int, err error) {
	for got < len(ps) && n.head < n.tail {
		ps[got] = n.ring[n.head%len(n.ring)]
		n.head++
		got++
	}
	if got == 0 && wait > 0 {
		time.Sleep(min(wait, time.Millisecond))
	}
	return got, nil
}

func (n *flatNet) Unreachable([]uint64) int { return 0 }
func (n *flatNet) Stats() udp.Stats         { return udp.Stats{} }
func (n *flatNet) Interrupt()               {}
func (n *flatNet) Close() error             { return nil }

// firstTargets yields n addresses without keeping them in memory.
func firstTargets(n int) iter.Seq[Target] {
	return func(yield func(Target) bool) {
		for i := range n {
			ip := netip.AddrFrom4([4]byte{127, byte(i >> 16), byte(i >> 8), byte(i)})
			if !yield(Target{Addr: netip.AddrPortFrom(ip, 27015)}) {
				return
			}
		}
	}
}

// flatScan is the body of the benchmark and of the allocation test. It scans that many
// servers over net, and fails the test unless all of them are complete.
func flatScan(tb testing.TB, net *flatNet, targets int) {
	cfg := Config{Rate: Off, AddressRate: Off, Cooldown: Off, Tuning: Tuning{InFlight: 512, transport: net, unhandled: 1024}}
	st, err := Scan(context.Background(), cfg, firstTargets(targets), func(*Result) {})
	if err != nil || st.Finished[StatusOK] != uint64(targets) {
		tb.Fatalf("%v, %v", err, st.Finished)
	}
}

var flatKinds = []struct {
	name string
	make func() *flatNet
}{
	{"modern", func() *flatNet { return newFlatNet(24, wire.LayoutUnknown) }},
	{"unchallenged", func() *flatNet {
		n := newFlatNet(24, wire.LayoutUnknown)
		n.challenged = false
		return n
	}},
	{"split", func() *flatNet { return newFlatNet(400, wire.LayoutSource) }},
	{"goldsource", func() *flatNet { return newFlatNet(400, wire.LayoutGoldSource) }},
}

func BenchmarkScan(b *testing.B) {
	for _, k := range flatKinds {
		b.Run(k.name, func(b *testing.B) {
			const servers = 2000
			b.ReportAllocs()
			for b.Loop() {
				flatScan(b, k.make(), servers)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/servers, "ns/server")
		})
	}
}

// TestScanAllocates checks that the steady state of a scan allocates nothing:
// five thousand more servers cause only the allocations of growing tables.
func TestScanAllocates(t *testing.T) {
	if raceEnabled {
		t.Skip("SKIPPED, NO ALLOCATION WAS COUNTED: the race detector has its own; run the tests without -race too")
	}
	for _, k := range flatKinds {
		t.Run(k.name, func(t *testing.T) {
			each := math.Inf(1)
			for range 10 { // the runtime also allocates, and a busy machine leaves more replies in flight
				few := allocations(func() { flatScan(t, k.make(), 5_000) })
				many := allocations(func() { flatScan(t, k.make(), 10_000) })
				each = min(each, float64(many-few)/5_000)
				if each < 0.02 {
					return
				}
			}
			t.Errorf("%.3f allocations a server", each)
		})
	}
}

func allocations(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.Mallocs - before.Mallocs)
}
