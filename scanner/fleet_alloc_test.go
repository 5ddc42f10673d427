package scanner_test

import (
	"context"
	"iter"
	"net/netip"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/sink/record"
)

// fleetNet is a network of simulated servers that itself allocates nothing. Like a
// kernel, it keeps waiting datagrams in one buffer of fixed size and drops those
// that do not fit.
type fleetNet struct {
	fleet    *fleet.Memory
	start    time.Time
	room     []byte
	queue    []udp.Packet
	head     int // index into queue of the next datagram to return
	received uint64
	lost     int // datagrams that did not fit
	deliver  func(from uint64, datagram []byte)
	asked    []asked
}

// asked is a datagram that the scan sent, kept for replay.
type asked struct {
	now     time.Duration
	server  uint64
	request [32]byte
	length  int
}

const (
	netRoom  = 4 << 20
	netQueue = 1 << 13
	maxAsked = 1 << 16
	scanFrom = 0x7F000001<<16 | 4000
)

func newFleetNet(t testing.TB, c fleet.Config) *fleetNet {
	t.Helper()
	m, err := fleet.NewMemory(c)
	if err != nil {
		t.Fatal(err)
	}
	n := &fleetNet{
		fleet: m, start: time.Now(),
		room: make([]byte, 0, netRoom), queue: make([]udp.Packet, 0, netQueue),
		asked: make([]asked, 0, maxAsked),
	}
	n.deliver = n.put
	return n
}

func (n *fleetNet) put(from uint64, datagram []byte) {
	if len(n.queue) == cap(n.queue) || len(n.room)+len(datagram) > cap(n.room) {
		n.lost++
		return
	}
	at := len(n.room)
	n.room = append(n.room, datagram...)
	n.queue = append(n.queue, udp.Packet{Addr: from, Data: n.room[at:len(n.room):len(n.room)]})
}

func (n *fleetNet) Send(ps []udp.Packet) (int, error) {
	now := time.Since(n.start)
	for i := range ps {
		a := asked{now: now, server: ps[i].Addr}
		a.length = copy(a.request[:], ps[i].Data)
		n.asked = append(n.asked, a)
		n.fleet.Ask(now, scanFrom, ps[i].Addr, ps[i].Data, n.deliver)
	}
	return len(ps), nil
}

// replay sends the recorded requests to a fleet again.
func (n *fleetNet) replay(f *fleet.Memory) {
	for i := range n.asked {
		a := &n.asked[i]
		f.Ask(a.now, scanFrom, a.server, a.request[:a.length], func(uint64, []byte) {})
	}
}

// Recv returns waiting datagrams. The buffer is reused once all of them were
// returned.
func (n *fleetNet) Recv(ps []udp.Packet, wait time.Duration) (int, error) {
	if n.head == len(n.queue) {
		n.head, n.queue, n.room = 0, n.queue[:0], n.room[:0]
		if wait > 0 {
			time.Sleep(min(wait, time.Millisecond))
		}
		return 0, nil
	}
	got := copy(ps, n.queue[n.head:])
	n.head += got
	n.received += uint64(got)
	return got, nil
}

func (n *fleetNet) Unreachable([]uint64) int { return 0 }
func (n *fleetNet) Stats() udp.Stats         { return udp.Stats{} }
func (n *fleetNet) Interrupt()               {}
func (n *fleetNet) Close() error             { return nil }

// servers yields the first n addresses of the fleet's network.
func servers(n int) iter.Seq[scanner.Target] {
	return func(yield func(scanner.Target) bool) {
		for i := range n {
			ip := netip.AddrFrom4([4]byte{127, byte(1 + i>>16), byte(i >> 8), byte(i)})
			if !yield(scanner.Target{Addr: netip.AddrPortFrom(ip, 27015)}) {
				return
			}
		}
	}
}

// scanFleet scans the first servers of a fleet of one kind, makes a record of each,
// and returns how many allocations and datagrams that took. It subtracts the
// allocations of the fleet, which it measures by sending the same requests again.
func scanFleet(t testing.TB, k fleet.Kind, targets int) (allocations int64, datagrams uint64) {
	t.Helper()
	c := fleet.Config{Network: netip.MustParsePrefix("127.0.0.0/8"), Ports: []uint16{27015}, Seed: 1}
	if k.Hostile() {
		c.Hostile, c.HostileKinds = 1, []fleet.Kind{k}
	} else {
		c.Kinds = []fleet.Kind{k}
	}
	n := newFleetNet(t, c)
	cfg := scanner.Config{
		Rate: scanner.Off, AddressRate: scanner.Off, Cooldown: scanner.Off, Tuning: scanner.Tuning{InFlight: 128},
		Timeout: 100 * time.Millisecond,
	}.Over(n)
	var enc record.Encoder
	record := make([]byte, 0, 1<<20)
	var st scanner.Stats
	var err error
	allocations = allocationsOf(func() {
		st, err = scanner.Scan(context.Background(), cfg, servers(targets), func(r *scanner.Result) {
			record = enc.Append(record[:0], "", r)
		})
	})
	if err != nil || st.TargetsFinished() != uint64(targets) {
		t.Fatalf("%v, %d of %d finished", err, st.TargetsFinished(), targets)
	}
	if len(n.asked) > maxAsked {
		t.Fatalf("%d requests, so that the test itself allocated memory for them", len(n.asked))
	}
	again, err := fleet.NewMemory(c)
	if err != nil {
		t.Fatal(err)
	}
	allocations -= allocationsOf(func() { n.replay(again) })
	return allocations, st.DatagramsSent() + n.received
}

func allocationsOf(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.Mallocs - before.Mallocs)
}

// decompressed reports whether replies of the kind go through the decompressor,
// which may allocate.
func decompressed(k fleet.Kind) bool {
	switch k {
	case fleet.Packed, fleet.DeclaresTwoGiB, fleet.WrongChecksum, fleet.Bomb, fleet.Noise:
		return true
	}
	return false
}

// TestNothingAllocates checks that the path from the datagram to the record allocates
// nothing once its memory has grown: a longer scan allocates no more than a short one.
// It scans every kind of server whose replies do not go through the decompressor.
func TestNothingAllocates(t *testing.T) {
	if scanner.RaceEnabled {
		t.Skip("SKIPPED, NO ALLOCATION WAS COUNTED: the race detector has its own; run the tests without -race too")
	}
	for _, k := range append(fleet.HonestKinds(), fleet.HostileKinds()...) {
		if decompressed(k) {
			continue
		}
		t.Run(k.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testAllocates(t, k) })
		})
	}
}

// The tolerance for the last growth of memory, for the runtime and for chance: a
// fixed number of allocations, and a number per datagram. One allocation per server
// would exceed it by far.
const (
	allocationsOnce = 450
	allocationsEach = 0.01
)

func testAllocates(t *testing.T, k fleet.Kind) {
	grown, targets := 500, 700
	if k == fleet.FragmentFlood || k == fleet.ReplyStorm {
		grown, targets = 100, 100 // each sends hundreds of datagrams, or thousands
	}
	fewAllocs, few := scanFleet(t, k, grown)
	manyAllocs, many := scanFleet(t, k, grown+targets)
	more, datagrams := float64(manyAllocs-fewAllocs), float64(many-few)
	t.Logf("%.0f allocations for %.0f datagrams", more, datagrams)
	if more > allocationsOnce+allocationsEach*datagrams {
		t.Error("too many of them")
	}
}
