package scanner

import "time"

// PathRate is what a scan with Config.FindRate found out about its path.
type PathRate struct {
	On      bool    // the scan finds its rate
	Most    float64 // the maximum rate, in datagrams per second
	Now     float64 // the current rate
	Carried float64 // what the path carried when it was last full; 0: it never was
	Lost    float64 // the share of first requests that was lost then, from 0 to 1

	Raised    uint64 // how many times the rate was raised
	Slowed    uint64 // how many times the rate was lowered
	Unrelated uint64 // how many times loss increased but did not follow the rate

	Changes [KeptChanges]RateChange // the last changes of the rate, the latest first
}

// KeptChanges is the maximum number of changes of the rate that a PathRate holds.
const KeptChanges = 16

// RateChange is a change of the rate that a scan made itself.
type RateChange struct {
	At       time.Duration // since the scan began; 0: this element is unused
	From, To float64       // datagrams per second
	Why      Why           // the reason
}

// Why is the reason for a change of the rate.
type Why uint8

// The reasons.
const (
	WhyClear   Why = iota // at the higher rate as many requests were answered as at the lower one
	WhyLoss               // at the higher rate fewer were answered
	WhyMachine            // likewise, and this machine dropped datagrams
	WhyUnclear            // too few servers answer to compare

	NumWhys = iota
)

var whyWords = [NumWhys]string{"clear", "loss", "drops_here", "few_answers"}

var whyTexts = [NumWhys]string{
	"no more loss than at the lower rate", "the path lost more at the higher rate",
	"this machine dropped datagrams at the higher rate", "too few servers answer to see loss",
}

// Word returns the summary's word for w.
func (w Why) Word() string { return whyWords[w] }

// String describes w for a person.
func (w Why) String() string { return whyTexts[w] }

// note adds a change.
func (x *PathRate) note(c RateChange) {
	copy(x.Changes[1:], x.Changes[:])
	x.Changes[0] = c
}
