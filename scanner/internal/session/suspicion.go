package session

import (
	"hash/maphash"
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/a2sscan/a2sscan/wire"
)

// suspicion records the signs that a reply may be forged. A server sends one reply
// to each datagram, so more replies than requests are a sign. So are replies that
// come sooner than they could, or before the server was asked.
//
// The record of a suspicious server is held back for one timeout, in case its true
// replies are still to come. A question whose answer is in doubt is asked once
// more. Two replies contradict each other if
//
//   - two 'I' answer one request and differ at all, or answer several requests and
//     differ in fields that do not change while a server runs;
//   - two lists answer one request, and name different players or rules;
//   - an 'A' comes for a question that was answered without a challenge.
//
// Then they prove nothing about the server's challenges.
type suspicion struct {
	Conflict bool // a reply contradicts another

	requests     uint8         // datagrams sent, not counting pings
	answered     Questions     // answered after they were asked
	unasked      Questions     // answered before they were asked
	unchallenged Questions     // answered, at least in part, in reply to a request without a challenge
	stranger     bool          // a reply came before the server was asked anything
	verifying    Questions     // asked once more although they were answered
	verified     Questions     // those of verifying that were answered again
	least, most  time.Duration // shortest and longest round trip
	holdEnd      time.Duration // the record is held back until then; 0: it is not
}

// again records another answer to q. If q was asked once more, this verifies it.
func (x *suspicion) again(q wire.Question) { x.verified |= x.verifying & (1 << q) }

// trip includes a round trip in least and most.
func (x *suspicion) trip(d time.Duration) {
	if x.most == 0 || d < x.least {
		x.least = d
	}
	x.most = max(x.most, d)
}

// Unchallenged returns the questions that were answered, at least in part, in reply to
// a request without a challenge, as far as that is certain.
func (a *Answer) Unchallenged() Questions {
	qs := a.unchallenged &^ (a.verifying &^ a.verified)
	if a.challenges.seen > 0 { // unsolicited replies may be forged
		qs &^= a.unasked
	}
	return qs
}

// surplus reports whether more replies came than requests went out: either the
// network duplicated a challenge, or one of the replies is forged.
func (a *Answer) surplus() bool {
	return a.challenges.seen > 0 && int(a.challenges.seen)+count(a.answered) > int(a.requests)
}

// verify holds back the record of a server whose answers may be forged, and asks the
// doubtful questions once more. INFO is sent with the challenge, so that the true
// server answers it. A list is asked for without a challenge, so that the true server
// sends an 'A'.
func (s *Session) verify(p *Plan, now time.Duration) {
	a := s.Got
	soon := a.unasked != 0 || 4*a.least+muchEarlier < a.most
	var qs Questions // answered without a challenge, though more replies came than requests went out
	if a.surplus() {
		qs = a.unchallenged &^ (a.unasked &^ Info)
	}
	if a.Conflict || !(a.stranger || soon && a.unchallenged != 0 || qs != 0) {
		return
	}
	if a.holdEnd == 0 {
		a.holdEnd = now + p.Schedule.Timeout
	}
	if qs != 0 && a.verifying == 0 {
		a.verifying = qs
		s.Agenda.due |= qs << questionVerify
		a.holdEnd = now + p.Schedule.Timeout
	}
}

// countChallenge counts an 'A' as one of the server's replies, and reports whether its
// value came before. It records a contradiction if the 'A' contradicts an earlier
// answer.
func (s *Session) countChallenge(now time.Duration, c wire.Challenge) (known bool) {
	a, qs, had := s.Got, s.Agenda.Silent(), &s.Got.challenges
	newest := had.seen == 0
	known = slices.Contains(had.values[:min(int(had.seen), len(had.values))], c)
	had.seen += b2u8(had.seen < math.MaxUint8)
	switch {
	case !known:
		had.values[had.oldest] = c
		had.oldest = (had.oldest + 1) % uint8(len(had.values))
	case had.repeats == 0 || had.repeated[0] != c:
		had.repeated[0], had.repeated[1] = c, had.repeated[0]
		had.repeats = min(had.repeats+1, uint8(len(had.repeated)))
	}
	if newest && s.Agenda.Open == 0 {
		a.challenges.current = c // used to verify INFO
	}
	// The first 'A' contradicts an answer if every request already had a reply, so
	// that it answers a question that was also answered without a challenge. Some
	// servers send an 'A' after an 'I' (EC-9); for them INFO is asked once more instead.
	refuted := a.unchallenged != 0 && !a.unchallenged.Has(wire.QuestionInfo) && a.surplus()
	lists := (a.verifying &^ Info) << questionVerify
	if s.Agenda.Waiting&lists != 0 || newest && refuted {
		a.Conflict = true
	}
	if newest && count(qs) == 1 && s.Agenda.Attempts[first(qs)] == 1 {
		a.trip(s.Clock.since(a.sentUS[first(qs)], now))
	}
	return known
}

