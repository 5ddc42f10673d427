package main

import (
	"context"
	"encoding/hex"
	"errors"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/wire"
)

// scriptAnswers is a server until the script ends. Each line of FILE is
// an answer in hexadecimal behind the requests that get it: T, U, V without a
// challenge, T+, U+, V+ with one, several with commas between them, * all.
func scriptAnswers(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: answers IP:0 FILE")
	}
	answers := readAnswers(ts, ts.ReadFile(args[1]))
	addr := netip.MustParseAddrPort(args[0])
	if !addr.Addr().IsLoopback() {
		ts.Fatalf("%v is not on loopback", addr)
	}
	conn, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(addr))
	ts.Check(err)
	addr = conn.LocalAddr().(*net.UDPAddr).AddrPort()
	ts.Setenv("ADDR", addr.String())
	ts.Setenv("PORT", strconv.Itoa(int(addr.Port())))
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 2048)
		for {
			n, from, err := conn.ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			for _, a := range answers {
				if slices.Contains(a.to, "*") || slices.Contains(a.to, requestWord(buf[:n])) {
					conn.WriteToUDPAddrPort(a.datagram, from)
				}
			}
		}
	}()
	ts.Defer(func() {
		conn.Close()
		<-done
	})
}

type scriptAnswer struct {
	to       []string
	datagram []byte
}

func readAnswers(ts *testscript.TestScript, text string) (all []scriptAnswer) {
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), "#")
		to, digits, found := strings.Cut(line, " ")
		if !found {
			continue
		}
		b, err := hex.DecodeString(strings.ReplaceAll(digits, " ", ""))
		ts.Check(err)
		all = append(all, scriptAnswer{strings.Split(to, ","), b})
	}
	return all
}

// requestWord is the word that stands for a request in a file of answers.
func requestWord(b []byte) string {
	r, err := wire.DecodeRequest(b)
	switch {
	case err != nil:
		return "?"
	case r.HasChallenge:
		return string(rune(r.Kind)) + "+"
	}
	return string(rune(r.Kind))
}

func TestAskedAddr(t *testing.T) {
	a := &app{Terminal: console.New(os.Stderr)}
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
		{"203.0.113.07", "", "no address"},
		{"203.0.113", "", "no address"},
		{"203.0.113.300:5", "", "no address"},
		{"", "", "no address"},
		{"a b", "", "no address"},
		{"\x1b[31m", "", `"\x1b[31m": no address`},
		{"::1", "", "IPv6 address"},
		{"0.0.0.0:27015", "", "no server can have this address"},
		{"239.1.2.3", "", "no server can have this address"},
		{"255.255.255.255", "", "no server can have this address"},
	} {
		got, err := a.askedAddr(context.Background(), test.arg)
		switch {
		case test.err == "" && (err != nil || got.String() != test.want):
			t.Errorf("%s: %v, %v, want %s", test.arg, got, err, test.want)
		case test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)):
			t.Errorf("%s: %v, %v, want an error with %q", test.arg, got, err, test.err)
		}
	}
}

// What can't be sent is another matter than silence. No system here refuses to
// send to loopback, so the result is made up.
func TestAskUnsent(t *testing.T) {
	target := netip.MustParseAddrPort("127.0.0.1:27015")
	k := &asking{
		askFlags: &askFlags{patienceFlags: patienceFlags{timeout: time.Second}}, target: target, tap: newTap(target),
		log: newTranscript(target, sheet{width: 80}),
		app: &app{out: &results{w: new(strings.Builder)}},
		result: &scanner.Result{
			Addr: target, Status: scanner.StatusNoReply, Asked: scanner.AskInfo,
			Err: [wire.NumQuestions]wire.Error{wire.ErrSendFailed},
		},
	}
	err := k.finish(t.Context())
	var f *console.Failure
	if v := judge(k); v.Word != verdictUnsent || !errors.As(err, &f) || f.Code != console.ExitUsage {
		t.Errorf("verdict %s, %v", v.Word, err)
	}
}

