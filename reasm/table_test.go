package reasm

import (
	"bytes"
	"slices"
	"testing"
	"time"

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
// complete message.
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
		{"EC-115 last one first", reverse(split(source, id, msg, 500)), msg},
		{"EC-117 bit 15 of the ID", split(source, 0x84FF, msg, 1188), msg},
		{"EC-117 bit 31 without BZh, source", split(source, 1<<31|5, msg, 1248), msg},
		{"EC-117 bit 31 without BZh, no size", split(noSize, 1<<31|5, msg, 1248), msg},
		{"EC-118 goldsource, last one first", reverse(split(gold, 0x1E6A, msg, 1391)), msg},
		{"EC-122 goldsource, bit 31", split(gold, 1<<31|9, msg, 1391), msg},
		{"EC-123 small fragments", split(source, id, msg, 100), msg},
		{"EC-123 255 fragments", split(noSize, id, many, 40), many},
		{"EC-124 one large datagram", split(source, id, rulesMessage(60000), 65000), rulesMessage(60000)},
		{"ID 0", split(source, 0, msg, 1248), msg},
		{"ID -1", split(gold, 0xFFFFFFFF, msg, 1391), msg},
	} {
		t.Run(row.name, func(t *testing.T) {
			table := New(Config{})
			if got := addAll(t, table, row.ds); !bytes.Equal(got, row.want) {
				t.Errorf("got %d bytes, want %d", len(got), len(row.want))
			}
			for _, d := range row.ds {
				add(t, table, d, Duplicate)
			}
			audit(t, table)
		})
	}
}

// TestEveryOrder adds the fragments of a reply in every order, each fragment twice
// in a row.
func TestEveryOrder(t *testing.T) {
	msg := rulesMessage(900)
	for _, l := range layouts {
		forms := map[string][]byte{
			"":              msg,
			" header twice": append([]byte("\xFF\xFF\xFF\xFF"), msg...),
			" no header":    msg[4:],
		}
		for name, want := range forms {
			t.Run(l.String()+name, func(t *testing.T) {
				tryEveryOrder(t, split(l, 7, want, (len(want)+3)/4), want)
			})
		}
		if l != wire.LayoutGoldSource {
			t.Run(l.String()+" compressed", func(t *testing.T) {
				n := len(compress(msg, 9))
				tryEveryOrder(t, splitPacked(l, 7, msg, (n+3)/4, 9), msg)
			})
		}
	}
}

func tryEveryOrder(t *testing.T, ds [][]byte, want []byte) {
	if len(ds) != 4 {
		t.Fatalf("%d fragments", len(ds))
	}
	permutations(len(ds), func(order []int) {
		table := New(Config{Shards: 1})
		shuffled := make([][]byte, len(ds))
		for i, n := range order {
			shuffled[i] = ds[n]
		}
		for _, d := range shuffled[:3] {
			add(t, table, d, Pending)
			add(t, table, d, Duplicate)
		}
		if got := addAll(t, table, shuffled[3:]); !bytes.Equal(got, want) {
			t.Errorf("order %v: got %d bytes", order, len(got))
		}
		add(t, table, shuffled[3], Duplicate)
		audit(t, table)
	})
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
		table := New(Config{Shards: 1})
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
			table := New(Config{})
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
	table := New(Config{})
	add(t, table, totals(wire.LayoutSourceNoSize, 1, 0, 0x13), Pending)
	add(t, table, totals(wire.LayoutGoldSource, 1, 0, 4), Conflict)
	add(t, table, totals(wire.LayoutGoldSource, 1, 0, 3), Pending)
}

// EC-119: the fragments of two replies of one server come interleaved.
func TestInterleaved(t *testing.T) {
	table := New(Config{})
	a, b := rulesMessage(3000), rulesMessage(5000)
	as := split(wire.LayoutSource, 0x43, a, 1248)
	bs := split(wire.LayoutSource, 0x44, b, 1248)
	add(t, table, bs[2], Pending)
	add(t, table, as[1], Pending)
	add(t, table, bs[0], Pending)
	add(t, table, as[0], Pending)
	add(t, table, bs[3], Pending)
	if got := add(t, table, as[2], Whole); !bytes.Equal(got, a) {
		t.Errorf("first reply: %d bytes, want %d", len(got), len(a))
	}
	add(t, table, bs[4], Pending)
	if got := add(t, table, bs[1], Whole); !bytes.Equal(got, b) {
		t.Errorf("second reply: %d bytes, want %d", len(got), len(b))
	}
	if st := table.Stats(); st.Whole != 2 || st.Groups != 0 || st.Fragments != 0 {
		t.Errorf("stats %+v", st)
	}
}

