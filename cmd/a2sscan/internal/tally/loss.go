package tally

import (
	"fmt"
	"math"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// FirstAnswers counts servers by the attempt that they answered first, and
// estimates how many servers answered no attempt.
//
// Datagrams get lost, so a server that is up answers an attempt with some
// probability p, which is assumed to be the same for each attempt. Then the number
// of attempts until the first answer has a geometric distribution. A scan sees this
// distribution only up to the scan's last attempt. The maximum likelihood estimate
// of p is the value that gives the truncated distribution the observed mean. If n
// servers answered, the scan missed about n·q/(1-q), where q is the probability
// that none of the attempts is answered.
//
// The estimate covers only servers that were silent by chance. It does not cover
// servers that are down, behind a firewall, or overloaded all the time. If losses
// come in bursts, as when a queue on the path is full, the attempt after a lost
// attempt has a lower p, and the estimate is too low. A second pass comes much
// later and finds more of these servers.
type FirstAnswers struct {
	AtAsk  []uint64 `json:"at_ask"`                    // number of servers per attempt, from the first attempt on
	Chance *float64 `json:"answer_chance,omitempty"`   // p; absent: it can't be estimated
	Missed *float64 `json:"missed_estimate,omitempty"` // number of servers; absent: it can't be estimated
}

// NewFirstAnswers returns the counts and the estimate of a scan that queried silent
// targets this many times.
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

// estimateMissed returns the chance that an attempt is answered, and how many
// servers answered no attempt. ok is false if there is only one attempt, or if
// later attempts were answered as often as the first.
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

// silentChance returns the probability that an attempt is not answered. It is the
// probability for which servers that answer one of the attempts first answer, on
// average, attempt number mean.
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

// ordinals are the words for the first attempts.
var ordinals = []string{"first", "second", "third", "fourth", "fifth"}

// String formats the counts and the estimate as one line.
func (fa *FirstAnswers) String() string {
	s := ""
	for i, n := range fa.AtAsk {
		switch {
		case i == 0:
			s = console.Grouped(n) + " at the first request"
		case n > 0 && i < len(ordinals):
			s += fmt.Sprintf(", %s at the %s", console.Grouped(n), ordinals[i])
		case n > 0:
			s += fmt.Sprintf(", %s at request %d", console.Grouped(n), i+1)
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
