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
type mark struct {
	info  uint32 // a hash of INFO: of the whole reply if once is set, else of the fields that do not change; 0: no INFO
	rules uint16 // a hash of the first rules; 0: no rules, or they were asked for more than once
	once  bool   // INFO was asked once
	open  bool   // every answer was to a request without a challenge
}

// markOf returns the mark of a session's answers. It is empty if they already
// contradict each other.
func markOf(s *session) (m mark) {
	a := s.got
	if a == nil || a.suspicion.conflict {
		return mark{}
	}
	if a.info != nil && a.inCode == 0 {
		m.once = s.askedOnce(wire.QuestionInfo)
		m.info = infoHash(m.once, a.info, &a.in)
	}
	if a.suspicion.answered.Has(wire.QuestionRules) && s.askedOnce(wire.QuestionRules) {
		m.rules = rulesHash(*a.place(wire.QuestionRules))
	}
	m.open = a.challenges.seen == 0 && a.suspicion.answered != 0 && a.suspicion.answered&^a.suspicion.unchallenged == 0
	return m
}

var stableSeed = maphash.MakeSeed()

// infoHash returns a hash of an INFO reply: of all of it if INFO was asked once, else of
// the fields that do not change while a server runs. It is never 0.
func infoHash(once bool, msg []byte, in *wire.Info) uint32 {
	if once {
		return max(uint32(maphash.Bytes(stableSeed, msg)), 1)
	}
	id, _ := in.AppID()
	sum := maphash.Bytes(stableSeed, in.Name)
	sum = fold(sum^maphash.Bytes(stableSeed, in.Version), 0x9E3779B97F4A7C15)
	sum = fold(sum^in.SteamID, 0x9E3779B97F4A7C15)
	sum = fold(sum^uint64(id), 0x9E3779B97F4A7C15)
	return max(uint32(sum), 1)
}

// rulesHash returns a hash of the announced number of rules and of the first three
// names. It is never 0.
func rulesHash(list []byte) uint16 {
	var rs wire.Rules
	_ = rs.Reset(list) // a list that ends early counts as far as it can be read
	sum := uint64(rs.Announced())
	for i := 0; i < 3 && rs.Next(); i++ {
		sum = fold(sum^maphash.Bytes(stableSeed, rs.Rule().Name), 0x9E3779B97F4A7C15)
	}
	return max(uint16(sum), 1)
}

// contradictsLate reports whether a late datagram of a closed target contradicts
// the answers that the target gave while it was open.
func (m mark) contradictsLate(datagram []byte, in *wire.Info) bool {
	if m == (mark{}) || !wire.IsSingle(datagram) {
		return false
	}
	switch wire.KindOf(datagram) {
	case wire.KindChallenge:
		_, err := wire.DecodeChallenge(datagram)
		return err == nil && m.open
	case wire.KindInfo:
		return m.info != 0 && in.Decode(datagram) == nil && infoHash(m.once, datagram, in) != m.info
	case wire.KindRules:
		return m.rules != 0 && sound(wire.QuestionRules, datagram) && rulesHash(datagram) != m.rules
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
	m, late := r.open.wasClosed(p.Addr)
	if !late {
		r.foreign(p.Addr, p.Data)
		return
	}
	r.stats.Received[classLate]++
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