// EC-116, EC-120: a datagram that can't be a fragment is dropped, and does not
// disturb the fragments that follow.
func TestRefused(t *testing.T) {
	msg := rulesMessage(3000)
	for _, l := range layouts {
		ds := split(l, 9, msg, 1300)
		table := New(Config{MaxFragments: 10})
		for n := range ds[0][:l.HeaderLen()-1] {
			if _, o, err := table.Add(0, server, ds[0][:n], nil); err == nil && o != Pending {
				t.Fatalf("%v, cut to %d: %v", l, n, o)
			}
		}
		refuse(t, table, nil, wire.ErrMalformed)
		refuse(t, table, ds[0][:8], wire.ErrMalformed)
		refuse(t, table, msg, wire.ErrMalformed)
		refuse(t, table, totals(l, 9, 0, 0), wire.ErrMalformed)
		if got := addAll(t, table, ds); !bytes.Equal(got, msg) {
			t.Errorf("%v: got %d bytes, want %d", l, len(got), len(msg))
		}
		audit(t, table)
	}
}

// totals returns a fragment with the given number and total, valid or not.
func totals(l wire.Layout, id uint32, number, total uint8) []byte {
	f := wire.Fragment{Layout: l, ID: id, Number: number, Total: total}
	f.Payload = []byte("\xFF\xFF\xFF\xFFE\x01\x00a\x00b\x00")
	return wire.AppendFragment(nil, &f)
}

// Add rejects a fragment cut to its header, and still accepts the complete fragment
// after it.
func TestCutToHeader(t *testing.T) {
	msg := rulesMessage(3000)
	for _, l := range layouts {
		ds := split(l, 9, msg, 1300)
		table := New(Config{})
		add(t, table, ds[0], Pending)
		refuse(t, table, ds[1][:l.HeaderLen()], wire.ErrMalformed)
		if got := addAll(t, table, ds[1:]); !bytes.Equal(got, msg) {
			t.Errorf("%v: got %d bytes, want %d", l, len(got), len(msg))
		}
	}
}

