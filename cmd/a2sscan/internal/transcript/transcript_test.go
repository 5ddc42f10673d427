package transcript

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/wire"
)

var target = netip.MustParseAddrPort("127.0.0.1:27015")

// TestUnsent: the verdict distinguishes a failure to send from silence. The test
// makes up the result, because no system refuses to send to loopback.
func TestUnsent(t *testing.T) {
	s := &Session{Target: target, Result: &scanner.Result{
		Addr: target, Status: scanner.StatusNoReply, Asked: wire.AskInfo,
		Err: [wire.NumQuestions]wire.Error{wire.ErrSendFailed},
	}}
	if s.judge(); s.Verdict.Word != Unsent {
		t.Errorf("verdict %s", s.Verdict.Word)
	}
}

// TestBriefHint: for a server that does not answer, the brief form has the best hint. No
// hint contradicts the verdict.
func TestBriefHint(t *testing.T) {
	const port = "hint: another port may answer; try: a2sscan ask 127.0.0.1:27015 --find-port\n"
	var noInfo [wire.NumQuestions]wire.Error
	noInfo[wire.QuestionInfo], noInfo[wire.QuestionRules] = wire.ErrTimeout, wire.ErrTimeout
	noLists := [wire.NumQuestions]wire.Error{wire.QuestionPlayers: wire.ErrTimeout, wire.QuestionRules: wire.ErrTimeout}
	for _, test := range []struct {
		addr   netip.AddrPort
		junk   string
		result scanner.Result
		want   string
	}{
		{target, "", scanner.Result{Status: scanner.StatusNoReply, Sent: 3}, port},
		{target, "", scanner.Result{Status: scanner.StatusUnreachable, Sent: 1}, port},
		{target, "HTTP", scanner.Result{Status: scanner.StatusError, Sent: 1}, port},
		{netip.MustParseAddrPort("169.254.0.1:27015"), "", scanner.Result{Status: scanner.StatusNoReply, Sent: 3},
			"hint: this is a link-local address, which "},
		{target, "", scanner.Result{Status: scanner.StatusPartial, Sent: 3, Err: noInfo, HasPlayers: true},
			"hint: many games never send rules: this is the server's choice\n"},
		{target, "", scanner.Result{Status: scanner.StatusPartial, Sent: 3, Err: noLists, HasInfo: true},
			"hint: many games never send players or rules, and many filters allow only info: this is the server's choice\n"},
	} {
		s := &Session{Target: test.addr, Result: &test.result, junk: test.junk}
		for q := range test.result.Err {
			s.asksAnew[q] = true
		}
		s.judge()
		if got := s.Brief(false); !strings.Contains(got, "\n"+test.want) {
			t.Errorf("got\n%swith no %s", got, test.want)
		}
	}
}

// TestBounds: beyond its limit a session counts datagrams without keeping them.
func TestBounds(t *testing.T) {
	s := &Session{Target: target}
	for range maxDatagrams + 5 {
		s.trace(0, false, target, []byte("x"))
	}
	if s.leftOut != 5 || len(s.events) != maxDatagrams {
		t.Errorf("%d left out, %d kept", s.leftOut, len(s.events))
	}
}

