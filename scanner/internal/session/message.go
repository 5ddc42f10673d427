package session

import (
	"bytes"
	"cmp"
	"math/bits"
	"time"

	"github.com/a2sscan/a2sscan/wire"
)

// Class classifies a received datagram. Each datagram counts for the first class that
// fits. The first two come from no open session.
type Class uint8

// The classes, in the order in which they are tried.
const (
	Foreign   Class = iota // from a source that is not a target
	Late                   // from a target that is finished
	Malformed              // neither message nor fragment
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
	KindText  // 'l' and 'X'
	KindOther // of an unknown kind
	KindPing  // whether it was requested or not

	NumKinds = iota
)

// Delivery says what became of a datagram or of a reassembled message.
type Delivery struct {
	Kind  Kind
	Class Class
	Full  bool // it was not kept: the byte budget has no room
}

// Hear gives the session an empty answer for what it receives from now on. It is
// called before the first datagram of the server, received at the time at, becomes an
// event. remembered is the challenge that the target is remembered by, or NoChallenge.
func (s *Session) Hear(p *Plan, a *Answer, at time.Duration, remembered wire.Challenge) {
	s.Got = a
	a.FirstAt = at
	a.Attempt = s.quiet + 1
	if p.Second {
		a.Attempt += uint8(p.Schedule.Attempts)
	}
	a.challenges.current = wire.NoChallenge
	if remembered != wire.NoChallenge {
		a.keyed = Info // even if a later attempt was without it
	}
	if s.Is(flagKeyed) {
		a.challenges.current, a.challenges.origin = remembered, Info
	}
	a.stranger = s.Is(flagStranger)
	for q := range Each(s.asked) {
		a.requests += s.attempts[q] - b2u8(s.due.Has(q))
	}
	for q := range a.sentUS { // only one request was waited for
		a.sentUS[q] = s.sentUS
	}
	a.flying = uint8(count(s.silent()))
	if s.Is(flagBlind) { // PLAYER was sent as the last attempt at INFO, which gets all its attempts again
		s.flags &^= flagBlind
		s.asked |= Players
		s.waiting = Players | s.waiting&aside
		s.bare |= Players
		s.attempts[wire.QuestionInfo], s.attempts[wire.QuestionPlayers] = 0, 1
		a.askedUS[wire.QuestionPlayers] = s.sentUS
	}
}

// came records that a datagram came, presumably in reply to one under way.
func (s *Session) came() {
	s.flags &^= flagRefused | flagRetried
	s.Got.flying -= b2u8(s.Got.flying > 0)
}

// Message takes a complete message, and keeps it if it is an answer.
func (s *Session) Message(m *Memory, now time.Duration, msg []byte) Delivery {
	switch wire.KindOf(msg) {
	case wire.KindChallenge:
		c, err := wire.DecodeChallenge(msg)
		if err != nil {
			s.Junk(wire.ErrMalformed)
			return Delivery{Kind: KindChallenge, Class: Malformed}
		}
		return Delivery{Kind: KindChallenge, Class: s.challenged(now, c)}
	case wire.KindInfo:
		return s.info(m, now, msg)
	case wire.KindGoldSource:
		return s.gold(m, now, msg)
	case wire.KindPlayers:
		return s.list(m, now, wire.QuestionPlayers, msg)
	case wire.KindRules:
		return s.list(m, now, wire.QuestionRules, msg)
	case wire.KindLimited:
		d := s.text(m, msg)
		s.limited()
		return d
	case wire.KindBanned:
		d := s.text(m, msg)
		s.came()
		s.giveUp(s.open, wire.ErrBanned) // nothing more will come (EC-22)
		return d
	case wire.KindRedirect: // its address is worth keeping if there is no other text (EC-140)
		d := Delivery{Kind: KindOther, Class: Matched}
		if _, err := wire.DecodeText(msg); err == nil && s.Got.Text == nil {
			d.Full = !s.Got.Put(m, &s.Got.Text, msg)
		}
		s.Junk(wire.ErrUnexpected)
		return d
	case wire.KindPing:
		return s.pong(m, now, msg)
	case 0:
		s.Junk(wire.ErrMalformed)
		return Delivery{Kind: KindOther, Class: Malformed}
	}
	s.Junk(wire.ErrUnexpected)
	return Delivery{Kind: KindOther, Class: Matched}
}

