package session

import (
	"bytes"
	"encoding/binary"
	"time"

	"github.com/a2sscan/a2sscan/wire"
)

// Answer is the part of a session that is needed only after the server has sent a
// datagram: the messages of the server, and what they reveal about the server. The
// messages are in chunks, which belong to a Memory and never move, since a decoded
// message points into them. The fields that every datagram changes come first, so that
// they share few cache lines.
type Answer struct {
	FirstAt     time.Duration // when the first datagram was received
	LastAt      time.Duration // when the last datagram was received
	RecvBytes   uint64
	Received    uint32
	InfoReplies uint32         // INFO replies, including reassembled ones
	Conflicts   uint32         // fragments that contradicted an earlier fragment
	Conflict    bool           // a question was asked once and got two complete answers that differ
	Attempt     uint8          // number, from 1, of the attempt after which the first datagram came
	Partial     wire.Questions // questions whose stored answer lacks its end
	InCode      wire.Error     // the error from decoding In; 0 if there was none

	flying  uint8          // number of sent requests without an answer, as far as known
	heard   wire.Questions // questions to which some reply came, so that they get extraAttempts
	keyed   wire.Questions // questions sent with a challenge at least once
	openly  wire.Questions // questions for which a request without a challenge got a fragment
	slow    uint8          // number of consecutive waits without a reply while questions are sent slowly
	goldEnd time.Duration  // end of the wait for a Source INFO reply after a GoldSource one

	unasked      wire.Questions // questions answered before they were asked: see incoming.list
	unchallenged wire.Questions // questions for which a request without a challenge got an answer or part of one

	RoundTrips
	chunks     [][]byte
	challenges challenges

	packed   uint8      // number of replies that are in the decompressor now
	unpacked uint8      // number of all replies that went to the decompressor
	Refused  bool       // the decompressor had no room for a reply
	packErr  wire.Error // the decompressor's last error; 0 if there was none

	Info, Players, Rules, Gold, Text, Pong []byte

	first   [4][]byte // the backing array of chunks: a server rarely needs more
	In      wire.Info // the decoded Source INFO reply or, while there is none, the GoldSource one
	PingRTT time.Duration
	raw     []byte // with Config.Raw: the datagrams, each preceded by its length
}

// RoundTrips are the round trips of a server that answers.
type RoundTrips struct {
	RTT  time.Duration                    // round trip of the first question that was asked once and answered
	RTTs [wire.NumQuestions]time.Duration // round trips of the questions that were asked once and answered

	sentUS [wire.NumRequests]uint32 // when each request was last sent, in µs after Clock.FirstAt
	// askedUS is when each question was first sent with its present challenge, also in µs
	// after Clock.FirstAt.
	askedUS [wire.NumQuestions]uint32
	// Took belongs to the question that was answered last: it is the time from the first
	// request with the present challenge to the answer. The learner sets it to 0 after
	// use.
	Took time.Duration
	// Unsure means that the first datagram came after several requests, and may belong to
	// any of them.
	Unsure bool
	// Doubled means that a copy of the first datagram came: several requests were answered,
	// so the first datagram answers the first request.
	Doubled bool
	// Late is the time from the last request before the first datagram to that datagram.
	// Once a copy of the datagram came, it is the time from the very first request
	// instead.
	Late time.Duration
}

// Unchallenged returns the questions that were answered, at least in part, in reply to a
// request without a challenge, as far as that is certain.
func (a *Answer) Unchallenged() wire.Questions {
	if a.challenges.seen > 0 {
		return a.unchallenged &^ a.unasked
	}
	return a.unchallenged
}

// GoldInfo decodes the GoldSource INFO reply.
func (a *Answer) GoldInfo() (in wire.Info) {
	_ = in.Decode(a.Gold) // a truncated reply has some fields
	return in
}

// Place returns a pointer to the stored answer to q.
func (a *Answer) Place(q wire.Question) *[]byte {
	switch q {
	case wire.QuestionInfo:
		return &a.Info
	case wire.QuestionPlayers:
		return &a.Players
	}
	return &a.Rules
}

