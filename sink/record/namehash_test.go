package record

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/wire"
)

// named returns a Result with players of these names.
func named(names ...string) *scanner.Result {
	r := &scanner.Result{HasPlayers: true, PlayersAnnounced: -1, RulesAnnounced: -1}
	r.PlayersHash = 0x0123456789abcdef
	for _, name := range names {
		r.Players = append(r.Players, wire.Player{Name: []byte(name), Score: 7})
	}
	return r
}

// hashed returns the record of r under a key, and the hashes of the list and the
// names in that record. It fails the test if the record holds a name.
func hashed(t *testing.T, key byte, r *scanner.Result) (line []byte, list string, names []string) {
	t.Helper()
	enc := Encoder{Key: &NameKey{key}}
	line = enc.Append(nil, "", r)
	if err := readStrict(line); err != nil {
		t.Errorf("%v in %s", err, line)
	}
	var rec struct {
		Hashes  struct{ Players string }
		Players []struct {
			Name *string
			Hash string `json:"name_hash"`
		}
	}
	check(t, json.Unmarshal(line, &rec))
	for _, p := range rec.Players {
		if p.Name != nil && *p.Name != "" {
			t.Errorf("the name %q is in the record", *p.Name)
		}
		names = append(names, p.Hash)
	}
	return line, rec.Hashes.Players, names
}

func TestNameHashes(t *testing.T) {
	r := named("Gordon", "Alyx", "Gordon", "", "\xff\xfe bytes", "Max Players")
	line, list, names := hashed(t, 1, r)
	for _, secret := range []string{"Gordon", "Alyx", "Max", "fffe", "name_hex", "0123456789abcdef"} {
		if bytes.Contains(line, []byte(secret)) {
			t.Errorf("%s is in %s", secret, line)
		}
	}
	if names[0] != names[2] || names[0] == names[1] || names[3] != "" || len(names[4]) != 16 {
		t.Errorf("hashes %q: want equal ones for equal names, none for the empty name", names)
	}
	_, again, same := hashed(t, 1, named("Gordon"))
	if again != list || same[0] != names[0] {
		t.Errorf("the same key gives %q and %q, then %q and %q", list, names[0], again, same[0])
	}
	_, otherList, other := hashed(t, 2, r)
	if otherList == list || other[0] == names[0] {
		t.Error("another key gives the same hashes")
	}
	if list == names[0] || list == (&NameKey{1}).ID() {
		t.Error("the hashes of lists, names and the key are not kept apart")
	}
}

func TestReadNameHashes(t *testing.T) {
	line, _, names := hashed(t, 1, named("Gordon", "", "Gordon"))
	_, r, err := Read(line)
	check(t, err)
	for i, p := range r.Players {
		if string(p.Name) != names[i] {
			t.Errorf("player %d: %q, want %q", i, p.Name, names[i])
		}
	}
}

func TestNameHashesAllocateNothing(t *testing.T) {
	enc := Encoder{Key: &NameKey{1}}
	r := named("Gordon", strings.Repeat("long", 200))
	dst := enc.Append(nil, "", r)
	if n := testing.AllocsPerRun(100, func() { dst = enc.Append(dst[:0], "", r) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
