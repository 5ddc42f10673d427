package scanner

import (
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/scanner/internal/session"
	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

var (
	forgedInfo    = strings.Replace(oddInfo, "name", "fake", 1)
	forgedCount   = countOf(99)
	forgedPlayers = string(wire.AppendPlayers(nil, 1, []wire.Player{{Name: []byte("fake")}}))
	forgedRules   = string(wire.AppendRules(nil, 1, []wire.Rule{{Name: []byte("fake"), Value: []byte("1")}}))
)

// countOf returns oddInfo with another number of players.
func countOf(players uint32) string {
	var in wire.Info
	if err := in.Decode([]byte(oddInfo)); err != nil {
		panic(err)
	}
	in.Players = players
	return string(wire.AppendInfo(nil, &in))
}

// challenged returns a server that wants a challenge for every question.
func challenged() behaviour { return odd(func(*host) {})() }

// forgery is a scan of one server while somebody forges its replies.
type forgery struct {
	name  string
	serve func() behaviour
	// forge is called with each request. It returns the forged replies and how long
	// after the request they arrive. The server's own replies take testRTT.
	forge func(req wire.Request) (replies []string, after time.Duration)
	cfg   Config
	want  string // see describe
	late  uint64

	flood  []string // forged replies sent every five milliseconds
	before bool     // the flood begins before the server is asked
}

// insteadOf returns a function for forge that answers each request of a kind with
// forged, long before the server's own reply.
func insteadOf(kind wire.Kind, forged string) func(req wire.Request) ([]string, time.Duration) {
	return func(req wire.Request) ([]string, time.Duration) {
		if req.Kind == kind {
			return []string{forged}, time.Millisecond
		}
		return nil, 0
	}
}

func infoAtOnce(forged ...string) func(req wire.Request) ([]string, time.Duration) {
	return func(req wire.Request) ([]string, time.Duration) {
		if req.Kind == wire.KindInfoRequest && !req.HasChallenge {
			return forged, testRTT / 4
		}
		return nil, 0
	}
}

var forgeries = []forgery{
	{"INFO before the challenge", challenged, infoAtOnce(forgedInfo), Config{},
		"ok info.conflict, fake, 1 players, 1 rules, 5 sent", 0, nil, false},
	{"INFO before the challenge, only INFO is asked", challenged, infoAtOnce(forgedInfo), Config{Questions: AskInfo},
		"ok open-info, fake, 1 sent", 1, nil, false},
	{"INFO between challenge and INFO", challenged,
		func(req wire.Request) ([]string, time.Duration) {
			if req.Kind == wire.KindInfoRequest && req.HasChallenge {
				return []string{forgedInfo}, testRTT / 4
			}
			return nil, 0
		}, Config{}, "ok info.conflict, fake, 1 players, 1 rules, 4 sent", 0, nil, false},
	{"INFO right after everything", challenged,
		func(req wire.Request) ([]string, time.Duration) {
			if req.Kind == wire.KindInfoRequest && req.HasChallenge {
				return []string{forgedInfo}, testRTT + time.Millisecond/2
			}
			return nil, 0
		}, Config{}, allWell, 1, nil, false},
	{"everything at once", challenged, infoAtOnce(oddRules, oddPlayers, forgedInfo), Config{},
		"ok info.conflict, fake, 1 players, 1 rules, 2 sent", 0, nil, false},
	{"everything, each when it is asked", challenged,
		func(req wire.Request) ([]string, time.Duration) {
			switch {
			case req.HasChallenge:
				return nil, 0
			case req.Kind == wire.KindInfoRequest:
				return []string{forgedInfo}, time.Millisecond
			case req.Kind == wire.KindPlayersRequest:
				return []string{oddPlayers}, time.Millisecond
			}
			return []string{oddRules}, time.Millisecond
		}, Config{}, "ok open-info open-players open-rules, fake, 1 players, 1 rules, 3 sent", 1, nil, false},
	{"players of a server that sends INFO to everybody", func() behaviour {
		return odd(func(h *host) { h.openInfo = true })()
	}, insteadOf(wire.KindPlayersRequest, oddPlayers), Config{}, "ok info.conflict, name, 1 players, 1 rules, 6 sent", 0, nil, false},
	{"a copy of INFO, and INFO is lost when it is verified", func() behaviour {
		return challenged().then(func(replies []string) []string {
			if len(replies) > 0 && replies[0] == oddInfo {
				return nil
			}
			return replies
		})
	}, infoAtOnce(oddInfo), Config{}, "ok, name, 1 players, 1 rules, 5 sent", 0, nil, false},
	{"rules, the last that is asked for", challenged,
		func(req wire.Request) ([]string, time.Duration) {
			if req.Kind == wire.KindRulesRequest && req.HasChallenge && req.Challenge != wire.NoChallenge {
				return []string{forgedRules}, time.Millisecond
			}
			return nil, 0
		}, Config{Questions: AskRules}, "ok, 1 rules, 2 sent", 1, nil, false},
	{"INFO after the end", challenged,
		func(req wire.Request) ([]string, time.Duration) {
			if req.Kind == wire.KindInfoRequest && req.HasChallenge {
				return []string{forgedInfo}, 10 * testRTT
			}
			return nil, 0
		}, Config{}, allWell, 1, nil, false},
	{"a challenge for players who were there", func() behaviour {
		return odd(func(h *host) { h.open = true })()
	}, infoAtOnce(), Config{Questions: AskPlayers}, "ok open-players, 1 players, 1 sent", 0, nil, false},
	{"players, then the server's challenge", challenged,
		func(req wire.Request) ([]string, time.Duration) {
			if req.Kind == wire.KindPlayersRequest && !req.HasChallenge {
				return []string{oddPlayers}, time.Millisecond
			}
			return nil, 0
		}, Config{Questions: AskPlayers}, "ok open-players, 1 players, 1 sent", 1, nil, false},
}

// TestForgedCount checks that a forged INFO that differs from the true one only in the
// number of players does not go unnoticed, if INFO was asked once. The record names the
// field. If INFO was asked again, the number may have changed.
func TestForgedCount(t *testing.T) {
	for _, test := range []struct {
		name     string
		after    time.Duration // when the forged reply comes, after INFO with the challenge
		lost     int           // replies to INFO with the challenge that are lost
		players  uint32
		disputed wire.Fields
		late     uint64
	}{
		{"before the true one", testRTT / 4, 0, 99, wire.HasPlayers, 0},
		{"after it", testRTT + time.Millisecond/2, 0, 1, wire.HasPlayers, 0},
		{"after the end", 10 * testRTT, 0, 1, 0, 1},
		{"before the true one, when INFO is asked again", testRTT / 4, 1, 99, 0, 0},
		{"after INFO was asked again", 1100 * time.Millisecond, 1, 1, 0, 0},
	} {
		inBubble(t, test.name, func(t *testing.T) {
			n, serve, asked := newMemNet(), challenged(), 0
			n.serve = func(addr uint64, req wire.Request) {
				for _, d := range serve(req) {
					after := testRTT
					if req.Kind == wire.KindInfoRequest && req.HasChallenge {
						if asked++; asked <= test.lost {
							continue
						}
						n.reply(addr, test.after, []byte(forgedCount))
					} else if req.Kind == wire.KindRulesRequest {
						after *= 2
					}
					n.reply(addr, after, []byte(d))
				}
			}
			got, st, err := run(n, Config{}, addresses(1))
			if err != nil || len(got) != 1 {
				t.Fatal(got, err)
			}
			for _, r := range got {
				conflict := test.disputed != 0
				if r.Info.Players != test.players || r.Disputed != test.disputed ||
					r.Notes&wire.NoteInfoConflict != 0 != conflict || st.LateConflicts != test.late {
					t.Errorf("%d players, disputed %b, notes %b, %d late", r.Info.Players, r.Disputed, r.Notes, st.LateConflicts)
				}
			}
		})
	}
}

// floods are forgeries that are sent again and again.
var floods = []forgery{
	{name: "INFO", flood: []string{forgedInfo}, want: "ok info.conflict, fake, 1 players, 1 rules, 5 sent"},
	{name: "INFO, only INFO is asked", flood: []string{forgedInfo}, cfg: Config{Questions: AskInfo},
		want: "ok open-info, fake, 1 sent", late: 1},
	{name: "INFO before it is asked, only INFO is asked", flood: []string{forgedInfo}, before: true,
		cfg: Config{Questions: AskInfo}, want: "ok info.conflict, fake, 2 sent"},
	{name: "players", flood: []string{forgedPlayers}, want: "ok info.conflict, name, 1 players, 1 rules, 4 sent"},
	{name: "no players", flood: []string{string(wire.AppendPlayers(nil, 0, nil))},
		want: "ok info.conflict, name, 0 players, 1 rules, 4 sent"},
	{name: "players, which the rate delays", flood: []string{forgedPlayers}, cfg: Config{Rate: 40},
		want: "ok info.conflict, name, 1 players, 1 rules, 4 sent"},
	{name: "rules before they are asked", flood: []string{forgedRules}, before: true,
		want: "ok info.conflict, name, 1 players, 1 rules, 4 sent"},
	{name: "everything", flood: []string{forgedPlayers, forgedRules, forgedInfo},
		want: "ok info.conflict, fake, 1 players, 1 rules, 2 sent"},
}

// TestForgedReplies checks that no forged reply goes unnoticed if the real server
// answers, too.
func TestForgedReplies(t *testing.T) {
	for _, f := range forgeries {
		inBubble(t, f.name, f.check)
	}
	for _, f := range floods {
		t.Run("without end/"+f.name, func(t *testing.T) {
			f.serve = challenged
			f.forge = func(wire.Request) ([]string, time.Duration) { return nil, 0 }
			synctest.Test(t, f.check)
		})
	}
}

// sendFlood sends the flood for two seconds. Only the first call does so.
func (f *forgery) sendFlood(n *memNet, addr uint64) {
	for at := time.Duration(0); at < 2*time.Second && f.flood != nil; at += 5 * time.Millisecond {
		for i, d := range f.flood {
			n.reply(addr, at+time.Duration(i)*time.Microsecond, []byte(d))
		}
	}
	f.flood = nil
}

func (f *forgery) check(t *testing.T) {
	n, serve, other := newMemNet(), f.serve(), challenged()
	ts := addresses(2) // the second target is queried when the first one is finished
	target := udp.Pack(ts[1].Addr)
	n.serve = func(addr uint64, req wire.Request) {
		if addr != target {
			if f.before {
				f.sendFlood(n, target)
			}
			for _, d := range other(req) {
				n.reply(addr, testRTT, []byte(d))
			}
			return
		}
		f.sendFlood(n, target)
		forged, after := f.forge(req)
		for i, d := range forged {
			n.reply(addr, after+time.Duration(i)*time.Microsecond, []byte(d))
		}
		for i, d := range serve(req) {
			after := testRTT + time.Duration(len(n.sent))*10*time.Microsecond // in the order of the requests
			n.reply(addr, after+time.Duration(i)*time.Millisecond, []byte(d))
		}
	}
	var late []netip.AddrPort
	f.cfg.LateConflict = func(addr netip.AddrPort) { late = append(late, addr) }
	f.cfg.InFlight = 1
	got, st := mustRun(t, n, f.cfg, ts)
	checkLedger(t, st, 2)
	r := got[target]
	if describe(r) != f.want || st.LateConflicts != f.late || len(late) != int(f.late) {
		t.Errorf("%s, late %d %v, want %s, late %d", describe(r), st.LateConflicts, late, f.want, f.late)
	}
	conflict := uint64(0)
	if r.Notes&wire.NoteInfoConflict != 0 {
		conflict = 1
	}
	if flagged := r.Flags&game.FlagConflict != 0; flagged != (conflict == 1) {
		t.Errorf("flags %b, notes %b", r.Flags, r.Notes)
	}
	if st.InfoConflicts != conflict || len(late) > 0 && late[0] != ts[1].Addr {
		t.Errorf("%d conflicts, late %v", st.InfoConflicts, late)
	}
}

// TestHonestReplies checks that the scan reports no conflict for what honest
// servers and networks do: replies that come twice, or late, or after a repeated
// request; a duration that grows; a map that changes; an 'm' in addition to an 'I'.
func TestHonestReplies(t *testing.T) {
	twice := func(b behaviour) behaviour {
		return func(req wire.Request) (all []string) {
			for _, d := range b(req) {
				all = append(all, d, d)
			}
			return all
		}
	}
	changing := func() behaviour {
		n := 0
		return odd(func(h *host) { h.openInfo = true })().then(func(replies []string) []string {
			n++
			for i, d := range replies {
				replies[i] = strings.NewReplacer("map", "m"+string(rune('a'+n)), "\x80\x40", "\x81"+string(rune(n))).Replace(d)
			}
			return replies
		})
	}
	anew := func(b behaviour) behaviour { // the network duplicates each request
		older := byte(0)
		return func(req wire.Request) []string {
			all := append(append([]string(nil), b(req)...), b(req)...)
			for i, d := range all {
				older++
				all[i] = strings.NewReplacer("\x80\x40", "\x81"+string(rune(older)), "\x02\x00\x00\x00", "\x03\x00\x00\x00").Replace(d)
			}
			return all
		}
	}
	busy := func(b behaviour) behaviour { // players come and go between two replies
		n := 0
		return b.then(func(replies []string) []string {
			for i, d := range replies {
				if n++; d == oddPlayers {
					replies[i] = string(wire.AppendPlayers(nil, 1, []wire.Player{{Name: []byte{byte('a' + n)}}}))
				}
			}
			return replies
		})
	}
	either := func(req wire.Request) []string { // it does not matter which of two challenges a request has
		if req.HasChallenge && req.Challenge != wire.NoChallenge {
			h := host{open: true, info: []string{oddInfo}, players: []string{oddPlayers}, rules: []string{oddRules}}
			return h.reply(req)
		}
		return []string{challenge(77), challenge(78)}
	}
	openLists := func(req wire.Request) []string { // only RULES wants a challenge, which the network duplicates
		if req.Kind == wire.KindRulesRequest {
			return twice(challenged())(req)
		}
		return odd(func(h *host) { h.open = true })()(req)
	}
	for name, serve := range map[string]behaviour{
		"busy":                         busy(challenged()),
		"busy, two challenges":         busy(either),
		"busy, verified":               busy(openLists),
		"challenged":                   challenged(),
		"every request twice":          anew(challenged()),
		"no challenge, requests twice": anew(odd(func(h *host) { h.open = true })()),
		"everything twice":             twice(challenged()),
		"no challenge":                 odd(func(h *host) { h.open = true })(),
		"no challenge, twice":          twice(odd(func(h *host) { h.open = true })()),
		"INFO without, twice":          twice(odd(func(h *host) { h.openInfo = true })()),
		"both INFO, twice":             twice(open(oddGold, oddInfo)()),
		"m only, twice":                twice(open(oddGold)()),
		"everything to INFO":           open(oddGold, oddPlayers, oddInfo, oddRules)(),
		"changing":                     twice(changing()),
		"challenge after reply":        behind(challenge(77), odd(func(h *host) { h.openInfo = true }))(),
	} {
		for lost := range 6 {
			inBubble(t, name, func(t *testing.T) { checkHonest(t, serve, lost) })
		}
	}
}

func (b behaviour) then(change func([]string) []string) behaviour {
	return func(req wire.Request) []string { return change(append([]string(nil), b(req)...)) }
}

// checkHonest scans a server and fails the test if the scan counts forged replies.
// Every reply whose number is a multiple of lost comes late; none does if lost is 0.
func checkHonest(t *testing.T, serve behaviour, lost int) {
	n, count := newMemNet(), 0
	n.serve = func(addr uint64, req wire.Request) {
		for _, d := range serve(req) {
			after := testRTT
			if count++; lost > 0 && count%lost == 0 {
				after = 1100 * time.Millisecond
			}
			n.reply(addr, after, []byte(d))
		}
	}
	_, st, err := run(n, Config{}, addresses(1))
	if err != nil || st.InfoConflicts+st.LateConflicts+st.EarlyReplies+st.ForeignReplies > 0 {
		t.Errorf("%v; conflicts %d and %d late; early %d, foreign %d",
			err, st.InfoConflicts, st.LateConflicts, st.EarlyReplies, st.ForeignReplies)
	}
}

// TestStrangersReplies checks the counters for replies from targets that have not been
// queried yet, and from addresses that are not targets.
func TestStrangersReplies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, s, ts := newMemNet(), newServer(), addresses(3)
		n.serve = func(addr uint64, req wire.Request) {
			s.answer(n, addr, req)
			if addr == udp.Pack(ts[0].Addr) && !req.HasChallenge {
				n.reply(udp.Pack(ts[2].Addr), 0, s.info)
				n.reply(udp.Pack(netip.MustParseAddrPort("127.9.9.9:1")), 0, s.players)
				n.reply(udp.Pack(netip.MustParseAddrPort("127.9.9.9:2")), 0, []byte("hello"))
				n.reply(udp.Pack(netip.MustParseAddrPort("127.9.9.9:3")), 0, []byte("\xfe\xff\xff\xff half"))
				n.reply(addr&^0xFFFF|1, 0, s.players)
			}
		}
		_, st, err := run(n, Config{InFlight: 1}, ts)
		if want := [numForeignCauses]uint64{foreignPort: 1, foreignAddress: 2, foreignFragment: 1, foreignOther: 1}; st.Foreign != want {
			t.Errorf("foreign by cause: %v, want %v", st.Foreign, want)
		}
		if err != nil || st.EarlyReplies != 1 || st.ForeignReplies != 3 || st.Received[session.Foreign] != 5 {
			t.Errorf("%v; %d early, %d foreign replies of %d foreign", err, st.EarlyReplies,
				st.ForeignReplies, st.Received[session.Foreign])
		}
	})
}