// Put stores a copy of msg, and sets *place to the copy. It returns false if the byte
// budget has no room.
func (a *Answer) Put(m *Memory, place *[]byte, msg []byte) bool {
	i := 0
	for i < len(a.chunks) && cap(a.chunks[i])-len(a.chunks[i]) < len(msg) {
		i++
	}
	if i == len(a.chunks) {
		var chunk []byte
		if !m.grow(&chunk, len(msg)) {
			return false
		}
		if a.chunks == nil {
			a.chunks = a.first[:0]
		}
		a.chunks = append(a.chunks, chunk)
	}
	chunk := &a.chunks[i]
	off := len(*chunk)
	*chunk = append(*chunk, msg...)
	*place = (*chunk)[off:len(*chunk):len(*chunk)]
	return true
}

// drop releases the chunk space of the message that Put stored last.
func (a *Answer) drop(last []byte) {
	for i := range a.chunks {
		c := &a.chunks[i]
		if n := len(*c) - len(last); n >= 0 && len(last) > 0 && &(*c)[n] == &last[0] {
			*c = (*c)[:n]
		}
	}
}

// maxRaw is the maximum number of bytes that raw may hold for one server. A record is
// at most 8 MiB, base64 turns three bytes into four, and the rest of the record needs
// room.
const maxRaw = 4 << 20

// KeepRaw stores a datagram as received, unless maxRaw or the byte budget is exceeded.
func (a *Answer) KeepRaw(m *Memory, datagram []byte) {
	n := 4 + len(datagram)
	if len(a.raw)+n > maxRaw || !m.grow(&a.raw, n) {
		return
	}
	a.raw = binary.LittleEndian.AppendUint32(a.raw, uint32(len(datagram)))
	a.raw = append(a.raw, datagram...)
}

// AppendRaw appends the datagrams that KeepRaw stored.
func (a *Answer) AppendRaw(dst [][]byte) [][]byte {
	for b := a.raw; len(b) >= 4; {
		n := 4 + binary.LittleEndian.Uint32(b)
		dst = append(dst, b[4:n:n])
		b = b[n:]
	}
	return dst
}

// KeepPart stores the beginning of a reply that lacks fragments, if its question has no
// other answer. If the last argument is true, only a last, empty fragment can be missing
// (EC-149). The answer then counts as complete if it can be decoded. Any other answer is
// Partial.
func (a *Answer) KeepPart(m *Memory, msg []byte, full bool) {
	q, ok := QuestionOf(wire.KindOf(msg))
	if !ok || *a.Place(q) != nil || q == wire.QuestionInfo && a.Gold != nil {
		return
	}
	stored := a.Put(m, a.Place(q), msg)
	if q == wire.QuestionInfo && a.Info != nil {
		a.InCode, _ = a.In.Decode(a.Info).(wire.Error)
		full = full && a.InCode == 0
	} else {
		full = full && Sound(q, msg)
	}
	if stored && !full {
		a.Partial |= 1 << q
	}
}

// QuestionOf returns the question that a message of kind k answers.
func QuestionOf(k wire.Kind) (q wire.Question, ok bool) {
	switch k {
	case wire.KindInfo:
		return wire.QuestionInfo, true
	case wire.KindPlayers:
		return wire.QuestionPlayers, true
	case wire.KindRules:
		return wire.QuestionRules, true
	}
	return 0, false
}

// ReadList reads a PLAYER or RULES reply to its end, and reports whether its announced
// count is correct.
func ReadList(q wire.Question, msg []byte) (exact bool, err error) {
	if q == wire.QuestionRules {
		var rs wire.Rules
		_ = rs.Reset(msg) // Err returns the same error
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

// Sound reports whether a list decodes completely and its announced count is correct.
func Sound(q wire.Question, msg []byte) bool {
	exact, err := ReadList(q, msg)
	return exact && err == nil
}

// conflict reports whether the lists a and b are complete and differ.
func conflict(q wire.Question, a, b []byte) bool {
	if bytes.Equal(a, b) {
		return false
	}
	_, errA := ReadList(q, a)
	_, errB := ReadList(q, b)
	return errA == nil && errB == nil
}
