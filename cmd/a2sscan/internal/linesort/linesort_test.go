package linesort

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// TestEach: lines are returned in the order of their keys, and with equal keys in
// that of their bytes. This holds whether they fit into memory or go to files, and
// for any number of adders. No file is left.
func TestEach(t *testing.T) {
	for _, limit := range []int{heldBytes, 1000, 1} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			rng := rand.New(rand.NewPCG(1, 2))
			s := New(3)
			for _, a := range s.adders {
				a.limit = limit
			}
			var want []Entry
			for i := range 500 {
				k := Key{rng.Uint64N(3), rng.Uint64N(40), rng.IntN(3)}
				want = append(want, Entry{k, fmt.Appendf(nil, "line %d", i)})
				if err := s.Adder(i%3).Add(k, want[i].Line); err != nil {
					t.Fatal(err)
				}
			}
			slices.SortFunc(want, compareEntries)
			var got []Entry
			err := s.Groups(func(same []Entry) error {
				for _, e := range same {
					if e.Key.Group != same[0].Key.Group || e.Key.Place != same[0].Key.Place {
						t.Errorf("%v is in the group of %v", e.Key, same[0].Key)
					}
				}
				got = append(got, same...)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if g, w := fmt.Sprintf("%v", got), fmt.Sprintf("%v", want); g != w {
				t.Errorf("got %.300s\nwant %.300s", g, w)
			}
			s.Close()
			if left, err := os.ReadDir(os.Getenv("TMPDIR")); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}
