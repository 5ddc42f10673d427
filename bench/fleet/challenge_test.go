package fleet

import (
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/loopback"
	"github.com/a2sscan/a2sscan/scanner"
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
	if err != nil {
		t.Fatal(err)
	}
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

// TestRechallenge checks that the first challenge is invalid after its first use,
// and that the second challenge stays valid.
func TestRechallenge(t *testing.T) {
	a := newAsker(t, Rechallenge)
	_, first := a.ask(wire.QuestionInfo, wire.NoChallenge)
	if k, again := a.ask(wire.QuestionInfo, wire.NoChallenge); k != wire.KindChallenge || again != first {
		t.Errorf("before its use another challenge is given: %v, then %v", first, again)
	}
	if k, _ := a.ask(wire.QuestionInfo, first); k != wire.KindInfo {
		t.Fatalf("the first challenge is answered by %q", k)
	}
	k, next := a.ask(wire.QuestionPlayers, first)
	if k != wire.KindChallenge || next == first {
		t.Fatalf("used, the first challenge is answered by %q with %v", k, next)
	}
	for range 3 {
		if k, _ := a.ask(wire.QuestionPlayers, next); k != wire.KindPlayers {
			t.Fatalf("the second challenge is answered by %q", k)
		}
	}
	a.client++
	if k, _ := a.ask(wire.QuestionRules, first); k != wire.KindRules {
		t.Errorf("another scan from the same address gets %q for its first use", k)
	}
}

// TestOnlyRequestsAreAnswered checks that servers answer only requests of exactly
// 25, 29 or 9 bytes (EC-16).
func TestOnlyRequestsAreAnswered(t *testing.T) {
	a := newAsker(t, SourceOpen)
	info := wire.AppendRequest(nil, wire.QuestionInfo, wire.NoChallenge)
	rules := wire.AppendRequest(nil, wire.QuestionRules, wire.NoChallenge)
	tests := map[string][]byte{
		"empty": {}, "header only": info[:4], "short info": info[:24], "long info": append(info[:25:25], 0),
		"info with half a challenge": append(info[:25:25], 1, 2, 3), "padded info": append(info[:25:25], make([]byte, 1175)...),
		"short rules": rules[:8], "long rules": append(rules[:9:9], 0),
		"ping": wire.AppendRequest(nil, wire.QuestionPing, 0), "getchallenge": wire.AppendRequest(nil, wire.QuestionChallenge, 0),
		"a reply": wire.AppendChallenge(nil, 5), "a fragment": append([]byte{0xFE}, rules[1:]...),
	}
	for name, datagram := range tests {
		a.r.out.Reset()
		a.r.Respond(0, a.client, a.server, datagram)
		if len(a.r.out.List) != 0 {
			t.Errorf("%s is answered", name)
		}
	}
	if got := a.r.stats.Malformed; got != uint64(len(tests)) {
		t.Errorf("%d counted as malformed of %d", got, len(tests))
	}
	if k, _ := a.ask(wire.QuestionInfo, wire.NoChallenge); k != wire.KindInfo {
		t.Errorf("a good request is answered by %q", k)
	}
}

// TestNobodyAnswers checks that silent servers do not answer, that InfoOnly does
// not answer PLAYER, and that servers do not exceed their query limit.
func TestNobodyAnswers(t *testing.T) {
	a := newAsker(t, Silent)
	if k, _ := a.ask(wire.QuestionInfo, wire.NoChallenge); k != 0 || a.r.stats.Nobody != 1 {
		t.Errorf("a silent server answers by %q", k)
	}
	a = newAsker(t, InfoOnly)
	_, c := a.ask(wire.QuestionPlayers, wire.NoChallenge)
	if k, _ := a.ask(wire.QuestionPlayers, c); k != 0 {
		t.Errorf("players of an info-only server: %q", k)
	}
	a = newAsker(t, SourceOpen)
	a.r.m.QueryLimit = 1
	a.ask(wire.QuestionInfo, wire.NoChallenge)
	if k, _ := a.ask(wire.QuestionInfo, wire.NoChallenge); k != 0 || a.r.stats.Limited != 1 {
		t.Errorf("the second query in a second is answered by %q", k)
	}
}

// TestTruthOfSilence checks that a scan that asks only RULES has a record of an
// InfoOnly server only if the server sends a challenge.
func TestTruthOfSilence(t *testing.T) {
	c := testConfig()
	c.Kinds = []Kind{InfoOnly}
	some := map[bool]bool{}
	for addr := range c.All() {
		n, _ := c.Nature(addr)
		r := c.Truth(addr, scanner.AskRules)
		challenges := n.Challenged.Has(wire.QuestionRules)
		some[challenges] = true
		if challenges != (r != nil) || r != nil && r.Status != scanner.StatusError {
			t.Fatalf("challenges rules: %v; truth %+v", challenges, r)
		}
	}
	if len(some) != 2 {
		t.Error("all of them are alike")
	}
}

// FuzzRespond sends arbitrary datagrams to servers of all kinds. They may answer only
// requests that DecodeRequest accepts, with at most as many datagrams as a ReplyStorm.
func FuzzRespond(f *testing.F) {
	c := testConfig()
	c.Hostile, c.HostileKinds = 0.5, nil
	m, err := newModel(c)
	if err != nil {
		f.Fatal(err)
	}
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
