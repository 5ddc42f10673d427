package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/wire"
)

// The verdicts, each a word for programs. The sentences say more.
const (
	verdictUp          = "up"             // all that was asked was answered whole
	verdictPartial     = "partial"        // up, and some of it was not
	verdictLimited     = "limited"        // it says that it is asked too often
	verdictBanned      = "banned"         // it says that we are banned
	verdictFiltered    = "filtered"       // challenges come, and no answers
	verdictLoop        = "challenge_loop" // challenges come without an end
	verdictIncomplete  = "incomplete"     // fragments came, and no reply is whole
	verdictFaulty      = "faulty"         // A2S came that can't be read
	verdictNotA2S      = "not_a2s"        // something else came
	verdictElsewhere   = "elsewhere"      // replies came from another address or port
	verdictLate        = "late"           // replies came after they were given up
	verdictUnreachable = "unreachable"    // ICMP says so
	verdictUnsent      = "unsent"         // nothing went out
	verdictSilent      = "silent"         // nothing came
)

// verdict is what is the matter with a server.
type verdict struct {
	Word  string   `json:"verdict"`
	Text  []string `json:"text"`            // sentences, the most important one first
	Hints []string `json:"hints,omitempty"` // why another program may see less, and other news
}

// exit is the error of a run whose verdict is not verdictUp.
func (v *verdict) exit() string {
	return "not all that was asked was answered whole: " + strings.ReplaceAll(v.Word, "_", " ")
}

func (v *verdict) say(format string, args ...any) {
	v.Text = append(v.Text, fmt.Sprintf(format, args...))
}

func (v *verdict) hint(format string, args ...any) {
	v.Hints = append(v.Hints, fmt.Sprintf(format, args...))
}

// judge says what is the matter.
func judge(k *asking) *verdict {
	v := &verdict{Word: k.word()}
	v.Text = append(v.Text, k.headline(v.Word))
	if k.answered() {
		k.sayQuestions(v)
	}
	k.saySplits(v)
	k.sayMeanings(v)
	k.hintAtTools(v)
	return v
}

// answered reports whether something of what was asked was answered.
func (k *asking) answered() bool {
	return k.result.Status == scanner.StatusOK || k.result.Status == scanner.StatusPartial
}

// failed reports whether a question was given up for that reason.
func (k *asking) failed(code wire.Error) bool { return slices.Contains(k.result.Err[:], code) }

// word chooses the verdict: what the server says itself goes first.
func (k *asking) word() string {
	r := k.result
	switch {
	case r.Status == scanner.StatusOK:
		return verdictUp
	case k.failed(wire.ErrBanned):
		return verdictBanned
	case k.failed(wire.ErrRateLimited):
		return verdictLimited
	case r.Status == scanner.StatusPartial:
		return verdictPartial
	case r.Status == scanner.StatusUnreachable:
		return verdictUnreachable
	case r.Status == scanner.StatusError:
		return k.faultWord()
	case r.Sent == 0:
		return verdictUnsent
	case k.late() > 0:
		return verdictLate
	case len(k.log.strangers()) > 0:
		return verdictElsewhere
	}
	return verdictSilent
}

// faultWord is the verdict on a server that sent nothing of use.
func (k *asking) faultWord() string {
	switch {
	case k.failed(wire.ErrChallengeLoop):
		return verdictLoop
	case len(k.log.junk()) > 0 && !k.log.speaksA2S():
		return verdictNotA2S
	case k.failed(wire.ErrTimeout) && k.log.challenges() > 0:
		return verdictFiltered
	case k.failed(wire.ErrIncomplete):
		return verdictIncomplete
	}
	return verdictFaulty
}

// late is how many datagrams came after their question was given up.
func (k *asking) late() int { return k.tap.heard - int(k.result.Received) }

