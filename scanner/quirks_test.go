package scanner

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// The replies in this file are written byte by byte from known facts about servers
// in the wild; the name of a row begins with the number of its fact.

const (
	ff = "\xFF\xFF\xFF\xFF"

	// An INFO of app 440 that ends after the version, a list of one player, and a
	// list of one rule.
	oddInfo    = ff + "I\x11name\x00map\x00dir\x00game\x00\xB8\x01\x01\x08\x00dl\x00\x011.0\x00"
	onePlayer  = "\x00p\x00\x03\x00\x00\x00\x00\x00\x80\x40"
	oddPlayers = ff + "D\x01" + onePlayer
	oddRules   = ff + "E\x01\x00k\x00v\x00"

	// Answers of old servers to INFO.
	oddRelay = ff + "m192.0.2.7:27020\x00HLTV\x00map\x00dir\x00game\x00\x00\x10\x30pl\x00\x00\x00"
	oddGold  = ff + "m192.0.2.7:27015\x00old\x00map\x00dir\x00game\x00\x02\x08\x2Fdl\x00\x00\x00\x00"
)

// behaviour returns the datagrams with which a server replies to a request.
type behaviour func(req wire.Request) []string

// host is a server that answers with fixed datagrams.
type host struct {
	open                 bool // wants no challenge
	openInfo             bool // wants no challenge for INFO
	info, players, rules []string
}

// odd returns a constructor of an ordinary server that change has altered.
func odd(change func(h *host)) func() behaviour {
	return func() behaviour {
		h := &host{info: []string{oddInfo}, players: []string{oddPlayers}, rules: []string{oddRules}}
		change(h)
		return h.reply
	}
}

func (h *host) reply(req wire.Request) []string {
	open := h.open || h.openInfo && req.Kind == wire.KindInfoRequest
	if !open && req.Challenge != 77 {
		return []string{challenge(77)}
	}
	switch req.Kind {
	case wire.KindInfoRequest:
		return h.info
	case wire.KindPlayersRequest:
		return h.players
	}
	return h.rules
}

// open returns a constructor of a server that wants no challenge and answers INFO with
// info.
func open(info ...string) func() behaviour {
	return odd(func(h *host) { h.open, h.info = true, info })
}

func challenge(n byte) string { return ff + "A" + string([]byte{n, 0, 0, 0}) }

// first returns a constructor of a server that answers its first request of kind k
// with said, and behaves like then otherwise.
func first(k wire.Kind, said []string, then func() behaviour) func() behaviour {
	return func() behaviour {
		b, done := then(), false
		return func(req wire.Request) []string {
			if req.Kind == k && !done {
				done = true
				return said
			}
			return b(req)
		}
	}
}

// behind returns a constructor of a server that sends said after each of its replies.
func behind(said string, b func() behaviour) func() behaviour {
	return func() behaviour {
		inner := b()
		return func(req wire.Request) []string { return append(slices.Clone(inner(req)), said) }
	}
}

// describe summarises a Result, in the order of a record.
func describe(r *Result) string {
	var b strings.Builder
	b.WriteString(r.Status.String())
	for q, code := range r.Err {
		if code != 0 {
			fmt.Fprintf(&b, " %v=%s", wire.Question(q), code.String())
		}
	}
	for i := range wire.NumNotes {
		if r.Notes&(1<<i) != 0 {
			b.WriteString(" " + wire.NoteWord(i))
		}
	}
	if len(r.Message) > 0 {
		fmt.Fprintf(&b, " %q", r.Message)
	}
	for q := range r.Unchallenged.Each() {
		fmt.Fprintf(&b, " open-%v", q)
	}
	b.WriteString(content(r))
	return fmt.Sprintf("%s, %d sent", b.String(), r.Sent)
}

// content describes the answers in a Result.
func content(r *Result) (s string) {
	if r.HasInfo {
		s += ", " + string(r.Info.Name)
	}
	if r.HasPlayers {
		s += fmt.Sprintf(", %d players", len(r.Players))
	}
	if r.PlayersAnnounced >= 0 {
		s += fmt.Sprintf(" of %d", r.PlayersAnnounced)
	}
	if r.HasRules {
		s += fmt.Sprintf(", %d rules", len(r.Rules))
	}
	if r.RulesAnnounced >= 0 {
		s += fmt.Sprintf(" of %d", r.RulesAnnounced)
	}
	return s
}

// askOdd scans a single server and returns its Result and the Stats.
func askOdd(t *testing.T, serve behaviour, ask wire.Questions) (*Result, Stats) {
	t.Helper()
	n := newMemNet()
	n.serve = func(addr uint64, req wire.Request) {
		// No two replies arrive at the same moment, which would leave their order
		// to chance.
		after := testRTT + time.Duration(len(n.sent))*10*time.Microsecond
		for i, d := range serve(req) {
			n.reply(addr, after+time.Duration(i)*time.Millisecond, []byte(d))
		}
	}
	got, st := mustRun(t, n, Config{Questions: ask, Raw: true}, addresses(1))
	if err := checkKinds(n.sent); err != nil {
		t.Error("EC-18:", err)
	}
	return got[udp.Pack(addresses(1)[0].Addr)], st
}

