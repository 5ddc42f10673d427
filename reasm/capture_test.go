package reasm

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/a2sscan/a2sscan/bench/captures"
	"github.com/a2sscan/a2sscan/wire"
)

// fragmentsOf returns the fragments among datagrams, grouped by ID.
func fragmentsOf(datagrams [][]byte) map[uint32][][]byte {
	groups := map[uint32][][]byte{}
	for _, d := range datagrams {
		if id, err := wire.SplitID(d); err == nil {
			groups[id] = append(groups[id], d)
		}
	}
	return groups
}

// TestCaptures reassembles all split replies of each recorded server at once, their
// fragments shuffled in many orders.
func TestCaptures(t *testing.T) {
	replies, compressed := 0, 0
	for _, file := range captures.Files(t) {
		groups := fragmentsOf(captures.Datagrams(t, file))
		for seed := range uint64(20) {
			n, c := shuffleCapture(t, captures.Name(file), groups, seed)
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

// shuffleCapture adds the fragments of a file in an order derived from seed. It
// returns the number of complete replies, and how many of them were compressed.
func shuffleCapture(
	t *testing.T, name string, groups map[uint32][][]byte, seed uint64,
) (whole, compressed int) {
	var all [][]byte
	for _, ds := range groups {
		all = append(all, ds...)
	}
	rnd := rand.New(rand.NewPCG(seed, 0))
	rnd.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	table := New(0)
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
			if !bytes.HasPrefix(msg, []byte("\xFF\xFF\xFF\xFF")) || !readable(msg) {
				t.Errorf("%s: %.20q", name, msg)
			}
		}
	}
	if whole != len(groups) {
		t.Errorf("%s: %d complete replies of %d", name, whole, len(groups))
	}
	return whole, compressed
}