// What floods is counted and not kept.
func TestTapBounds(t *testing.T) {
	target := netip.MustParseAddrPort("127.0.0.1:27015")
	tap := newTap(target)
	for range keptDatagrams + 5 {
		tap.trace(0, false, target, []byte("x"))
	}
	if tap.lost != 5 || tap.heard != keptDatagrams+5 || len(tap.events) != keptDatagrams {
		t.Errorf("%d lost, %d heard, %d kept", tap.lost, tap.heard, len(tap.events))
	}
	tap = newTap(target)
	for range keptDatagrams {
		tap.trace(0, true, target, make([]byte, 60<<10))
	}
	if tap.bytes > keptBytes || tap.heard != 0 || tap.kept+tap.lost != keptDatagrams {
		t.Errorf("%d bytes, %d kept, %d lost", tap.bytes, tap.kept, tap.lost)
	}
}

func TestWrap(t *testing.T) {
	for _, test := range []struct {
		line          string
		width, indent int
		want          string
	}{
		{"short", 10, 2, "short"},
		{"", 10, 2, ""},
		{"one two three", 8, 2, "one two|  three"},
		{"one two three four", 9, 2, "one two|  three|  four"},
		{"onetwothreefour five", 8, 2, "onetwothreefour|  five"},
		{"äöü äöü äöü", 7, 0, "äöü äöü|äöü"},
		{"        much before it", 12, 8, "        much|        before|        it"},
	} {
		if got := strings.Join(console.Wrap(test.line, test.width, test.indent), "|"); got != test.want {
			t.Errorf("%q in %d: %q, want %q", test.line, test.width, got, test.want)
		}
	}
}

func TestPretty(t *testing.T) {
	record := `{"a":1,"name":"` + strings.Repeat("x", 30) + `","\u202ekey":{"k":"v","l":"wwwwwwwwwwwwww"},"list":[` +
		strings.Repeat(`"wwww",`, shownMembers) + "\"\u202e\"]," + `"rules_raw":["aa","bb","cc","dd"]}` + "\n"
	got := strings.Join(pretty([]byte(record), 20), "\n")
	want := `{
  "a": 1,
  "name": "xxxxxxxx…
  "\u202ekey": {
    "k": "v",
    "l": "wwwwwwwww…
  },
  "list": [
` + strings.Repeat("    \"wwww\",\n", shownMembers) + `    … 1 more, which --json prints
  ],
  "rules_raw": [
    "aa",
    "bb",
    "cc",
    … 1 more, which --json prints
  ]
}`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// FuzzTranscript: whatever a server sends, what is shown of it is a bounded
// number of lines of visible characters, no wider than the screen where bytes
// are shown.
func FuzzTranscript(f *testing.F) {
	for _, name := range []string{"info", "players", "rules"} {
		f.Add([]byte("\xff\xff\xff\xffI\x11"+name+"\x00\x1b[31m\x00\x00\x00"), []byte(""), uint8(80), false)
	}
	f.Add([]byte("\xff\xff\xff\xffD\x02\x00a\x00\x01\x00\x00\x00\x00\x00\xc0\x7f"), []byte("HTTP/1.1 400"), uint8(60), false)
	f.Add([]byte("\xfe\xff\xff\xff\x07\x00\x00\x00\x02\x00\xe0\x04\xff\xff\xff\xffE\x01\x00a\x00"),
		[]byte("\xfe\xff\xff\xff\x07\x00\x00\x00\x02\x01\xe0\x04b\x00"), uint8(200), false)
	f.Add([]byte("\xfe\xff\xff\xff\x97\x28\x00\x80\x01\x00\xbb\x06\x00\x00\x27\xcf\x8e\x92BZh9"), []byte("\xfe\xff\xff\xff"), uint8(120), false)
	f.Add([]byte("\xff\xff\xff\xffTSource Engine Query\x00abcd"), []byte("\xff\xff\xff\xffU\xff\xff\xff\xff"), uint8(80), true)
	target := netip.MustParseAddrPort("127.0.0.1:27015")
	f.Fuzz(func(t *testing.T, a, b []byte, columns uint8, sent bool) {
		var out strings.Builder
		log := newTranscript(target, sheet{width: max(int(columns), leastWidth)})
		log.out = &out
		for i, datagram := range [][]byte{a, b, a} {
			log.add(event{time.Duration(i), sent, target, datagram})
		}
		for _, g := range log.splits.replies {
			out.WriteString(g.fault() + "\n")
		}
		checkShown(t, out.String(), log.width)
	})
}
