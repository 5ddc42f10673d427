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
		{"EC-108 one fragment, compressed, no size", splitPacked(noSize, 0x2897, one, 2000), one},
		{"EC-109 one fragment, goldsource", split(gold, id, one, 1400), one},
		{"EC-109 one fragment, source", split(source, id, one, 1248), one},
		{"EC-109 one fragment, no size", split(noSize, id, one, 1248), one},
		{"EC-110 size 1188", split(source, id, msg, 1188), msg},
		{"EC-110 size 1248", split(source, id, msg, 1248), msg},
		{"EC-112 no size", split(noSize, id, msg, 1248), msg},
		{"EC-112 compressed, no size", splitPacked(noSize, id, msg, 300), msg},
		{"EC-112 compressed, size", splitPacked(source, id, msg, 300), msg},
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
	add(t, table, totals(wire.LayoutSourceNoSize, 0, 0x13), Pending)
	add(t, table, totals(wire.LayoutGoldSource, 0, 4), Conflict)
	add(t, table, totals(wire.LayoutGoldSource, 0, 3), Pending)
}

// totals returns a fragment of reply 1 with the given number and total, valid or not.
func totals(l wire.Layout, number, total uint8) []byte {
	f := wire.Fragment{Layout: l, ID: 1, Number: number, Total: total}
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
	add(t, table, splitPacked(wire.LayoutSource, 2, msg, 200)[0], Pending)
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

// EC-149: some servers send one fragment too many, an empty one. In any order of
// arrival the reply is complete with it.
func TestEmptyLastFragment(t *testing.T) {
	msg := exactRules(2 * 1248)
	for _, l := range layouts[:2] {
		ds := withEmptyEnd(l, msg)
		if len(ds) != 3 || len(ds[2]) != l.HeaderLen() {
			t.Fatalf("%v: %d fragments, the last of %d bytes", l, len(ds), len(ds[2]))
		}
		permutations(len(ds), func(order []int) {
			table := New(0)
			var got []byte
			for _, i := range order {
				if m, o, err := table.Add(0, server, ds[i], nil); err != nil {
					t.Errorf("%v, order %v: %v", l, order, err)
				} else if o == Whole {
					got = m
				}
				audit(t, table)
			}
			if !bytes.Equal(got, msg) {
				t.Errorf("%v, order %v: %d bytes, want %d", l, order, len(got), len(msg))
			}
		})
	}
}

// exactRules returns a RULES reply of n bytes.
func exactRules(n int) []byte {
	r := wire.Rule{Name: []byte("sv_motd")}
	empty := len(wire.AppendRules(nil, 1, []wire.Rule{r}))
	r.Value = bytes.Repeat([]byte("m"), n-empty)
	return wire.AppendRules(nil, 1, []wire.Rule{r})
}

// withEmptyEnd splits a message into fragments of 1248 bytes and adds an empty one.
func withEmptyEnd(l wire.Layout, msg []byte) (ds [][]byte) {
	total := uint8(len(msg)/1248 + 1)
	for n := range total {
		payload := msg[int(n)*1248:][:min(1248, len(msg)-int(n)*1248)]
		f := wire.Fragment{Layout: l, ID: 5, Total: total, Number: n, Size: 1248, Payload: payload}
		ds = append(ds, wire.AppendFragment(nil, &f))
	}
	return ds
}

// EC-116: a last fragment that was cut to its header is not an empty one, since the
// message can't be read to its end. The complete fragment replaces it, whichever of
// them comes first.
func TestLastFragmentCutToHeader(t *testing.T) {
	msg := rulesMessage(3000)
	for _, l := range layouts {
		ds := split(l, 9, msg, 1300)
		last := len(ds) - 1
		cut := ds[last][:l.HeaderLen()]
		permutations(last, func(order []int) {
			for at := range len(order) + 1 {
				table := New(0)
				for i, n := range order {
					if i == at {
						table.Add(0, server, cut, nil)
					}
					add(t, table, ds[n], Pending)
				}
				if at == len(order) {
					refuse(t, table, cut, wire.ErrMalformed)
				}
				audit(t, table)
				if got := addAll(t, table, ds[last:]); !bytes.Equal(got, msg) {
					t.Errorf("%v, order %v, cut %d: %d bytes, want %d", l, order, at, len(got), len(msg))
				}
			}
		})
	}
}

// EC-149: if the empty fragment is lost, Leading says that nothing else is missing.
func TestLeadingFull(t *testing.T) {
	ds := withEmptyEnd(wire.LayoutSource, exactRules(2*1248))
	short := split(wire.LayoutSource, 5, rulesMessage(2*1248+700), 1000)
	for _, row := range []struct {
		name string
		ds   [][]byte
		want bool
	}{
		{"all but the last", ds[:2], true},
		{"two are missing", ds[:1], false},
		{"the first is missing", ds[1:], false},
		{"fragments of different sizes", [][]byte{short[0], short[1][:900], short[2]}, false},
	} {
		table := New(0)
		for _, d := range row.ds {
			if _, _, err := table.Add(0, server, d, nil); err != nil {
				t.Fatal(err)
			}
		}
		full := false
		table.Leading(server, nil, func(_ []byte, f bool) { full = f })
		if full != row.want {
			t.Errorf("%s: %v", row.name, full)
		}
	}
}
