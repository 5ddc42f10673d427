package progress

import (
	"math"
	"math/bits"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/wire"
)

// Forecast estimates, before a scan begins, how many datagrams and how much time it
// takes. Each estimate is a range.
//
// The lower bound assumes that all targets of a list answer at once, with one
// datagram per question and one more for the challenge: lists come from masters,
// which know the servers that are up. The upper bound assumes that a third of these
// targets leave a question unanswered, such as RULES, which many games never
// answer.
//
// For networks, the lower bound assumes that no address answers, since most have no
// server; the upper bound assumes that all do.
type Forecast struct {
	Listed, InNetworks float64 // numbers of targets

	Questions   scanner.Questions
	Schedule    scanner.Schedule
	Learns      bool // the scan may learn shorter timeouts
	Cools       bool // the scan may shorten the cooldown if it learns shorter timeouts
	Fallback    bool // silent targets are also asked for PLAYER and a ping
	Cooldown    time.Duration
	Rate        float64 // datagrams per second; 0: no limit
	Finds       bool    // Rate is the maximum; the scan finds the rate that the path carries
	AddressRate float64 // datagrams per second to one address; 0: no limit
	Ports       int     // number of ports of each address in a network; 0: one
}

// usualReplies are the usual sizes of answers in bytes, including challenges.
var usualReplies = [wire.NumQuestions]float64{
	wire.QuestionInfo: 200, wire.QuestionPlayers: 800, wire.QuestionRules: 2000,
}

// unansweredShare: the upper bound assumes that one in this many targets of a list
// leaves a question unanswered.
const unansweredShare = 3

// addressTurn is how many datagrams a server takes from the rate limit of its
// address.
const addressTurn = 4

// silence returns how long a scan waits for a silent target.
func (fc *Forecast) silence() time.Duration { return fc.Schedule.Silence() }

// leastSilence returns the shortest time that the scan may wait for a silent
// target. It is shorter than silence if the scan may learn its timeouts.
func (fc *Forecast) leastSilence() time.Duration {
	if fc.Learns && fc.enough() {
		return fc.Schedule.Least()
	}
	return fc.silence()
}

// leastCooldown returns the shortest possible cooldown.
func (fc *Forecast) leastCooldown() time.Duration {
	if fc.Learns && fc.Cools && fc.enough() {
		return min(fc.Cooldown, scanner.LeastTimeout)
	}
	return fc.Cooldown
}

// enough reports whether there are enough targets for the scan to learn its
// timeouts.
func (fc *Forecast) enough() bool { return fc.Listed+fc.InNetworks >= scanner.LearnTrips }

// longest returns about how long the scan waits for a target that answers only some
// questions: it waits for the unanswered questions one after another.
func (fc *Forecast) longest() time.Duration { return Longest(fc.Schedule, fc.Questions) }

// Longest returns about the longest time that a scan waits for one target.
func Longest(s scanner.Schedule, qs scanner.Questions) time.Duration {
	return time.Duration(howMany(qs&scanner.AskAll)) * s.Silence()
}

// addressTime returns how many seconds the rate limit of an address needs for all
// ports of the address.
func (fc *Forecast) addressTime() float64 {
	if fc.AddressRate == 0 {
		return 0
	}
	each := float64(max(addressTurn, fc.Schedule.Attempts())) / fc.AddressRate
	return float64(max(1, fc.Ports)) * each
}

// howMany returns the number of questions in qs.
func howMany(qs scanner.Questions) int { return bits.OnesCount8(uint8(qs)) }

// datagrams returns bounds of how many datagrams are sent: least if no address in
// the networks answers, most if all do.
func (fc *Forecast) datagrams() (least, most float64) {
	whole := float64(1 + howMany(fc.Questions))
	attempts := float64(fc.Schedule.Attempts())
	listed, repeats := fc.Listed*whole, math.Ceil(fc.Listed/unansweredShare*(attempts-1))
	if fc.Fallback && fc.Questions.Has(wire.QuestionInfo) {
		attempts += 2
	}
	return listed + fc.InNetworks*min(attempts, whole), listed + repeats + fc.InNetworks*max(attempts, whole)
}

// replies returns how many bytes arrive if all listed targets answer.
func (fc *Forecast) replies() (bytes float64) {
	for q := range wire.Question(wire.NumQuestions) {
		if fc.Questions.Has(q) {
			bytes += fc.Listed * usualReplies[q]
		}
	}
	return bytes
}

// time returns how long it takes to send this many datagrams at the rate, plus end:
// the wait for the last target, and the cooldown.
func (fc *Forecast) time(datagrams float64, end time.Duration) time.Duration {
	seconds := datagrams / fc.Rate
	if fc.InNetworks > 0 {
		seconds = max(seconds, fc.addressTime())
	}
	if d := seconds * float64(time.Second); d < math.MaxInt64/2 {
		return time.Duration(d) + end
	}
	return math.MaxInt64 / 2
}

// slowest returns the forecast at the lowest rate that is likely. A path that
// carries less than the default rate is rare.
func (fc *Forecast) slowest() *Forecast {
	slow := *fc
	if fc.Finds {
		slow.Rate = min(fc.Rate, scanner.DefaultRate)
	}
	return &slow
}

// String formats the forecast as one line: "about 4M to 4.7M datagrams, 14 to 16
// min at 5k/s, depending on how many answer, with up to 3 GB of replies".
func (fc *Forecast) String() string {
	least, most := fc.datagrams()
	parts := []string{"about " + between(console.Short(least), console.Short(most)) + " datagrams"}
	if fc.Rate > 0 {
		soonest := fc.leastCooldown() // all targets of a list may answer at once
		if fc.InNetworks > 0 {
			soonest += fc.leastSilence()
		}
		latest := fc.longest() + fc.Cooldown
		slow, at := fc.slowest(), console.Short(fc.Rate)
		if fc.Finds {
			at = between(console.Short(slow.Rate), at)
		}
		times := between(console.RoughDuration(fc.time(least, soonest)), console.RoughDuration(slow.time(most, latest)))
		parts = append(parts, times+" at "+at+"/s")
	} else {
		parts = append(parts, "as fast as possible")
	}
	switch s := strings.Join(parts, ", "); {
	case fc.InNetworks == 0:
		return s + ", depending on how many answer, with up to " + roughly(fc.replies()) + " of replies"
	case least == most && fc.silence() == fc.longest():
		return s
	default:
		return s + ", depending on how many answer"
	}
}

// between formats a range. If both ends have the same unit, it appears once: 19 to
// 24 s.
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

// roughly formats an estimated number of bytes: 3 GB, 1.5 MB.
func roughly(bytes float64) string {
	number, unit, _ := strings.Cut(console.Bytes(uint64(bytes)), " ")
	if whole, tenth, ok := strings.Cut(number, "."); ok && (tenth == "0" || len(whole) > 1) {
		number = whole
	}
	return number + " " + unit
}
