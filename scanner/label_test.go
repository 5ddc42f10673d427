package scanner

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// TestScanLabels checks that the label of a target is in its Result and in every
// snapshot in which the target is open, whether it started at once or was held back,
// answered or stayed silent.
func TestScanLabels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, s := newMemNet(), newServer()
		n.serve = func(addr uint64, req wire.Request) {
			if addr%2 == 0 {
				s.answer(n, addr, req)
			}
		}
		ts := append(addresses(3000), ports(30)...)
		want := map[uint64]Target{}
		for i := range ts {
			ts[i].Place = 2 * uint64(i)
			if i%3 == 0 {
				ts[i].Tag = fmt.Sprint("tag ", i)
			}
			if i%5 == 0 {
				ts[i].Master = fmt.Sprintf(`{"n":%d}`, i)
			}
			want[udp.Pack(ts[i].Addr)] = ts[i]
		}
		open, results := 0, 0
		cfg := Config{Rate: 1000, Attempts: 1, SnapshotEvery: 50 * time.Millisecond, transport: n}
		cfg.Snapshot = func(sn *Snapshot) {
			open += len(sn.Open)
			for _, o := range sn.Open {
				if w := want[udp.Pack(o.Addr)]; o.Tag != w.Tag || o.Master != w.Master {
					t.Fatalf("%v is open with %q %q, want %q %q", o.Addr, o.Tag, o.Master, w.Tag, w.Master)
				}
			}
			if sn.Position > 0 && sn.Place != ts[sn.Position-1].Place+1 {
				t.Fatalf("position %d is at place %d", sn.Position, sn.Place)
			}
		}
		if _, err := Scan(context.Background(), cfg, seqOf(ts), func(r *Result) {
			results++
			if w := want[udp.Pack(r.Addr)]; r.Tag != w.Tag || r.Master != w.Master {
				t.Fatalf("%v has %q %q, want %q %q", r.Addr, r.Tag, r.Master, w.Tag, w.Master)
			}
		}); err != nil {
			t.Fatal(err)
		}
		if results != len(ts) || open < len(ts) {
			t.Errorf("%d results, %d times open", results, open)
		}
	})
}
