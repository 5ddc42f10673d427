package session

import (
	"bytes"
	"testing"

	"github.com/a2sscan/a2sscan/wire"
)

// TestDiffering: two INFO replies can be found to differ in every field that a reply has.
// AppendInfo writes all fields, so a new one needs no change here, unless it is a text.
func TestDiffering(t *testing.T) {
	x := []byte("x")
	msg := wire.AppendInfo(nil, &wire.Info{
		Has: ^wire.Fields(0), ShortAppID: 2400, // The Ship
		Name: x, Map: x, Folder: x, Game: x, Version: x, Keywords: x, SourceTV: wire.SourceTV{Name: x},
	})
	var a, b wire.Info
	if err := a.Decode(msg); err != nil {
		t.Fatal(err)
	}
	var found wire.Fields
	for i := range 8 * len(msg) {
		other := bytes.Clone(msg)
		other[i/8] ^= 1 << (i % 8)
		if b.Decode(other) == nil && b.Has == a.Has {
			found |= differing(&a, &b)
		}
	}
	if found != a.Has {
		t.Errorf("never found to differ: %b of %b", a.Has&^found, a.Has)
	}
}
