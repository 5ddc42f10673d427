package scanner

import (
	"bytes"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/scanner/internal/session"
	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

var floodLen = flag.Int("flood", 200_000, "how many fragments TestFragmentFlood sends")

// floodNet is a network of targets that send only fragments with random IDs, or of
// strangers that do.
type floodNet struct {
	*memNet
	targets   int
	strangers bool
	asked     []uint64
	rng       *rand.Rand
	bufs      [][]byte
	given     int
	most      uint64 // bytes of memory in use
	end       func()
}

func (n *floodNet) Send(ps []udp.Packet) (int, error) {
	for i := range ps {
		n.asked = append(n.asked, ps[i].Addr)
	}
	return len(ps), nil
}

// Recv returns fragments once all targets are open.
func (n *floodNet) Recv(ps []udp.Packet, wait time.Duration) (int, error) {
	switch {
	case len(n.asked) < n.targets:
		return 0, nil
	case n.given >= *floodLen:
		n.end()
		time.Sleep(min(wait, time.Millisecond))
		return 0, nil
	}
	for i := range ps {
		from, b := n.asked[n.rng.IntN(len(n.asked))], n.bufs[i]
		if n.strangers {
			from = n.rng.Uint64() >> 16
		}
		binary.LittleEndian.PutUint32(b[4:], n.rng.Uint32()&^wire.CompressedID)
		b[9] = uint8(n.rng.IntN(4))
		binary.LittleEndian.PutUint32(b[100:], n.rng.Uint32())
		ps[i] = udp.Packet{Addr: from, Data: b}
	}
	const each = 50_000
	if n.given += len(ps); n.given/each != (n.given-len(ps))/each {
		n.most = max(n.most, heapInUse())
	}
	return len(ps), nil
}

func heapInUse() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestFragmentFlood checks that fragments of 1260 bytes with random IDs, from open
// targets or from strangers, take no more memory than the budget allows them.
func TestFragmentFlood(t *testing.T) {
	if raceEnabled {
		t.Skip("SKIPPED, NO MEMORY WAS MEASURED: the race detector takes its own; run the tests without -race too")
	}
	const mostMemory = 300 << 20 // a quarter of it is for fragments
	first := wire.AppendFragment(nil, &wire.Fragment{
		Layout: wire.LayoutSource, Total: 4, Size: 1248, Payload: make([]byte, 1248),
	})
	copy(first[12:], "\xff\xff\xff\xffE\x00\x01")
	for _, strangers := range []bool{false, true} {
		t.Run(fmt.Sprintf("strangers=%v", strangers), func(t *testing.T) {
			runtime.GC()
			before := heapInUse()
			ctx, cancel := context.WithCancel(t.Context())
			n := &floodNet{memNet: newMemNet(), targets: 20_000, strangers: strangers, rng: rand.New(rand.NewPCG(1, 2)), end: cancel}
			for range batchLen {
				n.bufs = append(n.bufs, bytes.Clone(first))
			}
			cfg := Config{Rate: Off, AddressRate: Off, InFlight: n.targets, Timeout: 5 * time.Minute, transport: n}
			st, _ := Scan(ctx, cfg, seqOf(addresses(n.targets)), func(*Result) {}) // it is cancelled
			got := st.Kinds[session.KindFragment] + st.Received[session.Foreign]
			t.Logf("%d datagrams, %d bytes held, %d MB", got, st.Bytes, int(n.most-before)/1e6)
			if int(got) < *floodLen || strangers && st.Kinds[session.KindFragment] > 0 {
				t.Errorf("%d datagrams reached the scanner, want %d", got, *floodLen)
			}
			if st.Bytes > DefaultByteBudget/4 || n.most > before+mostMemory {
				t.Errorf("%d bytes are held, %d MB in use", st.Bytes, int(n.most-before)/1e6)
			}
		})
	}
}
