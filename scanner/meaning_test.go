package scanner

import (
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/scanner/internal/session"
	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// rustServer returns a server that reports 86 of 63 players in INFO and 547 of 575
// in its keywords.
func rustServer() *server {
	s := newServer()
	s.info = wire.AppendInfo(nil, &wire.Info{
		Format: wire.FormatSource, Protocol: 17, Name: []byte("a"), Map: []byte("Procedural Map"),
		Folder: []byte("rust"), Game: []byte("Rust"), ShortAppID: 252490 & 0xFFFF, Players: 86, MaxPlayers: 63,
		ServerType: 'd', Environment: 'l', Version: []byte("2511"), GameID: 252490,
		Keywords: []byte("mp575,cp547,qp12,v2511"),
		Has:      (wire.HasVersion<<1-1)&^wire.HasShip | wire.HasEDF | wire.HasKeywords | wire.HasGameID,
	})
	return s
}

// scanOne scans one server and returns its Result.
func scanOne(t *testing.T, serve func(n *memNet, addr uint64, req wire.Request)) *Result {
	t.Helper()
	return scanOneAs(t, Config{Raw: true}, serve)
}

func scanOneAs(t *testing.T, cfg Config, serve func(n *memNet, addr uint64, req wire.Request)) *Result {
	t.Helper()
	n := newMemNet()
	n.serve = func(addr uint64, req wire.Request) { serve(n, addr, req) }
	got, _ := mustRun(t, n, cfg, addresses(1))
	return got[udp.Pack(addresses(1)[0].Addr)]
}

// TestGame checks that a scan, a capture of its datagrams and its decoded record
// report the same game data.
func TestGame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rustServer()
		r := scanOne(t, s.answer)
		if r.Game == nil || r.Game.ID != "rust" || r.Game.Players != 547 || r.Game.MaxPlayers != 575 {
			t.Fatalf("%+v", r.Game)
		}
		if from := r.Game.Sources[game.KeyPlayers]; from != "keywords.cp" {
			t.Errorf("the number of players is from %q", from)
		}
		if want := xxhash.Sum64(s.players); r.PlayersHash != want {
			t.Errorf("hash %x, want %x", r.PlayersHash, want)
		}
		d := NewDecoder()
		for name, again := range map[string]func(*Result) *Result{
			"Result":   func(*Result) *Result { return d.Result() },
			"Redecode": d.Redecode,
			"Interpret": func(r *Result) *Result {
				c := *r
				c.Game = nil
				new(Interpreter).Interpret(&c)
				return &c
			},
		} {
			d.Reset()
			for _, datagram := range r.Raw {
				d.Add(datagram)
			}
			got := again(r).Clone()
			if !reflect.DeepEqual(got.Game, r.Game) || got.PlayersHash != r.PlayersHash || got.Flags != r.Flags {
				t.Errorf("%s: %+v, %x, %b", name, got.Game, got.PlayersHash, got.Flags)
			}
		}
	})
}

// fromMessages makes Results from complete messages, with the assembler of a scan.
type fromMessages struct {
	asm assembler
	r   Result
}

func (a *fromMessages) result(info, players, rules []byte) *Result {
	a.r = Result{Asked: wire.AskAll, Received: 3}
	got := session.Answer{Info: info, Players: players, Rules: rules}
	got.InCode, _ = got.In.Decode(info).(wire.Error)
	a.asm.assemble(&a.r, &got, [wire.NumQuestions]wire.Error{}, game.Facts{})
	return &a.r
}

// TestNoHashOfNobody checks that an empty list has no hash: all empty lists are equal.
func TestNoHashOfNobody(t *testing.T) {
	empty := []byte("\xff\xff\xff\xffD\x00")
	if r := new(fromMessages).result(nil, empty, nil); !r.HasPlayers || r.PlayersHash != 0 {
		t.Errorf("%v, hash %x", r.HasPlayers, r.PlayersHash)
	}
}

