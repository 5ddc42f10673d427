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
	if s.answered() {
		s.explainQuestions(v)
	}
	s.explainFragments(v)
	s.explainSilence(v)
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
	r := s.Result
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
	case r.Status == scanner.StatusError:
		return s.errorWord()
	case r.Sent == 0:
		return Unsent
	case s.late() > 0:
		return Late
	case len(s.seen.strangers) > 0:
		return Elsewhere
	}
	return Silent
}

// errorWord returns the verdict on a server that sent something, but nothing useful.
func (s *Session) errorWord() string {
	switch {
	case s.failed(wire.ErrChallengeLoop):
		return Loop
	case len(s.seen.junk) > 0 && !s.seen.speaks:
		return NotA2S
	case s.failed(wire.ErrTimeout) && s.seen.challenges > 0:
		return Filtered
	case s.failed(wire.ErrIncomplete):
		return Incomplete
	}
	return Faulty
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

// unanswered lists the questions without a complete answer.
func (s *Session) unanswered() string {
	var silent, open, faulty []string
	for q := range wire.Question(wire.NumQuestions) {
		switch s.Result.Err[q] {
		case 0:
		case wire.ErrTimeout:
			if s.Log.borrowed(q) {
				open = append(open, q.String())
			} else {
				silent = append(silent, q.String())
			}
		default:
			faulty = append(faulty, q.String())
		}
	}
	var parts []string
	if len(silent) > 0 {
		parts = append(parts, "silent on "+strings.Join(silent, " and "))
	}
	if len(open) > 0 {
		parts = append(parts, "it did not answer "+strings.Join(open, " and ")+" with the challenge of another question")
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

// explainQuestions explains each question without a complete answer.
func (s *Session) explainQuestions(v *Verdict) {
	var open, silent []string
	for q := range wire.Question(wire.NumQuestions) {
		code := s.Result.Err[q]
		if code != 0 && code != wire.ErrTimeout {
			v.add("%v: %s", q, questionErrors[code])
		}
		if code == wire.ErrTimeout && s.Log.borrowed(q) {
			open = append(open, q.String())
		} else if code == wire.ErrTimeout && q != wire.QuestionInfo {
			silent = append(silent, q.String())
		}
	}
	if len(open) > 0 {
		v.addHint("it may want a challenge of its own for %s: --retries 1 asks for one", strings.Join(open, " and "))
	}
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

// explainSilence quotes the server's message, if there is one. It explains the verdict
// Faulty, and lists possible reasons for the verdict Silent.
func (s *Session) explainSilence(v *Verdict) {
	if m := s.Result.Message; len(m) > 0 {
		v.add("its message: %s", console.Quoted(string(m), 120))
	}
	if v.Word == Faulty {
		s.explainFaults(v)
	}
	if v.Word != Silent {
		return
	}
	if s.target().Addr().IsLinkLocalUnicast() {
		v.add("this is a link-local address, used by Steam Datagram Relay or by a network " +
			"without configuration: UDP does not reach it")
	}
	v.Text = append(v.Text, silenceMeans...)
}

// explainFaults explains why nothing useful arrived. It states each reason once,
// with the questions that it applies to.
func (s *Session) explainFaults(v *Verdict) {
	for code := range wire.Error(wire.NumErrors) {
		var words []string
		for q := range wire.Question(wire.NumQuestions) {
			if code != 0 && s.Result.Err[q] == code {
				words = append(words, q.String())
			}
		}
		if len(words) > 0 {
			v.add("%s: %s", strings.Join(words, ", "), questionErrors[code])
		}
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
	if s.answered() {
		if r.HasInfo && !r.Unchallenged.Has(wire.QuestionInfo) {
			v.addHint("it requires a challenge for info: programs from before December 2020 " +
				"do not send one, and time out")
		}
		s.addReplyHints(v)
		if n := s.seen.repeats; n > 0 && r.Status == scanner.StatusOK {
			v.addHint("%s had to be repeated: packets were lost, or it limits queries",
				console.Plural(n, "request"))
		}
	}
	if n := s.late(); n > 0 && r.Status != scanner.StatusOK && v.Word != Late {
		v.addHint("%s arrived too late: try --timeout %v",
			console.Plural(n, "datagram"), 4*s.Timeout)
	}
	if s.Log.splits.layouts() != "" && v.Word == Incomplete {
		v.addHint("if the same fragments are missing each time, fragments of that size do not get through")
	}
	for i := range game.FlagRules {
		if rule := &game.FlagRules[i]; r.Flags&(1<<i) != 0 {
			v.addHint("its record has the flag %s: %s (innocent causes: %s)", rule.Word, rule.Meaning(), rule.Innocent)
		}
	}
	if list := s.seen.strangerList(); list != "" && v.Word != Elsewhere {
		v.addHint("datagrams also came from %s, which was not queried", list)
	}
}

// addReplyHints adds hints about replies in forms that some programs cannot read.
func (s *Session) addReplyHints(v *Verdict) {
	if layouts := s.Log.splits.layouts(); layouts != "" {
		v.addHint("it answers in fragments (layout %s): a program must reassemble them", layouts)
	}
	if n := s.seen.longest; n > 1400 {
		v.addHint("a reply of %d bytes arrived in one datagram: it needs IP fragments, which "+
			"firewalls often drop, and a buffer larger than the 1400 bytes of many programs", n)
	}
	if s.Result.Info.Has&wire.HasAddress != 0 && s.Result.Info.Format == wire.FormatSource {
		v.addHint("it answers info twice, in the old format and in the new one")
	}
}
