package fleet

import "github.com/a2sscan/a2sscan/wire"

// replay answers q as the recorded server at the packed address server did.
func (p *responder) replay(q *query, server uint64) {
	i, ok := p.rec.places[server]
	if !ok {
		p.stats.Nobody++
		return
	}
	s := &p.rec.servers[i]
	say := &s.says[q.question]
	if c, wants := p.rec.wants(s, say, q); wants {
		at := len(p.out.data)
		p.out.data = wire.AppendChallenge(p.out.data, c)
		p.out.add(server, at)
		return
	}
	if say.bursts.n == 0 {
		p.stats.Nobody++
		return
	}
	p.rec.burst(say.bursts.first+say.next, func(datagram []byte) {
		at := len(p.out.data)
		p.out.data = append(p.out.data, datagram...)
		p.out.add(server, at)
	})
	say.next = (say.next + 1) % say.bursts.n
}

// mostRounds is how many challenges in a row a question gets before its
// answer. Scanners give up after some more.
const mostRounds = 3

// wants returns the challenge that a server gives instead of an answer, if it
// does.
func (rec *Recording) wants(s *recorded, say *saying, q *query) (wire.Challenge, bool) {
	rounds := rec.rounds[s.rounds.first:][:s.rounds.n]
	if say.manner == mannerBare || len(rounds) == 0 {
		return 0, false
	}
	given := 0 // how many challenges the client has used up
	for i := range rounds {
		if q.request.HasChallenge && rounds[i] == q.request.Challenge {
			given = i + 1
		}
	}
	needs := int(say.needs)
	switch {
	case say.manner == mannerNever:
		return rounds[given%len(rounds)], true
	case given >= needs:
		return 0, false
	}
	return rounds[max(given, needs-mostRounds)], true
}
