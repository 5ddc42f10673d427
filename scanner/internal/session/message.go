package session

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/a2sscan/a2sscan/wire"
)

// Class classifies a received datagram. Each datagram counts for the first class that
// fits. Datagrams of the first two classes belong to no open session.
type Class uint8

// The classes.
const (
	Foreign   Class = iota // from a source that is not a target
	Late                   // from a target that is finished
	Malformed              // neither a message nor a fragment
	Duplicate              // it brought nothing new
	Matched                // part of an answer

	NumClasses = iota
)

// Kind is the kind of a matched datagram.
type Kind uint8

// The kinds of matched datagrams.
const (
	KindInfo Kind = iota
	KindGoldSource
	KindPlayers
	KindRules
	KindChallenge
	KindFragment
	KindText  // messages of wire.KindBanned and wire.KindLimited
	KindOther // redirections, and messages of an unknown kind
	KindPing  // the answer to a ping, requested or not

	NumKinds = iota
)

// Delivery describes what became of a datagram or of a reassembled message.
type Delivery struct {
	Kind  Kind
	Class Class
	Full  bool // the message was not stored, because the byte budget has no room
}

// Hear gives the session an empty answer, in which the session stores what the server
// sends. Hear is called when the first datagram of the server has come, before Message or
// Fragment. Its last two arguments are the time at which that datagram was received, and
// the challenge of an earlier scan, or NoChallenge.
func (s *Session) Hear(p *Plan, a *Answer, at time.Duration, remembered wire.Challenge) {
	s.Got = a
	a.FirstAt, a.Late = at, at-s.Clock.LastAt()
	a.Attempt = s.quiet + 1
	if p.Second {
		a.Attempt += uint8(p.Schedule.Attempts)
	}
	a.challenges.current, a.challenges.with = wire.NoChallenge, a.Attempt
	if s.Flags.Has(flagAgain) {
		a.challenges.resent = s.Agenda.Asked & wire.AskAll
	}
	if remembered != wire.NoChallenge {
		a.keyed = wire.AskInfo // the first attempt had the challenge, even if a later one did not
	}
	if s.Flags.Has(flagKeyed) {
		a.challenges.current, a.challenges.origin = remembered, wire.AskInfo
	}
	for q := range a.sentUS { // only one request was outstanding, so its time serves for every q
		a.sentUS[q] = s.Clock.sentUS
	}
	a.flying = uint8(count(s.Agenda.Silent()))
	blind := s.Flags.Has(flagBlind) && !s.Agenda.due.Has(wire.QuestionInfo)
	s.Flags &^= flagBlind
	// PLAYER was sent as the last attempt at INFO. INFO gets all its attempts again.
	if blind {
		s.Agenda.Asked |= wire.AskPlayers
		s.Agenda.Waiting = wire.AskPlayers | s.Agenda.Waiting&wire.AskPing
		s.Agenda.bare |= wire.AskPlayers
		s.Agenda.Attempts[wire.QuestionInfo], s.Agenda.Attempts[wire.QuestionPlayers] = 0, 1
		a.askedUS[wire.QuestionPlayers] = s.Clock.sentUS
	}
}

// came records that a datagram came, presumably in reply to an outstanding request.
func (s *Session) came() {
	s.Flags &^= flagRefused | flagRetried
	s.Got.flying -= b2u8(s.Got.flying > 0)
}

type incoming struct {
	s      *Session
	memory *Memory
	now    time.Duration
	msg    []byte
}

// Message takes a complete message, and stores it if it is an answer.
func (s *Session) Message(m *Memory, now time.Duration, msg []byte) Delivery {
	x := &incoming{s, m, now, msg} // filled in place, to avoid a copy
	switch wire.KindOf(msg) {
	case wire.KindChallenge:
		c, err := wire.DecodeChallenge(msg)
		if err != nil {
			s.Junk(wire.ErrMalformed)
			return Delivery{Kind: KindChallenge, Class: Malformed}
		}
		return Delivery{Kind: KindChallenge, Class: s.challenged(now, c)}
	case wire.KindInfo:
		return x.info()
	case wire.KindGoldSource:
		return x.gold()
	case wire.KindPlayers:
		return x.list(wire.QuestionPlayers)
	case wire.KindRules:
		return x.list(wire.QuestionRules)
	case wire.KindLimited, wire.KindBanned:
		return x.text()
	case wire.KindRedirect: // its address is stored if there is no other text (EC-140)
		d := Delivery{Kind: KindOther, Class: Matched}
		if _, err := wire.DecodeText(msg); err == nil && s.Got.Text == nil {
			d.Full = !s.Got.Put(m, &s.Got.Text, msg)
		}
		s.Junk(wire.ErrUnexpected)
		return d
	case wire.KindPing:
		return x.pong()
	case 0:
		s.Junk(wire.ErrMalformed)
		return Delivery{Kind: KindOther, Class: Malformed}
	}
	s.Junk(wire.ErrUnexpected)
	return Delivery{Kind: KindOther, Class: Matched}
}

