package scan

import (
	"math"
	"math/bits"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/timing"
	"github.com/a2sscan/a2sscan/wire"
)

// Forecast estimates, before a scan begins, how many datagrams and how much time the scan
// takes. Each estimate is a range.
//
// For the targets of a list, the lower bound assumes that all answer at once, with one
// datagram per question and one more for the challenge, because lists usually name servers
// that are up. The upper bound assumes that a third of these targets leave a question
// unanswered, such as RULES, which many games never answer.
//
// For networks, one bound assumes that no address answers, because most addresses have no
// server. The other bound assumes that all addresses answer.
type Forecast struct {
	Listed, InNetworks float64 // numbers of targets

	Questions   wire.Questions
	Schedule    timing.Schedule
	Fallback    bool    // the scan also sends PLAYER and a ping to silent targets
	Rate        float64 // datagrams per second; 0: no limit
	Finds       bool    // the scan finds the rate that the path carries, up to Rate
	AddressRate float64 // datagrams per second to one address; 0: no limit
	Ports       int     // number of ports of each address in a network; 0: one port
}

// The upper bound assumes that one in unansweredShare targets of a list leaves a question
// unanswered. addressTurn is the usual number of datagrams to one server that count towards
// the rate limit of its address.
const (
	unansweredShare = 3
	addressTurn     = 4
)

// longestSession estimates the longest time that a scan waits for one target. It assumes that
// the target answers no question, and that the scan asks one question after another.
func longestSession(s timing.Schedule, qs wire.Questions) time.Duration {
	return time.Duration(howMany(qs&wire.AskAll)) * s.Silence()
}

func howMany(qs wire.Questions) int { return bits.OnesCount8(uint8(qs)) }

// datagrams returns bounds for the number of datagrams sent. A silent address in a network
// gets one datagram per attempt. An address that answers gets one for the challenge and
// one for each question. Either number may be the upper bound.
func (fc *Forecast) datagrams() (least, most float64) {
	whole := float64(1 + howMany(fc.Questions))
	attempts := float64(fc.Schedule.Requests())
	listed, repeats := fc.Listed*whole, math.Ceil(fc.Listed/unansweredShare*(attempts-1))
	if fc.Fallback && fc.Questions.Has(wire.QuestionInfo) {
		attempts += 2
	}
	return listed + fc.InNetworks*min(attempts, whole), listed + repeats + fc.InNetworks*max(attempts, whole)
}

// String formats the forecast as one line: "about 4M to 4.7M datagrams, 14 to 16
// min at 5k/s, depending on how many answer".
func (fc *Forecast) String() string {
	least, most := fc.datagrams()
	s := "about " + between(console.Short(least), console.Short(most)) + " datagrams, "
	if fc.Rate > 0 {
		// With --rate auto, the upper bound of the time assumes that the path carries the
		// default rate, as most paths do, or fc.Rate if that is lower. Schedule.Least
		// considers that a scan of few targets learns no shorter timeouts.
		slowest := fc.Rate
		if fc.Finds {
			slowest = min(fc.Rate, scanner.DefaultRate)
		}
		silence, soonest := fc.Schedule.Least(fc.Listed + fc.InNetworks)
		latest := longestSession(fc.Schedule, fc.Questions) + fc.Schedule.Cooldown
		turns := 0.0 // seconds that the rate limit of an address needs for the datagrams to all its ports
		if fc.InNetworks > 0 {
			soonest += silence
			if fc.AddressRate > 0 {
				turns = float64(max(1, fc.Ports)*max(addressTurn, fc.Schedule.Requests())) / fc.AddressRate
			}
		}
		sending := func(datagrams, rate float64) time.Duration {
			return time.Duration(min(max(datagrams/rate, turns)*float64(time.Second), math.MaxInt64/2))
		}
		soonest, latest = soonest+sending(least, fc.Rate), latest+sending(most, slowest)
		s += between(console.RoughDuration(soonest), console.RoughDuration(latest)) +
			" at " + between(console.Short(slowest), console.Short(fc.Rate)) + "/s"
	} else {
		s += "as fast as possible"
	}
	if fc.InNetworks > 0 && least == most && howMany(fc.Questions&wire.AskAll) == 1 {
		return s
	}
	return s + ", depending on how many answer"
}

// between formats a range. A unit that both ends share appears once: 19 to 24 s.
func between(a, b string) string {
	if a == b {
		return a
	}
	number, unit, _ := strings.Cut(a, " ")
	if _, other, _ := strings.Cut(b, " "); unit == other {
		a = number
	}
	return a + " to " + b
}
