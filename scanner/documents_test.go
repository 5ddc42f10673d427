package scanner

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// The tests in this file walk through the five documents of the protocol. For each
// there is a server that answers as the document says, question by question, with
// the document's own sample bytes. Where a document has a table but no sample, the
// reply was written from the table.

// samples returns the datagrams of the project's test vectors by name.
func samples(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("../testdata/vectors.json")
	check(t, err)
	var vectors []struct {
		Name      string
		Datagrams []string
	}
	check(t, json.Unmarshal(text, &vectors))
	found := map[string][]string{}
	for _, v := range vectors {
		for _, line := range v.Datagrams {
			b, err := hex.DecodeString(line)
			check(t, err)
			found[v.Name] = append(found[v.Name], string(b))
		}
	}
	return found
}

// document is a server as one of the documents describes it: its requests, in hex
// as the document writes them, and the sample that answers each of them.
type document struct {
	name    string
	cfg     Config
	answers [][2]string // a request, and the name of a sample or the bytes of a reply
	sent    string      // the requests, in order
	want    string      // see describe
	ping    string      // the text of the answer to a ping; "-": none
}

const (
	askInfoHex = "ff ff ff ff 54 53 6f 75 72 63 65 20 45 6e 67 69 6e 65 20 51 75 65 72 79 00"

	// Two replies written from the tables of documents 002 to 004, which have no
	// samples.
	tablePlayers = "\xff\xff\xff\xffD\x01\x00Gordon\x00\x05\x00\x00\x00\x00\x00\x80\x3f"
	tableRules   = "\xff\xff\xff\xffE\x01\x00mp_timelimit\x0030\x00"
)