// headlines are the sentences of verdicts that need no numbers.
var headlines = map[string]string{
	verdictLimited: "it is up, and says that it is asked too often: ask again later, " +
		"and more slowly",
	verdictBanned: "it is up, and says that this address is banned",
	verdictFiltered: "it hands out challenges, and does not answer requests that bear " +
		"them: a filter in front of " +
		"the server, or a limit of queries a second that is used up",
	verdictLoop: "it answers every request with a new challenge, also those that bear " +
		"the last one: broken, " +
		"or a filter that wants nobody to get through",
	verdictIncomplete: "it answers in fragments, and some of them do not arrive: " +
		"firewalls and lossy lines do that",
	verdictFaulty: "it speaks A2S, and nothing of what came can be read",
	verdictUnreachable: "nothing listens there: its machine, or a firewall before it, " +
		"says by ICMP that the port " +
		"or the address can't be reached",
	verdictUnsent: "nothing could be sent: the system refuses, for want of a route or " +
		"by a firewall of its own",
	verdictSilent: "no answer at all",
}

func (k *asking) headline(word string) string {
	switch word {
	case verdictUp:
		return "it is up and answers all that was asked" + k.summary()
	case verdictPartial:
		return "it is up, but " + k.lacking() + k.summary()
	case verdictLate:
		return fmt.Sprintf("it answers, but later than the timeout of %v allows: try --timeout %v",
			k.timeout, 4*k.timeout)
	case verdictElsewhere:
		return fmt.Sprintf("the answer comes from %s, which was not asked: the server "+
			"has several addresses, "+
			"or something on the way rewrites them", k.log.strangerList())
	case verdictNotA2S:
		b := k.log.junk()[0]
		return fmt.Sprintf("something answers, and it is not A2S (is it the right port?): "+
			"%d bytes, %s",
			len(b), console.Quoted(string(b), 60))
	}
	return headlines[word]
}

// lacking says which questions have no whole answer.
func (k *asking) lacking() string {
	var silent, faulty []string
	for q := range wire.Question(wire.NumQuestions) {
		switch k.result.Err[q] {
		case 0:
		case wire.ErrTimeout:
			silent = append(silent, q.String())
		default:
			faulty = append(faulty, q.String())
		}
	}
	var parts []string
	if len(silent) > 0 {
		parts = append(parts, "silent on "+strings.Join(silent, " and "))
	}
	if len(faulty) > 0 {
		parts = append(parts, "its "+strings.Join(faulty, " and ")+" can't be had whole")
	}
	return strings.Join(parts, ", and ")
}

