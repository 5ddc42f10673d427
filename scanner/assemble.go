package scanner

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/scanner/internal/session"
	"github.com/a2sscan/a2sscan/wire"
)

// assembler makes Results from replies, for scans and for Decoder. It reuses the memory of
// the last Result for the next one.
type assembler struct {
	players []wire.Player
	rules   []wire.Rule
	names   nameSet
	game    game.Game
}

// assemble sets all fields of r that come from messages. Before the call, these fields
// must be zero, and r.Asked, r.Received and r.RTTs must be set. The slices of r alias
// memory of got and of the assembler, and are valid until either is used again. errs[q] is
// the error of a question q without a message, and facts has what the scan counted.
// assemble ignores the replies to questions that are not in r.Asked.
func (a *assembler) assemble(r *Result, got *session.Answer, errs [wire.NumQuestions]wire.Error, facts game.Facts) {
	r.Err = errs
	r.PlayersAnnounced, r.RulesAnnounced = -1, -1
	for q := range (wire.AskAll &^ r.Asked).Each() {
		r.Err[q] = 0
	}
	if r.HasPing = len(got.Pong) > 0; r.HasPing {
		r.Ping, _ = wire.DecodeText(got.Pong)
	}
	var redirect []byte
	if len(got.Text) > 0 {
		r.Message, _ = wire.DecodeText(got.Text)
		if wire.KindOf(got.Text) == wire.KindRedirect {
			redirect = r.Message
		}
	}
	if r.Asked.Has(wire.QuestionInfo) {
		a.info(r, got)
	}
	if r.Asked.Has(wire.QuestionPlayers) {
		a.playerList(r, got)
	}
	if r.Asked.Has(wire.QuestionRules) {
		a.ruleList(r, got)
	}
	if r.Received > 0 {
		r.Flags = a.meaning(r, redirect, facts)
	}
	r.Status = status(r)
}

// info sets r.Info from the Source reply or, if there is none, from the GoldSource reply.
// If the server sent both, info adds the address in the GoldSource reply to the data of the
// Source reply (EC-63).
func (a *assembler) info(r *Result, got *session.Answer) {
	msg := got.Info
	if msg == nil {
		msg = got.Gold
	}
	if len(msg) == 0 {
		return
	}
	r.Info = got.In
	a.conclude(r, wire.QuestionInfo, got, msg, got.InCode, r.Info.Notes)
	if got.Info != nil && got.Gold != nil {
		if in := got.GoldInfo(); in.Address != nil {
			r.Info.Address = in.Address
			r.Info.Has |= wire.HasAddress
		}
	}
	r.HasInfo = r.Info.Has != 0
}

func (a *assembler) playerList(r *Result, got *session.Answer) {
	if len(got.Players) == 0 {
		return
	}
	// The layout depends on the game (EC-74), which is known only if INFO was answered.
	ship := wire.ShipUnknown
	if id, ok := r.Info.AppID(); ok && r.HasInfo {
		if ship = wire.ShipNo; wire.IsShip(id) {
			ship = wire.ShipYes
		}
	}
	var c wire.Players
	err := c.Reset(got.Players, ship)
	a.players = c.AppendAll(a.players[:0])
	if err == nil {
		err = c.Err()
		r.HasPlayers, r.Players = true, a.players
		if c.Announced() != c.Count() {
			r.PlayersAnnounced = c.Announced()
		}
	}
	a.conclude(r, wire.QuestionPlayers, got, got.Players, err, c.Notes())
}

func (a *assembler) ruleList(r *Result, got *session.Answer) {
	if len(got.Rules) == 0 {
		return
	}
	var c wire.Rules
	err := c.Reset(got.Rules)
	a.rules = c.AppendAll(a.rules[:0])
	if err == nil {
		err = c.Err()
		r.HasRules, r.Rules = true, a.rules
		if c.Announced() != c.Count() {
			r.RulesAnnounced = c.Announced()
		}
	}
	notes := c.Notes()
	if r.RulesDistinct = !a.names.twice(a.rules); !r.RulesDistinct {
		notes |= wire.NoteRulesDuplicate
	}
	a.conclude(r, wire.QuestionRules, got, got.Rules, err, notes)
}

