package reasm

import (
	"fmt"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/wire"
)

// workload adds all fragments of one reply again and again, each time from another
// source and a little later, as in a scan. The digests of earlier replies expire
// meanwhile.
type workload struct {
	table *Table
	ds    [][]byte
	dst   []byte
	want  Outcome
	i     uint64
}

// newWorkload returns a workload that has run until its memory no longer grows.
func newWorkload(ds [][]byte, want Outcome) *workload {
	w := &workload{table: New(0), ds: ds, dst: make([]byte, 0, MaxReply), want: want}
	for range 300 {
		w.run()
	}
	return w
}

// run adds one reply. The benchmark and the allocation test share it.
func (w *workload) run() {
	w.i++
	now := time.Duration(w.i) * 20 * time.Millisecond
	from := server + w.i%200<<16
	var o Outcome
	for _, d := range w.ds {
		_, o, _ = w.table.Add(now, from, d, w.dst)
	}
	if o != w.want {
		panic(o)
	}
}

// workloads calls f for typical replies: in order, in reverse order, compressed.
func workloads(f func(name string, ds [][]byte, want Outcome)) {
	sizes := map[wire.Layout]int{
		wire.LayoutGoldSource:   1391,
		wire.LayoutSource:       1248,
		wire.LayoutSourceNoSize: 1250,
	}
	names := []string{"goldsource", "source", "nosize"}
	for i, l := range layouts {
		for _, n := range []int{1, 2, 8} {
			ds := split(l, 7, rulesMessage(n * sizes[l])[:n*sizes[l]-100], sizes[l])
			f(fmt.Sprintf("%s/%d", names[i], n), ds, Whole)
		}
	}
	msg := rulesMessage(5000)
	f("source/reverse", reverse(split(wire.LayoutSource, 7, msg, 1248)), Whole)
	f("source/packed", splitPacked(wire.LayoutSource, 7, msg, 1248), Packed)
	f("source/small255", split(wire.LayoutSource, 7, rulesMessage(255 * 40)[:255*40], 40), Whole)
}

func BenchmarkAdd(b *testing.B) {
	workloads(func(name string, ds [][]byte, want Outcome) {
		b.Run(name, func(b *testing.B) {
			w := newWorkload(ds, want)
			size := 0
			for _, d := range ds {
				size += len(d)
			}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				w.run()
			}
			perDatagram := float64(b.Elapsed().Nanoseconds()) / float64(b.N*len(ds))
			b.ReportMetric(perDatagram, "ns/datagram")
		})
	})
}

func TestAddAllocs(t *testing.T) {
	workloads(func(name string, ds [][]byte, want Outcome) {
		w := newWorkload(ds, want)
		if n := testing.AllocsPerRun(200, w.run); n != 0 {
			t.Errorf("%s: %v allocations a reply", name, n)
		}
	})
}
