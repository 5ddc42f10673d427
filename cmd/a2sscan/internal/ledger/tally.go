package ledger

import (
	"fmt"
	"math"
	"slices"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
)

// Tally counts the servers that a scan found. Its JSON is part of a checkpoint.
type Tally struct {
	Servers uint64 `json:"servers"` // servers that answered
	Players uint64 `json:"players"` // people, as the games count them
	Bots    uint64 `json:"bots"`    // players that are programs
	// Corrected counts the servers whose player count does not come from INFO.
	Corrected uint64 `json:"corrected,omitempty"`

	AtAsk []uint64   `json:"at_ask"` // number of servers whose first answer was to attempt 1, 2, and so on
	Trips roundTrips `json:"round_trips"`
}

// Clone returns a copy that later calls of Add do not change.
func (t *Tally) Clone() Tally {
	c := *t
	c.AtAsk = slices.Clone(t.AtAsk)
	if t.Trips.h != nil {
		c.Trips.h = t.Trips.h.Clone()
	}
	return c
}

// Add counts a result.
func (t *Tally) Add(r *scanner.Result) {
	if !r.Answered() {
		return
	}
	t.Servers++
	if attempt := int(r.Attempt); attempt > 0 {
		for len(t.AtAsk) < attempt {
			t.AtAsk = append(t.AtAsk, 0)
		}
		t.AtAsk[attempt-1]++
	}
	if r.RTT > 0 {
		t.Trips.add(r.RTT)
	}
	if !r.HasInfo {
		return
	}
	p := r.Population()
	t.Players += uint64(max(p.People, 0))
	t.Bots += uint64(max(p.Bots, 0))
	if p.Elsewhere {
		t.Corrected++
	}
}

// Line formats how many servers, people and bots were found. Its argument, asked, is the
// number of targets that were queried.
func (t *Tally) Line(asked uint64) string {
	if t.Servers == 0 {
		return "no server"
	}
	s := fmt.Sprintf("%s (%s)", console.Plural(t.Servers, "server"), console.Percent(t.Servers, asked))
	if t.Players > 0 {
		s += ", " + console.Plural(t.Players, "player")
	}
	if t.Bots > 0 {
		s += ", " + console.Plural(t.Bots, "bot")
	}
	return s
}

// FirstAnswers counts servers by the attempt that they answered first, and estimates how
// many servers answered no attempt, because datagrams get lost.
//
// If each attempt is answered with the same probability p, the number of attempts until the
// first answer has a geometric distribution, of which a scan sees only the part up to its
// last attempt. The maximum likelihood estimate of p is the value for which the truncated
// distribution has the observed mean. If n servers answered, the scan missed about
// n·q/(1-q), where q is the probability that none of the attempts is answered. If losses
// come in bursts, the estimate is too low. It does not cover servers that are down.
type FirstAnswers struct {
	AtAsk  []uint64 `json:"at_ask"`                    // number of servers per attempt, from the first attempt on
	Chance *float64 `json:"answer_chance,omitempty"`   // p; absent: p can't be estimated
	Missed *float64 `json:"missed_estimate,omitempty"` // number of servers; absent: unknown
}

// estimateMissed returns the probability that an attempt is answered, and the estimated
// number of servers that answered no attempt. It returns false if no server answered, if
// there is only one attempt, or if the other attempts were answered about as often as the
// first.
func estimateMissed(atAsk []uint64) (p, missed float64, ok bool) {
	var n, sum float64
	for i, servers := range atAsk {
		n += float64(servers)
		sum += float64(servers) * float64(i+1)
	}
	attempts := float64(len(atAsk))
	if n == 0 || attempts < 2 || sum/n >= (attempts+1)/2*0.99 {
		return 0, 0, false
	}
	low, high := 0.0, 1.0 // bounds of the probability that an attempt is not answered
	for range 60 {
		q := (low + high) / 2
		var all, asks float64 // among servers that answer one of the attempts
		for k, chance := 1, 1.0; k <= len(atAsk); k++ {
			all += chance
			asks += chance * float64(k)
			chance *= q
		}
		if asks/all < sum/n {
			low = q
		} else {
			high = q
		}
	}
	silent := (low + high) / 2
	none := math.Pow(silent, attempts)
	return 1 - silent, n * none / (1 - none), true
}

// String formats the counts and the estimate as one line.
func (fa *FirstAnswers) String() string {
	s := ""
	for i, n := range fa.AtAsk {
		switch {
		case i == 0:
			s = console.Grouped(n) + " at the first request"
		case n > 0:
			s += fmt.Sprintf(", %s at request %d", console.Grouped(n), i+1)
		}
	}
	if fa.Missed == nil {
		return s
	}
	if n := uint64(math.Round(*fa.Missed)); n > 0 {
		s += fmt.Sprintf("; about %s more seemed silent because datagrams were lost", console.Grouped(n))
	}
	return s
}
