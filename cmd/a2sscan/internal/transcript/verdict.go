package transcript

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/wire"
)

// Session is a complete session with one server.
type Session struct {
	Timeout time.Duration // for the first request
	Retries int
	Tap     *Tap
	Log     *Transcript
	Result  *scanner.Result

	seen observed // what Judge saw in all datagrams
}

func (s *Session) target() netip.AddrPort { return s.Log.target }

// These are the verdicts. Each is a fixed word for programs; Verdict.Text explains
// it.
const (
	Up          = "up"             // every question got a complete answer
	Partial     = "partial"        // up, but some questions did not get a complete answer
	Limited     = "limited"        // the server reports too many queries
	Banned      = "banned"         // the server reports that we are banned
	Filtered    = "filtered"       // challenges arrive, but no answers
	Loop        = "challenge_loop" // challenges arrive without end
	Incomplete  = "incomplete"     // fragments arrived, but no complete reply
	Faulty      = "faulty"         // malformed A2S arrived
	NotA2S      = "not_a2s"        // datagrams arrived, but not A2S
	Elsewhere   = "elsewhere"      // replies came from another address or port
	Late        = "late"           // replies came after the last timeout
	Unreachable = "unreachable"    // ICMP reports the port or host unreachable
	Unsent      = "unsent"         // no datagram could be sent
	Silent      = "silent"         // nothing arrived
)

// Verdict is the diagnosis of a server.
type Verdict struct {
	Word  string   `json:"verdict"`
	Text  []string `json:"text"`            // sentences, the most important one first
	Hints []string `json:"hints,omitempty"` // why other programs may see less, and what else was unusual
}

// Failure returns the error message of a run whose verdict is not Up.
func (v *Verdict) Failure() string {
	return "not every question has a complete answer: " + strings.ReplaceAll(v.Word, "_", " ")
}

func (v *Verdict) add(format string, args ...any) {
	v.Text = append(v.Text, fmt.Sprintf(format, args...))
}

func (v *Verdict) addHint(format string, args ...any) {
	v.Hints = append(v.Hints, fmt.Sprintf(format, args...))
}

// Judge returns the verdict on the server.
func (s *Session) Judge() *Verdict {
	s.seen = s.Log.observe()
	v := &Verdict{Word: s.word()}
	v.Text = append(v.Text, s.headline(v.Word))
	if s.answered() || v.Word == Faulty {
		s.explainQuestions(v)
	}
	s.explainFragments(v)
	if m := s.Result.Message; len(m) > 0 {
		v.add("its message: %s", console.Quoted(string(m), 120))
	}
	if v.Word == Silent {
		if s.target().Addr().IsLinkLocalUnicast() {
			v.add("this is a link-local address, used by Steam Datagram Relay or by a network " +
				"without configuration: UDP does not reach it")
		}
		v.Text = append(v.Text, silenceMeans...)
	}
	s.addHints(v)
	return v
}

// answered reports whether any question has an answer.
func (s *Session) answered() bool {
	return s.Result.Status == scanner.StatusOK || s.Result.Status == scanner.StatusPartial
}

// failed reports whether any question ended with the error code.
func (s *Session) failed(code wire.Error) bool { return slices.Contains(s.Result.Err[:], code) }

// word chooses the verdict. What the server itself reports comes first.
func (s *Session) word() string {
	r, useless := s.Result, s.Result.Status == scanner.StatusError
	switch {
	case r.Status == scanner.StatusOK:
		return Up
	case s.failed(wire.ErrBanned):
		return Banned
	case s.failed(wire.ErrRateLimited):
		return Limited
	case r.Status == scanner.StatusPartial:
		return Partial
	case r.Status == scanner.StatusUnreachable:
		return Unreachable
	case useless && s.failed(wire.ErrChallengeLoop):
		return Loop
	case useless && len(s.seen.junk) > 0 && !s.seen.speaks:
		return NotA2S
	case useless && s.failed(wire.ErrTimeout) && s.seen.challenges > 0:
		return Filtered
	case useless && s.failed(wire.ErrIncomplete):
		return Incomplete
	case useless:
		return Faulty
	case r.Sent == 0:
		return Unsent
	case s.late() > 0:
		return Late
	case len(s.seen.strangers) > 0:
		return Elsewhere
	}
	return Silent
}

// late counts the datagrams that arrived after the last timeout of their question.
func (s *Session) late() int { return s.Tap.received - int(s.Result.Received) }

