package bench

import "testing"

func TestZZ(t *testing.T) {
	s := newSample()
	for range 6 {
		var line []any
		for _, w := range serverWork(s) {
			best := durationOf(w.run)
			for range 200 {
				best = min(best, durationOf(w.run))
			}
			line = append(line, w.name, best.Nanoseconds()/48)
		}
		t.Log(line...)
	}
}