func TestPretty(t *testing.T) {
	record := `{"a":1,"name":"` + strings.Repeat("x", 30) + `","\u202ekey":{"k":"v","l":"wwwwwwwwwwwwww"},"list":[` +
		strings.Repeat(`"wwww",`, shownMembers) + "\"\u202e\"]," + `"rules_raw":["aa","bb","cc","dd"]}`
	got := strings.Join(pretty(nil, 20, "", console.Visible([]byte(record)), "", ""), "\n")
	want := `{
  "a": 1,
  "name": "xxxxxxxx…
  "\u202ekey": {
    "k": "v",
    "l": "wwwwwwwww…
  },
  "list": [
` + strings.Repeat("    \"wwww\",\n", shownMembers) + `    … 1 more member, which --json prints
  ],
  "rules_raw": [
    "aa",
    "bb",
    "cc",
    "dd"
  ]
}`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// FuzzTranscript: whatever a server sends, the transcript has a limited number of
// lines with only visible characters, and rows of bytes are no wider than the
// screen.
func FuzzTranscript(f *testing.F) {
	for _, name := range []string{"info", "players", "rules"} {
		f.Add([]byte("\xff\xff\xff\xffI\x11"+name+"\x00\x1b[31m\x00\x00\x00"), []byte(""), uint8(80), false)
	}
	f.Add([]byte("\xff\xff\xff\xffD\x02\x00a\x00\x01\x00\x00\x00\x00\x00\xc0\x7f"), []byte("HTTP/1.1 400"), uint8(60), false)
	f.Add([]byte("\xfe\xff\xff\xff\x07\x00\x00\x00\x02\x00\xe0\x04\xff\xff\xff\xffE\x01\x00a\x00"),
		[]byte("\xfe\xff\xff\xff\x07\x00\x00\x00\x02\x01\xe0\x04b\x00"), uint8(200), false)
	f.Add([]byte("\xfe\xff\xff\xff\x97\x28\x00\x80\x01\x00\xbb\x06\x00\x00\x27\xcf\x8e\x92BZh9"), []byte("\xfe\xff\xff\xff"), uint8(120), false)
	f.Add([]byte("\xff\xff\xff\xffTSource Engine Query\x00abcd"), []byte("\xff\xff\xff\xffU\xff\xff\xff\xff"), uint8(80), true)
	f.Fuzz(func(t *testing.T, a, b []byte, columns uint8, sent bool) {
		s := &Session{Target: target, Width: max(int(columns), 60)}
		for i, datagram := range [][]byte{a, b, a} {
			s.trace(time.Duration(i), sent, target, datagram)
		}
		s.explain()
		text := s.Datagrams()
		for _, g := range s.replies {
			text += g.fault() + "\n"
		}
		checkVisible(t, text, s.Width)
	})
}

// TestRequests: a request is described with its challenge, and with the NUL that some
// tools add.
func TestRequests(t *testing.T) {
	players := wire.AppendRequest(nil, wire.QuestionPlayers, 0x04030201)
	for want, b := range map[string][]byte{
		"info request, no challenge":                                       wire.AppendRequest(nil, wire.QuestionInfo, wire.NoChallenge),
		"players request, challenge 01 02 03 04":                           players,
		"players request, challenge 01 02 03 04, followed by an extra NUL": append(players[:len(players):len(players)], 0),
		"rules request, no challenge, followed by an extra NUL":            append(wire.AppendRequest(nil, wire.QuestionRules, wire.NoChallenge), 0),
		"ping": wire.AppendRequest(nil, wire.QuestionPing, 0),
	} {
		e := &event{Sent: true, Data: b}
		if new(Session).describe(e); e.What != want {
			t.Errorf("%q, want %q", e.What, want)
		}
	}
}

// TestShip: deaths and money of The Ship are shown even if the count of players is wrong,
// because the result says that the game is The Ship. The hint about repeats counts them.
func TestShip(t *testing.T) {
	for app, want := range map[uint16]bool{2400: true, 440: false} {
		r := &scanner.Result{Addr: target, Status: scanner.StatusOK, HasInfo: true}
		r.Info = wire.Info{Has: wire.HasAppID, ShortAppID: app}
		s := &Session{Target: target, Width: 80, Result: r, repeats: 2}
		s.trace(0, false, target, wire.AppendPlayers(nil, 19, []wire.Player{{Ship: true, Money: 2500}}))
		s.explain()
		if got := strings.Contains(s.Datagrams(), "player 0: money 2500"); got != want {
			t.Errorf("application %d:\n%s", app, s.Datagrams())
		}
		if s.judge(); !strings.Contains(strings.Join(s.Verdict.Hints, "\n"), "2 requests had to be repeated") {
			t.Errorf("hints %q", s.Verdict.Hints)
		}
	}
}

// TestBorrowed: if a question was asked only with the challenge from another question, the
// verdict says so and does not call the server silent on it. The server may want a
// challenge of its own for the question.
func TestBorrowed(t *testing.T) {
	for _, test := range []struct {
		name string
		sent []wire.Challenge // of the players requests
		want string
	}{
		{"with the challenge of info", []wire.Challenge{7, 7}, "requests for players with the challenge of another question had no answer"},
		{"without one, too", []wire.Challenge{7, wire.NoChallenge}, "silent on players"},
		{"only without one", []wire.Challenge{wire.NoChallenge}, "silent on players"},
	} {
		s := &Session{Target: target, Result: &scanner.Result{Addr: target, Status: scanner.StatusPartial}}
		for _, c := range test.sent {
			s.trace(0, true, target, wire.AppendRequest(nil, wire.QuestionPlayers, c))
			s.trace(0, true, target, wire.AppendRequest(nil, wire.QuestionRules, wire.NoChallenge))
		}
		s.explain()
		s.Result.Err[wire.QuestionPlayers] = wire.ErrTimeout
		if got := s.reasons(); len(got) != 1 || got[0] != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// checkVisible fails the test if text has a character that is not visible, more
// than 600 lines, or a row of a hex dump with more than width characters.
func checkVisible(t *testing.T, text string, width int) {
	t.Helper()
	lines := strings.Split(text, "\n")
	if len(lines) > 600 {
		t.Errorf("%d lines", len(lines))
	}
	for _, line := range lines {
		for _, r := range line {
			if r == utf8.RuneError || !unicode.IsPrint(r) {
				t.Fatalf("%q shows %q", line, r)
			}
		}
		if n := utf8.RuneCountInString(line); strings.HasPrefix(line, "    0") && n > width {
			t.Errorf("%d characters in a row for %d: %s", n, width, line)
		}
	}
}

// TestPopulation: the verdict counts people as their game does, and bots separately. It
// names the map that the game says.
func TestPopulation(t *testing.T) {
	rust := &game.Game{Players: 547, MaxPlayers: 575, Has: 1<<game.KeyPlayers | 1<<game.KeyMaxPlayers}
	dayz := &game.Game{Map: []byte("chernarusplus"), Has: 1 << game.KeyMap}
	for want, r := range map[string]scanner.Result{
		"\"\", 12 of 24 players":                        {Info: wire.Info{Players: 12, MaxPlayers: 24}},
		"\"\", 9 of 24 players and 3 bots":              {Info: wire.Info{Players: 12, MaxPlayers: 24, Bots: 3}},
		"\"\", 547 of 575 players (info says 86 of 63)": {Info: wire.Info{Players: 86, MaxPlayers: 63}, Game: rust},
		"\"\", 0 players":                               {Info: wire.Info{Players: 3, MaxPlayers: 128, ServerType: 'p'}},
		"\"\", 0 of 16 players and 1 bot":               {Info: wire.Info{Players: 1, MaxPlayers: 16, Bots: 1}},
		"\"\", 0 of 16 players and 5 bots (info says 1 of 16)": {Info: wire.Info{Players: 1, MaxPlayers: 16, Bots: 1},
			Game: &game.Game{Bots: 5, Has: 1 << game.KeyBots}},
		`"chernarusplus", 0 players`: {Info: wire.Info{Map: []byte("DayZ_Auto")}, Game: dayz},
	} {
		r.HasInfo = true
		if r.Info.MaxPlayers > 0 {
			r.Info.Has = wire.HasMaxPlayers
		}
		if got := (&Session{Result: &r}).summary(); got != `: "", map `+want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// hosts is a Lookup for the names in the tests.
func hosts(_ context.Context, host string) ([]netip.Addr, error) {
	switch host {
	case "one.example":
		return []netip.Addr{netip.MustParseAddr("203.0.113.1")}, nil
	case "two.example":
		return []netip.Addr{netip.MustParseAddr("203.0.113.2"), netip.MustParseAddr("203.0.113.3")}, nil
	case "six.example":
		return nil, nil
	}
	return nil, errors.New("no such host")
}

func TestResolveAddr(t *testing.T) {
	for _, test := range []struct {
		arg, want, err string
	}{
		{"203.0.113.7", "203.0.113.7:27015", ""},
		{"203.0.113.7:1", "203.0.113.7:1", ""},
		{"192.168.1.20:65535", "192.168.1.20:65535", ""},
		{"203.0.113.7:0", "", "the port is not a number from 1 to 65535"},
		{"203.0.113.7:65536", "", "the port is not a number from 1 to 65535"},
		{"203.0.113.7:", "", "the port is not a number from 1 to 65535"},
		{"203.0.113.7:+5", "", "the port is not a number from 1 to 65535"},
		{"203.0.113.07", "", "not an address"},
		{"203.0.113", "", "not an address"},
		{"203.0.113.300:5", "", "not an address"},
		{"", "", "not an address"},
		{"a b", "", "not an address"},
		{"\x1b[31m", "", `"\x1b[31m": this is not an address`},
		{"::1", "", "IPv6 address"},
		{"steam://connect/203.0.113.7:9", "203.0.113.7:9", ""},
		{"http://one.example:9", "", "the port is not a number from 1 to 65535"},
		{"0.0.0.0:27015", "", "no server can have this address"},
		{"239.1.2.3", "", "no server can have this address"},
		{"one.example", "203.0.113.1:27015", ""},
		{"one.example:9", "203.0.113.1:9", ""},
		{"two.example:9", "203.0.113.2:9", ""},
		{"none.example:9", "", `"none.example:9": the lookup failed: no such host`},
		{"six.example:9", "", `"six.example:9": the lookup failed: the name has no IPv4 address`},
		{"one.example:0", "", "the port is not a number from 1 to 65535"},
		{"-x:5 y", "", "the port is not"},
		{"255.255.255.255", "", "no server can have this address"},
	} {
		got, err := ResolveAddr(t.Context(), hosts, test.arg)
		switch {
		case test.err == "" && (err != nil || got.String() != test.want):
			t.Errorf("%s: %v, %v, want %s", test.arg, got, err, test.want)
		case test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)):
			t.Errorf("%s: %v, %v, want an error with %q", test.arg, got, err, test.err)
		}
	}
}
