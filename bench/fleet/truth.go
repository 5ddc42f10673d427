package fleet

import (
	"io"
	"net/netip"

	"github.com/cespare/xxhash/v2"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/sink/record"
	"github.com/a2sscan/a2sscan/wire"
)

// Expect describes the results that a scan may report for one server.
type Expect struct {
	// Result is what a perfect scan over a perfect network finds, or nil if the
	// server sends no answer. Time, RTT, Took and the counts are zero.
	Result *scanner.Result
	// Allowed has, for each question, the errors that are accepted instead of the error in
	// Result. Timing may decide which fault of a hostile server a scan sees first. A scan
	// with an allowed error may find less than Result says.
	Allowed [wire.NumQuestions][]wire.Error
	// Meaning is true if the model knows what the answers mean. If it is false, the game
	// and the flags in Result can't be compared.
	Meaning bool
	// Else is set for a server of kind Both, whose INFO reply in the Source format may be
	// lost. Else is the server's reply in the GoldSource format, and is accepted too.
	Else *wire.Info
}

// Truth returns the result of a perfect scan of addr that asks the given questions, or nil
// if addr does not answer or c is invalid. Truth derives the result from the model, and
// decodes no packets.
func (c Config) Truth(addr netip.AddrPort, asked wire.Questions) *scanner.Result {
	truth, err := NewCensus(c)
	if err != nil {
		return nil
	}
	return truth.Expect(addr, asked).Result
}