// askedOnce reports whether exactly one request for q went out, so that exactly one
// answer can be expected.
func (s *Session) askedOnce(q wire.Question) bool {
	several := s.Got.challenges.resent | s.Got.verifying
	return s.Agenda.Asked.Has(q) && s.Agenda.Attempts[q] == 1 && !several.Has(q)
}

// Mark is what a scan remembers of the answers of a finished target, to detect a late
// reply that contradicts them.
type Mark struct {
	info  uint32 // a hash of INFO: of the whole reply if once is set, else of the fields that do not change; 0: no INFO
	rules uint16 // a hash of the first rules; 0: no rules, or they were asked for more than once
	once  bool   // INFO was asked once
	open  bool   // every answer was to a request without a challenge
}

// Mark returns the mark of a session's answers. It is empty if they already contradict
// each other.
func (s *Session) Mark() (m Mark) {
	a := s.Got
	if a == nil || a.Conflict {
		return Mark{}
	}
	if a.Info != nil && a.InCode == 0 {
		m.once = s.askedOnce(wire.QuestionInfo)
		m.info = infoHash(m.once, a.Info, &a.In)
	}
	if a.answered.Has(wire.QuestionRules) && s.askedOnce(wire.QuestionRules) {
		m.rules = rulesHash(a.Rules)
	}
	m.open = a.challenges.seen == 0 && a.answered != 0 && a.answered&^a.unchallenged == 0
	return m
}

var markSeed = maphash.MakeSeed()

// fold mixes x into a hash.
func fold(sum, x uint64) uint64 {
	high, low := bits.Mul64(sum^x, 0x9E3779B97F4A7C15)
	return high ^ low
}

// infoHash returns a hash of an INFO reply: of all of it if INFO was asked once, else of
// the fields that do not change while a server runs. It is never 0.
func infoHash(once bool, msg []byte, in *wire.Info) uint32 {
	if once {
		return max(uint32(maphash.Bytes(markSeed, msg)), 1)
	}
	id, _ := in.AppID()
	sum := maphash.Bytes(markSeed, in.Name)
	sum = fold(sum, maphash.Bytes(markSeed, in.Version))
	return max(uint32(fold(fold(sum, in.SteamID), uint64(id))), 1)
}

// rulesHash returns a hash of the announced number of rules and of the first three
// names. It is never 0.
func rulesHash(list []byte) uint16 {
	var rs wire.Rules
	_ = rs.Reset(list) // a list that ends early counts as far as it can be read
	sum := uint64(rs.Announced())
	for i := 0; i < 3 && rs.Next(); i++ {
		sum = fold(sum, maphash.Bytes(markSeed, rs.Rule().Name))
	}
	return max(uint16(sum), 1)
}

// Contradicts reports whether a late datagram of a finished target contradicts the
// answers that the target gave while it was open. in is space for decoding.
func (m Mark) Contradicts(datagram []byte, in *wire.Info) bool {
	if m == (Mark{}) || !wire.IsSingle(datagram) {
		return false
	}
	switch wire.KindOf(datagram) {
	case wire.KindChallenge:
		_, err := wire.DecodeChallenge(datagram)
		return err == nil && m.open
	case wire.KindInfo:
		return m.info != 0 && in.Decode(datagram) == nil && infoHash(m.once, datagram, in) != m.info
	case wire.KindRules:
		return m.rules != 0 && Sound(wire.QuestionRules, datagram) && rulesHash(datagram) != m.rules
	}
	return false
}
