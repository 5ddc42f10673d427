package checkpoint

import "github.com/a2sscan/a2sscan/scanner/list"

// ruleCount is how many targets a rule excluded.
type ruleCount struct {
	rule    list.RuleID
	targets uint64
}

// exclusionCounts counts exclusions per rule and gap. A gap is the part of a list
// between two targets that the list yields. A rule has at most one entry per gap,
// so even a long gap has no more entries than there are rules.
type exclusionCounts struct {
	counts []ruleCount         // oldest first
	closed int                 // how many of the oldest counts belong to closed gaps
	at     map[list.RuleID]int // index in counts of each rule of the last gap; nil: the gap has few rules
}

// fewRules is the maximum number of rules in a gap that find searches linearly.
const fewRules = 8

// add counts n more targets that rule excluded in the last gap.
func (l *exclusionCounts) add(rule list.RuleID, n uint64) {
	if i := l.find(rule); i >= 0 {
		l.counts[i].targets += n
		return
	}
	l.counts = append(l.counts, ruleCount{rule, n})
	switch gap := len(l.counts) - l.closed; {
	case l.at != nil:
		l.at[rule] = len(l.counts) - 1
	case gap > fewRules:
		l.at = map[list.RuleID]int{}
		for i := l.closed; i < len(l.counts); i++ {
			l.at[l.counts[i].rule] = i
		}
	}
}

// find returns the index in counts of a rule in the last gap; -1 if the rule has no
// count there.
func (l *exclusionCounts) find(rule list.RuleID) int {
	if l.at != nil {
		if i, there := l.at[rule]; there {
			return i
		}
		return -1
	}
	for i := l.closed; i < len(l.counts); i++ {
		if l.counts[i].rule == rule {
			return i
		}
	}
	return -1
}

// close ends the last gap and returns how many rules are in it.
func (l *exclusionCounts) close() int {
	n := len(l.counts) - l.closed
	l.closed, l.at = len(l.counts), nil
	return n
}

// takeOldest removes and returns the n oldest counts, which must belong to closed
// gaps. They are valid until the next add.
func (l *exclusionCounts) takeOldest(n int) []ruleCount {
	oldest := l.counts[:n]
	l.counts = l.counts[n:]
	l.closed -= n
	for rule := range l.at {
		l.at[rule] -= n
	}
	return oldest
}
