package reasm

import (
	"bytes"
	"slices"
	"testing"

	"github.com/a2sscan/a2sscan/wire"
)

// layouts are the three forms of a fragment's header.
var layouts = []wire.Layout{
	wire.LayoutGoldSource, wire.LayoutSource, wire.LayoutSourceNoSize,
}

// reverse returns the fragments in reverse order.
func reverse(ds [][]byte) [][]byte {
	ds = slices.Clone(ds)
	slices.Reverse(ds)
	return ds
}

// TestSplitReplies has a row for each oddity of split replies that still yields a
// complete message: in the order of its fragments, and with the last one first (EC-115).
func TestSplitReplies(t *testing.T) {
	const (
		gold   = wire.LayoutGoldSource
		source = wire.LayoutSource
		noSize = wire.LayoutSourceNoSize
		id     = 0x157
	)
	msg := rulesMessage(4000)
	one := rulesMessage(600)
	many := rulesMessage(255 * 40)[:255*40-10]
	headless := msg[4:]
	twice := append([]byte("\xFF\xFF\xFF\xFF"), msg...)
	for _, row := range []struct {
		name string
		ds   [][]byte
		want []byte
	}{
		{"EC-108 one fragment, compressed, no size", splitPacked(noSize, 0x2897, one, 2000, 9), one},
		{"EC-109 one fragment, goldsource", split(gold, id, one, 1400), one},
		{"EC-109 one fragment, source", split(source, id, one, 1248), one},
		{"EC-109 one fragment, no size", split(noSize, id, one, 1248), one},
		{"EC-110 size 1188", split(source, id, msg, 1188), msg},
		{"EC-110 size 1248", split(source, id, msg, 1248), msg},
		{"EC-112 no size", split(noSize, id, msg, 1248), msg},
		{"EC-112 compressed, no size", splitPacked(noSize, id, msg, 300, 9), msg},
		{"EC-112 compressed, size", splitPacked(source, id, msg, 300, 9), msg},
		{"EC-113 no header, goldsource", split(gold, id, headless, 1400), headless},
		{"EC-113 no header, source", split(source, id, headless, 1248), headless},
		{"EC-113 no header, no size", split(noSize, id, headless, 1248), headless},
		{"EC-114 header twice, goldsource", split(gold, id, twice, 1400), twice},
		{"EC-114 header twice, source", split(source, id, twice, 1248), twice},
		{"EC-114 header twice, no size", split(noSize, id, twice, 1248), twice},
		{"EC-117 bit 15 of the ID", split(source, 0x84FF, msg, 1188), msg},
		{"EC-117 bit 31 without BZh, source", split(source, 1<<31|5, msg, 1248), msg},
		{"EC-117 bit 31 without BZh, no size", split(noSize, 1<<31|5, msg, 1248), msg},
		{"EC-118 goldsource", split(gold, 0x1E6A, msg, 1391), msg},
		{"EC-122 goldsource, bit 31", split(gold, 1<<31|9, msg, 1391), msg},
		{"EC-123 small fragments", split(source, id, msg, 100), msg},
		{"EC-123 255 fragments", split(noSize, id, many, 40), many},
		{"EC-124 one large datagram", split(source, id, rulesMessage(60000), 65000), rulesMessage(60000)},
		{"ID 0", split(source, 0, msg, 1248), msg},
		{"ID -1", split(gold, 0xFFFFFFFF, msg, 1391), msg},
	} {
		t.Run(row.name, func(t *testing.T) {
			for _, ds := range [][][]byte{row.ds, reverse(row.ds)} {
				table := New(0)
				if got := addAll(t, table, ds); !bytes.Equal(got, row.want) {
					t.Errorf("got %d bytes, want %d", len(got), len(row.want))
				}
				for _, d := range ds {
					add(t, table, d, Duplicate)
				}
				audit(t, table)
			}
		})
	}
}

// TestMisleadingFragment has a later GoldSource fragment whose text looks like
// fragment 0 of another layout. It must not determine the layout in any order of
// arrival. A fragment that was dropped as a conflict before fragment 0 came arrives
// again in the second round, as it would after a retry.
func TestMisleadingFragment(t *testing.T) {
	msg := rulesMessage(30)
	msg = append(msg[:20], "\x00\xFF\xFF\xFF\xFFE and so on, and on"...)
	ds := split(wire.LayoutGoldSource, 7, msg, 20)
	if l, _ := wire.ShowLayout(ds[1]); l != wire.LayoutSourceNoSize {
		t.Fatalf("fragment 1 shows %v, which is not misleading", l)
	}
	permutations(len(ds), func(order []int) {
		table := New(0)
		var got []byte
		conflicts := 0
		for _, n := range slices.Concat(order, order) {
			msg, o, _ := table.Add(0, server, ds[n], nil)
			if o == Whole {
				got = msg
			}
			if o == Conflict {
				conflicts++
			}
			audit(t, table)
		}
		if !bytes.Equal(got, msg) || conflicts > 1 {
			t.Errorf("order %v: got %q, %d conflicts", order, got, conflicts)
		}
	})
}