// Junk takes a datagram that answers nothing. The wait goes on; if no answer comes,
// code is the reason.
func (s *Session) Junk(code wire.Error) {
	s.came()
	s.fault(s.silent(), code)
}

// info takes an 'I'. If it is wanted, it is stored, and the stored copy is decoded.
// Otherwise it is only compared with the stored 'I'.
func (s *Session) info(m *Memory, now time.Duration, msg []byte) Delivery {
	a, in := s.Got, &m.scratch
	d := Delivery{Kind: KindInfo, Class: Matched}
	a.InfoReplies++
	a.again(wire.QuestionInfo)
	if !s.wants(wire.QuestionInfo, 0) {
		if in.Decode(msg) == nil && a.Info != nil {
			twice := s.askedOnce(wire.QuestionInfo) && !bytes.Equal(a.Info, msg)
			if twice || contradicts(&a.In, in) {
				a.Conflict = true
				a.Disputed |= differing(&a.In, in)
			}
		}
		if a.challenges.seen == 0 {
			a.copied()
		}
		s.came()
		d.Class = Duplicate
		return d
	}
	var kept []byte
	if d.Full = !a.Put(m, &kept, msg); d.Full {
		return d
	}
	code, _ := in.Decode(kept).(wire.Error)
	if id, ok := in.AppID(); ok {
		s.game(id)
	}
	if usable(code) && s.wants(wire.QuestionInfo, code) {
		a.Info, a.In, a.InCode = kept, *in, code
	} else {
		a.drop(kept)
	}
	d.Class = s.reply(now, wire.QuestionInfo, code)
	return d
}

// game notes what the application ID reveals: servers of some games have to be asked
// differently.
func (s *Session) game(appID uint32) {
	if appID == csgoAppID {
		s.flags |= flagCSGO
	}
	switch appID { // whose servers answer GETCHALLENGE with a challenge (document 000)
	case 17510, 17530, 17550, 17700, 17740:
		s.Got.challenges.getFirst = true
	default:
		s.Got.challenges.getFirst = false
	}
}

// usable reports whether a reply that was decoded with this error still counts as an
// answer. A truncated reply does.
func usable(code wire.Error) bool { return code == 0 || code == wire.ErrTruncated }

// gold takes an 'm'. An 'm' that comes after the 'I' answers nothing, but its address
// is kept all the same (EC-63). A further 'm' is compared with the first.
func (s *Session) gold(m *Memory, now time.Duration, msg []byte) Delivery {
	a, in := s.Got, &m.scratch
	d := Delivery{Kind: KindGoldSource, Class: Matched}
	if a.Gold != nil {
		code, _ := in.Decode(msg).(wire.Error)
		if !usable(code) {
			s.goldReply(now, code)
			return d
		}
		a.again(wire.QuestionInfo)
		if code == 0 && !bytes.Equal(in.Name, a.GoldInfo().Name) {
			a.Conflict = true
		}
		d.Class = Duplicate
		return d
	}
	var kept []byte
	if d.Full = !a.Put(m, &kept, msg); d.Full {
		return d
	}
	code, _ := in.Decode(kept).(wire.Error)
	if usable(code) {
		a.Gold = kept
		if a.Info == nil {
			a.In, a.InCode = *in, code
		}
	} else {
		a.drop(kept)
	}
	s.goldReply(now, code)
	return d
}

// goldReply takes an 'm' that was decoded with the error code. A usable 'm' answers
// INFO, but an 'I' may still replace it.
func (s *Session) goldReply(now time.Duration, code wire.Error) {
	s.came()
	switch {
	case !usable(code):
		s.fault(Info, code)
	case s.open.Has(wire.QuestionInfo):
		s.close(now, wire.QuestionInfo, code)
		s.flags |= flagGold
		s.Got.goldEnd = now + max(minGold, s.Got.RTT/2)
	}
}

