package scanner

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/wire"
)

// replies are the whole messages of one server, as they came, and what is
// known of the questions that have none. Empty means that there was none.
type replies struct {
	info    []byte     // 'I', or 'm' where there is none
	decoded *wire.Info // of info
	infoErr wire.Error // what was wrong with it
	address []byte     // of an 'm' beside the 'I' (EC-63)
	players []byte
	rules   []byte
	text    []byte // 'l', 'X' or '9'
	pong    []byte // 'j'

	partial Questions                     // those above that lack their end: fragments are missing
	err     [wire.NumQuestions]wire.Error // of questions without a message

	evidence evidence
}

// assembler makes Results of replies. It is the one place where messages
// become a Result: a scan and a capture both go through it. It keeps the
// memory of its last Result for the next one.
type assembler struct {
	players []wire.Player
	rules   []wire.Rule
	names   nameSet
	game    game.Game
}

// assemble sets all of r that comes from messages: the slices of r alias m
// and the assembler, and are valid until either is used again. r.Asked must
// be set: what came of another question is left out.
func (a *assembler) assemble(r *Result, m *replies) {
	r.Notes = 0
	r.Err = m.err
	r.HasInfo, r.HasPlayers, r.HasRules = false, false, false
	r.Players, r.Rules = nil, nil
	r.PlayersAnnounced, r.RulesAnnounced = -1, -1
	r.RulesDistinct = false
	r.Hashes = [wire.NumQuestions]uint64{}
	for q := range each(AskAll &^ r.Asked) {
		r.Err[q] = 0
	}
	r.Ping = nil
	if r.HasPing = len(m.pong) > 0; r.HasPing {
		r.Ping, _ = wire.DecodePing(m.pong)
	}
	r.Message = nil
	if len(m.text) > 0 {
		r.Message, _ = wire.DecodeText(m.text)
	}
	if r.Asked.Has(wire.QuestionInfo) {
		a.info(r, m)
	}
	if r.Asked.Has(wire.QuestionPlayers) {
		a.playerList(r, m)
	}
	if r.Asked.Has(wire.QuestionRules) {
		a.ruleList(r, m)
	}
	a.meaning(r, m)
	r.Status = status(r)
}

// info takes the 'I', or the 'm' where there is no 'I'. Of an 'm' beside an 'I'
// only the address stays (EC-63).
func (a *assembler) info(r *Result, m *replies) {
	if len(m.info) == 0 {
		return
	}
	r.Info = *m.decoded
	r.conclude(wire.QuestionInfo, m, m.infoErr)
	r.hash(wire.QuestionInfo, m, m.info)
	if m.address != nil {
		r.Info.Address = m.address
		r.Info.Has |= wire.HasAddress
	}
	r.HasInfo = r.Info.Has != 0
	r.note(wire.QuestionInfo, m.info, r.Info.Notes)
}

func (a *assembler) playerList(r *Result, m *replies) {
	if len(m.players) == 0 {
		return
	}
	var c wire.Players
	err := c.Reset(m.players, r.shipHint())
	a.players = c.AppendAll(a.players[:0])
	if err == nil {
		err = c.Err()
		r.HasPlayers, r.Players = true, a.players
		if c.Announced() != c.Count() {
			r.PlayersAnnounced = c.Announced()
		}
	}
	r.conclude(wire.QuestionPlayers, m, err)
	r.hash(wire.QuestionPlayers, m, m.players)
	r.note(wire.QuestionPlayers, m.players, c.Notes())
}

func (a *assembler) ruleList(r *Result, m *replies) {
	if len(m.rules) == 0 {
		return
	}
	var c wire.Rules
	err := c.Reset(m.rules)
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
	r.conclude(wire.QuestionRules, m, err)
	r.hash(wire.QuestionRules, m, m.rules)
	r.note(wire.QuestionRules, m.rules, notes)
}

// conclude writes down what decoding the message of q came to.
func (r *Result) conclude(q wire.Question, m *replies, err error) {
	code, _ := err.(wire.Error)
	if m.partial.Has(q) {
		code = wire.ErrIncomplete
	}
	r.Err[q] = code
}

// doubt notes that two replies contradict each other. Which of them is the
// server's cannot be known, so the Result makes no claim about its challenges.
func (r *Result) doubt() {
	r.Notes |= wire.NoteInfoConflict
	r.Flags |= game.FlagConflict
	r.Unchallenged = 0
}