// TestSpoofedChallenges checks that forged challenges cost no server its answers, and
// cause only a limited number of requests, even if several come for each request.
func TestSpoofedChallenges(t *testing.T) {
	for _, each := range []int{1, 2, 4, 8} {
		synctest.Test(t, func(t *testing.T) {
			n, next := newMemNet(), uint32(1000)
			s := newServer()
			n.serve = func(addr uint64, req wire.Request) {
				s.answer(n, addr, req)
				for i := range each {
					next++
					n.reply(addr, time.Duration(2*i+1)*testRTT/time.Duration(2*each),
						wire.AppendChallenge(nil, wire.Challenge(next)))
				}
			}
			got, st, err := run(n, Config{}, addresses(50))
			if err != nil || st.Finished[StatusOK] != 50 {
				t.Errorf("%d for each request: %v; %v", each, err, st.Finished)
			}
			for _, r := range got {
				if r.Status != StatusOK {
					t.Log(describe(r))
				}
				if r.Sent > 3*(1+2+2+2*4) {
					t.Errorf("%d for each request: %s", each, describe(r))
				}
			}
		})
	}
}

// TestWrongChallengeAgain checks that one wrong challenge, sent again and again, costs
// a server no answer, even if some of its own replies are lost, and no time if none of
// them is lost.
func TestWrongChallengeAgain(t *testing.T) {
	for _, lost := range []int{0, 2, 3, 4, 5} {
		for offset := range 4 {
			synctest.Test(t, func(t *testing.T) {
				n, s, count := newMemNet(), newServer(), 0
				n.serve = func(addr uint64, req wire.Request) {
					if count++; lost == 0 || count%lost != 0 {
						s.answer(n, addr, req)
					}
					if count > 1 {
						return
					}
					for at := time.Duration(offset); at < 8000; at += 4 {
						n.reply(addr, at*time.Millisecond, wire.AppendChallenge(nil, 1))
					}
				}
				got, _, err := run(n, Config{}, addresses(1))
				for _, r := range got {
					if err != nil || r.Status != StatusOK || r.Sent > 16 || lost == 0 && r.Took > time.Second {
						t.Errorf("%d lost, from %d ms: %s, %v, %v", lost, offset, describe(r), r.Took, err)
					}
				}
			})
		}
	}
}