// Junk takes a datagram that answers nothing. The session still waits for an answer. If
// none comes, the argument becomes the error of the question.
func (s *Session) Junk(code wire.Error) {
	s.came()
	s.Agenda.fault(s.Agenda.Silent(), code)
}

// askedOnce reports whether the server should answer q only once: the session made one
// attempt, used at most one challenge, and repeated nothing after an outage.
func (s *Session) askedOnce(q wire.Question) bool {
	a := s.Got
	return s.Agenda.Asked.Has(q) && s.Agenda.Attempts[q] == 1 && !a.challenges.resent.Has(q) &&
		(q != wire.QuestionInfo || a.Attempt == 1) // PLAYER may have been the last attempt at INFO
}

// info takes a Source INFO reply. If the reply is of use (see x.wants), info stores it
// and decodes the stored copy. Otherwise info only compares it with the stored reply.
func (x *incoming) info() Delivery {
	a, in := x.s.Got, &x.memory.scratch
	d := Delivery{Kind: KindInfo, Class: Matched}
	a.InfoReplies++
	if !x.wants(wire.QuestionInfo, 0) {
		if a.Info != nil && x.s.askedOnce(wire.QuestionInfo) && !bytes.Equal(a.Info, x.msg) && in.Decode(x.msg) == nil {
			a.Conflict = true
		}
		a.Doubled = a.Unsure && a.challenges.seen == 0
		x.s.came()
		d.Class = Duplicate
		return d
	}
	var stored []byte
	if d.Full = !a.Put(x.memory, &stored, x.msg); d.Full {
		return d
	}
	code, _ := in.Decode(stored).(wire.Error)
	if id, ok := in.AppID(); ok {
		x.game(id)
	}
	if usable(code) && x.wants(wire.QuestionInfo, code) {
		a.Info, a.In, a.InCode = stored, *in, code
	} else {
		a.drop(stored)
	}
	d.Class = x.reply(wire.QuestionInfo, code)
	return d
}

// getFirstApps are the games whose servers answer GETCHALLENGE with a challenge (document
// 000).
var getFirstApps = []uint32{17510, 17530, 17550, 17700, 17740}

// game records whether the game needs a different sequence of requests.
func (x *incoming) game(appID uint32) {
	if appID == csgoAppID {
		x.s.Flags |= flagCSGO
	}
	x.s.Got.challenges.getFirst = slices.Contains(getFirstApps, appID)
}

// usable(code) reports whether a reply still counts as an answer if decoding it caused the
// error code. A truncated reply does.
func usable(code wire.Error) bool { return code == 0 || code == wire.ErrTruncated }

// gold takes a GoldSource INFO reply. If it comes after a Source reply, it answers no
// question, but its address goes into the record (EC-63). A second GoldSource reply is
// only compared with the first.
func (x *incoming) gold() Delivery {
	a, in := x.s.Got, &x.memory.scratch
	d := Delivery{Kind: KindGoldSource, Class: Matched}
	code, _ := in.Decode(x.msg).(wire.Error)
	switch {
	case !usable(code):
		x.goldReply(code)
		return d
	case a.Gold != nil:
		if code == 0 && x.s.askedOnce(wire.QuestionInfo) && !bytes.Equal(a.Gold, x.msg) && in.Decode(a.Gold) == nil {
			a.Conflict = true
		}
		d.Class = Duplicate
		return d
	case !a.Put(x.memory, &a.Gold, x.msg):
		d.Full = true
		return d
	}
	if a.Info == nil {
		a.In, a.InCode = a.GoldInfo(), code
	}
	x.goldReply(code)
	return d
}

// goldReply takes a GoldSource INFO reply. Its argument is the error from decoding the
// reply. A usable reply answers INFO, but a Source reply may still replace it.
func (x *incoming) goldReply(code wire.Error) {
	open := x.s.Agenda.Open.Has(wire.QuestionInfo)
	if usable(code) && !open {
		x.s.came()
		return
	}
	x.reply(wire.QuestionInfo, code)
	if open && usable(code) {
		x.s.Flags |= flagGold
		x.s.Got.goldEnd = x.now + max(minGold, x.s.Got.RTT/2)
	}
}

