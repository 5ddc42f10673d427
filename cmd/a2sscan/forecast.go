package main

import (
	"math"
	"math/bits"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/wire"
)

// forecast is what a scan is going to take, before it is begun. It takes what is
// named one by one to answer, with one datagram a question and one more for the
// challenge, since lists come from masters that know who is up; and addresses of
// networks to be silent, since most have no server: they are asked as often as
// --retries and --second-look say. The truth lies between.
type forecast struct {
	listed, spread float64 // targets: named one by one, and in networks

	questions scanner.Questions
	asks      int           // of a silent target
	wait      time.Duration // for a target that stays silent
	longest   time.Duration // for one that answers some of it
	cooldown  time.Duration
	rate      float64 // datagrams a second; 0: as fast as it goes
	ports     float64 // of each address of networks
	each      float64 // seconds between two servers of an address
}

// usualReplies are bytes, as answers usually are, with their challenge.
var usualReplies = [wire.NumQuestions]float64{
	wire.QuestionInfo: 200, wire.QuestionPlayers: 800, wire.QuestionRules: 2000,
}

// addressTurn is how many datagrams of an address's limit a server takes.
const addressTurn = 4

// newForecast is that of a scan of these flags.
func (f *scanFlags) newForecast(listed, spread float64) *forecast {
	fc := &forecast{
		listed: listed, spread: spread,
		questions: scanner.Questions(f.query), asks: f.asks(),
		cooldown: f.cooldown, rate: float64(f.rate), ports: 1,
	}
	fc.wait, fc.longest = f.silentFor(), f.partlyFor()
	if ports, err := readPorts("--port", f.ports); err == nil {
		fc.ports = float64(max(1, ports.Len()))
	}
	if f.addressRate > 0 {
		fc.each = float64(max(addressTurn, f.asks())) / float64(f.addressRate)
	}
	return fc
}

// schedule is when a target is asked again.
func (f *scanFlags) schedule() scanner.Schedule {
	return scanner.Schedule{Timeout: f.timeout, Retries: f.retries, SecondPass: f.secondLook}
}

// silentFor is how long the scan waits for a target that stays silent.
func (f *scanFlags) silentFor() time.Duration { return f.schedule().Silence() }

// partlyFor is about how long the scan waits at most for a target that answers
// some questions only: it asks the silent ones one after another.
func (f *scanFlags) partlyFor() time.Duration {
	return time.Duration(howMany(scanner.Questions(f.query))) * f.silentFor()
}

// howMany is how many questions there are.
func howMany(qs scanner.Questions) int { return bits.OnesCount8(uint8(qs)) }

// datagrams is how many are sent, if none in the networks answers and if all do.
func (fc *forecast) datagrams() (least, most float64) {
	whole := float64(1 + howMany(fc.questions))
	listed := fc.listed * whole
	asks := float64(fc.asks)
	return listed + fc.spread*min(asks, whole), listed + fc.spread*max(asks, whole)
}

// replies is how many bytes come.
func (fc *forecast) replies() (bytes float64) {
	for q := range wire.Question(wire.NumQuestions) {
		if fc.questions.Has(q) {
			bytes += fc.listed * usualReplies[q]
		}
	}
	return bytes
}

// time is how long so many datagrams take, where there is a rate, and then the
// last target in a network.
func (fc *forecast) time(datagrams float64, last time.Duration) time.Duration {
	seconds := datagrams / fc.rate
	end := fc.cooldown
	if fc.spread > 0 {
		seconds = max(seconds, fc.ports*fc.each)
		end += last
	}
	if d := seconds * float64(time.Second); d < math.MaxInt64/2 {
		return time.Duration(d) + end
	}
	return math.MaxInt64 / 2
}

// String says it: "about 4M datagrams, 14 min at 5k a second, 3 GB of replies if
// all answer". In networks nobody knows how many answer: "19 to 24 s".
func (fc *forecast) String() string {
	least, most := fc.datagrams()
	parts := []string{"about " + between(console.Short(least), console.Short(most)) + " datagrams"}
	if fc.rate > 0 {
		times := between(console.RoughDuration(fc.time(least, fc.wait)), console.RoughDuration(fc.time(most, fc.longest)))
		parts = append(parts, times+" at "+console.Short(fc.rate)+" a second")
	} else {
		parts = append(parts, "as fast as it goes")
	}
	switch s := strings.Join(parts, ", "); {
	case fc.spread == 0:
		return s + ", " + roughly(fc.replies()) + " of replies if all answer"
	case least == most && fc.wait == fc.longest:
		return s
	default:
		return s + ", by how many answer"
	}
}

// between is from one quantity to another, with the unit of both said once: 19 to
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

// roughly writes a number of bytes that is not known well: 3 GB, 1.5 MB.
func roughly(bytes float64) string {
	number, unit, _ := strings.Cut(console.Bytes(uint64(bytes)), " ")
	if whole, tenth, ok := strings.Cut(number, "."); ok && (tenth == "0" || len(whole) > 1) {
		number = whole
	}
	return number + " " + unit
}

// foresee returns the forecast of what is left to ask, and of how many targets
// it is; known is false where the list does not say how long it is.
func (j *job) foresee() (fc *forecast, n uint64, known bool) {
	size, known := j.list.Size()
	if !known {
		return nil, 0, false
	}
	n, most := size, j.maxTargets
	if past := j.pastCheckpoint(); past != nil {
		n -= min(n, past.Place)
		most -= min(most, past.List.Given)
	}
	if j.maxTargets > 0 {
		n = min(n, most)
	}
	if past := j.pastCheckpoint(); past != nil {
		n += uint64(len(past.open)) + uint64(past.Silent.waiting())
	}
	here := float64(n) / float64(max(1, j.shard.Count))
	listed := here * float64(j.list.Listed()) / float64(max(size, 1))
	return j.newForecast(listed, here-listed), n, true
}

// pastCheckpoint is what the scan goes on with, nil if it begins.
func (j *job) pastCheckpoint() *checkpoint {
	if !j.keep.resumes() {
		return nil
	}
	return j.keep.past
}

// sayPlan says what is going to be asked, and what that takes.
func (j *job) sayPlan() {
	fc, n, known := j.foresee()
	left := ""
	if j.keep.resumes() {
		left = " left"
	}
	switch {
	case j.scanFlags.dryRun && known: // how many of them are asked, and what that takes, comes at its end
		j.Say("%s%s %s", console.Plural(n, "target"), left, j.said())
	case !known:
		j.Say("targets%s as they come, %s; %s", left, console.PerSecond(float64(j.rate)), j.said())
	case j.shard.Count > 1:
		j.Say("%s targets%s, 1 in %d of them ours, %s; %s", console.Grouped(n), left, j.shard.Count, fc, j.said())
	default:
		j.Say("%s%s, %s; %s", console.Plural(n, "target"), left, fc, j.said())
	}
}
