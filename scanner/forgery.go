package scanner

import (
	"hash/maphash"

	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// A UDP source address is easily forged. Who guesses the port that a scan sends
// from can answer in the place of a server. Nothing here tells which of two replies
// is the server's. What can be told is that two replies contradict each other,
// and in unsolicited replies:
//
//	while the target is open    conflict: session.go, replies.go
//	within the cooldown         late conflict: a mark of each closed target is kept
//	before it was asked         early
//	from no target at all       foreign
//
// A mark is what is remembered of a target that is closed.
const (
	markOpen  mark = 1 << 15                     // all it was asked was answered without a challenge
	markInfo  mark = 1<<15 - 1<<7                // a hash of what does not change in INFO; 0: it sent none
	markRules mark = 1<<7 - 1                    // a hash of its first rules; 0: it sent none, or was asked again
	oneInfo   mark = markInfo &^ (markInfo << 1) // the least hash of each
	oneRules  mark = 1
)

// markOf returns the mark of what was answered. An answer that has a conflict already
// has none.
func markOf(s *session) (m mark) {
	a := s.got
	if a == nil || a.suspicion.conflict {
		return 0
	}
	if a.info != nil && a.inCode == 0 {
		m = stableHash(&a.in)
	}
	if a.suspicion.answered.Has(wire.QuestionRules) && s.askedOnce(wire.QuestionRules) {
		m |= rulesHash(*a.place(wire.QuestionRules))
	}
	if a.challenges.seen == 0 && a.suspicion.answered != 0 && a.suspicion.answered&^a.suspicion.unchallenged == 0 {
		m |= markOpen
	}
	return m
}

var stableSeed = maphash.MakeSeed()

// stableHash returns a hash of what does not change while a server runs. It is
// never 0.
func stableHash(in *wire.Info) mark {
	id, _ := in.AppID()
	sum := maphash.Bytes(stableSeed, in.Name)
	sum = fold(sum^maphash.Bytes(stableSeed, in.Version), 0x9E3779B97F4A7C15)
	sum = fold(sum^in.SteamID, 0x9E3779B97F4A7C15)
	sum = fold(sum^uint64(id), 0x9E3779B97F4A7C15)
	return max(mark(sum)&markInfo, oneInfo)
}

// rulesHash returns a hash of how many rules a list announces, and of the first
// names. It is never 0.
func rulesHash(list []byte) mark {
	var rs wire.Rules
	_ = rs.Reset(list) // what can be read counts
	sum := uint64(rs.Announced())
	for i := 0; i < 3 && rs.Next(); i++ {
		sum = fold(sum^maphash.Bytes(stableSeed, rs.Rule().Name), 0x9E3779B97F4A7C15)
	}
	return max(mark(sum)&markRules, oneRules)
}

// contradictsLate reports whether a datagram of a closed target contradicts what
// the target said before.
func (m mark) contradictsLate(datagram []byte, in *wire.Info) bool {
	if m == 0 || !wire.IsSingle(datagram) {
		return false
	}
	switch wire.KindOf(datagram) {
	case wire.KindChallenge:
		_, err := wire.DecodeChallenge(datagram)
		return err == nil && m&markOpen != 0
	case wire.KindInfo:
		return m&markInfo != 0 && in.Decode(datagram) == nil && stableHash(in) != m&markInfo
	case wire.KindRules:
		return m&markRules != 0 && sound(wire.QuestionRules, datagram) && rulesHash(datagram) != m&markRules
	}
	return false
}

// strangers remembers sources that sent well-formed replies without being asked,
// for the case that they are asked later. It has a fixed size: a source may take
// the place of another.
type strangers struct {
	sources [1 << 12]uint64
	any     bool
}

func (s *strangers) add(source uint64) {
	s.any = true
	s.sources[hash(source)%uint64(len(s.sources))] = source
}

// take reports whether a source is remembered, and forgets it.
func (s *strangers) take(source uint64) bool {
	if !s.any {
		return false
	}
	at := &s.sources[hash(source)%uint64(len(s.sources))]
	if *at != source {
		return false
	}
	*at = 0
	return true
}

// stranger takes a datagram whose source has no open session.
func (r *receiver) stranger(p *udp.Packet) {
	m, late := r.open.closed.find(p.Addr)
	if !late {
		r.foreign(p.Addr, p.Data)
		return
	}
	r.stats.Received[ClassLate]++
	if m.contradictsLate(p.Data, &r.info) {
		r.stats.LateConflicts++
		r.open.closed.unmark(p.Addr)
		if r.lateConflict != nil {
			r.lateConflict(udp.Unpack(p.Addr))
		}
	}
}

// isReply reports whether a datagram is a well-formed reply.
func isReply(datagram []byte, in *wire.Info) bool {
	if !wire.IsSingle(datagram) {
		return false
	}
	var err error
	switch wire.KindOf(datagram) {
	case wire.KindInfo, wire.KindGoldSource:
		err = in.Decode(datagram)
	case wire.KindPlayers:
		_, err = readList(wire.QuestionPlayers, datagram)
	case wire.KindRules:
		_, err = readList(wire.QuestionRules, datagram)
	case wire.KindChallenge:
		_, err = wire.DecodeChallenge(datagram)
	case wire.KindPing:
	default:
		return false
	}
	return err == nil
}