// list takes a PLAYER or RULES reply. The list in it is decoded when the target is
// finished, because the layout of a PLAYER reply depends on the game, which INFO names.
//
// A list that came before its question is provisional. If the question is asked later, the
// answer replaces the list. If the question is never asked, or gets no answer, the list
// counts as the answer.
func (x *incoming) list(q wire.Question) Delivery {
	a := x.s.Got
	d := Delivery{Kind: KindPlayers, Class: Matched}
	countLen := 1
	if q == wire.QuestionRules {
		d.Kind, countLen = KindRules, 2
	}
	var code wire.Error
	switch n := len(wire.Body(x.msg)); {
	case n == 1:
		code = wire.ErrEmpty
	case n < 1+countLen:
		code = wire.ErrTruncated
	}
	asked, place := x.s.Agenda.Asked.Has(q), a.Place(q)
	if !asked && !Sound(q, x.msg) {
		code = wire.ErrMalformed // after the request, a sound list may come (EC-65)
	}
	switch wanted := x.wants(q, code); {
	case !asked && x.s.Agenda.due.Has(q): // the request for this list is queued
		if code != 0 || *place != nil {
			d.Class = Duplicate
		} else if d.Full = !a.Put(x.memory, place, x.msg); !d.Full {
			x.unasked(q)
		}
		return d
	case !wanted && x.s.askedOnce(q) && conflict(q, *place, x.msg):
		a.Conflict = true
	case wanted && usable(code) && !a.Put(x.memory, place, x.msg):
		d.Full = true
		return d
	}
	d.Class = x.reply(q, code)
	return d
}

// unasked records that an answer came before its question was asked.
func (x *incoming) unasked(q wire.Question) {
	a := x.s.Got
	a.unasked |= 1 << q
	if a.challenges.current == wire.NoChallenge {
		a.unchallenged |= 1 << q
	}
}

// text takes a KindBanned message, after which nothing more will come (EC-22), or a
// KindLimited message, with which the server asks us to slow down (EC-21). It stores only
// the first text, except that KindLimited replaces KindRedirect, and KindBanned replaces
// both.
func (x *incoming) text() Delivery {
	d := Delivery{Kind: KindText, Class: Matched}
	old, k := wire.KindOf(x.s.Got.Text), wire.KindOf(x.msg)
	if old == 0 || old == wire.KindRedirect || k == wire.KindBanned && old != k {
		d.Full = !x.s.Got.Put(x.memory, &x.s.Got.Text, x.msg)
	}
	x.s.came()
	if k == wire.KindBanned {
		x.s.Agenda.giveUp(x.s.Agenda.Open, wire.ErrBanned)
		return d
	}
	x.s.Flags |= flagSerial | Limited
	x.s.Flags &^= flagSuspect
	x.s.Agenda.fault(x.s.Agenda.Open, wire.ErrRateLimited)
	x.s.Agenda.hold()
	return d
}

// pong takes the answer to a ping, which answers none of the questions. An unsolicited
// pong counts as matched, too, but is not stored.
func (x *incoming) pong() Delivery {
	d := Delivery{Kind: KindPing, Class: Matched}
	asked := x.s.Flags.Has(flagPing) && !x.s.Flags.Has(flagPong)
	if d.Full = asked && !x.s.Got.Put(x.memory, &x.s.Got.Pong, x.msg); d.Full {
		return d
	}
	x.s.Flags &^= flagRefused | flagRetried
	switch {
	case asked:
		x.s.Flags |= flagPong
		x.s.Agenda.Waiting &^= wire.AskPing
		if !x.s.Agenda.due.Has(wire.QuestionPing) {
			x.s.Got.PingRTT = x.s.Clock.since(x.s.Got.sentUS[wire.QuestionPing], x.now)
		}
	case x.s.Flags.Has(flagPing):
		d.Class = Duplicate
	}
	return d
}