// TestForgedThreshold checks that Stats.Forged tolerates a few odd replies, but not
// many.
func TestForgedThreshold(t *testing.T) {
	for _, test := range []struct {
		name  string
		stats Stats
		want  bool
	}{
		{"nothing", Stats{}, false},
		{"a few", Stats{InfoConflicts: 3, LateConflicts: 2, EarlyReplies: 5, ForeignReplies: 100}, false},
		{"conflicts", Stats{InfoConflicts: 3, LateConflicts: 3}, true},
		{"early", Stats{EarlyReplies: 6}, true},
		{"foreign", Stats{ForeignReplies: 101}, true},
		{"foreign, of very many", Stats{ForeignReplies: 101, Received: [session.NumClasses]uint64{session.Matched: 1e6}}, false},
	} {
		if got := test.stats.Forged(); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}

// TestLateAnswerIsNotOpen sends a request with a challenge, and later one without. A
// list that arrives after both, but may answer the first, must not count as given
// without a challenge.
func TestLateAnswerIsNotOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, serve, asked := newMemNet(), challenged(), 0
		n.serve = func(addr uint64, req wire.Request) {
			after := testRTT
			if req.Kind == wire.KindPlayersRequest {
				if asked++; asked > 1 || req.Challenge == wire.NoChallenge {
					return
				}
				after = 3 * time.Second // the request without a challenge goes out after 2.5 s
			}
			for _, d := range serve(req) {
				n.reply(addr, after, []byte(d))
			}
		}
		got, _, err := run(n, Config{}, addresses(1))
		for _, r := range got {
			if s := describe(r); err != nil || s != "ok, name, 1 players, 1 rules, 6 sent" {
				t.Errorf("%s, %v", s, err)
			}
		}
	})
}
