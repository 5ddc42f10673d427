package reasm

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/wire"
)

// captureDir finds the recorded replies beside the module.
func captureDir(t *testing.T) string {
	dir, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above this directory")
		}
	}
	dir = filepath.Join(dir, "..", "shared", "captures")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("SKIPPED: no recorded replies to read: ", err)
	}
	return dir
}

// readCapture reads the fragments of a file by their ID.
func readCapture(t *testing.T, name string) map[uint32][][]byte {
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	groups := map[uint32][][]byte{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		d, err := hex.DecodeString(strings.TrimSpace(lines.Text()))
		if err != nil {
			t.Fatal(err)
		}
		if id, err := wire.SplitID(d); err == nil {
			groups[id] = append(groups[id], d)
		}
	}
	return groups
}

// TestCaptures puts every split reply that was recorded together, in many
// orders, all of a server at once.
func TestCaptures(t *testing.T) {
	names, err := filepath.Glob(filepath.Join(captureDir(t), "*.hex"))
	if err != nil || len(names) == 0 {
		t.Fatal("no captures: ", err)
	}
	replies, compressed := 0, 0
	for _, name := range names {
		groups := readCapture(t, name)
		for seed := range uint64(20) {
			n, c := shuffleCapture(t, filepath.Base(name), groups, seed)
			if seed == 0 {
				replies, compressed = replies+n, compressed+c
			}
		}
	}
	t.Logf("%d split replies, %d of them compressed", replies, compressed)
	if replies < 15 || compressed == 0 {
		t.Errorf("%d split replies, %d compressed: too few to mean anything", replies, compressed)
	}
}

// shuffleCapture adds the fragments of a file in an order made of seed.
func shuffleCapture(
	t *testing.T, name string, groups map[uint32][][]byte, seed uint64,
) (whole, compressed int) {
	var all [][]byte
	for _, ds := range groups {
		all = append(all, ds...)
	}
	rnd := rand.New(rand.NewPCG(seed, 0))
	rnd.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	table := New(Config{Shards: 1})
	for _, d := range all {
		msg, o, err := table.Add(0, server, d, nil)
		if err != nil || o == Duplicate || o == Conflict {
			t.Fatalf("%s: %.16x…: %v, %v", name, d, o, err)
		}
		if o == Packed {
			var u Unpacker
			compressed++
			if msg, err = u.Unpack(nil, msg); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if o == Whole || o == Packed {
			whole++
			checkCapture(t, name, msg)
		}
	}
	if whole != len(groups) {
		t.Errorf("%s: %d whole replies of %d", name, whole, len(groups))
	}
	return whole, compressed
}

// checkCapture reads a message to its end, which all these replies allow.
func checkCapture(t *testing.T, name string, msg []byte) {
	if !bytes.HasPrefix(msg, []byte("\xFF\xFF\xFF\xFF")) {
		t.Errorf("%s: message begins with %.5x", name, msg)
	}
	switch wire.KindOf(msg) {
	case wire.KindRules:
		var rs wire.Rules
		_ = rs.Reset(msg)
		for rs.Next() {
		}
		if rs.Err() != nil || rs.Count() != rs.Announced() {
			t.Errorf("%s: %d of %d rules, %v", name, rs.Count(), rs.Announced(), rs.Err())
		}
	case wire.KindPlayers:
		var ps wire.Players
		_ = ps.Reset(msg, wire.ShipNo)
		for ps.Next() {
		}
		if ps.Err() != nil || ps.Count() != ps.Announced() {
			t.Errorf("%s: %d of %d players, %v", name, ps.Count(), ps.Announced(), ps.Err())
		}
	default:
		t.Errorf("%s: a split reply of kind %q", name, wire.KindOf(msg))
	}
}