// A fragment that shows another layout conflicts with its group if the group can't
// be read in that layout.
func TestOtherLayout(t *testing.T) {
	msg := rulesMessage(3000)
	for _, l := range layouts {
		for _, other := range layouts {
			table := New(0)
			ds := split(l, 1, msg, 1248)
			add(t, table, ds[0], Pending)
			if other != l {
				add(t, table, split(other, 1, msg, 800)[0], Conflict)
			}
			if got := addAll(t, table, ds[1:]); !bytes.Equal(got, msg) {
				t.Errorf("%v: got %d bytes, want %d", l, len(got), len(msg))
			}
		}
	}
	table := New(0)
	add(t, table, totals(wire.LayoutSourceNoSize, 1, 0, 0x13), Pending)
	add(t, table, totals(wire.LayoutGoldSource, 1, 0, 4), Conflict)
	add(t, table, totals(wire.LayoutGoldSource, 1, 0, 3), Pending)
}

// totals returns a fragment with the given number and total, valid or not.
func totals(l wire.Layout, id uint32, number, total uint8) []byte {
	f := wire.Fragment{Layout: l, ID: id, Number: number, Total: total}
	f.Payload = []byte("\xFF\xFF\xFF\xFFE\x01\x00a\x00b\x00")
	return wire.AppendFragment(nil, &f)
}

// EC-116: a cut fragment is replaced by the complete one, wherever it was cut and
// whatever came before. The exception is a cut fragment that completes the reply:
// nothing shows that it was cut.
func TestCutFragment(t *testing.T) {
	msg := rulesMessage(3000)
	for _, l := range layouts {
		ds := split(l, 1, msg, 1248)
		for cut := range ds {
			for _, n := range []int{l.HeaderLen() + 1, l.HeaderLen() + 5, 480, 481, 700, len(ds[cut]) - 1} {
				if n >= len(ds[cut]) {
					continue
				}
				permutations(len(ds), func(order []int) {
					if order[len(order)-1] == cut {
						return
					}
					table := New(0)
					var got []byte
					for _, i := range order {
						if i == cut {
							add(t, table, ds[i][:n], Pending)
							audit(t, table)
						}
						if m, o, _ := table.Add(0, server, ds[i], nil); o == Whole {
							got = m
						}
						audit(t, table)
					}
					if st := table.Stats(); !bytes.Equal(got, msg) || st.Conflict != 1 {
						t.Errorf("%v, %d cut to %d, order %v: got %d bytes, %+v", l, cut, n, order, len(got), st)
					}
				})
			}
		}
	}
}

// A fragment 0 that shows no layout is replaced by one that does.
func TestFirstFragmentTwice(t *testing.T) {
	msg := rulesMessage(3000)
	for _, l := range layouts {
		table := New(0)
		ds := split(l, 1, msg, 1248)
		strange := slices.Clone(ds[0])
		copy(strange[l.HeaderLen():], "nothing known")
		add(t, table, strange, Pending)
		if got := addAll(t, table, ds); !bytes.Equal(got, msg) {
			t.Errorf("%v: got %d bytes, want %d", l, len(got), len(msg))
		}
		if st := table.Stats(); st.Conflict != 1 {
			t.Errorf("%v: stats %+v", l, st)
		}
		audit(t, table)
	}
}

// Leading yields every incomplete reply of a source that has its fragment 0, the
// oldest first, but not the compressed ones, which can't be read.
func TestLeadingMany(t *testing.T) {
	table := New(0)
	msg := rulesMessage(3000)
	add(t, table, split(wire.LayoutSource, 1, msg, 1200)[0], Pending)
	add(t, table, splitPacked(wire.LayoutSource, 2, msg, 200, 9)[0], Pending)
	add(t, table, split(wire.LayoutGoldSource, 3, msg, 1300)[0], Pending)
	got := leading(table, server)
	if want := []string{string(msg[:1200]), string(msg[:1300])}; !slices.Equal(got, want) {
		t.Errorf("got %.30q, want %.30q", got, want)
	}
	if got := leading(table, server+1); len(got) != 0 {
		t.Errorf("another source: %q", got)
	}
	grown := table.Leading(server, nil, func([]byte, bool) { table.Forget(server) })
	if cap(grown) < 2500 {
		t.Errorf("scratch memory of %d bytes returned", cap(grown))
	}
	if got := leading(table, server); len(got) != 0 {
		t.Errorf("after Forget: %q", got)
	}
}

// Add copies the datagram: its buffer may be reused at once.
func TestAddCopies(t *testing.T) {
	table := New(0)
	msg := rulesMessage(3000)
	buf := make([]byte, 2000)
	var got []byte
	for _, d := range split(wire.LayoutGoldSource, 1, msg, 1391) {
		n := copy(buf, d)
		got, _, _ = table.Add(0, server, buf[:n], []byte("before"))
		clear(buf)
	}
	if want := "before" + string(msg); string(got) != want {
		t.Errorf("got %d bytes, want %d", len(got), len(want))
	}
}
