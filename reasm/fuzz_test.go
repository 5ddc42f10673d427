package reasm

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/wire"
)

// modelSource models, in the simplest way, what a Table holds for one source: it
// keeps all bytes, searches linearly, and limits nothing but the number of groups.
type modelSource struct {
	open []*modelGroup // the oldest first
	done []*modelGroup
}

type modelGroup struct {
	id    uint32
	since time.Duration
	total uint8 // 0: fragment 0 has not come yet
	frags []modelFragment
}

type modelFragment struct {
	number, total uint8
	payload       string
}

func (g *modelGroup) get(number uint8) *modelFragment {
	for i := range g.frags {
		if g.frags[i].number == number {
			return &g.frags[i]
		}
	}
	return nil
}

// leading joins the payloads up to the first missing fragment.
func (g *modelGroup) leading() (msg string, n uint8) {
	for f := g.get(0); f != nil; f = g.get(n) {
		msg += f.payload
		n++
	}
	return msg, n
}

func (s *modelSource) expire(now time.Duration) {
	for len(s.done) > 0 && now-s.done[0].since > remember {
		s.done = s.done[1:]
	}
	for len(s.open) > 0 && now-s.open[0].since > maxAge {
		s.open = s.open[1:]
	}
}

// add predicts the result of Table.Add. In the model only fragment 0 shows the
// layout, and all fragments of a reply have the same layout.
func (s *modelSource) add(now time.Duration, id uint32, f modelFragment) (string, Outcome) {
	var g *modelGroup
	for _, o := range s.open {
		if o.id == id {
			g = o
		}
	}
	for _, o := range slices.Concat(s.done, s.open) {
		if o.id == id && slices.Contains(o.frags, f) {
			return "", Duplicate
		}
	}
	if g == nil {
		if len(s.open) == maxGroups {
			s.open = s.open[1:]
		}
		g = &modelGroup{id: id, since: now}
		s.open = append(s.open, g)
	}
	g.dropCut(f)
	if g.total != 0 && (g.total != f.total || g.get(f.number) != nil) {
		return "", Conflict
	}
	if g.total == 0 && f.number == 0 {
		g.sort(f)
	}
	g.frags = append(g.frags, f)
	msg, n := g.leading()
	if n == 0 || n < g.total {
		return "", Pending
	}
	s.complete(g, now)
	return msg, Whole
}

// dropCut drops the truncated copies of f.
func (g *modelGroup) dropCut(f modelFragment) {
	g.frags = slices.DeleteFunc(g.frags, func(o modelFragment) bool {
		return o.number == f.number && o.total == f.total && o.payload != f.payload &&
			strings.HasPrefix(f.payload, o.payload)
	})
	if len(g.frags) == 0 {
		g.total = 0
	}
}

// sort drops the fragments that contradict fragment 0 or an earlier fragment.
func (g *modelGroup) sort(first modelFragment) {
	old := g.frags
	g.frags, g.total = nil, first.total
	for _, f := range old {
		if f.total == first.total && g.get(f.number) == nil {
			g.frags = append(g.frags, f)
		}
	}
}

func (s *modelSource) complete(g *modelGroup, now time.Duration) {
	var open []*modelGroup
	for _, o := range s.open {
		if o != g {
			open = append(open, o)
		}
	}
	if len(s.done) == maxGroups {
		s.done = s.done[1:]
	}
	g.since = now
	s.open, s.done = open, append(s.done, g)
}

// fuzzOps runs a sequence of operations on a Table and on the model. Each operation
// has five bytes.
type fuzzOps struct {
	t     *testing.T
	table *Table
	model map[uint64]*modelSource
	now   time.Duration
}

func newFuzzOps(t *testing.T) *fuzzOps {
	return &fuzzOps{t: t, table: New(0), model: map[uint64]*modelSource{}}
}

func (z *fuzzOps) step(op [5]byte) {
	from := server + uint64(op[1]>>6)
	z.now++
	s := z.model[from]
	if s == nil {
		s = new(modelSource)
		z.model[from] = s
	}
	switch op[0] % 16 {
	default:
		z.add(from, s, op)
	case 13:
		z.now += time.Duration(op[3]) * time.Second / 16
		z.table.Expire(z.now)
	case 14:
		z.table.Forget(from)
		*s = modelSource{}
	case 15:
		s.expire(z.now)
		z.leading(from, s)
	}
}

// add adds the fragment that the operation encodes to the Table and to the model,
// and compares the results. The operation gives the fragment's ID (which implies
// the layout), its number, its total, and which of four contents it has.
func (z *fuzzOps) add(from uint64, s *modelSource, op [5]byte) {
	f := wire.Fragment{
		ID:    uint32(op[1]&63) % 12,
		Total: 1 + op[2]&7,
		Size:  1248,
	}
	f.Layout = layouts[f.ID%3]
	f.Number = op[3] % f.Total
	text := fmt.Sprintf("fragment %d content %d ", f.Number, op[4]>>6)
	if f.Number == 0 {
		text = "\xFF\xFF\xFF\xFFE" + text
	}
	f.Payload = bytes.Repeat([]byte(text), 1+int(op[4]&63)/4)
	d := wire.AppendFragment(nil, &f)

	s.expire(z.now)
	m := modelFragment{f.Number, f.Total, string(f.Payload)}
	want, o := s.add(z.now, f.ID, m)
	got, outcome, err := z.table.Add(z.now, from, d, nil)
	if string(got) != want || outcome != o || err != nil {
		z.t.Fatalf("at %v, %x fragment %d of %d of %d: %v, %v, %.60q; want %v, %.60q",
			z.now, from, f.Number, f.Total, f.ID, outcome, err, got, o, want)
	}
}

