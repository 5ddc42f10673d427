package scanner_test

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"net/netip"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
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

// at returns a copy of the session as if the server had another address.
func (t *session) at(addr uint64) session {
	u := session{addr: addr, packets: t.packets}
	for _, round := range t.rounds {
		round = slices.Clone(round)
		for i := range round {
			round[i].Addr = addr
		}
		u.rounds = append(u.rounds, round)
	}
	return u
}

// watch is a stopwatch for the processor time of a thread, to which its goroutine
// must be locked. It leaves out the time that reading the clock takes.
type watch struct{ from, spent time.Duration }

func (w *watch) start() { w.from = threadTime() }
func (w *watch) stop()  { w.spent += threadTime() - w.from - clockTime() }

func threadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		panic(err) // every Linux has this clock
	}
	return time.Duration(t.Nano())
}

// clockTime returns how long reading the clock takes: the minimum of many readings.
var clockTime = sync.OnceValue(func() time.Duration {
	least := time.Second
	for range 10_000 {
		from := threadTime()
		least = min(least, threadTime()-from)
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

// price is the cost of an honest datagram, by its size.
type price struct {
	whole, fragment []sizePrice
	silent          float64 // a silent target, ns
	handed          float64 // handing a compressed reply to the decompressor, ns
}

type sizePrice struct {
	size int
	cost float64 // ns
}

// The sizes of the datagrams that are measured.
var (
	wholeSizes    = []int{40, 120, 300, 600, 1260, 4000, 16_000, 65_000}
	fragmentSizes = []int{220, 660, 1260}
)

// at returns the price of one datagram of the given size, interpolated between the
// measured sizes.
func at(list []sizePrice, size int) float64 {
	i, _ := slices.BinarySearchFunc(list, size, func(p sizePrice, size int) int { return p.size - size })
	switch {
	case i == 0:
		return list[0].cost
	case i == len(list):
		last := list[i-1]
		return last.cost * float64(size) / float64(last.size)
	}
	a, b := list[i-1], list[i]
	return a.cost + (b.cost-a.cost)*float64(size-a.size)/float64(b.size-a.size)
}

// of returns what a session would cost if all its datagrams were honest.
func (p *price) of(t *session) (sum float64) {
	for _, round := range t.rounds {
		for i := range round {
			d := round[i].Data
			if !wire.IsSplit(d) {
				sum += at(p.whole, len(d))
				continue
			}
			sum += at(p.fragment, len(d))
			if _, packed := wire.ShowLayout(d); packed {
				sum += p.handed
			}
		}
	}
	return sum
}

// cheapest returns the least time that repeat takes in several rounds, because
// other work of the machine can only add to it.
func cheapest(h *scanner.Harness, talks []session, rounds int) float64 {
	least := math.Inf(1)
	for range rounds {
		least = min(least, float64(repeat(h, talks)))
	}
	return least
}

// honestTalk returns the session of a server that wants a challenge for all three
// questions and answers in datagrams, or fragments, of about size bytes.
func honestTalk(h *scanner.Harness, size int, split bool) session {
	msgs := [wire.NumQuestions][]byte{honestInfo(size), honestPlayers(size), honestRules(size)}
	if split {
		msgs[wire.QuestionRules] = honestRules(8 * (size - wire.LayoutSource.HeaderLen()))
	}
	return converse(h, scanFrom+1, func(request []byte, reply func(uint64, []byte)) {
		r, err := wire.DecodeRequest(request)
		q := map[wire.Kind]wire.Question{'T': 0, 'U': 1, 'V': 2}[r.Kind]
		switch {
		case err != nil || !r.HasChallenge:
			reply(scanFrom+1, wire.AppendChallenge(nil, 99))
		case split && q == wire.QuestionRules:
			sendFragments(msgs[q], size, reply)
		default:
			reply(scanFrom+1, msgs[q])
		}
	})
}

func sendFragments(msg []byte, size int, reply func(uint64, []byte)) {
	room := size - wire.LayoutSource.HeaderLen()
	f := wire.Fragment{Layout: wire.LayoutSource, ID: 5, Size: uint16(room)}
	f.Total = uint8((len(msg) + room - 1) / room)
	for ; len(msg) > 0; f.Number++ {
		f.Payload = msg[:min(room, len(msg))]
		msg = msg[len(f.Payload):]
		reply(scanFrom+1, wire.AppendFragment(nil, &f))
	}
}

func honestInfo(size int) []byte {
	in := wire.Info{Name: []byte("n"), Map: []byte("m"), Game: []byte("g"), Version: []byte("1")}
	in.Name = bytes.Repeat([]byte("name "), max(0, size-len(wire.AppendInfo(nil, &in)))/5)
	return wire.AppendInfo(nil, &in)
}

// honestPlayers and honestRules return lists of about size bytes, with names of a
// dozen letters.
func honestPlayers(size int) []byte {
	var ps []wire.Player
	for len(ps) < min(255, max(1, (size-6)/22)) {
		ps = append(ps, wire.Player{Name: fmt.Appendf(nil, "player %04d", len(ps)), Duration: 5})
	}
	return wire.AppendPlayers(nil, len(ps), ps)
}

func honestRules(size int) []byte {
	var rs []wire.Rule
	for len(rs) < max(1, (size-7)/22) {
		rs = append(rs, wire.Rule{Name: fmt.Appendf(nil, "sv_rule_%05d", len(rs)), Value: []byte("value12")})
	}
	return wire.AppendRules(nil, len(rs), rs)
}

// honestPrice measures honest datagrams of all sizes. It prices the challenge in a
// session like a datagram of the smallest size, and subtracts the cost of a silent
// target.
func honestPrice(h *scanner.Harness, rounds int) (p price) {
	const times = 64
	of := func(t session) float64 {
		many := make([]session, times)
		for i := range many {
			many[i] = t.at(t.addr + uint64(i)<<16)
		}
		return cheapest(h, many, rounds) / times
	}
	rounds *= 3 // these runs are quick, and everything else is measured relative to them
	p.silent = of(converse(h, scanFrom+2, func([]byte, func(uint64, []byte)) {}))
	smallest := 0.0
	for _, size := range wholeSizes {
		t := honestTalk(h, size, false)
		cost := of(t) - p.silent
		if smallest == 0 {
			smallest = cost / float64(t.packets)
		}
		p.whole = append(p.whole, sizePrice{size, (cost - smallest) / float64(t.packets-1)})
	}
	for _, size := range fragmentSizes {
		t := honestTalk(h, size, true)
		cost := of(t) - p.silent - smallest - 2*at(p.whole, size) // challenge, info, players
		p.fragment = append(p.fragment, sizePrice{size, cost / float64(t.packets-3)})
	}
	return p
}

// priceOfHanding measures the cost of handing a reply to the decompressor, using
// honest replies.
func (p *price) priceOfHanding(tb testing.TB, h *scanner.Harness, rounds int) {
	talks := talksOf(tb, h, fleet.Packed)
	cost := cheapest(h, talks, rounds)
	for i := range talks {
		cost -= p.silent + p.of(&talks[i])
	}
	p.handed = max(0, cost/float64(len(talks)))
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

// The maximum cost of a hostile datagram, as a multiple of the cost of an honest one
// of its size. Most of the cost of a compressed datagram is waking a thread, which
// depends on how deeply it slept.
const (
	mostCost       = 2.0
	mostCostPacked = 4.0
)

// hardRounds limits the rounds for kinds that keep the decompressor busy: each
// round takes seconds.
const hardRounds = 10

// TestHostileCost compares the cost of the datagrams of each hostile kind with that
// of honest ones of the same size. It measures the path from the receive loop to
// the Result, without the decompressor, which has its own time limit. Without -bars
// it only checks that every kind sends something.
func TestHostileCost(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED under -short: it measures time, which means nothing with the race detector, and go test without -short runs it")
	}
	all := 1
	if *bars {
		all = 300
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	h := newHarness(t)
	p := honestPrice(h, all)
	p.priceOfHanding(t, h, min(all, hardRounds))
	t.Logf("price of honest datagrams, ns: %+v", p)
	for _, k := range fleet.HostileKinds() {
		talks := talksOf(t, h, k)
		want, packets, rounds, most := 0.0, 0, all, mostCost
		for i := range talks {
			want += p.of(&talks[i])
			packets += talks[i].packets
		}
		if packets == 0 {
			t.Errorf("%v says nothing", k)
			continue
		}
		if decompressed(k) {
			rounds, most = min(all, hardRounds), mostCostPacked
		}
		got := cheapest(h, talks, rounds) - float64(len(talks))*p.silent
		t.Logf("%-20v %6d datagrams, %6.0f ns each, honest ones %6.0f ns: ratio %.2f",
			k, packets, got/float64(packets), want/float64(packets), got/want)
		if *bars && got > most*want {
			t.Errorf("%v: %.2f times as much as an honest datagram of its size, at most %v", k, got/want, most)
		}
	}
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