// quirk is a fact about a server, and the expected outcome of a scan of it.
type quirk struct {
	name  string
	serve func() behaviour
	want  string // see describe
}

const allWell = "ok, name, 1 players, 1 rules, 4 sent"

func TestQuirks(t *testing.T) {
	checkQuirks(t, wire.AskAll, slices.Concat(challengeQuirks, signQuirks, infoQuirks, listQuirks, splitQuirks, againQuirks))
}

// checkQuirks scans each server by itself and checks the outcome.
func checkQuirks(t *testing.T, ask wire.Questions, rows []quirk) {
	t.Helper()
	for _, row := range rows {
		inBubble(t, row.name, func(t *testing.T) {
			r, _ := askOdd(t, row.serve(), ask)
			if got := describe(r); got != row.want {
				t.Errorf("%s\nwant %s", got, row.want)
			}
		})
	}
}

// one returns a constructor of a server that accepts a challenge if rule returns true.
// known holds the challenges that the server has given so far, the latest last.
func one(rule func(req wire.Request, known []byte) bool) func() behaviour {
	return func() behaviour {
		h := host{open: true, info: []string{oddInfo}, players: []string{oddPlayers}, rules: []string{oddRules}}
		var known []byte
		return func(req wire.Request) []string {
			if req.HasChallenge && rule(req, known) {
				return h.reply(req)
			}
			known = append(known, byte(len(known)+1))
			return []string{challenge(known[len(known)-1])}
		}
	}
}