func (z *fuzzOps) leading(from uint64, s *modelSource) {
	z.table.Expire(z.now)
	got := leading(z.table, from)
	for _, g := range s.open {
		if g.total == 0 {
			continue
		}
		want, _ := g.leading()
		if len(got) == 0 || got[0] != want {
			z.t.Fatalf("leading %.60q, want %.60q", got, want)
		}
		got = got[1:]
	}
	if len(got) != 0 {
		z.t.Fatalf("leading %.60q too many", got)
	}
}

// FuzzReasm reads its input as a sequence of operations and compares the Table with
// the model after each operation.
func FuzzReasm(f *testing.F) {
	for _, ops := range []string{
		// Fragment 1 of 2; read the beginnings; fragment 0 twice; read the
		// beginnings.
		"\x00\x01\x01\x01\x05" + "\x0F\x01\x00\x00\x00" + "\x00\x01\x01\x00\x05" +
			"\x00\x01\x01\x00\x05" + "\x0F\x01\x00\x00\x00",
		// Fragments with two contents and two totals, then fragment 0; sixteen
		// seconds pass.
		"\x00\x02\x03\x01\x05" + "\x00\x02\x03\x01\x63" + "\x00\x02\x02\x01\x05" +
			"\x00\x02\x03\x00\x05" + "\x0D\x00\x00\xFF\x00",
		// Two replies of one fragment with the same ID; the first again; forget the
		// source; the first again.
		"\x00\x03\x00\x00\x05" + "\x00\x03\x00\x00\x63" + "\x00\x03\x00\x00\x05" +
			"\x0E\x03\x00\x00\x00" + "\x00\x03\x00\x00\x05",
	} {
		f.Add([]byte(ops))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		z := newFuzzOps(t)
		for len(b) >= 5 {
			z.step([5]byte(b))
			b = b[5:]
		}
		audit(t, z.table)
	})
}

// TestModel runs long random sequences of operations on few sources, IDs and
// totals, so that most replies become complete.
func TestModel(t *testing.T) {
	var sum Stats
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		z := newFuzzOps(t)
		for range 5000 {
			r := rnd.Uint64()
			z.step([5]byte{
				byte(r), byte(r>>8) & 0xC7, byte(r>>16) & 3, byte(r >> 24), byte(r>>32) & 0x7F,
			})
		}
		audit(t, z.table)
		st := z.table.Stats()
		sum.add(&st)
	}
	for name, n := range map[string]uint64{
		"whole": sum.Whole, "duplicate": sum.Duplicate, "conflict": sum.Conflict,
		"evicted": sum.Evicted, "expired": sum.Expired, "forgotten": sum.Forgotten,
	} {
		if n < 100 {
			t.Errorf("%d × %s: the programs try too little", n, name)
		}
	}
}

// FuzzAdd adds arbitrary datagrams, each preceded in the input by a byte with its
// length. Add must not panic or leak memory, and its statistics must be right.
func FuzzAdd(f *testing.F) {
	for _, l := range layouts {
		var b []byte
		for _, d := range split(l, 7, rulesMessage(300), 150) {
			b = append(append(b, byte(len(d))), d...)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		table := New(leastMaxBytes)
		for now := time.Duration(0); len(b) > 0; now += time.Second / 4 {
			n := min(int(b[0]), len(b)-1)
			d := b[1 : 1+n]
			b = b[1+n:]
			msg, o, err := table.Add(now, server, d, nil)
			if (o == Whole || o == Packed) != (len(msg) > 0) {
				t.Fatalf("%v with %d bytes", o, len(msg))
			}
			if e := wire.Error(0); err != nil && !errors.As(err, &e) {
				t.Fatalf("error %v", err)
			}
			table.Leading(server, nil, func([]byte, bool) {})
			audit(t, table)
		}
	})
}

// FuzzUnpack unpacks arbitrary bytes: Unpack must not panic and must never return
// more than MaxReply bytes.
func FuzzUnpack(f *testing.F) {
	for _, n := range []int{0, 10, 3000} {
		f.Add(packed(rulesMessage(n), 9))
	}
	var u Unpacker
	f.Fuzz(func(t *testing.T, b []byte) {
		msg, err := u.Unpack([]byte("before"), b)
		if !bytes.HasPrefix(msg, []byte("before")) || err != nil && len(msg) != 6 {
			t.Fatalf("%d bytes and %v", len(msg), err)
		}
		if len(msg) > 6+MaxReply || cap(msg) > 4*MaxReply {
			t.Fatalf("%d bytes in %d", len(msg), cap(msg))
		}
	})
}