func TestConflict(t *testing.T) {
	table := New(Config{})
	msg := rulesMessage(3000)
	ds := split(wire.LayoutSource, 1, msg, 1248)
	add(t, table, ds[0], Pending)

	other := slices.Clone(ds[0])
	other[len(other)-1] ^= 1
	add(t, table, other, Conflict)

	total := slices.Clone(ds[1])
	total[8]++
	add(t, table, total, Conflict)
	if got := addAll(t, table, ds[1:]); !bytes.Equal(got, msg) {
		t.Errorf("got %d bytes, want %d", len(got), len(msg))
	}
	if st := table.Stats(); st.Conflict != 2 {
		t.Errorf("stats %+v", st)
	}
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
					table := New(Config{Shards: 1})
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

// Once the layout is known, fragments that came earlier and contradict it or each
// other are dropped; of two fragments that contradict each other, the first is
// kept.
func TestConflictBeforeLayout(t *testing.T) {
	table := New(Config{})
	msg := rulesMessage(3000)
	ds := split(wire.LayoutSource, 1, msg, 1248)
	other := slices.Clone(ds[1])
	other[len(other)-1] ^= 1
	total := slices.Clone(ds[2])
	total[8]++
	add(t, table, ds[1], Pending)
	add(t, table, other, Pending)
	add(t, table, total, Pending)
	add(t, table, ds[0], Pending)
	if st := table.Stats(); st.Conflict != 2 || st.Fragments != 2 {
		t.Errorf("stats %+v", st)
	}
	if got := add(t, table, ds[2], Whole); !bytes.Equal(got, msg) {
		t.Errorf("got %d bytes, want %d", len(got), len(msg))
	}
	audit(t, table)
}

// A fragment 0 that shows no layout is replaced by one that does.
func TestFirstFragmentTwice(t *testing.T) {
	msg := rulesMessage(3000)
	for _, l := range layouts {
		table := New(Config{})
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

// A server uses one ID for all replies: fragments after a complete reply form a new
// reply, and a late fragment of the first reply does not become part of it.
func TestOneIDForAll(t *testing.T) {
	table := New(Config{})
	first, second := rulesMessage(3000), rulesMessage(3500)
	second[4] = byte(wire.KindPlayers)
	for i := range second[1300:] {
		second[1300+i] ^= 1
	}
	fs := split(wire.LayoutSource, 1, first, 1248)
	ss := split(wire.LayoutSource, 1, second, 1248)
	addAll(t, table, fs)
	add(t, table, fs[1], Duplicate)
	add(t, table, ss[2], Pending)
	add(t, table, fs[0], Duplicate)
	add(t, table, ss[0], Pending)
	add(t, table, fs[1], Duplicate)
	if got := add(t, table, ss[1], Whole); !bytes.Equal(got, second) {
		t.Errorf("got %d bytes, want %d", len(got), len(second))
	}
	for _, d := range slices.Concat(fs, ss) {
		add(t, table, d, Duplicate)
	}
	if got := leading(table, server); len(got) != 0 {
		t.Errorf("leftovers %q", got)
	}
	audit(t, table)
}

// The digests of complete replies are kept for Config.Remember, or until Forget.
func TestRemember(t *testing.T) {
	table := New(Config{Shards: 1, Remember: time.Second})
	ds := split(wire.LayoutSource, 1, rulesMessage(3000), 1248)
	addAll(t, table, ds)
	if _, o, _ := table.Add(time.Second, server, ds[0], nil); o != Duplicate {
		t.Errorf("after a second: %v", o)
	}
	if _, o, _ := table.Add(time.Second+1, server, ds[0], nil); o != Pending {
		t.Errorf("after more than a second: %v", o)
	}
	table.Forget(server)
	addAll(t, table, ds)
	table.Forget(server)
	addAll(t, table, ds)
	if st := table.Stats(); st.Remembered != 1 || st.Forgotten != 1 {
		t.Errorf("stats %+v", st)
	}
}

func TestLeading(t *testing.T) {
	msg := rulesMessage(6000)
	for _, l := range layouts {
		table := New(Config{})
		ds := split(l, 1, msg, 1200)
		want := func(n int) {
			t.Helper()
			got := leading(table, server)
			if n == 0 && len(got) == 0 {
				return
			}
			if len(got) != 1 || got[0] != string(msg[:n*1200]) {
				t.Errorf("%v: got %d messages %.20q; want the first %d fragments", l, len(got), got, n)
			}
		}
		want(0)
		add(t, table, ds[3], Pending)
		want(0)
		add(t, table, ds[1], Pending)
		want(0)
		add(t, table, ds[0], Pending)
		want(2)
		add(t, table, ds[2], Pending)
		want(4)
		addAll(t, table, ds[4:])
		want(0)
	}
}

// Leading yields every incomplete reply of a source that has its fragment 0, the
// oldest first, but not the compressed ones, which can't be read.
func TestLeadingMany(t *testing.T) {
	table := New(Config{})
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

func TestExpire(t *testing.T) {
	table := New(Config{MaxAge: time.Second})
	ds := split(wire.LayoutSource, 1, rulesMessage(3000), 1248)
	add(t, table, ds[0], Pending)
	table.Add(time.Second/2, server, ds[1], nil)
	table.Expire(time.Second)
	if st := table.Stats(); st.Groups != 1 || st.Expired != 0 {
		t.Errorf("after a second: %+v", st)
	}
	table.Expire(time.Second + 1)
	if st := table.Stats(); st.Groups != 0 || st.Expired != 1 || st.Bytes != 0 {
		t.Errorf("after more than a second: %+v", st)
	}
	if _, o, _ := table.Add(2*time.Second, server, ds[2], nil); o != Pending {
		t.Errorf("last fragment after that: %v", o)
	}
	audit(t, table)
}

func TestForget(t *testing.T) {
	table := New(Config{})
	for i := range uint32(3) {
		add(t, table, split(wire.LayoutSource, i, rulesMessage(2000), 1248)[0], Pending)
		table.Add(0, server+1, split(wire.LayoutSource, i, rulesMessage(2000), 1248)[0], nil)
	}
	addAll(t, table, split(wire.LayoutSource, 9, rulesMessage(2000), 1248))
	table.Forget(server)
	if st := table.Stats(); st.Groups != 3 || st.Forgotten != 3 || st.Remembered != 0 {
		t.Errorf("stats %+v", st)
	}
	table.Forget(server + 1)
	table.Forget(server + 2)
	if n := table.Stats().Bytes; n != 0 {
		t.Errorf("%d bytes in use", n)
	}
	audit(t, table)
}

// Add copies the datagram: its buffer may be reused at once.
func TestAddCopies(t *testing.T) {
	table := New(Config{})
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