var documents = []document{
	{
		name: "000, a Source server of today",
		cfg:  Config{Questions: wire.AskAll | wire.AskPing},
		answers: [][2]string{
			{askInfoHex, "challenge-info"},
			{askInfoHex + " 0a 08 5e ea", "info-css"},
			{"ff ff ff ff 55 0a 08 5e ea", "players-two"},
			{"ff ff ff ff 56 0a 08 5e ea", "rules-goldsource-split"},
			{"ff ff ff ff 69", "ping-source"},
		},
		sent: "TTUVi",
		want: "ok, game2xs.com Counter-Strike Source #1, 2 players, 93 rules, 5 sent",
		ping: "00000000000000",
	},
	{
		name: "000, PLAYER gives the challenge",
		cfg:  Config{Questions: wire.AskAll | wire.AskPing},
		answers: [][2]string{
			{askInfoHex, "info-goldsource"},
			{"ff ff ff ff 55 ff ff ff ff", "challenge-player"},
			{"ff ff ff ff 55 4b a1 d5 22", "players-two"},
			{"ff ff ff ff 56 4b a1 d5 22", "rules-goldsource-split-reversed"},
			{"ff ff ff ff 69", "ping-goldsource"},
		},
		sent: "TUiUV",
		want: "ok open-info, FR - VeryGames.net - Deatmatch - only surf_ski - ngR, 2 players, 93 rules, 5 sent",
	},
	{
		name: "000, The Ship",
		answers: [][2]string{
			{askInfoHex, "info-the-ship"},
			{"ff ff ff ff 55 ff ff ff ff", "players-the-ship"},
			{"ff ff ff ff 56 ff ff ff ff", "rules-goldsource-split"},
		},
		sent: "TUV",
		want: "ok players.count open-info open-players open-rules, Ship Server, 6 players of 19, 93 rules, 3 sent",
		ping: "-",
	},
	{
		name: "000, GETCHALLENGE gives the challenge, application 17550",
		answers: [][2]string{
			{askInfoHex, "\xff\xff\xff\xffI\x07name\x00map\x00dir\x00game\x00\x8e\x44\x01\x08\x00dl\x00\x011.0\x00"},
			{"ff ff ff ff 57", "challenge-player"},
			{"ff ff ff ff 55 4b a1 d5 22", "players-two"},
			{"ff ff ff ff 56 4b a1 d5 22", "rules-goldsource-split"},
		},
		sent: "TWUV",
		want: "ok open-info, name, 2 players, 93 rules, 4 sent",
		ping: "-",
	},
	{
		name: "001, a Source server of the orange box",
		cfg:  Config{Questions: wire.AskAll | wire.AskPing},
		answers: [][2]string{
			{askInfoHex, "info-hl2mp"},
			{"ff ff ff ff 55 ff ff ff ff", "\xff\xff\xff\xffA\xed\x9a\xe1\x0c"},
			{"ff ff ff ff 55 ed 9a e1 0c", "players-two"},
			{"ff ff ff ff 56 ed 9a e1 0c", "rules-goldsource-split"},
			{"ff ff ff ff 69", "ping-source"},
		},
		sent: "TUiUV",
		want: "ok open-info, Public Server Tick 100 www.larush.de, 2 players, 93 rules, 5 sent",
		ping: "00000000000000",
	},
	{
		// The document's sample of a challenge reply has one FF too many, and nine
		// bytes instead of four; the first four are used.
		name: "002, the flow of 2004: GETCHALLENGE only",
		answers: [][2]string{
			{askInfoHex, "info-css-2004"},
			{"ff ff ff ff 57", "\xff\xff\xff\xff\x41\x32\x42\x59\x45\x53\x93\x43\x71"},
			{"ff ff ff ff 55 32 42 59 45", tablePlayers},
			{"ff ff ff ff 56 32 42 59 45", tableRules},
		},
		sent: "TUUVWVUV",
		want: "ok open-info, game2xs.com Counter-Strike Source #1, 1 players, 1 rules, 8 sent",
		ping: "-",
	},
	{
		name: "002, PLAYER gives the challenge",
		answers: [][2]string{
			{askInfoHex, "info-css-2004"},
			{"ff ff ff ff 55 ff ff ff ff", "\xff\xff\xff\xff\x41\x32\x42\x59\x45"},
			{"ff ff ff ff 55 32 42 59 45", tablePlayers},
			{"ff ff ff ff 56 32 42 59 45", tableRules},
		},
		sent: "TUUV",
		want: "ok open-info, game2xs.com Counter-Strike Source #1, 1 players, 1 rules, 4 sent",
		ping: "-",
	},
	{
		name: "003, a GoldSource server, and its ping",
		cfg:  Config{Questions: wire.AskAll | wire.AskPing},
		answers: [][2]string{
			{askInfoHex, "info-goldsource"},
			{"ff ff ff ff 55 ff ff ff ff", "challenge-player"},
			{"ff ff ff ff 55 4b a1 d5 22", "players-two"},
			{"ff ff ff ff 56 4b a1 d5 22", "rules-goldsource-split"},
			{"ff ff ff ff 69", "ping-source"},
		},
		sent: "TUiUV",
		want: "ok open-info, FR - VeryGames.net - Deatmatch - only surf_ski - ngR, 2 players, 93 rules, 5 sent",
		ping: "00000000000000",
	},
	{
		name: "004, requests with one more NUL",
		cfg:  Config{Questions: wire.AskAll | wire.AskPing, Tuning: Tuning{TrailingNUL: true}},
		answers: [][2]string{
			{askInfoHex, "info-goldsource"},
			{"ff ff ff ff 55 ff ff ff ff 00", "challenge-player"},
			{"ff ff ff ff 55 4b a1 d5 22 00", tablePlayers},
			{"ff ff ff ff 56 4b a1 d5 22 00", tableRules},
			{"ff ff ff ff 69 00", "ping-source-zero-bytes"},
		},
		sent: "TUiUV",
		want: "ok open-info, FR - VeryGames.net - Deatmatch - only surf_ski - ngR, 1 players, 1 rules, 5 sent",
	},
	{
		name: "004, GETCHALLENGE with one more NUL",
		cfg:  Config{Tuning: Tuning{TrailingNUL: true}},
		answers: [][2]string{
			{askInfoHex, "info-goldsource"},
			{"ff ff ff ff 57 00", "challenge-player"},
			{"ff ff ff ff 55 4b a1 d5 22 00", tablePlayers},
			{"ff ff ff ff 56 4b a1 d5 22 00", tableRules},
		},
		sent: "TUUVWVUV",
		want: "ok open-info, FR - VeryGames.net - Deatmatch - only surf_ski - ngR, 1 players, 1 rules, 8 sent",
		ping: "-",
	},
}

// TestDocuments scans a server as each document describes it, and checks the requests,
// the Result, and the Result of decoding the datagrams again.
func TestDocuments(t *testing.T) {
	known := samples(t)
	for _, doc := range documents {
		inBubble(t, doc.name, func(t *testing.T) { doc.check(t, known) })
	}
}

