package session

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/scanner/timing"
	"github.com/a2sscan/a2sscan/wire"
)

// TestLateChallenges: a server with one challenge answers INFO, and neither PLAYER nor
// RULES. Its replies come late, and in bursts. However late they come, the server does not
// answer only with challenges, so no question ends as a challenge loop.
func TestLateChallenges(t *testing.T) {
	challenge := wire.AppendChallenge(nil, 9)
	info := wire.AppendInfo(nil, &wire.Info{Name: []byte("slow")})
	for seed := range uint64(20_000) {
		r := rand.New(rand.NewPCG(seed, 0))
		p := Plan{Questions: wire.AskAll, Schedule: timing.Schedule{Timeout: time.Second, Attempts: 4}}
		if seed%2 == 1 { // the scan has learned its timeouts
			p.Schedule.Learned = timing.LeastTimeout
		}
		type reply struct {
			at  time.Duration
			msg []byte
		}
		var s Session
		var replies []reply
		m := NewMemory(1 << 20)
		s.Start(&p, false, false)
		for now := time.Duration(0); !s.Flags.Has(Done); {
			s.Advance(&p, now)
			for q := range s.Due().Each() {
				_, c := s.Request(q, wire.NoChallenge)
				s.Sent(&p, now, q)
				at := now + time.Duration(r.IntN(20))*time.Duration(r.IntN(500))*time.Millisecond
				if len(replies) > 0 {
					at = max(at, replies[len(replies)-1].at)
				}
				switch {
				case r.IntN(20) == 0: // the network lost the request or the reply
				case c != 9:
					replies = append(replies, reply{at, challenge})
				case q == wire.QuestionInfo:
					replies = append(replies, reply{at, info})
				}
			}
			if len(replies) > 0 && replies[0].at <= s.Clock.Wake() {
				now = replies[0].at
				if s.Got == nil {
					s.Hear(&p, new(Answer), now, wire.NoChallenge)
				}
				s.Message(m, now, replies[0].msg)
				replies = replies[1:]
			} else {
				now = max(now, s.Clock.Wake())
				s.Tick(&p, now)
			}
		}
		for q, err := range s.Agenda.Err {
			if err == wire.ErrChallengeLoop {
				t.Fatalf("seed %d: %v ended with %v", seed, wire.Question(q), err)
			}
		}
	}
}
