package main

import (
	"encoding/hex"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/a2sscan/a2sscan/wire"
)

// scriptAnswers runs a server until the script ends. Each line of FILE has a list
// of requests and then, in hexadecimal, the answer to them. The requests are
// separated by commas: T, U, V without a challenge, T+, U+, V+ with one, * all.
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

// requestWord returns the word for a request in a file of answers.
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