var challengeQuirks = []quirk{
	{"EC-1 a challenge to INFO", odd(func(h *host) {}), allWell},
	{"EC-2 a second challenge to a right answer",
		first(wire.KindPlayersRequest, []string{challenge(78)}, one(func(req wire.Request, known []byte) bool {
			return req.Challenge == 1 || req.Challenge == 78
		})), "ok, name, 1 players, 1 rules, 6 sent"},
	{"EC-2 challenges without end", one(func(wire.Request, []byte) bool { return false }),
		"error info=challenge_loop players=challenge_loop rules=challenge_loop, 12 sent"},
	{"EC-3 the same challenge again", func() behaviour {
		h, tries := host{info: []string{oddInfo}, players: []string{oddPlayers}, rules: []string{oddRules}}, 0
		return func(req wire.Request) []string {
			if tries++; tries < 5 {
				return []string{challenge(77)}
			}
			return h.reply(req)
		}
	}, "ok, name, 1 players, 1 rules, 7 sent"},
	{"EC-4 lists at once", open(oddInfo),
		"ok open-info open-players open-rules, name, 1 players, 1 rules, 3 sent"},
	{"EC-10 challenge 0", func() behaviour {
		h := host{open: true, info: []string{oddInfo}, players: []string{oddPlayers}, rules: []string{oddRules}}
		return func(req wire.Request) []string {
			if req.HasChallenge && req.Challenge == 0 {
				return h.reply(req)
			}
			return []string{challenge(0)}
		}
	}, allWell},
	{"EC-11 EC-58 PLAYER is asked with -1 first", func() behaviour {
		h := host{openInfo: true, info: []string{oddInfo}, players: []string{oddPlayers}, rules: []string{oddRules}}
		return func(req wire.Request) []string {
			if req.Kind != wire.KindInfoRequest && req.Challenge != 77 && req.Challenge != wire.NoChallenge {
				return nil
			}
			return h.reply(req)
		}
	}, "ok open-info, name, 1 players, 1 rules, 4 sent"},
	{"EC-12 RULES asks for no challenge", func() behaviour {
		h := host{openInfo: true, info: []string{oddInfo}, players: []string{oddPlayers}, rules: []string{oddRules}}
		return func(req wire.Request) []string {
			if req.Kind == wire.KindRulesRequest && req.Challenge != 77 {
				return nil
			}
			return h.reply(req)
		}
	}, "ok open-info, name, 1 players, 1 rules, 4 sent"},
	{"EC-138 a challenge of 59 bytes", func() behaviour {
		h := host{open: true, info: []string{oddInfo}, players: []string{oddPlayers}, rules: []string{oddRules}}
		return func(req wire.Request) []string {
			if req.Challenge == 0x30303030 {
				return h.reply(req)
			}
			return []string{ff + "A" + strings.Repeat("0", 54)}
		}
	}, allWell},
	{"EC-151 an emulator: protocol 2, no extra data, one challenge for all", func() behaviour {
		info := ff + "I\x02name\x00map\x00dir\x00game\x00\x0A\x00\x01\x08\x00iw\x00\x001.0\x00"
		h := host{open: true, info: []string{info}, players: []string{oddPlayers}, rules: []string{oddRules}}
		return func(req wire.Request) []string {
			if req.Kind == wire.KindInfoRequest || req.Challenge == 0x00112233 {
				return h.reply(req)
			}
			return []string{ff + "A\x33\x22\x11\x00"}
		}
	}, "ok open-info, name, 1 players, 1 rules, 4 sent"},
	{"EC-143 INFO and PLAYER from a cache, RULES from the server", func() behaviour {
		h := host{open: true, info: []string{oddInfo}, players: []string{oddPlayers}, rules: []string{oddRules}}
		return func(req wire.Request) []string {
			own := byte(5)
			if req.Kind == wire.KindRulesRequest {
				own = 6
			}
			if req.HasChallenge && byte(req.Challenge) == own {
				return h.reply(req)
			}
			return []string{challenge(own)}
		}
	}, "ok, name, 1 players, 1 rules, 5 sent"},
	{"EC-143 a challenge for each question, a wrong one is dropped", func() behaviour {
		h := host{open: true, info: []string{oddInfo}, players: []string{oddPlayers}, rules: []string{oddRules}}
		return func(req wire.Request) []string {
			switch own := byte(req.Kind); {
			case !req.HasChallenge:
				return []string{challenge(own)}
			case byte(req.Challenge) == own:
				return h.reply(req)
			}
			return nil
		}
	}, "ok, name, 1 players, 1 rules, 10 sent"},
	{"EC-14 challenges that expire, an old one is dropped", func() behaviour {
		h := host{open: true, info: []string{oddInfo}, players: []string{oddPlayers}, rules: []string{oddRules}}
		given, last, lost := time.Time{}, byte(0), 0
		return func(req wire.Request) []string {
			switch {
			case !req.HasChallenge:
				given = time.Now()
				last++
				return []string{challenge(last)}
			case byte(req.Challenge) != last || time.Since(given) >= 5*time.Second:
				return nil
			case req.Kind == wire.KindInfoRequest && lost < 4:
				lost++ // its answer is lost until the challenge has expired
				return nil
			}
			return h.reply(req)
		}
	}, "ok, name, 1 players, 1 rules, 9 sent"},
	{"EC-13 a challenge for each question", func() behaviour {
		h := host{open: true, info: []string{oddInfo}, players: []string{oddPlayers}, rules: []string{oddRules}}
		return func(req wire.Request) []string {
			if req.HasChallenge && byte(req.Challenge) == byte(req.Kind) {
				return h.reply(req)
			}
			return []string{challenge(byte(req.Kind))}
		}
	}, "ok, name, 1 players, 1 rules, 7 sent"},
	{"EC-13 a new challenge each time, all hold", one(func(req wire.Request, known []byte) bool {
		return slices.Contains(known, byte(req.Challenge))
	}), allWell},
	{"EC-13 a new challenge each time, the last holds", one(func(req wire.Request, known []byte) bool {
		return len(known) > 0 && known[len(known)-1] == byte(req.Challenge)
	}), allWell},
	{"EC-13 a new challenge each time, the last holds once", one(func(req wire.Request, known []byte) bool {
		if n := len(known); n == 0 || known[n-1] != byte(req.Challenge) {
			return false
		}
		known[len(known)-1] = 0
		return true
	}), "ok, name, 1 players, 1 rules, 9 sent"},
	{"EC-20 EC-156 EC-157 INFO is never challenged, PLAYER and RULES are", odd(func(h *host) { h.openInfo = true }),
		"ok open-info, name, 1 players, 1 rules, 4 sent"},
}

