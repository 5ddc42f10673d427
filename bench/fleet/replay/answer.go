package replay

import (
	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/bench/fleet/internal/random"
	"github.com/a2sscan/a2sscan/wire"
)

// Answer sends the answer of the recorded server at the packed address. The fleet
// that serves the recording calls it.
func (rec *Recording) Answer(server uint64, q wire.Question, r *wire.Request, send func(datagram []byte)) {
	i, ok := rec.places[server]
	if !ok {
		return
	}
	s := &rec.servers[i]
	say := &s.says[q]
	if c, wants := rec.wants(s, say, r); wants {
		send(wire.AppendChallenge(nil, c))
		return
	}
	if say.bursts.n == 0 {
		return
	}
	rec.burst(say.bursts.first+say.next, send)
	say.next = (say.next + 1) % say.bursts.n
}

// Open opens the sockets of a fleet with the servers of a recording, for which
// Place must have been called. Of c, only the network, the seed, and the faults,
// delays and query limit apply. No other fleet may use the recording.
func Open(c fleet.Config, rec *Recording) (*fleet.Fleet, error) {
	s, err := fleet.Listen(rec.Ports())
	if err != nil {
		return nil, err
	}
	return On(s, c, rec)
}

// On is Open for sockets that are already open, on the ports of the recording.
func On(s *fleet.Sockets, c fleet.Config, rec *Recording) (*fleet.Fleet, error) {
	c.Ports = rec.Ports()
	return s.Fleet(c, rec)
}

// mostRounds is the maximum number of challenges in a row that a question gets
// before its answer. Scanners give up after a few more.
const mostRounds = 3

// another returns a challenge that the server has not given before: the recorded
// challenges in their order, then random ones. If a challenge came twice, a scanner
// would take it for the server's own, and all others for forged challenges.
func (s *recorded) another(rounds []wire.Challenge) wire.Challenge {
	n := s.given
	s.given++
	if int(n) < len(rounds) {
		return rounds[n]
	}
	return random.Challenge(random.Hash(s.place, uint64(n)))
}

// wants returns the challenge that a server sends instead of an answer, or false if
// it answers.
func (rec *Recording) wants(s *recorded, say *saying, r *wire.Request) (wire.Challenge, bool) {
	rounds := rec.rounds[s.rounds.first:][:s.rounds.n]
	if say.manner == mannerBare || len(rounds) == 0 {
		return 0, false
	}
	if say.manner == mannerNever {
		return s.another(rounds), true
	}
	given := 0 // number of the last round whose challenge the request has
	for i := range rounds {
		if r.HasChallenge && rounds[i] == r.Challenge {
			given = i + 1
		}
	}
	needs := int(say.needs)
	if given >= needs {
		return 0, false
	}
	return rounds[max(given, needs-mostRounds)], true
}
