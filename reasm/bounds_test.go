package reasm

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/wire"
)

var floodSize = flag.Int("flood", 100_000, "fragments that TestFlood sends")

// TestFlood sends fragments of random layout, ID and source; most of their groups
// can never become complete. Memory, including unused blocks, must stay below its
// limit, and honest replies must still be reassembled.
func TestFlood(t *testing.T) {
	const bound = 8 << 20
	table := New(bound)
	rnd := rand.New(rand.NewPCG(1, 2))
	honest := split(wire.LayoutSource, 1, rulesMessage(3000), 1248)
	payload := make([]byte, 1400)
	dst := make([]byte, 0, MaxReply)
	d := make([]byte, 0, 1500)
	var peak int64
	for i := range *floodSize {
		now := time.Duration(i) * 2 * time.Microsecond
		f := wire.Fragment{
			Layout:  layouts[rnd.IntN(3)],
			ID:      rnd.Uint32(),
			Total:   uint8(2 + rnd.IntN(14)),
			Payload: payload[:1+rnd.IntN(1400)],
		}
		f.Number = uint8(rnd.IntN(int(f.Total)))
		payload[0] = byte(i)
		d = wire.AppendFragment(d[:0], &f)
		if _, _, err := table.Add(now, rnd.Uint64()>>16, d, dst); err != nil {
			t.Fatalf("fragment %d: %v", i, err)
		}
		if i%1000 < len(honest) {
			_, o, _ := table.Add(now, server+uint64(i/1000), honest[i%1000], dst)
			if want := i%1000 == len(honest)-1; want != (o == Whole) {
				t.Fatalf("honest fragment %d: %v", i, o)
			}
		}
		if i%256 == 0 {
			peak = max(peak, table.Stats().Bytes)
		}
	}
	audit(t, table)
	st := table.Stats()
	if peak > bound || idle(table) > bound/idleShare+blockSize*16 {
		t.Errorf("at most %d bytes in use, %d idle", peak, idle(table))
	}
	if peak < bound*9/10 || st.Evicted == 0 {
		t.Errorf("at most %d bytes in use: that was no flood", peak)
	}
	table.Expire(time.Hour)
	if after := table.Stats(); after.Bytes != 0 || after.Groups != 0 {
		t.Errorf("after an hour %+v", after)
	}
}

// idle returns the unused memory that the table keeps.
func idle(table *Table) (n int64) {
	for i := range table.shards {
		n += table.shards[i].mem.idle
	}
	return n
}

// The constants used to count memory match the real sizes; a group's map entry
// takes up to 48 bytes.
func TestSizes(t *testing.T) {
	if got := reflect.TypeFor[block]().Size(); got != blockSize {
		t.Errorf("a block has %d bytes, not %d", got, blockSize)
	}
	if got := reflect.TypeFor[group]().Size(); got+48 > groupCost {
		t.Errorf("a group has %d bytes, above %d with its entry", got, groupCost)
	}
	if maxHead := 12 + packedHeader; blockData < maxHead || blockData%8 != 0 {
		t.Errorf("%d bytes of data: a header or a digest would be cut", blockData)
	}
	doc, err := os.ReadFile("doc.go")
	source := fmt.Sprintf("%d groups                                         %.1f MiB at most", maxGroups, maxGroups*groupRoom/float64(1<<20))
	if err != nil || !bytes.Contains(doc, []byte(source)) {
		t.Errorf("doc.go does not say of a source: %s (%v)", source, err)
	}
}

// When memory is full, complete groups are dropped first and then the oldest
// incomplete group, but never the group that receives the new fragment.
func TestEvictOldest(t *testing.T) {
	table := New(leastMaxBytes)
	d := totals(wire.LayoutSource, 0, 3)
	addFrom := func(from int, d []byte) {
		t.Helper()
		_, o, err := table.Add(time.Duration(from), uint64(from), d, nil)
		if o != Pending || err != nil {
			t.Fatalf("source %d: %v, %v", from, o, err)
		}
	}
	addAll(t, table, split(wire.LayoutSource, 1, rulesMessage(1000), 500))
	room := leastMaxBytes / (groupCost + blockSize)
	for i := range room {
		addFrom(i, d)
	}
	if st := table.Stats(); st.Groups != room || st.Remembered != 0 || st.Evicted != 0 {
		t.Errorf("full: %+v", st)
	}
	addFrom(room, d)
	addFrom(1, split(wire.LayoutSource, 1, rulesMessage(1500), 600)[1])
	for i := range 4 {
		if got, want := len(leading(table, uint64(i))) == 1, i == 1 || i == 3; got != want {
			t.Errorf("source %d is there: %v", i, got)
		}
	}
	if st := table.Stats(); st.Evicted != 2 {
		t.Errorf("stats %+v", st)
	}
	audit(t, table)
}

// Complete replies that are remembered take at most an eighth of the memory.
func TestRememberedShare(t *testing.T) {
	table := New(leastMaxBytes)
	d := totals(wire.LayoutSource, 0, 1)
	for i := range uint64(1000) {
		table.Add(time.Duration(i), i, d, nil)
	}
	st := table.Stats()
	want := int64(leastMaxBytes / rememberedShare)
	if st.Bytes > want || st.Bytes < want*9/10 {
		t.Errorf("%d bytes of %d: %+v", st.Bytes, want, st)
	}
	for from, want := range map[uint64]Outcome{0: Whole, 999: Duplicate} {
		if _, o, _ := table.Add(1000, from, d, nil); o != want {
			t.Errorf("again from source %d: %v, want %v", from, o, want)
		}
	}
	audit(t, table)
}

// Add rejects a fragment that would make its group too large; smaller fragments
// still fit.
func TestGroupTooLarge(t *testing.T) {
	table := New(0)
	const size = 60_000
	msg := rulesMessage(MaxReply + size/2)
	ds := split(wire.LayoutSource, 1, msg, size)
	for _, d := range ds[:8] {
		add(t, table, d, Pending)
	}
	refuse(t, table, ds[8], wire.ErrTooLarge)
	add(t, table, ds[9], Pending)
	if got := leading(table, server); len(got) != 1 || got[0] != string(msg[:8*size]) {
		t.Errorf("got %d messages", len(got))
	}
	refuse(t, table, make([]byte, 10), wire.ErrMalformed)
	audit(t, table)
}