// signQuirks are servers that send datagrams which answer nothing.
var signQuirks = []quirk{
	{"EC-7 INFO in answer to PLAYER",
		first(wire.KindPlayersRequest, []string{oddInfo}, open(oddInfo)),
		"ok open-info open-players open-rules, name, 1 players, 1 rules, 4 sent"},
	{"EC-8 a challenge of three bytes",
		first(wire.KindInfoRequest, []string{ff + "A\x01\x02\x03", ff + "A"}, odd(func(*host) {})),
		"ok, name, 1 players, 1 rules, 7 sent"},
	{"EC-9 a challenge behind each reply", behind(challenge(77), odd(func(*host) {})), allWell},
	{"EC-19 a text that begins with A", open(ff + "A00000000 1234567 2\n"),
		"partial info=malformed open-players open-rules, 1 players, 1 rules, 5 sent"},
	{"EC-21 too many requests, once",
		first(wire.KindPlayersRequest, []string{ff + "XToo many requests\x00"}, odd(func(*host) {})),
		`ok "Too many requests", name, 1 players, 1 rules, 5 sent`},
	{"EC-21 too many requests, always", open(ff + "XToo many requests\x00"),
		`partial info=rate_limited "Too many requests" open-players open-rules, 1 players, 1 rules, 5 sent`},
	{"EC-22 banned", open(ff + "lYou have been banned from this server.\n\x00"),
		`error info=banned players=banned rules=banned "You have been banned from this server.\n", 1 sent`},
	{"EC-22 banned after INFO",
		odd(func(h *host) { h.players = []string{ff + "lYou have been banned"} }),
		`partial players=banned rules=banned "You have been banned", name, 4 sent`},
	{"EC-23 an unknown type", open(ff + "9redirect\x00"),
		"partial info=unexpected open-players open-rules, 1 players, 1 rules, 5 sent"},
	{"EC-24 an empty INFO", open(ff + "I"),
		"partial info=empty open-players open-rules, 1 players, 1 rules, 5 sent"},
	{"EC-24 an empty INFO to every question", func() behaviour {
		return func(wire.Request) []string { return []string{ff + "I"} }
	}, "error info=empty players=timeout rules=timeout, 7 sent"},
	{"EC-55 zeros every second time", func() behaviour {
		h, n := host{info: []string{oddInfo}, players: []string{oddPlayers}, rules: []string{oddRules}}, 0
		return func(req wire.Request) []string {
			if n++; n%2 == 1 {
				return []string{strings.Repeat("\x00", 64)}
			}
			return h.reply(req)
		}
	}, "ok, name, 1 players, 1 rules, 10 sent"},
	{"EC-56 nothing, and bytes that are nothing", behind("\xFF", behind("", behind(ff[:3], behind(ff, odd(func(*host) {}))))), allWell},
	{"EC-140 a redirect", open(ff + "9ConnectRedirectAddress:192.0.2.8:27015\x00"),
		"partial info=unexpected \"ConnectRedirectAddress:192.0.2.8:27015\" open-players open-rules, 1 players, 1 rules, 5 sent"},
	{"EC-144 a server that sleeps", func() behaviour { return func(wire.Request) []string { return nil } },
		"no_reply info=timeout players=timeout rules=timeout, 3 sent"},
	{"EC-57 a type byte of 65", open(ff + "\x65\x11name\x00"),
		"partial info=unexpected open-players open-rules, 1 players, 1 rules, 5 sent"},
	{"EC-72 the INFO of before Steam", open(ff + "C192.0.2.7:27015\x00name\x00"),
		"partial info=unexpected open-players open-rules, 1 players, 1 rules, 5 sent"},
	{"EC-73 a ping", behind(ff+"j\x00", behind(ff+"j00000000000000\x00", odd(func(*host) {}))), allWell},
}

var infoQuirks = []quirk{
	{"EC-29 the extra data flag promises too much", open(oddInfo + "\xB1\x87\x69\x01\x00"),
		"partial info=truncated info.short_app_id open-info open-players open-rules, name, 1 players, 1 rules, 3 sent"},
	{"EC-136 the version has no end", open(oddInfo[:len(oddInfo)-1]),
		"partial info=truncated info.short_app_id open-info open-players open-rules, name, 1 players, 1 rules, 3 sent"},
	{"EC-137 m is cut behind the mod flag", open(oddGold[:len(oddGold)-3] + "\x01ht"),
		"partial info=truncated info.no_mod_block open-info open-players open-rules, old, 1 players, 1 rules, 3 sent"},
	{"EC-145 cut before the game ID", open(oddInfo + "\x81\x87\x69\x00"),
		"partial info=truncated info.short_app_id open-info open-players open-rules, name, 1 players, 1 rules, 3 sent"},
	{"EC-33 EC-148 a relay without bots, PLAYER and RULES at once", open(oddRelay),
		"ok open-info open-players open-rules, HLTV, 1 players, 1 rules, 3 sent"},
	{"EC-30 bytes behind INFO", open(oddInfo + "\x80\x87\x69zzz"),
		"ok info.trailing open-info open-players open-rules, name, 1 players, 1 rules, 3 sent"},
	{"EC-63 m and I", open(oddGold, oddInfo),
		"ok open-info open-players open-rules, name, 1 players, 1 rules, 3 sent"},
	{"EC-63 I and m", open(oddInfo, oddGold),
		"ok open-info open-players open-rules, name, 1 players, 1 rules, 3 sent"},
	{"EC-63 m and half of an I", open(oddGold, oddInfo[:12]),
		"ok open-info open-players open-rules, old, 1 players, 1 rules, 3 sent"},
	{"EC-64 m, D and I", func() behaviour {
		return func(req wire.Request) []string {
			switch req.Kind {
			case wire.KindInfoRequest:
				return []string{oddGold, oddPlayers, oddInfo}
			case wire.KindRulesRequest:
				return []string{oddRules}
			}
			return nil
		}
	}, "ok open-info open-players open-rules, name, 1 players, 1 rules, 3 sent"},
	{"EC-65 a corrupted D to INFO first",
		first(wire.KindInfoRequest, []string{ff + "D\x07\x00gar"}, odd(func(*host) {})),
		"ok, name, 1 players, 1 rules, 7 sent"},
	{"EC-65 a corrupted E to INFO first",
		first(wire.KindInfoRequest, []string{ff + "E\x07\x00gar\x00bage\x00"}, odd(func(*host) {})),
		"ok, name, 1 players, 1 rules, 7 sent"},
	{"EC-66 only m", open(oddGold),
		"ok open-info open-players open-rules, old, 1 players, 1 rules, 3 sent"},
	{"EC-67 a mod without its block", open(oddGold[:len(oddGold)-3] + "\x01\x01\x02"),
		"ok info.no_mod_block open-info open-players open-rules, old, 1 players, 1 rules, 3 sent"},
	{"EC-70 rules, players, and INFO last", func() behaviour {
		return func(req wire.Request) []string {
			if req.Kind == wire.KindInfoRequest {
				return []string{oddRules, oddPlayers, oddInfo}
			}
			return nil
		}
	}, "ok open-info open-players open-rules, name, 1 players, 1 rules, 1 sent"},
	{"EC-71 m, and an I to the next question",
		odd(func(h *host) { h.open, h.info, h.players = true, []string{oddGold}, []string{oddInfo, oddPlayers} }),
		"ok open-info open-players open-rules, name, 1 players, 1 rules, 3 sent"},
}