// reply takes an answer to q, and the error from decoding the answer. 0 and ErrTruncated
// close the question, and any other error leaves it open. The first usable answer counts,
// also for a question that was given up or never asked.
func (x *incoming) reply(q wire.Question, code wire.Error) Class {
	a := x.s.Got
	x.s.came()
	if !usable(code) {
		x.s.Agenda.fault(1<<q, code)
		return Matched
	}
	if !x.wants(q, code) {
		return Duplicate
	}
	if q == wire.QuestionInfo {
		x.s.Flags &^= flagGold
	}
	if x.s.Agenda.Waiting.Has(q) {
		a.Took = x.s.Clock.since(a.askedUS[q], x.now)
		// A reply to a question that was repeated, or sent with several challenges,
		// does not show a round trip.
		if x.s.Agenda.Attempts[q] == 1 && !a.challenges.resent.Has(q) {
			trip := x.s.Clock.since(a.sentUS[q], x.now)
			a.RTTs[q] = cmp.Or(a.RTTs[q], trip)
			a.RTT = cmp.Or(a.RTT, trip)
		}
	}
	// bare has the questions whose answer, or at least a part of it, certainly belongs to a
	// request without a challenge.
	a.unasked &^= 1 << q
	a.unchallenged &^= 1 << q
	switch bare := x.s.Agenda.bare&^a.keyed | a.openly; {
	case !x.s.Agenda.Asked.Has(q):
		x.unasked(q)
	case bare.Has(q):
		a.unchallenged |= 1 << q
	}
	x.s.Agenda.giveUp(1<<q, code)
	x.s.quiet, a.slow = 0, 0
	x.s.Flags |= flagAnswered
	x.s.Flags &^= flagBurst | flagKeyed // the server accepted the challenge, or needs none
	return Matched
}

// wants reports whether an answer to q, with the error from decoding it, is of use: q is
// open, was given up, or has only a truncated answer or a GoldSource reply. But a truncated
// Source reply is no better than a complete GoldSource reply.
func (x *incoming) wants(q wire.Question, code wire.Error) bool {
	switch {
	case x.s.Agenda.Open.Has(q):
		return true
	case q == wire.QuestionInfo && x.s.Flags.Has(flagGold):
		return code == 0 || x.s.Agenda.Err[q] != 0
	}
	return x.s.Agenda.Err[q] != 0 && (code == 0 || x.s.Agenda.Err[q] != code)
}

// Fragment records that part of an answer came. If only one answer is outstanding, the
// part belongs to that answer.
func (s *Session) Fragment() {
	s.Flags |= Split
	s.Flags &^= flagBurst | flagRefused | flagRetried
	s.quiet = 0
	qs := s.Agenda.Silent()
	s.Got.heard |= qs
	if qs == qs.Lowest() {
		s.Agenda.fault(qs, wire.ErrIncomplete)
		if s.Agenda.Asked == qs { // else the fragment may be a late answer to another question
			s.Got.openly |= qs & s.Agenda.bare &^ s.Got.keyed
		}
	}
}

// Contradiction takes a fragment that contradicts the earlier fragments of its reply: the
// server gives several replies the same ID. The open questions are asked again one by one.
func (s *Session) Contradiction() {
	s.Got.Conflicts++
	s.Flags |= Split
	if s.Flags.Has(flagSerial) || s.Agenda.Open == 0 {
		return
	}
	s.Flags |= flagSerial
	s.Agenda.hold()
	s.Got.flying = 0
}

// Pack reports whether a compressed reply may go to the decompressor, and if so counts
// the reply. Without a limit, a server that sends compressed replies without end would
// block all other servers, and its session would never end.
func (s *Session) Pack() bool {
	a := s.Got
	switch {
	case a.unpacked >= maxUnpacked:
		s.Agenda.fault(s.Agenda.longest(), cmp.Or(a.packErr, wire.ErrTooLarge))
		return false
	case a.packed >= maxPacked:
		return false
	}
	a.packed++
	a.unpacked++
	return true
}

// Refuse records that the decompressor had no room for a reply that Pack counted.
func (a *Answer) Refuse() {
	a.Refused = true
	a.packed--
	a.unpacked--
}

// Unpacked takes a reply from the decompressor, or the error of decompressing it.
func (s *Session) Unpacked(m *Memory, now time.Duration, msg []byte, code wire.Error) {
	s.Got.packed--
	if code == 0 {
		s.Message(m, now, msg)
		return
	}
	s.Got.packErr = code
	s.Agenda.fault(s.Agenda.longest(), code)
}

// Captured returns a session for the replies in a packet capture. It assumes that all
// questions were asked, because a capture does not show which ones were.
func Captured(a *Answer) (s Session) {
	s = Session{Agenda: Agenda{Open: wire.AskAll, Asked: wire.AskAll, Waiting: wire.AskAll}, Flags: flagPing}
	s.Hear(&Plan{}, a, 0, wire.NoChallenge)
	return s
}
