package scanner

import "testing"

// TestFeedStalls: the loop gets all targets that were read, also while the list has no
// more for now.
func TestFeedStalls(t *testing.T) {
	stalled, goOn := make(chan bool), make(chan bool)
	f := newFeed(func() {})
	go f.run(func(yield func(Target) bool) {
		for i := range 2 * feedBlock {
			if i == 3 {
				stalled <- true
				<-goOn
			}
			if !yield(Target{Place: uint64(i)}) {
				return
			}
		}
	})
	<-stalled
	for i := range 3 {
		if got := f.next(); got == nil || got.Place != uint64(i) {
			t.Fatalf("target %d: %v", i, got)
		}
	}
	if f.next() != nil || f.ended {
		t.Error("the list has not ended, and has nothing for now")
	}
	close(goOn)
	f.end()
}
