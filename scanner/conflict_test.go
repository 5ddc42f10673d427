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
	otherInfo    = strings.Replace(oddInfo, "name", "fake", 1)
	otherPlayers = string(wire.AppendPlayers(nil, 1, []wire.Player{{Name: []byte("fake")}}))
	otherRules   = string(wire.AppendRules(nil, 1, []wire.Rule{{Name: []byte("fake"), Value: []byte("1")}}))
)

// challenged returns a server that wants a challenge for every question.
func challenged() behaviour { return odd(func(*host) {})() }

// TestConflict scans a server while further replies come in its name. The first complete
// answer to a question counts. A later one that differs is a conflict if the question was
// asked once and the target is still open. Then the record has a flag, and the scan counts
// the target.
func TestConflict(t *testing.T) {
	const now = 0
	for _, test := range []struct {
		name     string
		kind     wire.Kind     // of the requests, with a challenge, that get the further replies
		further  []string      // in addition to those of the server
		after    time.Duration // when they come after the request
		lost     int           // the server's replies to the first requests of this kind that are lost
		want     string        // see describe
		conflict bool
	}{
		{"INFO, before", wire.KindInfoRequest, []string{otherInfo}, now, 0, "ok, fake, 1 players, 1 rules, 4 sent", true},
		{"INFO, after", wire.KindInfoRequest, []string{otherInfo}, testRTT + testRTT/2, 0, allWell, true},
		{"INFO, a copy", wire.KindInfoRequest, []string{oddInfo}, now, 0, allWell, false},
		{"INFO, the target is closed", wire.KindInfoRequest, []string{otherInfo}, 10 * testRTT, 0, allWell, false},
		{"INFO, repeated", wire.KindInfoRequest, []string{otherInfo}, 1500 * time.Millisecond, 1, "ok, name, 1 players, 1 rules, 5 sent", false},
		{"INFO, malformed", wire.KindInfoRequest, []string{ff + "I"}, now, 0, allWell, false},
		{"players, before", wire.KindPlayersRequest, []string{otherPlayers}, now, 0, allWell, true},
		{"players, after", wire.KindPlayersRequest, []string{otherPlayers}, testRTT + testRTT/2, 0, allWell, true},
		{"players, a copy in fragments", wire.KindPlayersRequest, source(3, oddPlayers, 4), testRTT + testRTT/2, 0, allWell, false},
		{"players, in fragments", wire.KindPlayersRequest, source(3, otherPlayers, 4), testRTT + testRTT/2, 0, allWell, true},
		{"players, cut", wire.KindPlayersRequest, []string{otherPlayers[:len(otherPlayers)-2]}, testRTT + testRTT/2, 0, allWell, false},
		{"rules, before", wire.KindRulesRequest, []string{otherRules}, now, 0, allWell, true},
		{"rules, compressed", wire.KindRulesRequest, inBzip2(otherRules), now, 0, allWell, true},
	} {
		inBubble(t, test.name, func(t *testing.T) {
			n, serve, asked := newMemNet(), challenged(), 0
			n.serve = func(addr uint64, req wire.Request) {
				after := testRTT
				if req.HasChallenge && req.Challenge != wire.NoChallenge {
					if req.Kind == test.kind {
						for i, d := range test.further {
							n.reply(addr, test.after+time.Duration(i)*time.Microsecond, []byte(d))
						}
						if asked++; asked <= test.lost {
							return
						}
					} else {
						after *= 2 // the target stays open
					}
				}
				for _, d := range serve(req) {
					n.reply(addr, after, []byte(d))
				}
			}
			got, st := mustRun(t, n, Config{}, addresses(1))
			checkLedger(t, st, 1)
			for _, r := range got {
				if flagged := r.Flags&game.FlagConflict != 0; describe(r) != test.want || flagged != test.conflict || st.Conflicts != oneIf(test.conflict) {
					t.Errorf("%s, flags %b, %d conflicts, want %s, %v", describe(r), r.Flags, st.Conflicts, test.want, test.conflict)
				}
			}
		})
	}
}

