package scanner

import (
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

var forgedInfo = strings.Replace(oddInfo, "name", "fake", 1)

// challenged is a server that wants a challenge for everything.
func challenged() behaviour { return odd(func(*host) {})() }

// forgery is a scan of one server while somebody forges its replies.
type forgery struct {
	name  string
	serve func() behaviour
	// forge is called with each request; it returns what is forged, and when after
	// the request it arrives. The server's own replies take testRTT.
	forge func(req wire.Request) (replies []string, after time.Duration)
	cfg   Config
	want  string // see describe
	late  uint64
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
		"ok info.conflict, fake, 1 players, 1 rules, 5 sent", 0},
	{"INFO before the challenge, only INFO is asked", challenged, infoAtOnce(forgedInfo), Config{Questions: AskInfo},
		"ok open-info, fake, 1 sent", 1},
	{"INFO between challenge and INFO", challenged,
		func(req wire.Request) ([]string, time.Duration) {
			if req.Kind == wire.KindInfoRequest && req.HasChallenge {
				return []string{forgedInfo}, testRTT / 4
			}
			return nil, 0
		}, Config{}, "ok info.conflict, fake, 1 players, 1 rules, 4 sent", 0},
	{"INFO right after everything", challenged,
		func(req wire.Request) ([]string, time.Duration) {
			if req.Kind == wire.KindInfoRequest && req.HasChallenge {
				return []string{forgedInfo}, testRTT + time.Millisecond/2
			}
			return nil, 0
		}, Config{}, allWell, 1},
	{"everything at once", challenged, infoAtOnce(oddRules, oddPlayers, forgedInfo), Config{},
		"ok info.conflict, fake, 1 players, 1 rules, 2 sent", 0},
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
		}, Config{}, "ok open-info open-players open-rules, fake, 1 players, 1 rules, 3 sent", 1},
	{"INFO after the end", challenged,
		func(req wire.Request) ([]string, time.Duration) {
			if req.Kind == wire.KindInfoRequest && req.HasChallenge {
				return []string{forgedInfo}, 10 * testRTT
			}
			return nil, 0
		}, Config{}, allWell, 1},
	{"a challenge for players who were there", func() behaviour {
		return odd(func(h *host) { h.open = true })()
	}, infoAtOnce(), Config{Questions: AskPlayers}, "ok open-players, 1 players, 1 sent", 0},
	{"players, then the server's challenge", challenged,
		func(req wire.Request) ([]string, time.Duration) {
			if req.Kind == wire.KindPlayersRequest && !req.HasChallenge {
				return []string{oddPlayers}, time.Millisecond
			}
			return nil, 0
		}, Config{Questions: AskPlayers}, "ok open-players, 1 players, 1 sent", 1},
}

// TestForgedReplies: where the true server answers too, no forged reply goes
// unnoticed.
func TestForgedReplies(t *testing.T) {
	for _, f := range forgeries {
		t.Run(f.name, func(t *testing.T) {
			synctest.Test(t, f.check)
		})
	}
}

func (f *forgery) check(t *testing.T) {
	n, serve := newMemNet(), f.serve()
	n.serve = func(addr uint64, req wire.Request) {
		forged, after := f.forge(req)
		for i, d := range forged {
			n.reply(addr, after+time.Duration(i)*time.Microsecond, []byte(d))
		}
		for i, d := range serve(req) {
			after := testRTT + time.Duration(len(n.sent))*10*time.Microsecond // in this order
			n.reply(addr, after+time.Duration(i)*time.Millisecond, []byte(d))
		}
	}
	var late []netip.AddrPort
	f.cfg.LateConflict = func(addr netip.AddrPort) { late = append(late, addr) }
	ts := addresses(1)
	got, st, err := run(n, f.cfg, ts)
	if err != nil {
		t.Fatal(err)
	}
	checkLedger(t, st, 1)
	r := got[udp.Pack(ts[0].Addr)]
	if describe(r) != f.want || st.LateConflicts != f.late || len(late) != int(f.late) {
		t.Errorf("%s, late %d %v, want %s, late %d", describe(r), st.LateConflicts, late, f.want, f.late)
	}
	conflict := uint64(0)
	if r.Notes&wire.NoteInfoConflict != 0 {
		conflict = 1
	}
	if st.InfoConflicts != conflict || len(late) > 0 && late[0] != ts[0].Addr {
		t.Errorf("%d conflicts, late %v", st.InfoConflicts, late)
	}
}

// TestHonestReplies: what honest servers and networks do is no conflict: replies
// that come twice, or late, or after a repetition; a growing duration; a map that
// changes; an 'm' beside an 'I'.
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
	for name, serve := range map[string]behaviour{
		"challenged":            challenged(),
		"everything twice":      twice(challenged()),
		"no challenge":          odd(func(h *host) { h.open = true })(),
		"no challenge, twice":   twice(odd(func(h *host) { h.open = true })()),
		"INFO without, twice":   twice(odd(func(h *host) { h.openInfo = true })()),
		"both INFO, twice":      twice(open(oddGold, oddInfo)()),
		"m only, twice":         twice(open(oddGold)()),
		"everything to INFO":    open(oddGold, oddPlayers, oddInfo, oddRules)(),
		"changing":              twice(changing()),
		"challenge after reply": behind(challenge(77), odd(func(h *host) { h.openInfo = true }))(),
	} {
		for lost := range 6 {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { checkHonest(t, serve, lost) })
			})
		}
	}
}

func (b behaviour) then(change func([]string) []string) behaviour {
	return func(req wire.Request) []string { return change(append([]string(nil), b(req)...)) }
}

// checkHonest scans a server of which every lost-th reply comes late.
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

// TestStrangersReplies counts what comes from targets before they are asked, and
// from those that are none.
func TestStrangersReplies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, s, ts := newMemNet(), newServer(), addresses(3)
		n.serve = func(addr uint64, req wire.Request) {
			s.answer(n, addr, req)
			if addr == udp.Pack(ts[0].Addr) && !req.HasChallenge {
				n.reply(udp.Pack(ts[2].Addr), 0, s.info)
				n.reply(udp.Pack(netip.MustParseAddrPort("127.9.9.9:1")), 0, s.players)
				n.reply(udp.Pack(netip.MustParseAddrPort("127.9.9.9:2")), 0, []byte("hello"))
			}
		}
		_, st, err := run(n, Config{InFlight: 1}, ts)
		if err != nil || st.EarlyReplies != 1 || st.ForeignReplies != 2 || st.Received[ClassForeign] != 3 {
			t.Errorf("%v; %d early, %d foreign replies of %d foreign", err, st.EarlyReplies,
				st.ForeignReplies, st.Received[ClassForeign])
		}
	})
}

// TestSpoofedChallenges: forged challenges, as many as a hundred for each round
// trip, cost a server no answer.
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
				if r.Sent > 3*(1+2+extraAsks+2*maxRounds) {
					t.Errorf("%d for each request: %s", each, describe(r))
				}
			}
		})
	}
}

// TestForgedThreshold: a few odd replies are nothing unusual, many are.
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
		{"foreign, of very many", Stats{ForeignReplies: 101, Received: [NumClasses]uint64{ClassMatched: 1e6}}, false},
	} {
		if got := test.stats.Forged(); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}
