package scanner

import (
	"hash/maphash"

	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// A UDP source address is easily forged. Anybody who guesses the port that a scan
// sends from can answer in place of a server. Nothing here can tell which of two
// replies is the server's. But the scan detects replies that contradict each other,
// and replies that it did not ask for:
//
//	while the target is open    conflict: session.go, replies.go
//	within the cooldown         late conflict: a mark of each closed target is kept
//	before it was asked         early
//	from no target at all       foreign
//
// A mark is what the scan remembers of the answers of a closed target.
const (
	markOpen  mark = 1 << 15                     // every answer was to a request without a challenge
	markInfo  mark = 1<<15 - 1<<7                // a hash of the INFO fields that do not change; 0: no INFO
	markRules mark = 1<<7 - 1                    // a hash of the first rules; 0: no rules, or they were asked for more than once
	oneInfo   mark = markInfo &^ (markInfo << 1) // the lowest hash of each kind
	oneRules  mark = 1
)

// markOf returns the mark of a session's answers. It is 0 if they already
// contradict each other.
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

// stableHash returns a hash of the INFO fields that do not change while a server
// runs. It is never 0.
func stableHash(in *wire.Info) mark {
	id, _ := in.AppID()
	sum := maphash.Bytes(stableSeed, in.Name)
	sum = fold(sum^maphash.Bytes(stableSeed, in.Version), 0x9E3779B97F4A7C15)
	sum = fold(sum^in.SteamID, 0x9E3779B97F4A7C15)
	sum = fold(sum^uint64(id), 0x9E3779B97F4A7C15)
	return max(mark(sum)&markInfo, oneInfo)
}

// rulesHash returns a hash of the announced number of rules and of the first three
// names. It is never 0.
func rulesHash(list []byte) mark {
	var rs wire.Rules
	_ = rs.Reset(list) // a list that ends early counts as far as it can be read
	sum := uint64(rs.Announced())
	for i := 0; i < 3 && rs.Next(); i++ {
		sum = fold(sum^maphash.Bytes(stableSeed, rs.Rule().Name), 0x9E3779B97F4A7C15)
	}
	return max(mark(sum)&markRules, oneRules)
}

// contradictsLate reports whether a late datagram of a closed target contradicts
// the answers that the target gave while it was open.
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

// strangers remembers sources that sent well-formed replies without having been
// queried, in case they are queried later. Its size is fixed: a new source may
// overwrite another one.
type strangers struct {
	sources [1 << 12]uint64
	any     bool
}

func (s *strangers) add(source uint64) {
	s.any = true
	s.sources[hash(source)%uint64(len(s.sources))] = source
}

// take removes a source and reports whether it was remembered.
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

// stranger handles a datagram whose source has no open session: it is late or foreign.
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