// summary says in a few words what the server is.
func (k *asking) summary() string {
	r := k.result
	var parts []string
	if in := &r.Info; r.HasInfo {
		parts = append(parts, fmt.Sprintf("%s, map %s, %d of %d players",
			console.Quoted(string(in.Name), 60), console.Quoted(string(in.Map), 40), in.Players, in.MaxPlayers))
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

// questionFaults say why a question has no whole answer.
var questionFaults = [wire.NumErrors]string{
	wire.ErrTimeout: "no answer",
	wire.ErrIncomplete: "some fragments of the answer did not come; what the " +
		"leading ones hold is in the record",
	wire.ErrTruncated:     "the answer ends inside a field; what was whole is in the record",
	wire.ErrMalformed:     "what came can't be read",
	wire.ErrChecksum:      "the answer is compressed, and its checksum is wrong",
	wire.ErrTooLarge:      "the answer is larger than 512 KiB, or says so",
	wire.ErrChallengeLoop: "answered by challenge after challenge",
	wire.ErrRateLimited:   "asked too often, says the server",
	wire.ErrBanned:        "banned, says the server",
	wire.ErrUnreachable:   "the port can't be reached any more, says ICMP",
	wire.ErrSendFailed:    "the request could not be sent",
	wire.ErrExcluded:      "it was excluded",
	wire.ErrUnexpected:    "answered by a message of another kind",
	wire.ErrEmpty:         "the answer is empty: a type byte and nothing else",
}

// sayQuestions says what became of each question that has no whole answer.
func (k *asking) sayQuestions(v *verdict) {
	for q := range wire.Question(wire.NumQuestions) {
		code := k.result.Err[q]
		if code != 0 && code != wire.ErrTimeout {
			v.say("%v: %s", q, questionFaults[code])
		}
		if code == wire.ErrTimeout && q != wire.QuestionInfo {
			v.hint("many games never send %v, and many filters let only info through: "+
				"that is the server's choice", q)
		}
	}
}

// saySplits says which fragments are missing.
func (k *asking) saySplits(v *verdict) {
	const most = 4
	var lost []string
	for _, g := range k.log.splits.replies {
		if s := g.fault(); s != "" {
			lost = append(lost, s)
		}
	}
	if k.result.Status == scanner.StatusOK {
		lost = nil // what was missing came again
	}
	for _, s := range lost[:min(len(lost), most)] {
		v.say("%s", s)
	}
	if n := len(lost) - most; n > 0 {
		v.say("and so on: %d replies more", n)
	}
}

// sayMeanings says what a silence may mean, and what the server said in words.
func (k *asking) sayMeanings(v *verdict) {
	if m := k.result.Message; len(m) > 0 {
		v.say("its words: %s", console.Quoted(string(m), 120))
	}
	if v.Word == verdictFaulty {
		k.sayFaults(v)
	}
	if v.Word != verdictSilent {
		return
	}
	if k.target.Addr().IsLinkLocalUnicast() {
		v.say("this is an address of Steam Datagram Relay or of a network that failed " +
			"to set itself up: UDP does not get there")
	}
	for _, s := range silenceMeans {
		v.say("%s", s)
	}
}

// sayFaults says why nothing that came is of use, each reason once.
func (k *asking) sayFaults(v *verdict) {
	for code := range wire.Error(wire.NumErrors) {
		var words []string
		for q := range wire.Question(wire.NumQuestions) {
			if code != 0 && k.result.Err[q] == code {
				words = append(words, q.String())
			}
		}
		if len(words) > 0 {
			v.say("%s: %s", strings.Join(words, ", "), questionFaults[code])
		}
	}
}

// silenceMeans are what a silence may mean, the most likely first.
var silenceMeans = []string{
	"the server is down, or nobody has this address",
	"the port for queries is another one than the game's: often one higher, see the " +
		"server's configuration",
	"a firewall drops the packets: the server's, its provider's, or the one here",
	"the game does not speak A2S, or has it switched off",
	"it has limited or banned this address and does not say so",
}

// hintAtTools says why another program may fail where this one did not.
func (k *asking) hintAtTools(v *verdict) {
	r := k.result
	if r.Status == scanner.StatusOK || r.Status == scanner.StatusPartial {
		if r.HasInfo && !r.Unchallenged.Has(wire.QuestionInfo) {
			v.hint("it wants a challenge for info: programs from before December 2020 " +
				"do not know that, and time out")
		}
		k.hintAtReplies(v)
		if n := k.log.repeats(); n > 0 && r.Status == scanner.StatusOK {
			v.hint("%s had to be repeated: packets get lost, or it limits queries",
				console.Plural(n, "request"))
		}
	}
	if n := k.late(); n > 0 && r.Status != scanner.StatusOK && v.Word != verdictLate {
		v.hint("%s came after being given up: try --timeout %v",
			console.Plural(n, "datagram"), 4*k.timeout)
	}
	if k.log.splits.layouts() != "" && v.Word == verdictIncomplete {
		v.hint("the same each time: fragments of that size do not get through")
	}
	if s := k.log.strangerList(); s != "" && v.Word != verdictElsewhere {
		v.hint("datagrams came from %s too, which was not asked", s)
	}
}

// hintAtReplies names the forms of replies that not every program can read.
func (k *asking) hintAtReplies(v *verdict) {
	if s := k.log.splits.layouts(); s != "" {
		v.hint("it answers in fragments (layout %s): a program has to put them together", s)
	}
	if n := k.log.longest(); n > 1400 {
		v.hint("a reply of %d bytes came in one datagram: it needs IP fragments, "+
			"which firewalls like to drop, "+
			"and more room than the 1400 bytes that many programs have", n)
	}
	if k.result.Info.Has&wire.HasAddress != 0 && k.result.Info.Format == wire.FormatSource {
		v.hint("it answers info twice, in the old and in the new form")
	}
}