// nameless returns n players without names, ten bytes each.
func nameless(n int) string { return strings.Repeat("\x00\x00\x00\x00\x00\x00\x00\x00\x80\x3F", n) }

// withPlayers returns a constructor of an otherwise ordinary server that answers
// PLAYER with the datagrams in list.
func withPlayers(list ...string) func() behaviour {
	return odd(func(h *host) { h.players = list })
}

// oneTooMany cuts a message into fragments of size bytes, and an empty one after them.
func oneTooMany(l wire.Layout, msg string, size int) (ds []string) {
	total := len(msg)/size + 1
	for n := range total {
		f := wire.Fragment{Layout: l, ID: 9, Total: uint8(total), Number: uint8(n), Size: uint16(size)}
		f.Payload = []byte(msg[n*size : min((n+1)*size, len(msg))])
		ds = append(ds, string(wire.AppendFragment(nil, &f)))
	}
	return ds
}

// exactRules returns a RULES reply of n bytes with one rule.
func exactRules(n int) string {
	return ff + "E\x01\x00k\x00" + strings.Repeat("v", n-10) + "\x00"
}

func withRules(list ...string) func() behaviour {
	return odd(func(h *host) { h.rules = list })
}

var listQuirks = []quirk{
	{"EC-6 a few bytes of rules", withRules(ff + "E\x01"),
		"partial rules=truncated, name, 1 players, 4 sent"},
	{"EC-54 players never arrive", withPlayers(),
		"partial players=timeout, name, 1 rules, 7 sent"},
	{"EC-61 EC-83 another number in INFO",
		odd(func(h *host) { h.players = []string{ff + "D\xAA" + nameless(170)} }),
		"ok, name, 170 players, 1 rules, 4 sent"},
	{"EC-77 every index is 0", withPlayers(ff + "D\x03" + onePlayer + onePlayer + onePlayer),
		"ok, name, 3 players, 1 rules, 4 sent"},
	{"EC-78 an index from 1", withPlayers(ff + "D\x01\x01" + onePlayer[1:]),
		"ok, name, 1 players, 1 rules, 4 sent"},
	{"EC-79 no names", withPlayers(ff + "D\x6B" + nameless(107)),
		"ok, name, 107 players, 1 rules, 4 sent"},
	{"EC-74 nine without names are no five of The Ship", withPlayers(ff + "D\x09" + nameless(9)),
		"ok, name, 9 players, 1 rules, 4 sent"},
	{"EC-74 nine without names before INFO", open(ff+"D\x09"+nameless(9), oddInfo),
		"ok open-info open-players open-rules, name, 9 players, 1 rules, 2 sent"},
	{"EC-80 a few without names", withPlayers(ff + "D\x03" + onePlayer + nameless(2)),
		"ok, name, 3 players, 1 rules, 4 sent"},
	{"EC-81 255 and more", withPlayers(ff + "D\xFF" + nameless(300)),
		"ok players.count, name, 300 players of 255, 1 rules, 4 sent"},
	{"EC-82 modulo 256", withPlayers(ff + "D\x2C" + nameless(300)),
		"ok players.count, name, 300 players of 44, 1 rules, 4 sent"},
	{"EC-84 EC-91 cut inside a player", withPlayers(ff + "D\x37" + nameless(44) + "\x00half"),
		"partial players=truncated, name, 44 players of 55, 1 rules, 4 sent"},
	{"EC-85 Max Players", withPlayers(ff + "D\x01\x00Max Players\x00\x40\x00\x00\x00\x00\x00\x80\x3F"),
		"ok, name, 1 players, 1 rules, 4 sent"},
	{"EC-86 players are never answered", withPlayers(),
		"partial players=timeout, name, 1 rules, 7 sent"},
	{"EC-89 a duration of infinity", withPlayers(ff + "D\x01\x00p\x00\x00\x00\x00\x00\x00\x00\x80\x7F"),
		"ok players.non_finite, name, 1 players, 1 rules, 4 sent"},
	{"EC-92 cut inside a rule", withRules(ff + "E\x09\x00a\x001\x00b\x002\x00sv_conta"),
		"partial rules=truncated, name, 1 players, 2 rules of 9, 4 sent"},
	{"EC-94 count too high", withRules(ff + "E\x5D\x00a\x001\x00b\x002\x00"),
		"ok rules.count, name, 1 players, 2 rules of 93, 4 sent"},
	{"EC-94 count too low", withRules(ff + "E\x01\x00a\x001\x00b\x002\x00"),
		"ok rules.count, name, 1 players, 2 rules of 1, 4 sent"},
	{"EC-96 a rule without a name", withRules(ff + "E\x02\x00\x00value\x00b\x002\x00"),
		"ok rules.empty_name, name, 1 players, 2 rules, 4 sent"},
	{"EC-97 one name twice", withRules(ff + "E\x02\x00a\x001\x00a\x002\x00"),
		"ok rules.duplicate, name, 1 players, 2 rules, 4 sent"},
	{"EC-98 EC-105 rules that say nothing", withRules(ff + "E\x02\x00sv_password\x001\x00Test\x00Test\x00"),
		"ok, name, 1 players, 2 rules, 4 sent"},
	{"EC-139 an empty list of rules", withRules(ff + "E\x00\x00"), "ok, name, 1 players, 0 rules, 4 sent"},
	{"EC-141 an empty list of players at once",
		odd(func(h *host) { h.openInfo, h.open, h.players = true, true, []string{ff + "D\x00"} }),
		"ok open-info open-players open-rules, name, 0 players, 1 rules, 3 sent"},
	{"EC-142 2500 bytes in one datagram", withRules(manyRules(150)), "ok, name, 1 players, 150 rules, 4 sent"},
	{"EC-101 EC-102 pages, and plain rules behind them",
		withRules(ff + "E\x03\x00\x01\x02\x01\x01\x01\x03\x00\x02\x02\xFF\x00allowedBuild\x000\x00"),
		"ok rules.count, name, 1 players, 2 rules of 3, 4 sent"},
	{"EC-99 app 730 has no rules", odd(func(h *host) {
		h.info, h.rules = []string{strings.Replace(oddInfo, "\xB8\x01", "\xDA\x02", 1)}, nil
	}), "partial rules=timeout, name, 1 players, 5 sent"},
	{"EC-100 RULES is the end of it", func() behaviour {
		h := host{info: []string{oddInfo}, players: []string{oddPlayers}}
		dead := false
		return func(req wire.Request) []string {
			if dead = dead || req.Kind == wire.KindRulesRequest; dead {
				return nil
			}
			return h.reply(req)
		}
	}, "partial rules=timeout, name, 1 players, 6 sent"},
	{"EC-134 a filter lets nothing but INFO through", odd(func(h *host) { h.players, h.rules = nil, nil }),
		"partial players=timeout rules=timeout, name, 9 sent"},
}