// list takes a 'D' or an 'E'. It is decoded when the target is finished: the layout of
// a 'D' depends on the game, which is in INFO.
func (s *Session) list(m *Memory, now time.Duration, q wire.Question, msg []byte) Delivery {
	a := s.Got
	d := Delivery{Kind: KindPlayers, Class: Matched}
	countLen := 1
	if q == wire.QuestionRules {
		d.Kind, countLen = KindRules, 2
	}
	var code wire.Error
	switch n := len(wire.Body(msg)); {
	case n == 1:
		code = wire.ErrEmpty
	case n < 1+countLen:
		code = wire.ErrTruncated
	}
	if !s.asked.Has(q) && !Sound(q, msg) {
		code = wire.ErrMalformed // once the list is asked for, a sound one may come (EC-65)
	}
	a.again(q)
	switch wanted := s.wants(q, code); {
	case s.due.Has(q) && !s.asked.Has(q):
		d.Class = Duplicate // it is about to be asked for
		return d
	case !wanted && s.askedOnce(q) && differ(q, *a.Place(q), msg):
		a.Conflict = true
	case wanted && usable(code) && !a.Put(m, a.Place(q), msg):
		d.Full = true
		return d
	}
	d.Class = s.reply(now, q, code)
	return d
}

// text takes an 'l' or an 'X'. The first text stays, but an 'X' replaces a '9', and an
// 'l' replaces both.
func (s *Session) text(m *Memory, msg []byte) Delivery {
	d := Delivery{Kind: KindText, Class: Matched}
	old, k := wire.KindOf(s.Got.Text), wire.KindOf(msg)
	if old == 0 || old == wire.KindRedirect || k == wire.KindBanned && old != k {
		d.Full = !s.Got.Put(m, &s.Got.Text, msg)
	}
	return d
}

// limited takes an 'X': the server asks us to slow down (EC-21).
func (s *Session) limited() {
	s.came()
	s.flags |= flagSerial | flagLimited
	s.flags &^= flagSuspect
	s.fault(s.open, wire.ErrRateLimited)
	s.hold()
}

// pong takes the answer to a ping, which is no answer to any of the questions. An
// unsolicited one counts as matched, too, but is not kept.
func (s *Session) pong(m *Memory, now time.Duration, msg []byte) Delivery {
	d := Delivery{Kind: KindPing, Class: Matched}
	asked := s.Is(flagPing) && !s.Is(flagPong)
	if d.Full = asked && !s.Got.Put(m, &s.Got.Pong, msg); d.Full {
		return d
	}
	s.flags &^= flagRefused | flagRetried
	switch {
	case asked:
		s.flags |= flagPong
		s.waiting &^= Ping
		if !s.due.Has(wire.QuestionPing) {
			s.Got.PingRTT = s.since(s.Got.sentUS[wire.QuestionPing], now)
		}
	case s.Is(flagPing):
		d.Class = Duplicate
	}
	return d
}

// reply takes an answer to q: 'I', 'D' or 'E'. code is 0 or ErrTruncated, which close
// the question, or another error, which leaves it open. The first usable answer
// counts, also for a question that was given up or never asked.
func (s *Session) reply(now time.Duration, q wire.Question, code wire.Error) Class {
	s.came()
	if !usable(code) {
		s.fault(1<<q, code)
		return Matched
	}
	if !s.wants(q, code) {
		return Duplicate
	}
	if q == wire.QuestionInfo {
		s.flags &^= flagGold
	}
	s.close(now, q, code)
	return Matched
}

// wants reports whether an answer to q that was decoded with the error code would be
// of use: q is open, or was given up, or has only a truncated answer or an 'm'. A
// truncated 'I' is no better than a complete 'm'.
func (s *Session) wants(q wire.Question, code wire.Error) bool {
	switch {
	case s.open.Has(q):
		return true
	case q == wire.QuestionInfo && s.Is(flagGold):
		return code == 0 || s.err[q] != 0
	}
	return s.err[q] != 0 && (code == 0 || s.err[q] != code)
}