// TestNoGame checks that Result.Game is nil if package game does not know the game.
func TestNoGame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		s.info = wire.AppendInfo(nil, &wire.Info{Format: wire.FormatSource, ShortAppID: 1, Name: []byte("a")})
		if r := scanOne(t, s.answer); r.Game != nil || r.Flags != 0 || !r.HasInfo {
			t.Errorf("%+v, flags %b", r.Game, r.Flags)
		}
		if r := scanOne(t, func(*memNet, uint64, wire.Request) {}); r.Game != nil || r.Flags != 0 {
			t.Errorf("a silent server: %+v, flags %b", r.Game, r.Flags)
		}
	})
}

// TestRoundTrips checks that each question that was asked once has its own round
// trip.
func TestRoundTrips(t *testing.T) {
	delays := [wire.NumQuestions]time.Duration{20 * time.Millisecond, 30 * time.Millisecond, 50 * time.Millisecond}
	synctest.Test(t, func(t *testing.T) {
		s := newServer()
		asked := [wire.NumQuestions]int{}
		r := scanOne(t, func(n *memNet, addr uint64, req wire.Request) {
			if !req.HasChallenge || req.Challenge == wire.NoChallenge {
				n.reply(addr, 40*time.Millisecond, wire.AppendChallenge(nil, 77))
				return
			}
			for q, kind := range []wire.Kind{wire.KindInfoRequest, wire.KindPlayersRequest, wire.KindRulesRequest} {
				asked[q] += b2i(req.Kind == kind)
				again := q != int(wire.QuestionPlayers) || asked[q] == 2
				if req.Kind == kind && again {
					n.reply(addr, delays[q], [][]byte{s.info, s.players, s.rules}[q])
				}
			}
		})
		want := delays
		want[wire.QuestionPlayers] = 0 // it was asked twice
		for q := range want {
			if late := r.RTTs[q] - want[q]; late < 0 || late > time.Millisecond {
				t.Errorf("%v: %v, want %v", wire.Question(q), r.RTTs[q], want[q])
			}
		}
		if r.RTT != r.RTTs[wire.QuestionInfo] {
			t.Errorf("RTT is %v, that of INFO %v", r.RTT, r.RTTs[wire.QuestionInfo])
		}
	})
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// flagRow is a server and the flags that a scan of it sets.
type flagRow struct {
	name  string
	serve func(n *memNet, addr uint64, req wire.Request)
	want  game.Flags
}

// slowRules answers RULES much later than INFO.
func slowRules(n *memNet, addr uint64, req wire.Request) {
	after := 10 * time.Millisecond
	s := newServer()
	switch {
	case !req.HasChallenge || req.Challenge == wire.NoChallenge:
		n.reply(addr, after, wire.AppendChallenge(nil, 77))
	case req.Kind == wire.KindInfoRequest:
		n.reply(addr, after, s.info)
	case req.Kind == wire.KindPlayersRequest:
		n.reply(addr, after, s.players)
	default:
		n.reply(addr, 300*time.Millisecond, s.rules)
	}
}

// withExtra returns a server that answers as usual, but sends extra datagrams before
// each INFO that answers a request with a challenge.
func withExtra(extra ...[]byte) func(n *memNet, addr uint64, req wire.Request) {
	s := newServer()
	return func(n *memNet, addr uint64, req wire.Request) {
		if req.Kind == wire.KindInfoRequest && req.HasChallenge {
			for _, b := range extra {
				n.reply(addr, 0, b)
			}
		}
		s.answer(n, addr, req)
	}
}

// infoFlood returns n INFO replies.
func infoFlood(n int) (flood [][]byte) {
	for range n {
		flood = append(flood, newServer().info)
	}
	return flood
}

func fragmentOf(payload string) []byte {
	return wire.AppendFragment(nil, &wire.Fragment{
		Layout: wire.LayoutSource, ID: 5, Total: 2, Size: 1248, Payload: []byte(payload),
	})
}

// TestFlags checks that a scan sets the flags that follow from counts and times and
// not from the contents of replies, and that decoding its record again keeps them.
func TestFlags(t *testing.T) {
	redirect := []byte(ff + "9ConnectRedirectAddress:192.0.2.1:27015\x00")
	for _, row := range []flagRow{
		{"nothing", withExtra(), 0},
		{"some INFO replies too many", withExtra(infoFlood(5)...), 0},
		{"INFO replies without end", withExtra(infoFlood(1000)...), game.FlagReplyFlood},
		{"rules from afar", slowRules, game.FlagEdgeAnswers},
		{"sends players on", withExtra(redirect), game.FlagRedirect},
		{"a warning with the words of a redirect",
			withExtra([]byte(ff + "lConnectRedirectAddress:192.0.2.1:27015\x00")), 0},
		{"two fragments under one number", withExtra(fragmentOf(ff+"E\x09\x00abc"), fragmentOf(ff+"E\x09\x00abd")), game.FlagConflict},
	} {
		inBubble(t, row.name, func(t *testing.T) {
			r := scanOne(t, row.serve)
			if r.Flags != row.want {
				t.Errorf("flags %09b, want %09b (%v)", r.Flags, row.want, r.Status)
			}
			d := NewDecoder()
			for _, datagram := range r.Raw {
				d.Add(datagram)
			}
			if again := d.Redecode(r); again.Flags != row.want {
				t.Errorf("decoded again: %09b, want %09b", again.Flags, row.want)
			}
		})
	}
}

// TestPopulation counts who plays on servers that count bots in different ways, and on
// relays, whose players are spectators.
func TestPopulation(t *testing.T) {
	const cod4x, cs16 = 7940, 10
	for _, test := range []struct {
		name                  string
		app                   uint16
		kind                  byte
		players, bots, listed int // listed: -1 if PLAYER was not answered
		want                  Population
		source                string
	}{
		{"EC-160 CoD4X: people only, and the list has both", cod4x, 'd', 10, 5, 15, Population{People: 10, Bots: 5, Places: 32, HasPlaces: true}, "info.players+list"},
		{"CoD4X without a list", cod4x, 'd', 10, 5, -1, Population{People: 10, Bots: 5, Places: 32, HasPlaces: true}, "info.players"},
		{"another game that lists both", 1, 'd', 10, 5, 15, Population{People: 10, Bots: 5, Places: 32, HasPlaces: true}, "info.players+list"},
		{"bots among the players", 1, 'd', 23, 2, 23, Population{People: 21, Bots: 2, Places: 32, HasPlaces: true}, ""},
		{"Counter-Strike 1.6 with a list", cs16, 'd', 23, 2, 23, Population{People: 21, Bots: 2, Places: 32, HasPlaces: true}, ""},
		{"Counter-Strike 1.6 without a list", cs16, 'd', 23, 2, -1, Population{People: 21, Bots: 2, Places: 32, HasPlaces: true}, ""},
		{"only bots", cs16, 'd', 26, 26, 26, Population{Bots: 26, Places: 32, HasPlaces: true}, ""},
		{"a list that fits neither", 1, 'd', 10, 5, 12, Population{People: 10, Bots: 5, Places: 32, HasPlaces: true}, "info.players"},
		{"no list", 1, 'd', 10, 5, -1, Population{People: 10, Bots: 5, Places: 32, HasPlaces: true}, "info.players"},
		{"an empty list", 1, 'd', 10, 5, 0, Population{People: 10, Bots: 5, Places: 32, HasPlaces: true}, "info.players"},
		{"no bots, and ghosts in the list", 1, 'd', 10, 0, 15, Population{People: 10, Places: 32, HasPlaces: true}, ""},
		{"SourceTV", 1, 'p', 211, 0, 16, Population{}, ""},
		{"a relay with bots", cs16, 'P', 20, 5, 25, Population{}, ""},
	} {
		in := wire.Info{
			Format: wire.FormatSource, ShortAppID: test.app, Players: uint32(test.players), MaxPlayers: 32, Bots: uint8(test.bots),
			ServerType: test.kind, Folder: []byte("main"), Has: (wire.HasVersion<<1 - 1) &^ wire.HasShip,
		}
		if test.app == cs16 {
			in.Folder = []byte("cstrike")
		}
		d := NewDecoder()
		d.Add(wire.AppendInfo(nil, &in))
		if test.listed >= 0 {
			d.Add(wire.AppendPlayers(nil, test.listed, make([]wire.Player, test.listed)))
		}
		r := d.Result()
		if got := r.Population(); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
		source := ""
		if r.Game != nil {
			source = r.Game.Sources[game.KeyPlayers]
		}
		if source != test.source {
			t.Errorf("%s: the source is %q, want %q", test.name, source, test.source)
		}
	}
}