// parts cuts a message into fragments of size bytes in the layout l.
func parts(l wire.Layout, id uint32, msg string, size int) (ds []string) {
	f := wire.Fragment{Layout: l, ID: id, Size: uint16(size)}
	f.Total = uint8((len(msg) + size - 1) / size)
	for ; len(msg) > 0; f.Number++ {
		n := min(size, len(msg))
		f.Payload = []byte(msg[:n])
		ds = append(ds, string(wire.AppendFragment(nil, &f)))
		msg = msg[n:]
	}
	return ds
}

// manyRules returns a RULES reply with n rules.
func manyRules(n int) string {
	var b strings.Builder
	b.WriteString(ff + "E" + string([]byte{byte(n), byte(n >> 8)}))
	for i := range n {
		fmt.Fprintf(&b, "sv_rule_%03d\x00%d\x00", i, i*i)
	}
	return b.String()
}

var splitQuirks = []quirk{
	{"EC-5 rules in fragments at once", odd(func(h *host) {
		h.open, h.rules = true, parts(wire.LayoutSource, 9, manyRules(100), 700)
	}), "ok open-info open-players open-rules, name, 1 players, 100 rules, 3 sent"},
	{"EC-51 EC-154 INFO in fragments", odd(func(h *host) { h.info = parts(wire.LayoutSource, 9, oddInfo, 20) }), allWell},
	{"EC-51 INFO in fragments, the last of them lost", odd(func(h *host) {
		h.info = parts(wire.LayoutSource, 9, oddInfo, 12)[:3]
	}), "partial info=incomplete, name, 1 players, 1 rules, 8 sent"},
	{"EC-20 EC-51 INFO in fragments at once, one of them lost twice", func() behaviour {
		info, asked := parts(wire.LayoutSource, 9, oddInfo, 20), 0
		h := host{openInfo: true, players: []string{oddPlayers}, rules: []string{oddRules}}
		return func(req wire.Request) []string {
			if req.Kind == wire.KindInfoRequest {
				asked++
			}
			if h.info = info[:1]; asked > 2 {
				h.info = info
			}
			return h.reply(req)
		}
	}, "ok open-info, name, 1 players, 1 rules, 7 sent"},
	{"EC-51 fragments of a late INFO, where PLAYER's challenge is lost",
		first(wire.KindPlayersRequest, parts(wire.LayoutSource, 10, oddInfo, 20), odd(func(h *host) {
			h.openInfo, h.info = true, parts(wire.LayoutSource, 9, oddInfo, 20)
		})), "ok open-info, name, 1 players, 1 rules, 6 sent"},
	{"EC-93 a name cut between fragments", withRules(parts(wire.LayoutGoldSource, 9, ff+"E\x02\x00sv_contact\x00x\x00b\x002\x00", 14)...),
		"ok, name, 1 players, 2 rules, 4 sent"},
	{"EC-106 261 rules", withRules(parts(wire.LayoutSource, 9, manyRules(261), 900)...),
		"ok, name, 1 players, 261 rules, 4 sent"},
	{"EC-111 a datagram is 12 bytes longer than its size", withRules(parts(wire.LayoutSource, 9, manyRules(120), 1248)...),
		"ok, name, 1 players, 120 rules, 4 sent"},
	{"EC-113 a payload without FF FF FF FF", withRules(parts(wire.LayoutSource, 9, manyRules(100)[4:], 700)...),
		"ok header.missing, name, 1 players, 100 rules, 4 sent"},
	{"EC-114 a payload with two", withRules(parts(wire.LayoutSource, 9, ff+manyRules(100), 700)...),
		"ok header.twice, name, 1 players, 100 rules, 4 sent"},
	{"EC-115 the last fragment first", func() behaviour {
		ds := parts(wire.LayoutSource, 9, manyRules(100), 400)
		slices.Reverse(ds)
		return withRules(ds...)()
	}, "ok, name, 1 players, 100 rules, 4 sent"},
	{"EC-116 a cut fragment first", func() behaviour {
		ds := parts(wire.LayoutSource, 9, manyRules(100), 700)
		return withRules(append([]string{ds[0][:8], ds[1][:12]}, ds...)...)()
	}, "ok, name, 1 players, 100 rules, 4 sent"},
	{"EC-116 a fragment first of which half is missing", func() behaviour {
		ds := parts(wire.LayoutSource, 9, manyRules(100), 700)
		return withRules(append([]string{ds[0][:300]}, ds...)...)()
	}, "ok, name, 1 players, 100 rules, 4 sent"},
	{"EC-149 an empty last fragment", withPlayers(oneTooMany(wire.LayoutSource, ff+"D\x78"+nameless(120), 603)...),
		"ok, name, 120 players, 1 rules, 4 sent"},
	{"EC-149 an empty last fragment of GoldSource", withRules(oneTooMany(wire.LayoutGoldSource, exactRules(1200), 400)...),
		"ok, name, 1 players, 1 rules, 4 sent"},
	{"EC-149 an empty last fragment is lost", withPlayers(oneTooMany(wire.LayoutSource, ff+"D\x78"+nameless(120), 603)[:2]...),
		"ok, name, 120 players, 1 rules, 8 sent"},
	{"EC-149 a last fragment with a player is lost", withPlayers(oneTooMany(wire.LayoutSource, ff+"D\x79"+nameless(120), 603)[:2]...),
		"partial players=incomplete, name, 120 players of 121, 1 rules, 8 sent"},
	{"EC-117 bit 15", withRules(parts(wire.LayoutSource, 0x84FF, manyRules(100), 700)...),
		"ok, name, 1 players, 100 rules, 4 sent"},
	{"EC-119 two replies interleaved", func() behaviour {
		a := parts(wire.LayoutSource, 9, ff+"D\x78"+nameless(120), 700)
		b := parts(wire.LayoutSource, 10, manyRules(100), 1400)
		mixed := []string{b[1], a[1], b[0], a[0]}
		return odd(func(h *host) { h.players, h.rules = nil, mixed })()
	}, "ok, name, 120 players, 100 rules, 4 sent"},
	{"EC-119 one ID for two replies", odd(func(h *host) {
		h.players = parts(wire.LayoutSource, 9, ff+"D\x78"+nameless(120), 700)
		h.rules = parts(wire.LayoutSource, 9, manyRules(100), 1000)
	}), "ok, name, 120 players, 100 rules, 6 sent"},
	{"EC-120 numbers that can't be", withRules(
		"\xFE"+ff[1:]+"\x09\x00\x00\x00\x00\x00\xE0\x04"+oddRules,
		"\xFE"+ff[1:]+"\x09\x00\x00\x00\x22\x22\xE0\x04rest"),
		"partial rules=malformed, name, 1 players, 6 sent"},
	{"EC-123 small fragments", withRules(parts(wire.LayoutSource, 9, manyRules(100), 50)...),
		"ok, name, 1 players, 100 rules, 4 sent"},
}

