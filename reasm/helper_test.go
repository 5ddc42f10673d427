package reasm

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"testing"

	"github.com/dsnet/compress/bzip2"

	"github.com/a2sscan/a2sscan/wire"
)

// server is a source, 127.0.0.1:27015.
const server uint64 = 0x7F000001_6987

// rulesMessage returns a RULES reply of about n bytes.
func rulesMessage(n int) []byte {
	var rs []wire.Rule
	for i, size := 0, 7; size < n; i++ {
		r := wire.Rule{
			Name:  fmt.Appendf(nil, "sv_rule_%d", i),
			Value: fmt.Appendf(nil, "%d", i*i),
		}
		rs = append(rs, r)
		size += len(r.Name) + len(r.Value) + 2
	}
	return wire.AppendRules(nil, len(rs), rs)
}

// split cuts a message into fragments with at most size bytes of payload each.
func split(l wire.Layout, id uint32, msg []byte, size int) [][]byte {
	return cut(wire.Fragment{Layout: l, ID: id}, msg, size)
}

// splitPacked compresses a message and splits the result.
func splitPacked(l wire.Layout, id uint32, msg []byte, size int) [][]byte {
	f := wire.Fragment{Layout: l, ID: id | wire.CompressedID, Compressed: true}
	f.DeclaredSize = uint32(len(msg))
	f.CRC = crc32.ChecksumIEEE(msg)
	return cut(f, compress(msg, 9), size)
}

// cut divides b into payloads of at most size bytes and returns their fragments,
// which are otherwise like f.
func cut(f wire.Fragment, b []byte, size int) (ds [][]byte) {
	f.Total = uint8((len(b) + size - 1) / size)
	f.Size = uint16(size)
	for len(b) > 0 {
		f.Payload = b[:min(size, len(b))]
		b = b[len(f.Payload):]
		ds = append(ds, wire.AppendFragment(nil, &f))
		f.Number++
	}
	return ds
}

func compress(msg []byte, level int) []byte {
	var buf bytes.Buffer
	zw, err := bzip2.NewWriter(&buf, &bzip2.WriterConfig{Level: level})
	if err != nil {
		panic(err)
	}
	if _, err := zw.Write(msg); err != nil {
		panic(err)
	}
	if err := zw.Close(); err != nil {
		panic(err)
	}
	return buf.Bytes()
}

// permutations calls f with every permutation of the numbers below n.
func permutations(n int, f func(order []int)) {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	var rec func(k int)
	rec = func(k int) {
		if k == n {
			f(order)
			return
		}
		for i := k; i < n; i++ {
			order[k], order[i] = order[i], order[k]
			rec(k + 1)
			order[k], order[i] = order[i], order[k]
		}
	}
	rec(0)
}

// add adds a fragment that came from server, checks the outcome and returns the
// message.
func add(t *testing.T, table *Table, datagram []byte, want Outcome) []byte {
	t.Helper()
	msg, o, err := table.Add(0, server, datagram, nil)
	if err != nil || o != want {
		t.Fatalf("Add(%.16x…) = %v, %v; want %v", datagram, o, err, want)
	}
	return msg
}

// addAll adds all fragments of a reply and returns the message, decompressed.
func addAll(t *testing.T, table *Table, ds [][]byte) []byte {
	t.Helper()
	for _, d := range ds[:len(ds)-1] {
		add(t, table, d, Pending)
	}
	msg, o, err := table.Add(0, server, ds[len(ds)-1], nil)
	if err != nil || o != Whole && o != Packed {
		t.Fatalf("Add of the last = %v, %v; want a complete reply", o, err)
	}
	if o == Whole {
		return msg
	}
	var u Unpacker
	msg, err = u.Unpack(nil, msg)
	if err != nil {
		t.Fatalf("Unpack: %v", err)
	}
	return msg
}

// refuse adds a datagram and fails the test unless Add returns the error want.
func refuse(t *testing.T, table *Table, datagram []byte, want wire.Error) {
	t.Helper()
	msg, _, err := table.Add(0, server, datagram, nil)
	if err != want || msg != nil {
		t.Fatalf("Add(%.16x…) = %d bytes, %v; want %v", datagram, len(msg), err, want)
	}
}

// leading returns the messages that Leading yields.
func leading(table *Table, from uint64) (msgs []string) {
	table.Leading(from, nil, func(msg []byte, _ bool) { msgs = append(msgs, string(msg)) })
	return msgs
}

// audit recounts everything that a Table holds and checks that its lists agree.
func audit(t *testing.T, table *Table) {
	t.Helper()
	for i := range table.shards {
		if err := table.shards[i].audit(); err != nil {
			t.Fatalf("shard %d: %v", i, err)
		}
	}
}

// audit returns an error if the shard's bookkeeping is wrong.
func (s *shard) audit() error {
	var used int64
	var st Stats
	for from, g := range s.sources {
		for ; g != nil; g = g.sibling {
			used += groupCost + g.blocks()*blockSize
			if g.from != from || g.lost(s) {
				return fmt.Errorf("group %x of %x is in the wrong place", g.id, g.from)
			}
			if g.done {
				st.Remembered++
				continue
			}
			st.Groups++
			st.Fragments += g.count
		}
	}
	if used != s.mem.used {
		return fmt.Errorf("%d bytes used, %d counted", used, s.mem.used)
	}
	if n := s.waiting.length() + s.done.length(); n != st.Groups+st.Remembered {
		return fmt.Errorf("%d groups by age, %d by source", n, st.Groups+st.Remembered)
	}
	if g, w := s.stats, st; g.Groups != w.Groups || g.Fragments != w.Fragments ||
		g.Remembered != w.Remembered {
		return fmt.Errorf("stats %+v, counted %+v", g, w)
	}
	if idle := s.mem.count(); idle != s.mem.idle || idle > s.mem.maxIdle+blockSize {
		return fmt.Errorf("%d bytes idle, %d counted", s.mem.idle, idle)
	}
	return nil
}

// lost reports whether g is missing from the age list in which it belongs.
func (g *group) lost(s *shard) bool {
	l := &s.waiting
	if g.done {
		l = &s.done
	}
	return g.older == nil && l.oldest != g || g.newer == nil && l.newest != g
}

// blocks counts the blocks of a group.
func (g *group) blocks() (n int64) {
	for b := g.first; b != nil; b = b.later {
		for p := b; p != nil; p = p.more {
			n++
		}
	}
	return n
}

func (l *ageList) length() (n int) {
	for g := l.oldest; g != nil; g = g.newer {
		n++
	}
	return n
}

// count recounts the unused memory.
func (m *memory) count() (n int64) {
	for b := m.blocks; b != nil; b = b.more {
		n += blockSize
	}
	for g := m.groups; g != nil; g = g.sibling {
		n += groupCost
	}
	return n
}
