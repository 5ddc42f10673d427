package scanner

import (
	"encoding/binary"
	"time"

	"github.com/a2sscan/a2sscan/wire"
)

// span is a part of an answer's data. A span that was never set is empty.
type span struct{ off, end uint32 }

// answer is what came of one server so far: its messages one after the other
// in data, which belongs to a pool.
type answer struct {
	dialog

	firstAt   time.Duration // first datagram received
	lastAt    time.Duration // last datagram received
	rtt       time.Duration // of the first question asked once and answered
	rtts      [wire.NumQuestions]time.Duration
	recvBytes uint64
	received  uint32
	attempt   uint8 // which one the first datagram came after

	unchallenged Questions
	partial      Questions // messages that lack their end

	info, gold, players, rules, text, pong span

	pingRTT time.Duration

	infoReplies uint32 // datagrams and reassembled replies
	conflicts   uint32 // fragments that contradicted an earlier one

	data []byte
	raw  []byte // every datagram behind its length, if the scan keeps them
}

// replies points m at the messages of a.
func (a *answer) replies(m *replies) {
	m.info = a.message(a.info)
	m.gold = a.message(a.gold)
	m.players = a.message(a.players)
	m.rules = a.message(a.rules)
	m.text = a.message(a.text)
	m.pong = a.message(a.pong)
	m.partial = a.partial
	m.evidence.infoReplies, m.evidence.conflicts = int(a.infoReplies), int(a.conflicts)
}

func (a *answer) message(s span) []byte { return a.data[s.off:s.end:s.end] }

// place is where the answer to q is kept.
func (a *answer) place(q wire.Question) *span {
	switch q {
	case wire.QuestionInfo:
		return &a.info
	case wire.QuestionPlayers:
		return &a.players
	}
	return &a.rules
}

// put keeps msg at s. It reports false where the byte budget has no room.
func (a *answer) put(pool *pool, s *span, msg []byte) bool {
	if !pool.grow(&a.data, len(msg)) {
		return false
	}
	off := len(a.data)
	a.data = append(a.data, msg...)
	*s = span{uint32(off), uint32(len(a.data))}
	return true
}

// maxRaw bounds the datagrams kept of one server: a record is at most 8 MiB,
// base64 makes four bytes of three, and the rest of the record needs room.
const maxRaw = 4 << 20

// keepRaw keeps a datagram as it came.
func (a *answer) keepRaw(pool *pool, datagram []byte) {
	n := 4 + len(datagram)
	if len(a.raw)+n > maxRaw || !pool.grow(&a.raw, n) {
		return
	}
	a.raw = binary.LittleEndian.AppendUint32(a.raw, uint32(len(datagram)))
	a.raw = append(a.raw, datagram...)
}

// eachRaw yields the datagrams that keepRaw kept.
func (a *answer) eachRaw(yield func([]byte)) {
	for b := a.raw; len(b) >= 4; {
		n := 4 + binary.LittleEndian.Uint32(b)
		yield(b[4:n:n])
		b = b[n:]
	}
}

// delivery is what became of a whole message.
type delivery struct {
	kind  ReplyKind
	class Class
	full  bool // it was not kept: the byte budget has no room
}

// deliver takes a whole message: it tells the conversation, and keeps what
// answers. scratch is for decoding.
func (a *answer) deliver(t *talk, pool *pool, now time.Duration, msg []byte, scratch *wire.Info) delivery {
	switch k := wire.KindOf(msg); k {
	case wire.KindChallenge:
		return deliverChallenge(t, now, msg)
	case wire.KindInfo:
		return a.deliverInfo(t, pool, now, msg, scratch)
	case wire.KindGoldSource:
		return a.deliverGold(t, pool, now, msg, scratch)
	case wire.KindPlayers:
		return a.deliverList(t, pool, now, wire.QuestionPlayers, msg, 1)
	case wire.KindRules:
		return a.deliverList(t, pool, now, wire.QuestionRules, msg, 2)
	case wire.KindLimited, wire.KindBanned:
		return a.deliverText(t, pool, k, msg)
	case wire.KindRedirect:
		return a.deliverRedirect(t, pool, msg)
	case wire.KindPing:
		return a.deliverPong(t, pool, now, msg)
	case 0:
		t.onJunk(wire.ErrMalformed)
		return delivery{kind: ReplyOther, class: ClassMalformed}
	}
	t.onJunk(wire.ErrUnexpected)
	return delivery{kind: ReplyOther, class: ClassMatched}
}

func deliverChallenge(t *talk, now time.Duration, msg []byte) delivery {
	c, err := wire.DecodeChallenge(msg)
	if err != nil {
		t.onJunk(wire.ErrMalformed)
		return delivery{kind: ReplyChallenge, class: ClassMalformed}
	}
	return delivery{kind: ReplyChallenge, class: classOf(t.onChallenge(now, c))}
}

func (a *answer) deliverInfo(t *talk, pool *pool, now time.Duration, msg []byte, in *wire.Info) delivery {
	a.infoReplies++
	code, _ := in.Decode(msg).(wire.Error)
	if id, ok := in.AppID(); ok {
		t.onAppID(id)
	}
	return a.answered(t, pool, now, wire.QuestionInfo, msg, code, ReplyInfo)
}

