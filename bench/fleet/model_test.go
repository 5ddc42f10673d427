package fleet

import (
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/loopback"
	"github.com/a2sscan/a2sscan/wire"
)

// TestConfigRefuses checks that the error for an invalid Config names the invalid
// value.
func TestConfigRefuses(t *testing.T) {
	tests := []struct {
		spoil func(*Config)
		want  string
	}{
		{func(c *Config) { c.Network = netip.Prefix{} }, "network"},
		{func(c *Config) { c.Network = netip.MustParsePrefix("10.0.0.0/8") }, "must be inside 127"},
		{func(c *Config) { c.Network = netip.MustParsePrefix("126.0.0.0/7") }, "must be inside 127"},
		{func(c *Config) { c.Network = netip.MustParsePrefix("0.0.0.0/0") }, "must be inside 127"},
		{func(c *Config) { c.Network = netip.MustParsePrefix("::1/128") }, "must be inside 127"},
		{func(c *Config) { c.Network = netip.MustParsePrefix("::ffff:127.0.0.0/104") }, "must be inside 127"},
		{func(c *Config) { c.Ports = nil }, "ports"},
		{func(c *Config) { c.Ports = []uint16{5, 5} }, "port 5"},
		{func(c *Config) { c.Ports = make([]uint16, 300) }, "ports"},
		{func(c *Config) { c.Alive = 1.5 }, "alive"},
		{func(c *Config) { c.Loss = -0.5 }, "loss"},
		{func(c *Config) { c.Duplicate = 2 }, "duplicate"},
		{func(c *Config) { c.Reorder = 2 }, "reorder"},
		{func(c *Config) { c.Hostile = 2 }, "hostile"},
		{func(c *Config) { c.DelayMin = time.Second }, "delay"},
		{func(c *Config) { c.DelayMax = time.Hour }, "delay"},
		{func(c *Config) { c.Kinds = []Kind{Bomb} }, "bomb"},
		{func(c *Config) { c.HostileKinds = []Kind{Source} }, "source"},
		{func(c *Config) { c.HostileKinds = []Kind{numKinds} }, "unknown"},
		{func(c *Config) { c.HostileKinds = []Kind{FarmList} }, "farm-list"},
		{func(c *Config) { c.FakeKinds = []Kind{Source} }, "source"},
		{func(c *Config) { c.Fakes = 2 }, "fakes"},
		{func(c *Config) { c.Games = []string{"rust", "rusty"} }, "rusty"},
	}
	for _, test := range tests {
		c := testConfig()
		test.spoil(&c)
		if _, err := newModel(c); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v, want an error with %q", c, err, test.want)
		}
	}
}

// testConfig returns a small fleet of the usual kinds.
func testConfig() Config {
	return Config{Network: netip.MustParsePrefix("127.1.0.0/24"), Ports: []uint16{27015}, Seed: 1}
}

// TestLifeShows: each event of a plan that changes a server changes what the server answers.
// A fleet refuses more new Steam IDs than it has servers with a Steam ID, and says how many
// it has.
func TestLifeShows(t *testing.T) {
	c := testConfig()
	c.Kinds, c.Alive = []Kind{GoldSource}, 0.5
	with := 0
	m, err := newModel(c)
	if err != nil {
		t.Fatal(err)
	}
	for i := range m.places() {
		if n, ok := m.nature(m.place(i)); ok {
			var info content
			if info.fill(&n, wire.AskInfo); info.info.SteamID != 0 {
				with++
			}
		}
	}
	for what, number := range map[string]int{"steamids": with, "renames": 20, "maps": 20, "moves": 20} {
		if c.Life, err = ParseLife(fmt.Sprintf("%s=%d", what, number)); err != nil {
			t.Fatal(err)
		}
		if m, err = newModel(c); err != nil {
			t.Fatal(err)
		}
		for addr, planned := range m.fates {
			var before, after content
			n, f, _ := m.now(addr, planned.end)
			before.fill(&n, wire.AskInfo)
			after.fill(&n, wire.AskInfo)
			if f != nil {
				f.apply(&after, 0)
			}
			if planned.What != "moved" && reflect.DeepEqual(before.info, after.info) {
				t.Errorf("%s of %v does not show", planned.What, planned.Addr)
			}
		}
	}
	c.Life.Counts = [len(fateWords)]int{4: with + 1}
	want := fmt.Sprintf("life: steamids=%d is too many: the fleet has room for %d, because no other server has a Steam ID;", with+1, with)
	if _, err = newModel(c); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}

	c.Network, c.Alive = netip.MustParsePrefix("127.255.255.254/31"), 0
	if c.Life, err = ParseLife("moves=1"); err != nil {
		t.Fatal(err)
	}
	if _, err = newModel(c); err == nil || !strings.Contains(err.Error(), "no other address is free") {
		t.Errorf("a move to the broadcast address: %v", err)
	}
}

// TestNights checks what changes on servers from night to night, and what stays the
// same.
func TestNights(t *testing.T) {
	cfg := Config{Network: netip.MustParsePrefix("127.4.0.0/20"), Ports: []uint16{27015}, Seed: 4, Kinds: []Kind{Games}}
	next := cfg
	next.Night = 1
	gone, moved, all := 0, 0, 0
	for addr := range cfg.All() {
		was, is := cfg.Truth(addr, wire.AskAll), next.Truth(addr, wire.AskAll)
		all++
		if is == nil {
			gone++
			continue
		}
		if was.Info.SteamID != is.Info.SteamID || was.Info.GameID != is.Info.GameID {
			t.Fatalf("%v is another server the next night", addr)
		}
		if len(was.Players) != len(is.Players) {
			moved++
		}
	}
	if gone < all/100 || gone > all/25 || moved < all/2 {
		t.Errorf("of %d servers %d gone, %d with other players", all, gone, moved)
	}
}

// check ends the test if err is not nil.
func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// asker queries a server without a socket.
type asker struct {
	t      *testing.T
	r      *responder
	server uint64
	client uint64
	now    time.Duration
}

// newAsker returns the asker of a server of kind Source without quirks.
func newAsker(t *testing.T) *asker {
	t.Helper()
	c := testConfig()
	c.Kinds = []Kind{Source}
	m, err := newModel(c)
	check(t, err)
	for i := range m.places() {
		if n, _ := m.nature(m.place(i)); n.quirks == 0 {
			return &asker{t: t, r: newResponder(m, 27015), server: m.place(i), client: 0x7F000001<<16 | 4000}
		}
	}
	t.Fatal("no such server")
	return nil
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
	a := newAsker(t)
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