// close closes q with its answer, which may be truncated.
func (s *Session) close(now time.Duration, q wire.Question, code wire.Error) {
	a := s.Got
	if s.waiting.Has(q) {
		a.took = s.since(a.askedUS[q], now)
		// A reply to a question that was repeated, or sent with several challenges,
		// does not show a round trip.
		if s.attempts[q] == 1 && !a.challenges.resent.Has(q) {
			trip := s.since(a.sentUS[q], now)
			a.RTTs[q] = cmp.Or(a.RTTs[q], trip)
			a.RTT = cmp.Or(a.RTT, trip)
			a.trip(trip)
		}
	}
	// bare: the answer certainly belongs to a request without a challenge, also if its fragments
	// began to arrive in reply to such a request.
	asked := s.asked.Has(q)
	bare := asked && (s.openly()|a.openly).Has(q) || !asked && a.challenges.current == wire.NoChallenge
	a.unchallenged &^= 1 << q
	if bare {
		a.unchallenged |= 1 << q
	}
	if asked {
		a.answered |= 1 << q
	} else {
		a.unasked |= 1 << q
	}
	s.giveUp(1<<q, code)
	s.quiet, a.slow = 0, 0
	s.flags |= flagAnswered
	s.flags &^= flagBurst | flagKeyed // the server accepted the challenge, or needs none
}

// openly returns the questions that were sent without a challenge, and never with one:
// an answer to any other question may be a late answer to a request that bore one.
func (s *Session) openly() Questions { return s.bare &^ s.Got.keyed }

// Fragment records that part of an answer came. If only one question is waited for,
// the part belongs to that question.
func (s *Session) Fragment() {
	s.flags |= flagSplit
	s.flags &^= flagBurst | flagRefused | flagRetried
	s.quiet = 0
	qs := s.silent()
	s.Got.heard |= qs
	if qs == Lowest(qs) {
		s.fault(qs, wire.ErrIncomplete)
		if s.asked == qs { // otherwise the fragment may be part of a late answer
			s.Got.openly |= qs & s.openly()
		}
	}
}

// Contradiction takes a fragment that contradicts its group: this server gives several
// replies the same ID, so the open questions are asked again one by one.
func (s *Session) Contradiction() {
	s.Got.Conflicts++
	s.flags |= flagSplit
	if s.Is(flagSerial) || s.open == 0 {
		return
	}
	s.flags |= flagSerial
	s.hold()
	s.Got.flying = 0
}

// Pack reports whether a compressed reply may go to the decompressor, and counts it
// there. A server that sends compressed replies without end would block all others, and
// its session would never end.
func (s *Session) Pack() bool {
	a := s.Got
	switch {
	case a.unpacked >= maxUnpacked:
		s.fault(s.likelyPacked(), cmp.Or(a.packErr, wire.ErrTooLarge))
		return false
	case a.packed >= maxPacked:
		return false
	}
	a.packed++
	a.unpacked++
	return true
}

// Unpack records that the decompressor had no room for a reply.
func (s *Session) Unpack() {
	s.Got.Refused = true
	s.Got.packed--
	s.Got.unpacked--
}

// Unpacked takes a reply from the decompressor, or its error.
func (s *Session) Unpacked(m *Memory, now time.Duration, msg []byte, code wire.Error) {
	s.Got.packed--
	if code == 0 {
		s.Message(m, now, msg)
		return
	}
	s.Got.packErr = code
	s.fault(s.likelyPacked(), code)
}

// unpacking reports whether a reply of the server is in the decompressor.
func (s *Session) unpacking() bool { return s.Got != nil && s.Got.packed > 0 }

// likelyPacked returns the silent question that an unreadable compressed reply most
// likely answers: only long replies are compressed, and rules are the longest (EC-95).
func (s *Session) likelyPacked() Questions {
	if s.silent() == 0 {
		return 0
	}
	return 1 << (bits.Len8(uint8(s.silent())) - 1)
}

// Captured makes s the session of a capture: it does not show which questions were
// asked, so any may have been.
func (s *Session) Captured(a *Answer) {
	*s = Session{agenda: agenda{open: All, asked: All, waiting: All}, flags: flagPing}
	s.Hear(&Plan{}, a, 0, wire.NoChallenge)
}

// AnyWaits makes every open question one that is waited for, since a capture does not
// show which are.
func (s *Session) AnyWaits() { s.waiting = s.open }

// UnaskedList reports whether a list that comes now may have been sent before anything
// but INFO was asked.
func (s *Session) UnaskedList() bool {
	return s.open.Has(wire.QuestionInfo) && s.Got.challenges.current == wire.NoChallenge
}

// HasFragments records that fragments came, in a capture.
func (s *Session) HasFragments() { s.flags |= flagSplit }