// deliverGold takes an 'm'. One that comes after its 'I' answers nothing, but
// its address is kept all the same (EC-63).
func (a *answer) deliverGold(t *talk, pool *pool, now time.Duration, msg []byte, in *wire.Info) delivery {
	d := delivery{kind: ReplyGoldSource}
	code, _ := in.Decode(msg).(wire.Error)
	if code == 0 || code == wire.ErrTruncated {
		if a.gold != (span{}) {
			d.class = ClassDuplicate
			return d
		}
		if !a.put(pool, &a.gold, msg) {
			d.class, d.full = ClassMatched, true
			return d
		}
	}
	open := t.open.Has(wire.QuestionInfo)
	a.measure(t, now, wire.QuestionInfo)
	t.onGold(now, code)
	if open {
		a.noteUnchallenged(t, wire.QuestionInfo)
	}
	d.class = ClassMatched
	return d
}

// deliverList takes a 'D' or an 'E', whose count takes countLen bytes. What
// stands in it is decoded when the target is finished: a 'D' can't be read
// before INFO has said which game it is.
func (a *answer) deliverList(
	t *talk, pool *pool, now time.Duration, q wire.Question, msg []byte, countLen int,
) delivery {
	var code wire.Error
	switch n := len(wire.Body(msg)); {
	case n == 1:
		code = wire.ErrEmpty
	case n < 1+countLen:
		code = wire.ErrTruncated
	}
	if !t.asked.Has(q) && !sound(q, msg) {
		code = wire.ErrMalformed // asked for, it may come better (EC-65)
	}
	kind := ReplyPlayers
	if q == wire.QuestionRules {
		kind = ReplyRules
	}
	return a.answered(t, pool, now, q, msg, code, kind)
}

// sound reports whether a list is what it says it is, down to its count.
func sound(q wire.Question, msg []byte) bool {
	exact, err := readList(q, msg)
	return exact && err == nil
}

// readList reads a list to its end, and reports whether its count is true.
func readList(q wire.Question, msg []byte) (exact bool, err error) {
	if q == wire.QuestionRules {
		var rs wire.Rules
		_ = rs.Reset(msg) // Err returns it too
		for rs.Next() {
		}
		return rs.Count() == rs.Announced(), rs.Err()
	}
	var ps wire.Players
	_ = ps.Reset(msg, wire.ShipUnknown)
	for ps.Next() {
	}
	return ps.Count() == ps.Announced(), ps.Err()
}

// answered takes an answer to q with what is wrong with it at first sight.
func (a *answer) answered(
	t *talk, pool *pool, now time.Duration, q wire.Question, msg []byte, code wire.Error, kind ReplyKind,
) delivery {
	d := delivery{kind: kind}
	usable := code == 0 || code == wire.ErrTruncated
	wanted := t.wants(q, code)
	if usable && wanted && !a.put(pool, a.place(q), msg) {
		d.class, d.full = ClassMatched, true
		return d
	}
	if usable && wanted {
		a.measure(t, now, q)
		a.noteUnchallenged(t, q)
	}
	d.class = classOf(t.onReply(q, code))
	return d
}

// measure takes the round trip of a question that was asked once and answered: a
// reply to a repeated question is not a round trip, nor is one to a question that
// was sent with several challenges.
func (a *answer) measure(t *talk, now time.Duration, q wire.Question) {
	if a.rtts[q] != 0 || t.asks[q] != 1 || !t.waiting.Has(q) || a.resent.Has(q) {
		return
	}
	a.rtts[q] = now - t.sent(q)
	if a.rtt == 0 {
		a.rtt = a.rtts[q]
	}
}

func (a *answer) noteUnchallenged(t *talk, q wire.Question) {
	if t.unchallenged(q) {
		a.unchallenged |= 1 << q
	} else {
		a.unchallenged &^= 1 << q
	}
}

func (a *answer) deliverText(t *talk, pool *pool, k wire.Kind, msg []byte) delivery {
	d := delivery{kind: ReplyText, class: ClassMatched}
	// The first text stays, but a warning replaces a redirect, and a ban either.
	old := wire.KindOf(a.message(a.text))
	if old == 0 || old == wire.KindRedirect || k == wire.KindBanned && old != k {
		d.full = !a.put(pool, &a.text, msg)
	}
	if k == wire.KindBanned {
		t.onBanned()
	} else {
		t.onLimited()
	}
	return d
}

// deliverPong takes the answer to a ping. One that nobody asked for is a reply
// like any other that answers nothing.
func (a *answer) deliverPong(t *talk, pool *pool, now time.Duration, msg []byte) delivery {
	d := delivery{kind: ReplyPing, class: ClassMatched}
	asked := t.beside&besidePing != 0 && t.beside&besidePong == 0
	if asked && !a.put(pool, &a.pong, msg) {
		d.full = true
		return d
	}
	switch sent := !t.due.Has(wire.QuestionPing); {
	case t.onPong() == used && sent:
		a.pingRTT = now - t.sent(wire.QuestionPing)
	case t.beside&besidePing != 0 && !asked:
		d.class = ClassDuplicate
	}
	return d
}

// deliverRedirect takes a '9'. It answers nothing, but the address in it is worth
// keeping where the server says nothing else (EC-140).
func (a *answer) deliverRedirect(t *talk, pool *pool, msg []byte) delivery {
	d := delivery{kind: ReplyOther, class: ClassMatched}
	if _, err := wire.DecodeText(msg); err == nil && a.text == (span{}) {
		d.full = !a.put(pool, &a.text, msg)
	}
	t.onJunk(wire.ErrUnexpected)
	return d
}

func classOf(v verdict) Class {
	if v == used {
		return ClassMatched
	}
	return ClassDuplicate
}
