package scanner_test

import (
	"bytes"
	"flag"
	"net/netip"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/thread"
	"github.com/a2sscan/a2sscan/scanner/udp"
)

var bars = flag.Bool("bars", false, "measure in full and hold the ratios against their bars")

// A session holds everything that one server sent in a scan, grouped by the
// requests that it answered.
type session struct {
	addr    uint64
	rounds  [][]udp.Packet
	packets int
}

// converse has the engine query one server, whose replies come from answer, and
// records the session.
func converse(h *scanner.Harness, addr uint64, answer func(request []byte, reply func(uint64, []byte))) session {
	t := session{addr: addr}
	h.Begin(addr)
	for h.Open() > 0 {
		sent := h.Send()
		if len(sent) == 0 {
			h.Wait()
			continue
		}
		var came []udp.Packet
		for _, p := range sent {
			answer(p.Data, func(from uint64, datagram []byte) {
				came = append(came, udp.Packet{Addr: from, Data: bytes.Clone(datagram)})
			})
		}
		t.rounds = append(t.rounds, came)
		t.packets += len(came)
		for i := range came {
			h.Receive(&came[i])
		}
	}
	h.Finish()
	return t
}

// repeat plays recorded sessions through the engine again, all at the same time. It
// returns the processor time of this thread, without waits and without the
// decompressor.
func repeat(h *scanner.Harness, talks []session) time.Duration {
	w, round, byAddr := watch{}, make([]int, len(talks)), map[uint64]int{}
	w.start()
	for i := range talks {
		h.Begin(talks[i].addr)
		byAddr[talks[i].addr] = i
	}
	w.stop()
	var said [][]udp.Packet
	for h.Open() > 0 {
		w.start()
		sent := h.Send()
		w.stop()
		if len(sent) == 0 {
			h.Wait()
			continue
		}
		said = nextRounds(said[:0], talks, round, byAddr, sent)
		w.start()
		for _, packets := range said {
			for i := range packets {
				h.Receive(&packets[i])
			}
		}
		w.stop()
		h.Unpack()
	}
	w.start()
	h.Finish()
	w.stop()
	return w.spent
}

// nextRounds appends the next datagrams of the servers that got a request.
func nextRounds(
	said [][]udp.Packet, talks []session, round []int, byAddr map[uint64]int, sent []udp.Packet,
) [][]udp.Packet {
	reported := map[int]bool{}
	for _, p := range sent {
		i := byAddr[p.Addr]
		if !reported[i] && round[i] < len(talks[i].rounds) {
			said = append(said, talks[i].rounds[round[i]])
			round[i]++
		}
		reported[i] = true
	}
	return said
}

// watch is a stopwatch for the processor time of a thread, to which its goroutine
// must be locked. It leaves out the time that reading the clock takes.
type watch struct{ from, spent time.Duration }

func (w *watch) start() { w.from = thread.Used() }
func (w *watch) stop()  { w.spent += thread.Used() - w.from - clockTime() }

// clockTime returns how long reading the clock takes: the minimum of many readings.
var clockTime = sync.OnceValue(func() time.Duration {
	least := time.Second
	for range 10_000 {
		from := thread.Used()
		least = min(least, thread.Used()-from)
	}
	return least
})

// talksOf records the sessions of servers of one kind.
func talksOf(tb testing.TB, h *scanner.Harness, k fleet.Kind) (talks []session) {
	tb.Helper()
	c := fleet.Config{Network: netip.MustParsePrefix("127.1.0.0/16"), Ports: []uint16{27015}, Seed: 5}
	if k.Hostile() {
		c.Hostile, c.HostileKinds = 1, []fleet.Kind{k}
	} else {
		c.Kinds = []fleet.Kind{k}
	}
	f, err := fleet.NewMemory(c)
	if err != nil {
		tb.Fatal(err)
	}
	now := time.Duration(0)
	for at := range c.All() {
		addr := udp.Pack(at)
		talks = append(talks, converse(h, addr, func(request []byte, reply func(uint64, []byte)) {
			now += time.Millisecond
			f.Ask(now, scanFrom, addr, request, reply)
		}))
		if len(talks) == 24 || decompressed(k) && len(talks) == 4 {
			break
		}
	}
	return talks
}

func newHarness(tb testing.TB) *scanner.Harness {
	tb.Helper()
	h, err := scanner.NewHarness()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(h.Close)
	return h
}

// BenchmarkHostile measures what a datagram of each hostile kind costs.
func BenchmarkHostile(b *testing.B) {
	for _, k := range append(fleet.HostileKinds(), fleet.Source, fleet.Split) {
		b.Run(k.String(), func(b *testing.B) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			h := newHarness(b)
			talks := talksOf(b, h, k)
			spent, packets := time.Duration(0), 0
			b.ReportAllocs()
			for b.Loop() {
				spent += repeat(h, talks)
				for i := range talks {
					packets += talks[i].packets
				}
			}
			b.ReportMetric(float64(spent)/float64(packets), "ns/datagram")
		})
	}
}

// TestHostileCost checks with -bars that a hostile server costs at most twice as much as
// honest servers that send as many datagrams or bytes. The costs are the least of many
// rounds in one run, without the decompressor, which has its own time limit. Compressed
// replies are left out: what they cost depends on what they unpack to. Without -bars it
// only checks that servers of every kind send something in the harness.
func TestHostileCost(t *testing.T) {
	rounds := 500
	if !*bars {
		rounds = 0
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	h := newHarness(t)
	measure := func(k fleet.Kind) (cost, packets, bytes float64) {
		talks := talksOf(t, h, k)
		for i := range talks {
			packets += float64(talks[i].packets)
			for _, p := range slices.Concat(talks[i].rounds...) {
				bytes += float64(len(p.Data))
			}
		}
		least := time.Hour
		for range rounds / len(talks) {
			least = min(least, repeat(h, talks))
		}
		return float64(least), packets, bytes
	}
	each, perByte := 0.0, 0.0
	for _, k := range []fleet.Kind{fleet.Source, fleet.Split} {
		cost, packets, bytes := measure(k)
		each, perByte = max(each, cost/packets), max(perByte, cost/bytes)
	}
	for _, k := range fleet.HostileKinds() {
		if decompressed(k) {
			continue
		}
		cost, packets, bytes := measure(k)
		if packets == 0 {
			t.Errorf("%v: no datagram", k)
		}
		if !*bars {
			continue
		}
		ratio := cost / max(each*packets, perByte*bytes)
		t.Logf("%-20v %.2f times an honest one", k, ratio)
		if ratio > 2 {
			t.Errorf("%v: %.2f times as much as an honest server, at most 2", k, ratio)
		}
	}
}
