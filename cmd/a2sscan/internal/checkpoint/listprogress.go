package checkpoint

import (
	"slices"
	"sync"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/scanner/list"
)

// walked knows what the list's numbers were at each place where the scan may
// stand. The list is read ahead of the scan, and its own numbers with it.
type listProgress struct {
	past list.Stats // of the parts before this one

	mu     sync.Mutex
	marks  []walkMark // at places that the scan has not reached
	last   list.Stats
	behind *list.Stats // in front of the place that was asked for last; nil: none was passed

	ahead    exclusionCounts // what rules left out in front of these places
	stops    []list.RuleID   // that stopped the sender, and are not in left
	reported uint64          // how many of those are in it

	// What rules left out in all parts, up to the place that was asked for last,
	// and where in that they stand.
	left  []ledger.Exclusion
	byKey map[string]int
	byID  map[list.RuleID]int
}

// walkMark is what the list had counted when it gave out the target at a
// place.
type walkMark struct {
	place uint64
	stats list.Stats
	left  int // how much of ahead is in front of it, and behind the mark before
}

// leaveOut is called when the list leaves targets out.
func (w *listProgress) leaveOut(rule list.RuleID, n uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ahead.add(rule, n)
}

// stop is called when the sender is told that an address is excluded.
func (w *listProgress) stopped(rule list.RuleID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stops = append(w.stops, rule)
}

// pass is called for each target that the list gives out.
func (w *listProgress) pass(place uint64, s list.Stats) {
	s.Read, s.Given = 0, 0
	w.mu.Lock()
	defer w.mu.Unlock()
	left := w.ahead.close()
	if s != w.last || left > 0 {
		w.marks = append(w.marks, walkMark{place, s, left})
		w.last = s
	}
}

// at returns the numbers in front of a place, of which this part gave out so
// many targets. Places only grow.
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

// settle counts what was left out in front of a place.
func (w *listProgress) count(counts []ruleCount) {
	for _, c := range counts {
		w.of(c.rule).Targets += c.targets
	}
	if len(w.byID) > 2*len(w.left)+1000 {
		clear(w.byID) // most are of files that were read again
	}
}

// of returns what is in left of a rule.
func (w *listProgress) of(rule list.RuleID) *ledger.Exclusion {
	i, known := w.byID[rule]
	if !known {
		i = w.find(rule.Rule())
		w.byID[rule] = i
	}
	return &w.left[i]
}

// find returns where a rule stands in left.
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

// inherit takes over what earlier parts counted; past may be nil.
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

// leftOut returns what each rule left out in all parts, in front of the place that
// was asked for last, and until the sender was told of stops exclusions in this
// part. It may have been told of more since.
func (w *listProgress) leftOut(stops uint64) []ledger.Exclusion {
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

// AddExclusions adds what the parts before this one left out to the numbers of
// the rules.
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

// total are the numbers of all parts, when the list counts now. What is invalid
// or there twice is found again by each part.
func (w *listProgress) total(now list.Stats) list.Stats {
	now.Invalid = max(now.Invalid, w.past.Invalid) // where it was not read so far again
	now.Duplicate = max(now.Duplicate, w.past.Duplicate)
	now.Unscannable += w.past.Unscannable
	now.NoPort += w.past.NoPort
	now.Excluded += w.past.Excluded
	now.OtherShard += w.past.OtherShard
	now.Given += w.past.Given
	now.Read = now.Invalid + now.Unscannable + now.Excluded + now.Duplicate + now.OtherShard + now.Given
	return now
}