// headlines are the first sentences of those verdicts whose text is fixed.
var headlines = map[string]string{
	Limited: "it is up, but reports too many queries: try again later and " +
		"more slowly",
	Banned: "it is up, but reports that this address is banned",
	Filtered: "it sends challenges but does not answer requests that carry them: " +
		"a filter protects the server, or its limit of queries per second is used up",
	Loop: "it answers every request with a new challenge, even a request that carries " +
		"the last one: the server is broken, or a filter blocks everyone",
	Incomplete: "it answers in fragments, and some of them do not arrive: " +
		"a firewall or packet loss",
	Faulty: "it speaks A2S, but everything that arrived is malformed",
	Unreachable: "nothing listens there: the machine, or a firewall on the way to it, " +
		"reports by ICMP that the port or the address is unreachable",
	Unsent: "nothing could be sent: this system has no route there, or its own firewall " +
		"forbids it",
	Silent: "no answer at all",
}

// headline returns the first sentence of a verdict.
func (s *Session) headline(word string) string {
	switch word {
	case Up:
		return "it is up and answers every question" + s.summary()
	case Partial:
		return "it is up, but " + s.unanswered() + s.summary()
	case Late:
		return fmt.Sprintf("it answers, but later than the timeout of %v: try --timeout %v",
			s.Timeout, 4*s.Timeout)
	case Elsewhere:
		return fmt.Sprintf("the answer comes from %s instead: the server has several "+
			"addresses, or something on the way rewrites them", s.seen.strangerList())
	case Faulty:
		if len(s.Result.Message) > 0 {
			return "it answers no question: it sends clients to another server"
		}
	case NotA2S:
		b := s.seen.junk[0]
		return fmt.Sprintf("something answers, but it is not A2S (is it the right port?): "+
			"%d bytes, %s", len(b), console.Quoted(string(b), 60))
	}
	return headlines[word]
}

// questions returns the words of the questions for which is returns true. code says why
// a question has no complete answer; 0: it has one.
func (s *Session) questions(is func(q wire.Question, code wire.Error) bool) (words []string) {
	for q := range wire.Question(wire.NumQuestions) {
		if is(q, s.Result.Err[q]) {
			words = append(words, q.String())
		}
	}
	return words
}

// silent returns the unanswered questions that were only asked with the challenge of
// another question, and the other unanswered ones.
func (s *Session) silent() (borrowed, others []string) {
	of := func(want bool) []string {
		return s.questions(func(q wire.Question, code wire.Error) bool {
			return code == wire.ErrTimeout && s.Log.borrowed(q) == want
		})
	}
	return of(true), of(false)
}

// unanswered lists the questions without a complete answer.
func (s *Session) unanswered() string {
	borrowed, silent := s.silent()
	faulty := s.questions(func(_ wire.Question, code wire.Error) bool { return code != 0 && code != wire.ErrTimeout })
	var parts []string
	if len(silent) > 0 {
		parts = append(parts, "silent on "+strings.Join(silent, " and "))
	}
	if len(borrowed) > 0 {
		parts = append(parts, "it did not answer "+strings.Join(borrowed, " and ")+" with the challenge of another question")
	}
	if len(faulty) > 0 {
		parts = append(parts, "its answer to "+strings.Join(faulty, " and ")+" is not complete")
	}
	return strings.Join(parts, ", and ")
}

// summary describes the server briefly.
func (s *Session) summary() string {
	r := s.Result
	var parts []string
	if in := &r.Info; r.HasInfo {
		parts = append(parts, fmt.Sprintf("%s, map %s, %s",
			console.Quoted(string(in.Name), 60), console.Quoted(string(in.Map), 40), population(r)))
	}
	if r.HasRules {
		parts = append(parts, fmt.Sprintf("%d rules", len(r.Rules)))
	}
	if r.RTT > 0 {
		parts = append(parts, fmt.Sprintf("round trip %.1f ms", ms(r.RTT)))
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, "; ")
}

// population describes who plays: people as the game counts them, and bots
// separately.
func population(r *scanner.Result) string {
	p := r.Population()
	text := fmt.Sprintf("%d of %d players", p.People, p.Places)
	if p.Bots > 0 {
		text += " and " + console.Plural(uint64(p.Bots), "bot")
	}
	if p.Elsewhere && p.People != int(r.Info.Players) {
		text += fmt.Sprintf(" (info says %d of %d)", r.Info.Players, r.Info.MaxPlayers)
	}
	return text
}

