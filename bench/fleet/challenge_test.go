package fleet

import (
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/loopback"
	"github.com/a2sscan/a2sscan/wire"
)

// asker queries a server without a socket.
type asker struct {
	t      *testing.T
	r      *responder
	server uint64
	client uint64
	now    time.Duration
}

func newAsker(t *testing.T, k Kind) *asker {
	t.Helper()
	m, err := newModel(oneServer(t, k))
	check(t, err)
	return &asker{t: t, r: newResponder(m, 27015), server: m.place(0), client: 0x7F000001<<16 | 4000}
}

// ask returns the type byte of the answer and the challenge in it. The type byte is
// 0 if there is no answer.
func (a *asker) ask(q wire.Question, c wire.Challenge) (wire.Kind, wire.Challenge) {
	a.t.Helper()
	a.r.out.Reset()
	a.r.Respond(a.now, a.client, a.server, wire.AppendRequest(nil, q, c))
	if len(a.r.out.List) == 0 {
		return 0, 0
	}
	msg := a.r.out.Bytes(&a.r.out.List[0])
	given, _ := wire.DecodeChallenge(msg)
	return wire.KindOf(msg), given
}

// TestChallenge sends requests with every kind of challenge: none, valid, wrong,
// another client's, and too old.
func TestChallenge(t *testing.T) {
	a := newAsker(t, Source)
	_, c := a.ask(wire.QuestionInfo, wire.NoChallenge)
	steps := []struct {
		name   string
		now    time.Duration
		client uint64
		q      wire.Question
		c      wire.Challenge
		want   wire.Kind
	}{
		{"INFO", 0, a.client, wire.QuestionInfo, c, wire.KindInfo},
		{"players", 0, a.client, wire.QuestionPlayers, c, wire.KindPlayers},
		{"rules", 0, a.client, wire.QuestionRules, c, wire.KindRules},
		{"none", 0, a.client, wire.QuestionRules, wire.NoChallenge, wire.KindChallenge},
		{"a wrong one", 0, a.client, wire.QuestionRules, c + 1, wire.KindChallenge},
		{"from another port", 0, a.client + 1, wire.QuestionRules, c, wire.KindRules},
		{"from another address", 0, a.client + 1<<16, wire.QuestionRules, c, wire.KindChallenge},
		{"at the end of its life", 2*challengeLife - 1, a.client, wire.QuestionRules, c, wire.KindRules},
		{"after its life", 2 * challengeLife, a.client, wire.QuestionRules, c, wire.KindChallenge},
	}
	for _, s := range steps {
		a.now, a.client = s.now, s.client
		if got, _ := a.ask(s.q, s.c); got != s.want {
			t.Errorf("%s: answered by %q, want %q", s.name, got, s.want)
		}
	}
}

// FuzzRespond sends arbitrary datagrams to servers of all kinds. They may answer only
// requests that DecodeRequest accepts, with at most as many datagrams as a ReplyStorm.
func FuzzRespond(f *testing.F) {
	c := testConfig()
	c.Hostile, c.HostileKinds = 0.5, nil
	m, err := newModel(c)
	check(f, err)
	r := newResponder(m, 27015)
	f.Add(uint64(1), wire.AppendRequest(nil, wire.QuestionInfo, wire.NoChallenge))
	f.Add(uint64(2), wire.AppendRequest(nil, wire.QuestionPlayers, 5))
	f.Add(uint64(3), wire.AppendRequest(nil, wire.QuestionRules, wire.NoChallenge))
	f.Fuzz(func(t *testing.T, place uint64, datagram []byte) {
		r.out.Reset()
		r.Respond(0, 0x7F000001<<16|5, m.place(place%m.places()), datagram)
		_, err := wire.DecodeRequest(datagram)
		if n := len(r.out.List); n > stormReplies || err != nil && n > 0 {
			t.Errorf("%d datagrams in answer to %X", n, datagram)
		}
		for i := range r.out.List {
			if b := r.out.Bytes(&r.out.List[i]); len(b) == 0 || len(b) > loopback.MaxDatagram {
				t.Errorf("a datagram of %d bytes", len(b))
			}
		}
	})
}
