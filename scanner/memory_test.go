package scanner

import (
	"math"
	"runtime"
	"testing"
	"time"
	"unsafe"
)

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
	cfg, err := Config{Rate: Off, AddressRate: Off}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	e := newEngine(cfg, newMemNet(), func(*Result) {})
	defer e.recv.worker.Close()
	before, most := heapBytes(), 0.0
	for n := 1; n <= maxInFlight; n++ {
		e.begin(uint64(n)<<16 | 27015)
		for i := range e.sender.out {
			e.sender.sent(time.Duration(n), i)
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
