package checkpoint

import "github.com/a2sscan/a2sscan/scanner/list"

// ruleCount is how many targets a rule left out.
type ruleCount struct {
	rule    list.RuleID
	targets uint64
}

// leftOut is what rules left out, gap after gap: a gap is what lies between two
// targets that a list gave out. Each rule stands in a gap once, so that a long
// one takes no more room than there are rules.
type exclusionCounts struct {
	counts []ruleCount         // the oldest first
	closed int                 // of counts, those of gaps that are closed
	at     map[list.RuleID]int // in counts, of the last gap if that has many rules
}

// fewRules is how many rules of a gap are looked through one by one.
const fewRules = 8

// add counts targets in the last gap.
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

// find returns where a rule stands in the last gap, -1 if it doesn't.
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

// take takes the n oldest counts out, which are of closed gaps. They are valid
// until the next add.
func (l *exclusionCounts) takeOldest(n int) []ruleCount {
	oldest := l.counts[:n]
	l.counts = l.counts[n:]
	l.closed -= n
	for rule := range l.at {
		l.at[rule] -= n
	}
	return oldest
}