// TestTryPlayers checks that servers that answer only PLAYER are found, however late,
// without a datagram more to silent ones, and that the counts of datagrams are right.
func TestTryPlayers(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED under -short: other tests run the same goroutines, and go test without -short runs it")
	}
	for _, test := range []struct {
		name    string
		delay   time.Duration
		timeout time.Duration
		second  bool
	}{
		{"fixed timeouts", testRTT, time.Second, false},
		{"learned timeouts", testRTT, 0, false},
		{"late answers", 300 * time.Millisecond, 0, false},
		{"second pass", testRTT, time.Second, true},
	} {
		inBubble(t, test.name, func(t *testing.T) {
			n, s := newMemNet(), newServer()
			sent := map[uint64]int{}
			n.serve = func(addr uint64, req wire.Request) {
				size := 9
				switch {
				case req.Kind == wire.KindChallengeRequest:
					size = 5
				case req.Kind == wire.KindInfoRequest && req.HasChallenge:
					size = 29
				case req.Kind == wire.KindInfoRequest:
					size = 25
				}
				sent[addr] += size
				switch quick := addr>>16%4 < 2; {
				case quick:
					s.answer(n, addr, req)
				case addr>>16%4 == 2 && req.Kind == wire.KindPlayersRequest:
					n.reply(addr, test.delay, s.players)
				}
			}
			cfg := Config{Tuning: Tuning{TryPlayers: true}, Timeout: test.timeout, SecondPass: test.second, AddressRate: Off}
			got, st := mustRun(t, n, cfg, addresses(4000))
			checkLedger(t, st, 4000)
			if late := test.delay > testRTT; late != (st.Timeouts.Reopened > 0) {
				t.Errorf("%d targets answered late", st.Timeouts.Reopened)
			}
			for addr, r := range got {
				if test.delay > testRTT && addr>>16&0xFFFF > 500 {
					continue // at the end of a scan late answers are not waited for
				}
				want := [4]Status{StatusOK, StatusOK, StatusPartial, StatusNoReply}[addr>>16%4]
				if r.Status != want || r.HasPlayers != (want != StatusNoReply) || int(r.SentBytes) != sent[addr] || int(r.Sent) != n.to(addr) {
					t.Fatalf("%v: %v, %d bytes in %d sent, want %v, %d in %d", r.Addr, r.Status, r.SentBytes, r.Sent, want, sent[addr], n.to(addr))
				}
				if want == StatusNoReply && !test.second && r.Sent != defaultAttempts {
					t.Fatalf("%d datagrams to a silent target", r.Sent)
				}
			}
		})
	}
}

