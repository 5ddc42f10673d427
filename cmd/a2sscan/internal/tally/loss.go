package tally

import (
	"fmt"
	"math"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// FirstAnswers is on which ask servers answered first, and what follows from
// that for those that answered none.
//
// A server that is there answers an ask with some probability p, the same for
// each: datagrams get lost. Then the attempts that it took follow a geometric
// distribution, of which we see the part up to the last ask, and the maximum
// likelihood estimate of p is the one for which the mean of that part is the
// mean that was seen. Those that a scan misses are n·q/(1-q), of n that
// answered, where q is the probability that none of the attempts is answered.
//
// What is silent for another reason than chance is not among them: servers
// that are down, behind a firewall, or overloaded all the time. Where losses
// come together (a full queue on the way), p is lower for the ask right behind a
// lost one, and the estimate too low; a second look is much later and sees more.
type FirstAnswers struct {
	AtAsk  []uint64 `json:"at_ask"`                    // servers, from the first ask
	Chance *float64 `json:"answer_chance,omitempty"`   // p
	Missed *float64 `json:"missed_estimate,omitempty"` // servers; absent where it can't be told
}

// NewFirstAnswers makes the estimate of a scan that asked silent targets so
// many times.
func NewFirstAnswers(atAsk []uint64, attempts int) FirstAnswers {
	fa := FirstAnswers{AtAsk: append([]uint64{}, atAsk...)}
	for len(fa.AtAsk) < attempts {
		fa.AtAsk = append(fa.AtAsk, 0)
	}
	if p, lost, ok := estimateMissed(fa.AtAsk); ok {
		fa.Chance, fa.Missed = &p, &lost
	}
	return fa
}

// estimateMissed returns the chance of an answer and how many servers gave none.
// With one ask, or where later attempts were answered as often as the first, that
// can't be told.
func estimateMissed(atAsk []uint64) (p, lost float64, ok bool) {
	var n, sum float64
	for i, servers := range atAsk {
		n += float64(servers)
		sum += float64(servers) * float64(i+1)
	}
	attempts := float64(len(atAsk))
	if n == 0 || attempts < 2 || sum/n >= (attempts+1)/2*0.99 {
		return 0, 0, false
	}
	silent := silentChance(sum/n, len(atAsk))
	none := math.Pow(silent, attempts)
	return 1 - silent, n * none / (1 - none), true
}

// silentChance is the chance that an ask is not answered for which a server
// that answers one of so many takes mean of them.
func silentChance(mean float64, attempts int) float64 {
	low, high := 0.0, 1.0
	for range 60 {
		q := (low + high) / 2
		if meanAsks(q, attempts) < mean {
			low = q
		} else {
			high = q
		}
	}
	return (low + high) / 2
}

func meanAsks(q float64, attempts int) float64 {
	var all, sum float64
	for k, chance := 1, 1.0; k <= attempts; k++ {
		all += chance
		sum += chance * float64(k)
		chance *= q
	}
	return sum / all
}

// String describes it in one line.
func (fa *FirstAnswers) String() string {
	s := ""
	for i, n := range fa.AtAsk {
		switch {
		case i == 0:
			s = console.Grouped(n) + " at the first request"
		case n > 0:
			s += fmt.Sprintf(", %s at number %d", console.Grouped(n), i+1)
		}
	}
	if fa.Missed == nil {
		return s
	}
	if n := uint64(math.Round(*fa.Missed)); n > 0 {
		s += fmt.Sprintf("; datagrams that got lost hid about %s more", console.Grouped(n))
	}
	return s
}