// conclude sets the error of q and the notes about its answer. err is the result of
// decoding msg; if fragments are missing, conclude sets ErrIncomplete instead. For a list
// of players without missing fragments, it also sets r.PlayersHash. Of the notes about a
// truncated answer, it keeps only NoteInfoNoModBlock and NoteInfoShortAppID. After any
// other error it sets no notes.
func (a *assembler) conclude(r *Result, q wire.Question, got *session.Answer, msg []byte, err error, notes wire.Notes) {
	code, _ := err.(wire.Error)
	if got.Partial.Has(q) {
		code = wire.ErrIncomplete
	} else if q == wire.QuestionPlayers && len(r.Players) > 0 {
		r.PlayersHash = xxhash.Sum64(msg)
	}
	switch r.Err[q] = code; code {
	case 0:
		r.Notes |= notes | wire.HeaderNotes(msg)
	case wire.ErrTruncated:
		r.Notes |= notes & (wire.NoteInfoNoModBlock | wire.NoteInfoShortAppID)
	}
}

func status(r *Result) Status {
	has := [wire.NumQuestions]bool{r.HasInfo, r.HasPlayers, r.HasRules}
	complete, some := true, false
	for q := range (r.Asked & wire.AskAll).Each() {
		complete = complete && has[q] && r.Err[q] == 0
		some = some || has[q]
	}
	switch {
	case complete && some:
		return StatusOK
	case some:
		return StatusPartial
	case r.Received > 0:
		return StatusError
	}
	for q := range (r.Asked & wire.AskAll).Each() {
		switch r.Err[q] {
		case wire.ErrUnreachable:
			return StatusUnreachable
		case wire.ErrInternal, wire.ErrSendFailed:
			return StatusError
		}
	}
	return StatusNoReply
}

// nameSet finds out whether a rule name occurs twice. It allocates memory only to
// enlarge its table.
type nameSet struct {
	table []uint32 // index of a rule, plus one; 0: the element is free
}

var nameSeed = maphash.MakeSeed()

func (s *nameSet) twice(rules []wire.Rule) bool {
	if ascending(rules) {
		return false
	}
	size := 64
	for size < 2*len(rules) {
		size *= 2
	}
	s.table = slices.Grow(s.table[:0], size)[:size]
	clear(s.table)
	mask := uint64(size - 1)
	for i := range rules {
		for h := maphash.Bytes(nameSeed, rules[i].Name); ; h++ {
			at := &s.table[h&mask]
			if *at == 0 {
				*at = uint32(i) + 1
				break
			}
			if bytes.Equal(rules[*at-1].Name, rules[i].Name) {
				return true
			}
		}
	}
	return false
}

// ascending(rules) reports whether the names are in strictly ascending order, so that none
// occurs twice. It uses the order in which most servers send names: alphabetical, ignoring
// case, with _ after the letters.
func ascending(rules []wire.Rule) bool {
	for i := range len(rules) - 1 {
		if !before(rules[i].Name, rules[i+1].Name) {
			return false
		}
	}
	return true
}

// before(a, b) reports whether a sorts before b. In each byte it sets the bit in which
// upper and lower case differ, and then compares the bytes.
func before(a, b []byte) bool {
	const lower = 0x20
	for ; len(a) >= 8 && len(b) >= 8; a, b = a[8:], b[8:] {
		x := binary.BigEndian.Uint64(a) | lower*0x0101010101010101
		y := binary.BigEndian.Uint64(b) | lower*0x0101010101010101
		if x != y {
			return x < y
		}
	}
	for i := range min(len(a), len(b)) {
		if x, y := a[i]|lower, b[i]|lower; x != y {
			return x < y
		}
	}
	return len(a) < len(b)
}