func oneIf(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// TestProvisional sends lists before their questions were asked. The answer to the
// question counts; if none comes, the list counts. Neither is a conflict.
func TestProvisional(t *testing.T) {
	silent := odd(func(h *host) { h.players, h.rules = nil, nil })
	for _, test := range []struct {
		name  string
		serve func() behaviour
		cfg   Config
		at    time.Duration // when the lists come after the first request
		want  string        // see describe
		names string        // of the player and of the rule
	}{
		{"answered", challenged, Config{}, testRTT / 4, allWell, "p k"},
		{"answered, as late as the rate allows", challenged, Config{Rate: 20}, testRTT + time.Millisecond, allWell, "p k"},
		{"silent", silent, Config{}, testRTT / 4, "ok, name, 1 players, 1 rules, 9 sent", "fake fake"},
		{"silent, the questions wait for the rate", silent, Config{Rate: 20}, testRTT + time.Millisecond,
			"ok, name, 1 players, 1 rules, 9 sent", "fake fake"},
		{"never asked", odd(func(h *host) { h.open = true }), Config{}, testRTT / 4,
			"ok open-info open-players open-rules, name, 1 players, 1 rules, 1 sent", "fake fake"},
	} {
		inBubble(t, test.name, func(t *testing.T) {
			n, serve, first := newMemNet(), test.serve(), true
			n.serve = func(addr uint64, req wire.Request) {
				if first {
					n.reply(addr, test.at, []byte(otherPlayers))
					n.reply(addr, test.at, []byte(otherRules))
				}
				first = false
				for _, d := range serve(req) {
					n.reply(addr, testRTT, []byte(d))
				}
			}
			got, st := mustRun(t, n, test.cfg, addresses(1))
			for _, r := range got {
				var names []string
				if len(r.Players) == 1 && len(r.Rules) == 1 {
					names = []string{string(r.Players[0].Name), string(r.Rules[0].Name)}
				}
				if strings.Join(names, " ") != test.names || describe(r) != test.want || r.Flags&game.FlagConflict != 0 || st.Conflicts != 0 {
					t.Errorf("%q, %s, flags %b, want %s, %s", names, describe(r), r.Flags, test.names, test.want)
				}
			}
		})
	}
}

// TestHonestReplies checks that the scan reports no conflict for what honest
// servers and networks do: replies that come twice, or late, or after a repeated
// request; a map that changes; an 'm' in addition to an 'I'.
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
	for name, serve := range map[string]behaviour{
		"busy":                  busy(challenged()),
		"busy, two challenges":  busy(either),
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
			inBubble(t, name, func(t *testing.T) { checkHonest(t, serve, lost) })
		}
	}
}

func (b behaviour) then(change func([]string) []string) behaviour {
	return func(req wire.Request) []string { return change(append([]string(nil), b(req)...)) }
}

// checkHonest scans a server and fails the test if the scan counts a conflict. Every
// reply whose number is a multiple of lost comes late; none does if lost is 0.
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
	if err != nil || st.Conflicts > 0 {
		t.Errorf("%v; %d conflicts", err, st.Conflicts)
	}
}

// TestStrangersReplies counts datagrams from a target that was not queried yet, and from
// addresses that are not targets, by their cause.
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
		_, st, err := run(n, Config{Tuning: Tuning{InFlight: 1}}, ts)
		if want := [numForeignCauses]uint64{foreignPort: 1, foreignAddress: 2, foreignFragment: 1, foreignOther: 1}; st.Foreign != want {
			t.Errorf("foreign by cause: %v, want %v", st.Foreign, want)
		}
		if err != nil || st.Received[session.Foreign] != 5 {
			t.Errorf("%v; %d foreign", err, st.Received[session.Foreign])
		}
	})
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
