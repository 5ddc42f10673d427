package transcript

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/wire"
)

// Verdict is the diagnosis of a server.
type Verdict struct {
	Word  string   `json:"verdict"`         // the words stay the same in later versions
	Text  []string `json:"text"`            // most important sentence first
	Hints []string `json:"hints,omitempty"` // see addHints
	hint  string   // the sentence of Text that Session.Brief prints as its hint; "": the first of Hints
}

// The verdicts that the code names more than once. The table in Session.judge has all
// verdicts.
const (
	Up          = "up"
	Unsent      = "unsent"
	faulty      = "faulty"
	silent      = "silent"
	unreachable = "unreachable"
	notA2S      = "not_a2s"
	late        = "late"
	elsewhere   = "elsewhere"
	incomplete  = "incomplete"
)

// Plain returns the word of the verdict, with spaces instead of underscores.
func (v *Verdict) Plain() string { return strings.ReplaceAll(v.Word, "_", " ") }

// errorWord returns the word for an error, with spaces instead of underscores.
func errorWord(err error) string {
	code, _ := err.(wire.Error)
	return strings.ReplaceAll(code.String(), "_", " ")
}

// judge sets the first verdict in its table that applies, and adds explanations and hints.
func (s *Session) judge() {
	r := s.Result
	useless := r.Status == scanner.StatusError
	failed := func(code wire.Error) bool { return slices.Contains(r.Err[:], code) }
	for _, c := range []struct {
		word  string
		holds bool
		text  string
	}{
		{Up, r.Status == scanner.StatusOK, "the server is up and answers every question" + s.summary()},
		{"banned", failed(wire.ErrBanned), "the server is up, but reports that this address is banned"},
		{"limited", failed(wire.ErrRateLimited),
			"the server is up, but reports too many queries: try again later and more slowly"},
		{"partial", r.Status == scanner.StatusPartial, "the server is up, but " + strings.Join(s.reasons(), ", and ") + s.summary()},
		{unreachable, r.Status == scanner.StatusUnreachable, "this port can't be reached: " +
			"the machine, or a firewall on the way to it, reports by ICMP that the port or the address is unreachable"},
		{"challenge_loop", useless && failed(wire.ErrChallengeLoop), "the server answers " +
			"every request with a new challenge, even a request that carries the previous challenge: " +
			"the server is broken, or a filter blocks everyone"},
		{notA2S, useless && s.junk != "" && !s.speaks,
			"something answers, but does not speak A2S (is the port right?): " + s.junk},
		{"filtered", useless && failed(wire.ErrTimeout) && r.Challenge != 0, "the server " +
			"sends challenges but does not answer requests that carry them: " +
			"a filter protects the server, or its limit of queries per second is used up"},
		{incomplete, useless && failed(wire.ErrIncomplete),
			"the server answers in fragments, and some of them do not arrive: a firewall drops them, or packets are lost"},
		{faulty, useless && len(r.Message) > 0, "the server answers no question: it sends clients to another server"},
		{faulty, useless, "the server speaks A2S, but everything that arrived is malformed"},
		{Unsent, r.Sent == 0,
			"no request could be sent: this machine has no route to the server, or its own firewall forbids the request"},
		{late, s.late > 0, fmt.Sprintf("the server answers, but later than the timeout of %v: try --timeout %v",
			s.timeout, 4*s.timeout)},
		{elsewhere, len(s.strangers) > 0, fmt.Sprintf("the answer comes from %s instead: "+
			"the server has several addresses, or a device on the way rewrites addresses", strings.Join(s.strangers, ", "))},
		{silent, true, "no answer at all"},
	} {
		if c.holds {
			s.Verdict = Verdict{Word: c.word, Text: []string{c.text}}
			break
		}
	}
	s.explainFaults()
	s.addHints()
}

func (s *Session) answered() bool {
	return s.Result.Status == scanner.StatusOK || s.Result.Status == scanner.StatusPartial
}

// borrowed replaces wire.ErrTimeout in the result of Session.open. It means that a question
// was asked only with the challenge of another question, and had no answer.
const borrowed = wire.Error(wire.NumErrors)

// reasonTexts explain why a question has no complete answer, for errors whose word is not
// clear enough.
var reasonTexts = [...]string{
	wire.ErrTimeout: "silent on %s",
	borrowed:        "requests for %s with the challenge of another question had no answer",
	wire.ErrIncomplete: "some fragments of the answer to %s did not arrive " +
		"(the record has the part before the gap)",
	wire.ErrTruncated:     "the answer to %s ends inside a field (the record has the complete fields)",
	wire.ErrMalformed:     "the answer to %s is malformed",
	wire.ErrChecksum:      "the answer to %s is compressed, and its checksum is wrong",
	wire.ErrTooLarge:      "the answer to %s is larger than 512 KiB, or claims to be",
	wire.ErrChallengeLoop: "every request for %s is answered with a new challenge",
	wire.ErrUnexpected:    "the answer to %s is a message of another type",
	wire.ErrEmpty:         "the answer to %s is empty: only a type byte",
}

func (s *Session) open() map[wire.Error][]string {
	all := map[wire.Error][]string{}
	for q := range wire.Question(wire.NumQuestions) {
		code := s.Result.Err[q]
		if code == wire.ErrTimeout && !s.asksAnew[q] {
			code = borrowed
		}
		if code != 0 {
			all[code] = append(all[code], q.String())
		}
	}
	return all
}

func (s *Session) reasons() (all []string) {
	open := s.open()
	for _, code := range slices.Sorted(maps.Keys(open)) {
		text := cmp.Or(reasonTexts[code], "no answer to %s: "+errorWord(code))
		all = append(all, fmt.Sprintf(text, strings.Join(open[code], " and ")))
	}
	return all
}