// questionErrors explain why a question has no complete answer.
var questionErrors = [wire.NumErrors]string{
	wire.ErrTimeout: "no answer",
	wire.ErrIncomplete: "some fragments of the answer did not arrive; the record has the " +
		"content of the fragments before the gap",
	wire.ErrTruncated:     "the answer ends inside a field; the complete fields are in the record",
	wire.ErrMalformed:     "the answer is malformed",
	wire.ErrChecksum:      "the answer is compressed, and its checksum is wrong",
	wire.ErrTooLarge:      "the answer is larger than 512 KiB, or claims to be",
	wire.ErrChallengeLoop: "answered only by new challenges",
	wire.ErrRateLimited:   "the server reports too many queries",
	wire.ErrBanned:        "the server reports that this address is banned",
	wire.ErrUnreachable:   "ICMP reports that the port is unreachable",
	wire.ErrSendFailed:    "the request could not be sent",
	wire.ErrExcluded:      "the address was excluded",
	wire.ErrUnexpected:    "answered by a message of another type",
	wire.ErrEmpty:         "the answer is empty: only a type byte",
}

// explainQuestions explains why questions have no complete answer: each reason once, with
// the questions that it applies to.
func (s *Session) explainQuestions(v *Verdict) {
	for code := range wire.Error(wire.NumErrors) {
		of := s.questions(func(_ wire.Question, c wire.Error) bool { return c == code })
		if len(of) > 0 && code != 0 && (code != wire.ErrTimeout || v.Word == Faulty) {
			v.add("%s: %s", strings.Join(of, ", "), questionErrors[code])
		}
	}
	if !s.answered() {
		return
	}
	borrowed, silent := s.silent()
	if len(borrowed) > 0 {
		v.addHint("it may want a challenge of its own for %s: --retries 1 asks for one", strings.Join(borrowed, " and "))
	}
	silent = slices.DeleteFunc(silent, func(word string) bool { return word == wire.QuestionInfo.String() })
	if len(silent) > 0 {
		v.addHint("many games never send %s, and many filters allow only info: "+
			"that is the server's choice", strings.Join(silent, " or "))
	}
}

// explainFragments lists missing fragments. If the server answered completely, they
// arrived later and need no explanation.
func (s *Session) explainFragments(v *Verdict) {
	const most = 4
	var lost []string
	for _, g := range s.Log.splits.replies {
		if fault := g.fault(); fault != "" && s.Result.Status != scanner.StatusOK {
			lost = append(lost, fault)
		}
	}
	for _, fault := range lost[:min(len(lost), most)] {
		v.add("%s", fault)
	}
	if n := len(lost) - most; n > 0 {
		v.add("and %d more replies", n)
	}
}

// silenceMeans are the possible reasons why nothing arrives, the most likely first.
var silenceMeans = []string{
	"the server is down, or no machine has this address",
	"the query port differs from the game port: it is often one higher, see the " +
		"server's configuration",
	"a firewall drops the packets: the server's, its provider's, or yours",
	"the game does not speak A2S, or has it switched off",
	"it silently limits or bans this address",
}

// addHints adds hints: why other programs may fail to query this server, and what else
// was unusual.
func (s *Session) addHints(v *Verdict) {
	r := s.Result
	layouts, strangers := s.Log.splits.layouts(), s.seen.strangerList()
	for _, hint := range []struct {
		holds bool
		text  string
	}{
		{s.answered() && r.HasInfo && !r.Unchallenged.Has(wire.QuestionInfo),
			"it requires a challenge for info: programs from before December 2020 do not send one, and time out"},
		{s.answered() && layouts != "", "it answers in fragments (layout " + layouts + "): a program must reassemble them"},
		{s.answered() && s.seen.longest > 1400, fmt.Sprintf("a reply of %d bytes arrived in one datagram: it needs IP fragments, which "+
			"firewalls often drop, and a buffer larger than the 1400 bytes of many programs", s.seen.longest)},
		{s.answered() && r.Info.Has&wire.HasAddress != 0 && r.Info.Format == wire.FormatSource,
			"it answers info twice, in the old format and in the new one"},
		{r.Status == scanner.StatusOK && s.seen.repeats > 0,
			console.Plural(s.seen.repeats, "request") + " had to be repeated: packets were lost, or it limits queries"},
		{s.late() > 0 && r.Status != scanner.StatusOK && v.Word != Late,
			fmt.Sprintf("%s arrived too late: try --timeout %v", console.Plural(s.late(), "datagram"), 4*s.Timeout)},
		{layouts != "" && v.Word == Incomplete,
			"if the same fragments are missing each time, fragments of that size do not get through"},
	} {
		if hint.holds {
			v.Hints = append(v.Hints, hint.text)
		}
	}
	for i := range game.FlagRules {
		if rule := &game.FlagRules[i]; r.Flags&(1<<i) != 0 {
			v.addHint("its record has the flag %s: %s (innocent causes: %s)", rule.Word, rule.Meaning(), rule.Innocent)
		}
	}
	if strangers != "" && v.Word != Elsewhere {
		v.addHint("datagrams also came from %s, which was not queried", strangers)
	}
}
