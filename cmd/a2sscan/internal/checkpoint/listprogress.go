package checkpoint

import (
	"slices"
	"sync"

	"github.com/a2sscan/a2sscan/scanner/list"
)

// listProgress provides the list's counts at each place that the scan may have
// reached. It is needed because the list is read, and its entries counted, ahead of
// the scan.
type listProgress struct {
	past list.Stats       // counts of earlier runs
	left []list.Exclusion // what excluded targets in all runs, up to the last place of at

	mu     sync.Mutex
	marks  []progressMark // for places that the scan has not reached yet
	last   progressMark
	behind *list.Stats // counts at the last mark that the scan has passed; nil: none
}

// progressMark holds the list's counts at the moment when the list yielded the
// target at place.
type progressMark struct {
	place uint64
	stats list.Stats
	left  []uint64 // per source of exclusions, in all runs; not changed once it is set
}

// pass records that the list yielded the target at place when its counts were s.
func (w *listProgress) pass(place uint64, s list.Stats, x *list.Exclusions) {
	s.Read, s.Given = 0, 0
	w.mu.Lock()
	defer w.mu.Unlock()
	if s == w.last.stats {
		return
	}
	now := progressMark{place, s, w.last.left}
	if s.Excluded != w.last.stats.Excluded || s.Unscannable != w.last.stats.Unscannable {
		now.left = nil
		for _, source := range x.Counts() {
			now.left = append(now.left, source.Targets)
		}
	}
	w.marks = append(w.marks, now)
	w.last = now
}

// at returns the list's counts before place in all runs, and what excluded targets
// before it. given is how many targets this run has taken from the list. place must
// not decrease from call to call.
func (w *listProgress) at(place, given uint64) (list.Stats, []list.Exclusion) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.marks) > 0 && w.marks[0].place < place {
		w.behind = &w.marks[0].stats
		for i, n := range w.marks[0].left {
			w.left[i].Targets = n
		}
		w.marks = w.marks[1:]
	}
	var now list.Stats
	if w.behind != nil {
		now = *w.behind
	}
	now.Given = given
	return w.total(now), slices.Clone(w.left)
}

// total returns the counts of all runs, given those of this run. Each run counts
// invalid and duplicate lines again from the start of the list.
func (w *listProgress) total(now list.Stats) list.Stats {
	now.Invalid = max(now.Invalid, w.past.Invalid) // this run may have read less of the list so far
	now.Duplicate = max(now.Duplicate, w.past.Duplicate)
	now.Unscannable += w.past.Unscannable
	now.NoPort += w.past.NoPort
	now.Excluded += w.past.Excluded
	now.OtherShard += w.past.OtherShard
	now.Given += w.past.Given
	now.Read = now.Invalid + now.Unscannable + now.Excluded + now.Duplicate + now.OtherShard + now.Given
	return now
}
