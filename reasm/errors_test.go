package reasm

import (
	"slices"
	"testing"

	"github.com/a2sscan/a2sscan/wire"
)

// TestErrorAllocs adds a fragment for each reason to drop a fragment, and unpacks
// replies that Unpack rejects at once. A hostile server can send these for as long
// as it likes: they must neither allocate nor use up memory of the Table.
func TestErrorAllocs(t *testing.T) {
	const source = wire.LayoutSource
	whole := split(source, 1, rulesMessage(3000), 1248)
	other := slices.Clone(whole[0])
	other[len(other)-1] ^= 1
	total := slices.Clone(whole[1])
	total[8]++
	var held [][]byte
	for i := range 256 {
		f := wire.Fragment{Layout: source, ID: 2, Total: 5, Number: 1, Payload: []byte{'x', byte(i)}}
		held = append(held, wire.AppendFragment(nil, &f))
	}
	for _, row := range []struct {
		name   string
		before [][]byte
		bad    []byte
		want   Outcome
		err    error
	}{
		{"EC-56 nothing", nil, nil, 0, wire.ErrMalformed},
		{"EC-116 half a header", nil, whole[0][:8], 0, wire.ErrMalformed},
		{"EC-116 a header alone", whole[:1], whole[1][:12], 0, wire.ErrMalformed},
		{"no fragment", nil, rulesMessage(100), 0, wire.ErrMalformed},
		{"EC-120 a total of 0", nil, totals(source, 0, 0), 0, wire.ErrMalformed},
		{"EC-120 the number is the total", whole[:1], totals(source, 3, 3), 0, wire.ErrMalformed},
		{"more held than the bound", held[:255], held[255], 0, wire.ErrTooLarge},
		{"EC-119 other bytes", whole[:1], other, Conflict, nil},
		{"EC-119 another total", whole[:1], total, Conflict, nil},
		{"EC-119 another layout", whole[:1], totals(wire.LayoutGoldSource, 0, 3), Conflict, nil},
		{"the same again", whole[:1], whole[0], Duplicate, nil},
		{"the same again when it is whole", whole, whole[1], Duplicate, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			table := New(0)
			for _, d := range row.before {
				table.Add(0, server, d, nil)
			}
			dst := make([]byte, 0, 4096)
			before := table.Stats().Bytes
			n := testing.AllocsPerRun(100, func() {
				msg, o, err := table.Add(0, server, row.bad, dst)
				if len(msg) != 0 || o != row.want || err != row.err {
					t.Fatalf("%d bytes, %v, %v", len(msg), o, err)
				}
			})
			if n != 0 || table.Stats().Bytes != before {
				t.Errorf("%v allocations, %d bytes kept", n, table.Stats().Bytes-before)
			}
		})
	}
	for name, packed := range map[string][]byte{
		"EC-121 an absurd size": declare(1<<31, nil, compress(rulesMessage(500), 9)),
		"EC-121 half a header":  declare(9, nil, nil)[:7],
	} {
		t.Run(name, func(t *testing.T) {
			var u Unpacker
			n := testing.AllocsPerRun(100, func() {
				if _, err := u.Unpack(nil, packed); err == nil {
					t.Fatal("no error")
				}
			})
			if n != 0 {
				t.Errorf("%v allocations", n)
			}
		})
	}
}
