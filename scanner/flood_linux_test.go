package scanner_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/target"
	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// floodEnv is the environment variable that makes the test binary the process that is
// flooded. Its value is the flood.
const floodEnv = "A2SSCAN_FLOOD"

// A flood is a number of fragments with random IDs, from open targets or from
// strangers.
type flood struct {
	Fragments int
	Strangers bool
	Targets   int
}

// flooded holds the effects of a flood on the process.
type flooded struct {
	RSS       []int64 // bytes, after each tenth of the flood
	Peak      int64
	Held      int64 // bytes, by the scanner's own account
	Fragments uint64
	Foreign   uint64
	Seconds   float64
}

func TestMain(m *testing.M) {
	if text := os.Getenv(floodEnv); text != "" {
		var f flood
		err := json.Unmarshal([]byte(text), &f)
		if err == nil {
			err = json.NewEncoder(os.Stdout).Encode(f.suffer())
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// floodNet is a network of targets that send only fragments.
type floodNet struct {
	flood
	asked []uint64
	rng   *rand.Rand
	bufs  [][]byte
	given int
	at    []int64 // RSS after each tenth of the flood
	end   func()
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
	case len(n.asked) < n.Targets:
		return 0, nil
	case n.given >= n.Fragments:
		n.end()
		time.Sleep(min(wait, time.Millisecond))
		return 0, nil
	}
	for i := range ps {
		ps[i] = udp.Packet{Addr: n.from(), Data: n.fragment(i)}
	}
	before := n.given
	n.given += len(ps)
	if tenth := n.Fragments / 10; n.given/tenth != before/tenth {
		n.at = append(n.at, statusBytes("VmRSS"))
	}
	return len(ps), nil
}

func (n *floodNet) from() uint64 {
	if n.Strangers {
		return n.rng.Uint64() >> 16
	}
	return n.asked[n.rng.IntN(len(n.asked))]
}

// fragment returns a datagram of 1260 bytes: one of the four fragments of a reply,
// chosen at random.
func (n *floodNet) fragment(i int) []byte {
	b := n.bufs[i]
	binary.LittleEndian.PutUint32(b[4:], n.rng.Uint32()&^wire.CompressedID)
	b[9] = uint8(n.rng.IntN(4))
	binary.LittleEndian.PutUint32(b[100:], n.rng.Uint32())
	return b
}

func (n *floodNet) Unreachable([]uint64) int { return 0 }
func (n *floodNet) Stats() udp.Stats         { return udp.Stats{} }
func (n *floodNet) Interrupt()               {}
func (n *floodNet) Close() error             { return nil }

// suffer scans over a flooded network and returns the effects.
func (f flood) suffer() flooded {
	ctx, cancel := context.WithCancel(context.Background())
	n := &floodNet{flood: f, rng: rand.New(rand.NewPCG(1, 2)), end: cancel}
	first := wire.AppendFragment(nil, &wire.Fragment{
		Layout: wire.LayoutSource, Total: 4, Size: 1248, Payload: make([]byte, 1248),
	})
	copy(first[12:], "\xff\xff\xff\xffE\x00\x01")
	for range 128 {
		n.bufs = append(n.bufs, bytes.Clone(first))
	}
	targets := func(yield func(target.Target) bool) {
		for i := range f.Targets {
			ip := netip.AddrFrom4([4]byte{127, byte(i >> 16), byte(i >> 8), byte(i)})
			if !yield(target.Target{Addr: netip.AddrPortFrom(ip, 27015)}) {
				return
			}
		}
	}
	cfg := scanner.Config{
		Rate: scanner.Off, AddressRate: scanner.Off, InFlight: f.Targets, Timeout: 5 * time.Minute,
		Monitor: new(scanner.Monitor),
	}.Over(n)
	start := time.Now()
	st, _ := scanner.Scan(ctx, cfg, targets, func(*scanner.Result) {}) // it is cancelled
	return flooded{
		RSS: n.at, Peak: statusBytes("VmHWM"), Held: cfg.Monitor.Stats().Bytes, Seconds: time.Since(start).Seconds(),
		Fragments: st.Kinds[slices.Index(scanner.ReplyKinds[:], "fragment")], Foreign: st.Received[slices.Index(scanner.Classes[:], "foreign")],
	}
}

// statusBytes returns a size from /proc/self/status, or 0 if it is absent.
func statusBytes(key string) (kib int64) {
	status, _ := os.ReadFile("/proc/self/status")
	_, after, _ := bytes.Cut(status, []byte(key+":"))
	fmt.Sscanf(string(after), "%d kB", &kib)
	return kib << 10
}

// mostRSS is the maximum memory in bytes that a flooded process may take; a quarter of
// it is for fragments.
const mostRSS = 300 << 20

// TestFragmentFlood checks that fragments with random IDs, from open targets or
// from strangers, don't make the process grow. With -bars it sends ten million.
func TestFragmentFlood(t *testing.T) {
	if scanner.RaceEnabled {
		t.Skip("SKIPPED, NO MEMORY WAS MEASURED: the race detector takes its own; run the tests without -race too")
	}
	for _, f := range []flood{{Targets: 20_000}, {Targets: 20_000, Strangers: true}} {
		f.Fragments = 200_000
		if *bars {
			f.Fragments = 10_000_000
		}
		t.Run(fmt.Sprintf("strangers=%v", f.Strangers), func(t *testing.T) { holdFlood(t, f) })
	}
}

func holdFlood(t *testing.T, f flood) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	task, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), floodEnv+"="+string(task))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	var got flooded
	if err == nil {
		err = json.Unmarshal(out, &got)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d fragments, %d foreign datagrams in %.1f s: %d bytes held, RSS %d MB, at most %d MB",
		got.Fragments, got.Foreign, got.Seconds, got.Held, megabytes(got.RSS...), megabytes(got.Peak))
	if n := got.Fragments + got.Foreign; int(n) < f.Fragments || f.Strangers && got.Fragments > 0 {
		t.Errorf("%d datagrams reached the scanner, want %d", n, f.Fragments)
	}
	if got.Peak == 0 || got.Peak > mostRSS {
		t.Errorf("it took %d MB, at most %d MB", megabytes(got.Peak), megabytes(mostRSS))
	}
	third := slices.Max(got.RSS[:3])
	if last := slices.Max(got.RSS[7:]); last > third+third/10+16<<20 {
		t.Errorf("it grows: %d MB after three tenths, %d MB later", megabytes(third), megabytes(last))
	}
}

func megabytes(sizes ...int64) (mb []int64) {
	for _, n := range sizes {
		mb = append(mb, n/1e6)
	}
	return mb
}
