package scan

import (
	"sync"

	"github.com/a2sscan/a2sscan/scanner/list"
)

// listProgress provides the list's counts at each place that the scan may have reached.
// The list reads and counts its entries ahead of the scan, so its current counts include
// entries that the scan has not reached.
type listProgress struct {
	past list.Stats // counts of earlier runs

	mu     sync.Mutex
	marks  []progressMark // marks at places that the scan has not reached yet
	last   list.Stats     // counts of the newest mark
	behind list.Stats     // counts of the newest mark that the scan has passed
}

// progressMark holds the list's counts at the moment when the list yielded the
// target at place.
type progressMark struct {
	place uint64
	stats list.Stats
}

// pass records that the list's counts were s when the list yielded the target at place.
func (w *listProgress) pass(place uint64, s list.Stats) {
	s.Read, s.Given = 0, 0
	w.mu.Lock()
	defer w.mu.Unlock()
	if s != w.last {
		w.marks = append(w.marks, progressMark{place, s})
		w.last = s
	}
}

// at returns the list's counts for the entries before place, over all runs. Its second
// argument, given, is the number of targets that this run has taken from the list. The
// place must not decrease from call to call.
func (w *listProgress) at(place, given uint64) list.Stats {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.marks) > 0 && w.marks[0].place < place {
		w.behind = w.marks[0].stats
		w.marks = w.marks[1:]
	}
	now := w.behind
	now.Given = given
	return w.total(now)
}

// total adds the counts of earlier runs to its argument, the counts of this run. But
// each run counts invalid and duplicate lines from the start of the list, so total uses
// the larger of the two counts for such lines.
func (w *listProgress) total(now list.Stats) list.Stats {
	now.Invalid = max(now.Invalid, w.past.Invalid) // this run may have read less of the list than earlier runs
	now.Duplicate = max(now.Duplicate, w.past.Duplicate)
	now.BadPort = max(now.BadPort, w.past.BadPort)
	now.DefaultPort = max(now.DefaultPort, w.past.DefaultPort)
	now.Unscannable += w.past.Unscannable
	now.NoPort += w.past.NoPort
	now.Excluded += w.past.Excluded
	now.OtherShard += w.past.OtherShard
	now.Given += w.past.Given
	now.Read = now.Invalid + now.Unscannable + now.Excluded + now.Duplicate + now.OtherShard + now.Given
	return now
}