func (s *Session) summary() string {
	r := s.Result
	var parts []string
	if in := &r.Info; r.HasInfo {
		p := r.Population() // the game's own counts, if it sends them
		world := in.Map
		if g := r.Game; g != nil && g.Has.Has(game.KeyMap) {
			world = g.Map
		}
		text := fmt.Sprintf("%s, map %s, %d", console.Quoted(string(in.Name), 60), console.Quoted(string(world), 40), p.People)
		if p.HasPlaces {
			text += fmt.Sprintf(" of %d", p.Places)
		}
		text += " players"
		if p.Bots > 0 {
			text += " and " + console.Plural(uint64(p.Bots), "bot")
		}
		if p.Elsewhere && p.People != int(in.Players) {
			text += fmt.Sprintf(" (info says %d of %d)", in.Players, in.MaxPlayers)
		}
		parts = append(parts, text)
	}
	if r.HasRules {
		parts = append(parts, console.Plural(len(r.Rules), "rule"))
	}
	if r.RTT > 0 {
		parts = append(parts, fmt.Sprintf("round trip %.1f ms", ms(r.RTT)))
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, "; ")
}

func (s *Session) explainFaults() {
	r, v := s.Result, &s.Verdict
	if v.Word == faulty || s.answered() && v.Word != "partial" {
		v.Text = append(v.Text, s.reasons()...)
	}
	var lost []string
	for _, g := range s.replies {
		// If every question has a complete answer, missing fragments did no harm.
		if fault := g.fault(); fault != "" && r.Status != scanner.StatusOK {
			lost = append(lost, fault)
		}
	}
	const most = 4
	v.Text = append(v.Text, lost[:min(len(lost), most)]...)
	if len(lost) > most {
		v.Text = append(v.Text, fmt.Sprintf("incomplete replies that are not listed: %d", len(lost)-most))
	}
	if m := r.Message; len(m) > 0 {
		v.Text = append(v.Text, "the server's message: "+console.Quoted(string(m), 120))
	}
	otherPort := "another port may answer; try: a2sscan ask " + s.Target.String() + " --find-port"
	switch v.Word {
	case unreachable, notA2S:
		v.hint, v.Text = otherPort, append(v.Text, otherPort)
		return
	case silent:
		v.hint = otherPort
	default:
		return
	}
	if s.Target.Addr().IsLinkLocalUnicast() {
		v.hint = "this is a link-local address, which Steam Datagram Relay and networks without configuration use: " +
			"a UDP query does not reach such an address"
		v.Text = append(v.Text, v.hint)
	}
	v.Text = append(v.Text, // most likely first
		"the server may be down, or the address may be unused",
		otherPort,
		"a firewall of the server, of the provider or of this machine may drop the packets",
		"the game may not speak A2S, or A2S may be switched off",
		"the server may silently limit or ban this address")
}

func (s *Session) addHints() {
	r, v, answered := s.Result, &s.Verdict, s.answered()
	open := s.open()
	mute := slices.DeleteFunc(open[wire.ErrTimeout], func(word string) bool { return word == wire.QuestionInfo.String() })
	filters := ""
	if r.HasInfo {
		filters = ", and many filters allow only info"
	}
	var forms []string
	for _, g := range s.replies {
		if g.layout != wire.LayoutUnknown && !slices.Contains(forms, g.form()) {
			forms = append(forms, g.form())
		}
	}
	layouts := strings.Join(forms, "; ")
	for _, hint := range []struct {
		holds bool
		text  string
	}{
		{answered && len(open[borrowed]) > 0, fmt.Sprintf("the server may require a separate challenge for %s: use --retries 1 to request the challenge",
			strings.Join(open[borrowed], " and "))},
		{answered && len(mute) > 0, fmt.Sprintf("many games never send %s%s: this is the server's choice",
			strings.Join(mute, " or "), filters)},
		{answered && r.HasInfo && !r.Unchallenged.Has(wire.QuestionInfo),
			"the server requires a challenge for info: programs from before December 2020 send no challenge, and time out"},
		{answered && layouts != "", "the server answers in fragments (layout " + layouts + "): a program must reassemble them"},
		{answered && s.longest > 1400, fmt.Sprintf("a reply of %d bytes arrived in one datagram: "+
			"firewalls often drop the IP fragments of such a reply, "+
			"and many programs have a buffer of only 1400 bytes", s.longest)},
		{answered && r.Info.Has&wire.HasAddress != 0 && r.Info.Format == wire.FormatSource,
			"the server answers info twice, in the old and in the new format"},
		{r.Status == scanner.StatusOK && s.repeats > 0,
			console.Plural(s.repeats, "request") + " had to be repeated: packets were lost, or the server limits queries"},
		{s.late > 0 && r.Status != scanner.StatusOK && v.Word != late,
			fmt.Sprintf("%s arrived too late: try --timeout %v", console.Plural(s.late, "datagram"), 4*s.timeout)},
		{layouts != "" && v.Word == incomplete,
			"if the same fragments are missing each time, they are probably too large to get through"},
		{len(s.strangers) > 0 && v.Word != elsewhere,
			"datagrams also came from " + strings.Join(s.strangers, ", ") + ", which was not queried"},
	} {
		if hint.holds {
			v.Hints = append(v.Hints, hint.text)
		}
	}
	for i := range game.FlagRules {
		if rule := &game.FlagRules[i]; r.Flags&(1<<i) != 0 {
			v.Hints = append(v.Hints, fmt.Sprintf("the server's record has the flag %s: %s (innocent causes: %s)",
				rule.Word, rule.Rule, rule.Innocent))
		}
	}
}
