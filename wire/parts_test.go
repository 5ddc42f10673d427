package wire

import (
	"bytes"
	"slices"
	"testing"
)

// TestIndexNUL looks for one and two NULs at every position of strings of up to 33
// bytes. The other bytes are those that a wrong bit mask would mistake for NULs.
func TestIndexNUL(t *testing.T) {
	for _, fill := range []byte{0x01, 0x7F, 0x80, 0x81, 0xFF, 'a'} {
		for n := range 34 {
			for i := range n + 1 {
				for j := i; j <= n; j++ {
					checkNULs(t, bytes.Repeat([]byte{fill}, n), i, j)
				}
			}
		}
	}
}

// checkNULs puts NULs at i and j of b, and checks that indexNUL and indexTwoNULs
// find them. An index of len(b) means no NUL.
func checkNULs(t *testing.T, b []byte, i, j int) {
	t.Helper()
	for _, at := range []int{i, j} {
		if at < len(b) {
			b[at] = 0
		}
	}
	first, second := bytes.IndexByte(b, 0), -1
	if first >= 0 {
		if n := bytes.IndexByte(b[first+1:], 0); n >= 0 {
			second = first + 1 + n
		}
	}
	if got := indexNUL(b); got != first {
		t.Errorf("%x: a NUL at %d, want %d", b, got, first)
	}
	if a, z := indexTwoNULs(b); a != first || z != second {
		t.Errorf("%x: NULs at %d and %d, want %d and %d", b, a, z, first, second)
	}
}

// TestFieldNames: Explain has one name for each field that a reader takes. The replies
// have all fields, because AppendInfo writes them.
func TestFieldNames(t *testing.T) {
	seen := map[string]bool{}
	var all Fields
	for _, in := range []Info{
		{Format: FormatSource, ShortAppID: 2400}, {Format: FormatGoldSource},
		{Format: FormatGoldSource, ServerType: 'p', Players: 300}, // with counts that do not fit a byte
	} {
		in.Has = ^Fields(0)
		msg := AppendInfo(nil, &in)
		for p := range Explain(msg, ShipNo) {
			seen[p.Name] = true
		}
		if err := in.Decode(msg); err != nil {
			t.Fatal(err)
		}
		all |= in.Has
	}
	// The two that stand for what is not there are in no complete reply.
	for _, name := range append(slices.Clone(fieldNames[:]), "header", "kind") {
		if !seen[name] && name != "mod block" && name != "no mod block" {
			t.Errorf("no reply has a field %q", name)
		}
		delete(seen, name)
	}
	if len(seen) > 0 || all != hasAll {
		t.Errorf("without a name: %v; bits %b, want %b", seen, all, Fields(hasAll))
	}
}