func (doc *document) check(t *testing.T, known map[string][]string) {
	n, answers, sent := newMemNet(), doc.replies(t, known), ""
	n.serveBytes = func(addr uint64, datagram []byte) {
		sent += string(datagram[4:5])
		for _, reply := range answers[string(datagram)] {
			n.reply(addr, testRTT, []byte(reply))
		}
	}
	cfg := doc.cfg
	cfg.Raw = true
	got, _ := mustRun(t, n, cfg, addresses(1))
	r := got[udp.Pack(addresses(1)[0].Addr)]
	if describe(r) != doc.want || sent != doc.sent {
		t.Errorf("%s, sent %s, want %s, sent %s", describe(r), sent, doc.want, doc.sent)
	}
	if r.HasPing != (doc.ping != "-") || r.HasPing && (string(r.Ping) != doc.ping || r.PingRTT <= 0) {
		t.Errorf("ping %v %q after %v, want %q", r.HasPing, r.Ping, r.PingRTT, doc.ping)
	}
	d := NewDecoder()
	wantAnew(t, d, r)
	if again := d.Redecode(r); again.HasPing != r.HasPing || string(again.Ping) != string(r.Ping) {
		t.Errorf("ping %v %q from the datagrams, want %v %q", again.HasPing, again.Ping, r.HasPing, r.Ping)
	}
}

// replies maps each request to the datagrams that answer it.
func (doc *document) replies(t *testing.T, known map[string][]string) map[string][]string {
	t.Helper()
	answers := map[string][]string{}
	for _, a := range doc.answers {
		request, err := hex.DecodeString(strings.ReplaceAll(a[0], " ", ""))
		check(t, err)
		reply := []string{a[1]}
		if !strings.HasPrefix(a[1], "\xff") {
			if reply = known[a[1]]; reply == nil {
				t.Fatalf("no sample %q", a[1])
			}
		}
		answers[string(request)] = reply
	}
	return answers
}

// TestSilentOnInfo checks that a server which answers only PLAYER or only a ping is
// found with Tuning.Fallback, and not found without it.
func TestSilentOnInfo(t *testing.T) {
	pong := ff + "j\x00"
	for _, test := range []struct {
		name   string
		answer map[wire.Kind]string
		cfg    Config
		want   string
		ping   bool
	}{
		{"off", map[wire.Kind]string{'U': oddPlayers, 'i': pong}, Config{},
			"no_reply info=timeout players=timeout rules=timeout, 3 sent", false},
		{"players", map[wire.Kind]string{'U': oddPlayers}, Config{Tuning: Tuning{Fallback: true}},
			"partial info=timeout rules=timeout open-players, 1 players, 8 sent", false},
		{"players, not asked for", map[wire.Kind]string{'U': oddPlayers}, Config{Tuning: Tuning{Fallback: true}, Questions: wire.AskInfo},
			"error info=timeout open-players, 5 sent", false},
		{"ping", map[wire.Kind]string{'i': pong}, Config{Tuning: Tuning{Fallback: true}},
			"error info=timeout players=timeout rules=timeout, 5 sent", true},
		{"nothing", nil, Config{Tuning: Tuning{Fallback: true}},
			"no_reply info=timeout players=timeout rules=timeout, 5 sent", false},
		{"in the second look", map[wire.Kind]string{'i': pong}, Config{Tuning: Tuning{Fallback: true}, SecondPass: true},
			"error info=timeout players=timeout rules=timeout, 6 sent", true},
		{"nothing in the second look", nil, Config{Tuning: Tuning{Fallback: true}, SecondPass: true},
			"no_reply info=timeout players=timeout rules=timeout, 6 sent", false},
	} {
		inBubble(t, test.name, func(t *testing.T) {
			n := newMemNet()
			n.serve = func(addr uint64, req wire.Request) {
				if reply := test.answer[req.Kind]; reply != "" {
					n.reply(addr, testRTT, []byte(reply))
				}
			}
			got, _ := mustRun(t, n, test.cfg, addresses(1))
			r := got[udp.Pack(addresses(1)[0].Addr)]
			if describe(r) != test.want || r.HasPing != test.ping {
				t.Errorf("%s, ping %v, want %s, ping %v", describe(r), r.HasPing, test.want, test.ping)
			}
		})
	}
}

// checkKinds returns an error if the scan sent a ping although none was asked for,
// or sent GETCHALLENGE more than once or before the first PLAYER or RULES request
// (EC-18).
func checkKinds(sent []sending) error {
	silent := slices.IndexFunc(sent, func(s sending) bool {
		return s.req.Kind == wire.KindPlayersRequest || s.req.Kind == wire.KindRulesRequest
	})
	seen := false
	for i, s := range sent {
		switch s.req.Kind {
		case wire.KindPingRequest:
			return fmt.Errorf("a ping that nobody asked for")
		case wire.KindChallengeRequest:
			if seen || silent < 0 || i < silent {
				return fmt.Errorf("GETCHALLENGE as request %d, more than once: %v", i, seen)
			}
			seen = true
		}
	}
	return nil
}
