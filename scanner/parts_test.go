package scanner

import (
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"github.com/a2sscan/a2sscan/scanner/internal/session"
	"github.com/a2sscan/a2sscan/scanner/timing"
	"github.com/a2sscan/a2sscan/wire"
)

// wakeAt sets the wake-up time of a slot.
func wakeAt(sl *slot, at time.Duration) {
	wait := at - sl.session.Clock.FirstAt
	sl.session.Start(&session.Plan{Questions: wire.AskInfo}, false, false)
	sl.session.Sent(&session.Plan{Schedule: timing.Schedule{Timeout: wait, Attempts: 1}}, at-wait, wire.QuestionInfo)
}

// TestSlots opens and closes targets at random, with many ports of few addresses and few
// ports of many, and compares what the slots find with a map.
func TestSlots(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	s := newSlots()
	open := map[uint64]int32{}
	for range 100_000 {
		source := rng.Uint64N(1<<13)<<16 | 27015
		if rng.IntN(2) == 0 {
			source = 1<<40 | rng.Uint64N(1<<13)
		}
		i, known := open[source]
		switch got := s.find(source); {
		case known && got != i, !known && got >= 0:
			t.Fatalf("%x: slot %d, want %d (open: %v)", source, got, i, known)
		case known:
			s.release(i)
			delete(open, source)
		default:
			open[source] = s.take(source)
		}
	}
	seen := map[uint64]int32{}
	for i := range s.all() {
		seen[s.at(i).source()] = i
	}
	if s.n != len(open) || len(open) < chunkSlots || !maps.Equal(seen, open) {
		t.Errorf("%d slots in use, %d are yielded, want %d", s.n, len(seen), len(open))
	}
}

// TestWheel files, moves and removes slots at random. Each slot must be woken once,
// after its time and at most 30 ms late.
func TestWheel(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	s, w := newSlots(), newWheel()
	due := map[int32]time.Duration{}
	for i := range int32(5000) {
		if s.take(uint64(i)) != i {
			t.Fatal("slots are not handed out in order")
		}
		wakeAt(s.at(i), time.Duration(rng.Int64N(int64(9*time.Second))))
		w.file(s, i)
		due[i] = s.at(i).session.Clock.Wake()
	}
	for now := time.Duration(0); now < 20*time.Second; now += time.Duration(rng.Int64N(int64(20 * time.Millisecond))) {
		for range 5 {
			i := int32(rng.IntN(5000))
			if _, waits := due[i]; !waits {
				continue
			}
			switch rng.IntN(3) {
			case 0: // postponed: the wheel need not know
				wakeAt(s.at(i), s.at(i).session.Clock.Wake()+time.Second)
				due[i] = s.at(i).session.Clock.Wake()
			case 1: // brought forward
				wakeAt(s.at(i), max(now+1, s.at(i).session.Clock.Wake()-time.Second))
				w.file(s, i)
				due[i] = s.at(i).session.Clock.Wake()
			case 2:
				w.remove(s, i)
				delete(due, i)
			}
		}
		last := now - 30*time.Millisecond
		w.advance(s, now, func(i int32) {
			at, waits := due[i]
			if !waits || at > now || at < last {
				t.Fatalf("slot %d woken at %v, wanted %v, waits %v", i, now, at, waits)
			}
			delete(due, i)
		})
	}
	if len(due) > 0 || w.n != 0 {
		t.Errorf("%d slots were never woken, %d are filed", len(due), w.n)
	}
}

// TestNameSet checks the search for names that occur twice.
func TestNameSet(t *testing.T) {
	var s nameSet
	for _, n := range []int{0, 1, 2, 32, 33, 300, 65535} {
		rules := make([]wire.Rule, n)
		for i := range rules {
			rules[i].Name = []byte{byte(i), byte(i >> 8), 'x'}
		}
		if s.twice(rules) {
			t.Errorf("%d different names: one counts as a duplicate", n)
		}
		if n > 1 {
			rules[n-1].Name = rules[n/2-1].Name
			if !s.twice(rules) {
				t.Errorf("%d names, one of them twice: not seen", n)
			}
		}
	}
}

// FuzzDatagrams checks the whole path from datagrams to a Result: a Decoder must not
// panic, must count every datagram, must not report StatusOK without an answer, and
// must not list players or rules that were not answered.
func FuzzDatagrams(f *testing.F) {
	s := newServer()
	f.Add(append(append([]byte{byte(len(s.info))}, s.info...), s.players...))
	f.Add([]byte{9, 0xFE, 0xFF, 0xFF, 0xFF, 1, 0, 0, 0, 0x02, 5, 0xFF, 0xFF, 0xFF, 0xFF, 'X'})
	d := NewDecoder()
	f.Fuzz(func(t *testing.T, data []byte) {
		d.Reset()
		n := 0
		for len(data) > 0 {
			size := min(int(data[0]), len(data)-1)
			d.Add(data[1 : 1+size])
			data = data[1+size:]
			n++
		}
		r := d.Result()
		if int(r.Received) != n {
			t.Fatalf("%d datagrams, %d counted", n, r.Received)
		}
		if r.Status == StatusOK && !r.HasInfo && !r.HasPlayers && !r.HasRules {
			t.Fatalf("complete, but without any answer: %+v", r)
		}
		if len(r.Players) > 0 && !r.HasPlayers || len(r.Rules) > 0 && !r.HasRules {
			t.Fatalf("lists without an answer: %+v", r)
		}
	})
}

// maxSilent is the maximum number of bytes that a silent target may take, including
// its share of the index and the wheel.
const maxSilent = 104

// TestSilentTargetSize starts targets that never answer and checks by how much the
// engine's memory grows, for many numbers of targets, including those just after a
// table has doubled.
func TestSilentTargetSize(t *testing.T) {
	if n := unsafe.Sizeof(slot{}); n > 64 {
		t.Errorf("a slot takes %d bytes, more than a cache line", n)
	}
	cfg, err := Config{Rate: Off, AddressRate: Off}.complete()
	check(t, err)
	e := newEngine(cfg, newMemNet(), func(*Result) {})
	defer e.recv.unpack.close()
	before, most := heapBytes(), 0.0
	for n := 1; n <= maxInFlight; n++ {
		e.begin(uint64(n)<<16 | 27015)
		for i := range e.sender.out {
			o, p := e.sender.out[i], &e.sender.packets[i]
			e.sent(&departure{outgoing: o, at: time.Duration(n), addr: p.Addr, data: p.Data})
		}
		e.sender.out, e.sender.packets = e.sender.out[:0], e.sender.packets[:0]
		if n >= 1<<15 && n%(1<<13) == 0 {
			most = max(most, float64(heapBytes()-before)/float64(n))
		}
	}
	t.Logf("%.1f bytes a silent target at most", most)
	if most > maxSilent || most < float64(unsafe.Sizeof(slot{})) || math.IsNaN(most) {
		t.Errorf("%.1f bytes a silent target, at most %d", most, maxSilent)
	}
	runtime.KeepAlive(e)
}

// heapBytes returns the bytes in use on the heap. Only the second collection frees
// what a sync.Pool held.
func heapBytes() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
