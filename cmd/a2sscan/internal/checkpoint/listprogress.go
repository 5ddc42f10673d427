package checkpoint

import (
	"slices"
	"sync"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/scanner/list"
)

// listProgress provides the list's counts at each place that the scan may have
// reached. It is needed because the list is read, and its entries counted, ahead of
// the scan.
type listProgress struct {
	past list.Stats // counts of earlier runs

	mu     sync.Mutex
	marks  []progressMark // for places that the scan has not reached yet
	last   list.Stats
	behind *list.Stats // counts at the last mark that the scan has passed; nil: none

	ahead    exclusionCounts // exclusions up to each of the marks, and after the last one
	stops    []list.RuleID   // rules that excluded targets in the sender and are not yet counted in left
	reported uint64          // how many targets excluded by the sender are counted in left

	// Exclusions per rule in all runs, up to the place of the last call of at, and
	// two indexes into them.
	left  []ledger.Exclusion
	byKey map[string]int
	byID  map[list.RuleID]int
}

// progressMark holds the list's counts at the moment when the list yielded the
// target at place.
type progressMark struct {
	place uint64
	stats list.Stats
	left  int // number of entries of ahead between the previous mark and this one
}

// exclude counts n targets of the list that a rule excludes.
func (w *listProgress) exclude(rule list.RuleID, n uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ahead.add(rule, n)
}

// stopped counts a target that was excluded after it was taken from the list.
func (w *listProgress) stopped(rule list.RuleID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stops = append(w.stops, rule)
}

// pass records that the list yielded the target at place when its counts were s.
func (w *listProgress) pass(place uint64, s list.Stats) {
	s.Read, s.Given = 0, 0
	w.mu.Lock()
	defer w.mu.Unlock()
	left := w.ahead.close()
	if s != w.last || left > 0 {
		w.marks = append(w.marks, progressMark{place, s, left})
		w.last = s
	}
}

// at returns the list's counts before place in all runs. given is how many targets
// this run has taken from the list. place must not decrease from call to call.
func (w *listProgress) at(place, given uint64) list.Stats {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.marks) > 0 && w.marks[0].place < place {
		w.behind = &w.marks[0].stats
		w.count(w.ahead.takeOldest(w.marks[0].left))
		w.marks = w.marks[1:]
	}
	var now list.Stats
	if w.behind != nil {
		now = *w.behind
	}
	now.Given = given
	return w.total(now)
}

// count adds counts to left.
func (w *listProgress) count(counts []ruleCount) {
	for _, c := range counts {
		w.of(c.rule).Targets += c.targets
	}
	if len(w.byID) > 2*len(w.left)+1000 {
		clear(w.byID) // most belong to exclusion files that were reloaded
	}
}

// of returns the entry of a rule in left.
func (w *listProgress) of(rule list.RuleID) *ledger.Exclusion {
	i, known := w.byID[rule]
	if !known {
		i = w.find(rule.Rule())
		w.byID[rule] = i
	}
	return &w.left[i]
}

// find returns the index of a rule in left, and adds the rule if it is new.
func (w *listProgress) find(r list.Rule) int {
	i, known := w.byKey[r.Key()]
	if !known {
		i = len(w.left)
		w.byKey[r.Key()] = i
		w.left = append(w.left, ledger.Exclusion{
			Network: r.Network, Reason: r.Reason, Source: r.Source, Unscannable: r.Unscannable,
		})
	}
	return i
}

// inherit starts with the counts of the checkpoint past, which may be nil.
func (w *listProgress) inherit(past *Checkpoint) {
	w.byKey, w.byID = map[string]int{}, map[list.RuleID]int{}
	if past == nil {
		return
	}
	w.past, w.left = past.List, slices.Clone(past.LeftOut)
	for i := range w.left {
		w.byKey[w.left[i].Rule().Key()] = i
	}
}

// exclusions returns the exclusions per rule in all runs, up to the place of the
// last call of at. stops is how many targets the sender had excluded in this run at
// that time; it may have excluded more since, which do not count yet.
func (w *listProgress) exclusions(stops uint64) []ledger.Exclusion {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := min(int(stops-w.reported), len(w.stops))
	for _, rule := range w.stops[:n] {
		w.of(rule).Stopped++
	}
	w.stops = w.stops[n:]
	w.reported = stops
	return slices.Clone(w.left)
}

// AddExclusions adds the exclusions of earlier runs to the counts of the rules.
func (k *Checkpointer) AddExclusions(x *list.Exclusions) {
	if !k.Resumes() {
		return
	}
	var past []list.Rule
	for _, e := range k.Past.LeftOut {
		past = append(past, e.Rule())
	}
	x.Add(past)
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