// WriteTruth writes the records of a perfect scan in address order, like a census without
// records of silent targets. The argument scan becomes the name of the scan in each
// record.
func (c Config) WriteTruth(w io.Writer, scan string, asked wire.Questions) error {
	truth, err := NewCensus(c)
	if err != nil {
		return err
	}
	var enc record.Encoder
	var line []byte
	for addr := range c.All() {
		r := truth.Expect(addr, asked).Result
		if r == nil {
			continue
		}
		line = enc.Append(line[:0], scan, r)
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// expect returns the Expect of a server. The slices in it alias c.
func (n *nature) expect(c *content, asked wire.Questions) Expect {
	switch n.kind {
	case Silent, PlayersOnly, OtherPort, OtherAddress:
		return Expect{}
	}
	c.fill(n, asked)
	e := Expect{Meaning: n.title != nil}
	for q, f := range faults[n.kind] {
		e.Allowed[q] = f.allowed
	}
	r := &scanner.Result{
		Addr: udp.Unpack(n.addr), Asked: asked, PlayersAnnounced: -1, RulesAnnounced: -1,
	}
	whole, some, came := true, false, n.kind.Hostile() // came says whether some reply arrived
	for q := range wire.Question(wire.NumQuestions) {
		if asked.Has(q) {
			n.tell(r, c, q)
			has := [wire.NumQuestions]bool{r.HasInfo, r.HasPlayers, r.HasRules}[q]
			whole = whole && has && r.Err[q] == 0
			some = some || has
			came = came || n.challenged.Has(q)
		}
	}
	if n.title != nil {
		if c.server.storeMeaning(&c.meaning, r.Asked); c.meaning.ID != "" || c.meaning.Has != 0 {
			r.Game = &c.meaning
		}
		if f := fakeFlags[n.kind]; r.Asked&f.needs == f.needs {
			r.Flags = f.flag
		}
	}
	switch {
	case some && whole:
		r.Status = scanner.StatusOK
	case some:
		r.Status = scanner.StatusPartial
	case came:
		r.Status = scanner.StatusError
	}
	if r.Status != 0 {
		e.Result = r
	}
	if n.kind == Both && asked.Has(wire.QuestionInfo) {
		e.Else = &c.gold
	}
	return e
}

func (n *nature) tell(r *scanner.Result, c *content, q wire.Question) {
	switch r.Err[q] = faults[n.kind][q].error; {
	case r.Err[q] == 0, r.Err[q] == wire.ErrTruncated:
	case r.Err[q] == wire.ErrIncomplete && n.kind == FragmentsDisagree:
	default:
		return // no part of the answer is usable
	}
	if !n.challenged.Has(q) {
		r.Unchallenged |= 1 << q
	}
	switch q {
	case wire.QuestionInfo:
		r.HasInfo, r.Info = true, c.info
		switch n.kind {
		case Huge, Unterminated:
			r.Info = wire.Info{Has: wire.HasProtocol, Format: wire.FormatSource, Protocol: unendingProtocol}
		case Both:
			r.Info.Has |= wire.HasAddress
			r.Info.Address = c.gold.Address
		}
		r.Notes |= r.Info.Notes
	case wire.QuestionPlayers:
		r.HasPlayers, r.Players = true, c.players
		if r.Err[q] == 0 && len(r.Players) > 0 {
			r.PlayersHash = xxhash.Sum64(c.appendMessage(nil, q))
		}
		if c.playersAnnounced != len(c.players) {
			r.PlayersAnnounced = c.playersAnnounced
			r.Notes |= wire.NotePlayersCount
		}
	case wire.QuestionRules:
		r.HasRules, r.Rules = true, c.rules
		if n.kind == FragmentsDisagree {
			r.Rules = c.rules[:c.rulesWithin(n.fragment)]
		}
		if c.rulesAnnounced != len(r.Rules) {
			r.RulesAnnounced = c.rulesAnnounced
		}
		if r.Err[q] == 0 {
			r.Notes |= c.rulesNotes
		}
	}
}

func (c *content) rulesWithin(size int) (n int) {
	at := 4 + 1 + 2 // header, type byte, count
	for _, rule := range c.rules {
		if at += len(rule.Name) + len(rule.Value) + 2; at > size {
			break
		}
		n++
	}
	return n
}

// fault describes how a question fails in a perfect scan. fault.error is the usual error,
// or 0 if the answer is complete. Depending on timing, an error in fault.allowed may occur
// instead.
type fault struct {
	error   wire.Error
	allowed []wire.Error
}

var (
	broken    = []wire.Error{wire.ErrMalformed, wire.ErrIncomplete, wire.ErrTimeout}
	unpacked  = append(broken, wire.ErrTooLarge, wire.ErrChecksum)
	timeout   = fault{wire.ErrTimeout, nil}
	truncated = fault{wire.ErrTruncated, nil}
	loop      = fault{wire.ErrChallengeLoop, []wire.Error{wire.ErrTimeout}}
	tiny      = fault{wire.ErrMalformed, broken}
)

// faults has, for each kind of server, the faults of the questions INFO, PLAYER and RULES.
var faults = [numKinds][wire.NumQuestions]fault{
	InfoOnly:          {{}, timeout, timeout},
	TrailingNUL:       {{}, timeout, timeout},
	TruncatedRules:    {{}, {}, truncated},
	EndlessRules:      {{}, {}, truncated},
	Huge:              {truncated},
	Unterminated:      {truncated},
	EndlessChallenges: {loop, loop, loop},
	Tiny:              {tiny, tiny, tiny},
	OneSplitID:        {{}, {0, broken}, {0, broken}},
	FragmentsOfNone:   {{}, {}, {wire.ErrMalformed, broken}},
	FragmentsBeyond:   {{}, {}, {wire.ErrMalformed, broken}},
	FragmentsDisagree: {{}, {}, {wire.ErrIncomplete, broken}},
	FragmentFlood:     {{}, {}, {wire.ErrIncomplete, broken}},
	DeclaresTwoGiB:    {{}, {}, {wire.ErrTooLarge, unpacked}},
	Bomb:              {{}, {}, {wire.ErrMalformed, unpacked}},
	Noise:             {{}, {}, {wire.ErrMalformed, unpacked}},
	WrongChecksum:     {{}, {}, {wire.ErrChecksum, []wire.Error{wire.ErrTimeout}}},
}
