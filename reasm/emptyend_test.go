package reasm

import (
	"bytes"
	"testing"

	"github.com/a2sscan/a2sscan/wire"
)

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