// note adds the oddities of the answer to q. Of a truncated one only those count
// about what the missing end leaves uncertain.
func (r *Result) note(q wire.Question, msg []byte, notes wire.Notes) {
	switch r.Err[q] {
	case 0:
		r.Notes |= notes | wire.HeaderNotes(msg)
	case wire.ErrTruncated:
		r.Notes |= notes & wire.CutNotes
	}
}

// shipHint tells the player decoder what INFO reveals about the game (EC-74).
func (r *Result) shipHint() wire.ShipHint {
	if !r.HasInfo {
		return wire.ShipUnknown
	}
	id, ok := r.Info.AppID()
	switch {
	case !ok:
		return wire.ShipUnknown
	case wire.IsShip(id):
		return wire.ShipYes
	}
	return wire.ShipNo
}

// status returns the status that follows from the questions answered.
func status(r *Result) Status {
	has := [wire.NumQuestions]bool{r.HasInfo, r.HasPlayers, r.HasRules}
	whole, some := true, false
	for q := range each(r.Asked.status()) {
		whole = whole && has[q] && r.Err[q] == 0
		some = some || has[q]
	}
	switch {
	case whole && some:
		return StatusOK
	case some:
		return StatusPartial
	case r.Received > 0:
		return StatusError
	}
	for q := range each(r.Asked.status()) {
		if r.Err[q] == wire.ErrUnreachable {
			return StatusUnreachable
		}
	}
	return StatusNoReply
}

// nameSet finds rule names that occur twice, in one pass and without
// allocating once it has grown. Names are hostile: their hash is seeded.
type nameSet struct {
	seed, factor uint64   // factor is odd, and 0 before the first use
	table        []uint32 // index into the rules + 1
}

// fewRules is how many names are compared each with each.
const fewRules = 16

func (s *nameSet) twice(rules []wire.Rule) bool {
	switch {
	case ascending(rules):
		return false
	case len(rules) <= fewRules:
		return twiceAmongFew(rules)
	}
	if s.factor == 0 {
		s.seed, s.factor = rand.Uint64(), rand.Uint64()|1
	}
	size := 64
	for size < 2*len(rules) {
		size *= 2
	}
	s.table = slices.Grow(s.table[:0], size)[:size]
	clear(s.table)
	for i := range rules {
		if s.insert(rules, uint32(i)) {
			return true
		}
	}
	return false
}

// ascending reports whether each name stands behind the one before it in an
// order: then none is there twice. It is the order in which most servers send
// them: by the letters, upper and lower case alike, and _ behind them.
func ascending(rules []wire.Rule) bool {
	for i := range len(rules) - 1 {
		if !before(rules[i].Name, rules[i+1].Name) {
			return false
		}
	}
	return true
}

// before reports whether a stands before b by their bytes with the bit set that
// upper and lower case differ in.
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

// insert adds the name of rules[i] and reports whether it was there.
func (s *nameSet) insert(rules []wire.Rule, i uint32) bool {
	mask := uint64(len(s.table) - 1)
	for h := s.hash(rules[i].Name); ; h++ {
		at := &s.table[h&mask]
		if *at == 0 {
			*at = i + 1
			return false
		}
		if bytes.Equal(rules[*at-1].Name, rules[i].Name) {
			return true
		}
	}
}

// hash multiplies eight bytes at a time by a secret number. For
// names, which are short, that takes half the time of package maphash.
func (s *nameSet) hash(name []byte) uint64 {
	h := s.seed + uint64(len(name))
	for ; len(name) >= 8; name = name[8:] {
		h = fold(h^binary.LittleEndian.Uint64(name), s.factor)
	}
	var rest uint64
	if len(name) >= 4 {
		rest = uint64(binary.LittleEndian.Uint32(name)) |
			uint64(binary.LittleEndian.Uint32(name[len(name)-4:]))<<32
	} else if len(name) > 0 {
		rest = uint64(name[0]) | uint64(name[len(name)/2])<<8 | uint64(name[len(name)-1])<<16
	}
	return fold(h^rest, s.factor)
}

// fold returns a mixture of all bits of x × y.
func fold(x, y uint64) uint64 {
	high, low := bits.Mul64(x, y)
	return high ^ low
}

func twiceAmongFew(rules []wire.Rule) bool {
	for i := range rules {
		for j := range rules[:i] {
			if bytes.Equal(rules[i].Name, rules[j].Name) {
				return true
			}
		}
	}
	return false
}