// TestRemembered checks that a challenge from an earlier Result saves a round trip where
// the server accepts it and costs at most one wait where it does not, and that
// Target.InfoOnly holds in every pass.
func TestRemembered(t *testing.T) {
	for _, test := range []struct {
		name      string
		challenge uint32
		infoOnly  bool
		drops     bool // the server drops requests with another challenge
		second    bool
		sent      uint32
	}{
		{"none", 0, false, false, false, 4},
		{"accepted", 77, true, false, false, 1},
		{"accepted, all questions", 77, false, false, false, 3},
		{"old", 76, true, false, false, 2},
		{"old, all questions", 76, false, false, false, 4},
		{"dropped", 76, true, true, false, 3},
		{"dropped, second pass", 76, true, true, true, 5}, // three attempts, and two datagrams in the second pass
	} {
		inBubble(t, test.name, func(t *testing.T) {
			n, s := newMemNet(), newServer()
			heard := map[uint64]int{}
			n.serve = func(addr uint64, req wire.Request) {
				if heard[addr]++; test.drops && req.HasChallenge && req.Challenge != s.challenge && req.Challenge != wire.NoChallenge {
					return
				}
				if test.second && heard[addr] <= 3 { // silent in the first pass
					return
				}
				s.answer(n, addr, req)
			}
			targets := addresses(100)
			for i := range targets {
				targets[i].Challenge, targets[i].InfoOnly = test.challenge, test.infoOnly
			}
			got, st := mustRun(t, n, Config{Timeout: time.Second, SecondPass: test.second, AddressRate: Off}, targets)
			checkLedger(t, st, 100)
			asked := wire.AskAll
			if test.infoOnly {
				asked = wire.AskInfo
			}
			for _, target := range targets {
				r := got[udp.Pack(target.Addr)]
				if r.Status != StatusOK || r.Asked != asked || r.Challenge != uint32(s.challenge) || r.Unchallenged != 0 || r.Sent != test.sent {
					t.Fatalf("%v: %v, asked %b, challenge %d, unchallenged %b, %d sent, want %d",
						r.Addr, r.Status, r.Asked, r.Challenge, r.Unchallenged, r.Sent, test.sent)
				}
			}
		})
	}
}
