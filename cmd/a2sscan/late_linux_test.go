package main

import (
	"context"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/wire"
)

// TestLateAnswer: a server answers while the last request for its INFO waits for the rate.
// The scan asks it for the rest and ends.
func TestLateAnswer(t *testing.T) {
	t.Parallel()
	late, busy := listenUDP(t), listenUDP(t)
	scanner := make(chan net.Addr, 1)
	// The follow-ups to the busy server go out before the retry at the late one.
	go serveUDP(busy, func(n int, from net.Addr, req wire.Request) []byte {
		if n == 6 {
			scanner <- from
		}
		return wire.AppendChallenge(nil, wire.Challenge(n))
	})
	go serveUDP(late, func(n int, from net.Addr, req wire.Request) []byte {
		switch req.Kind {
		case wire.KindPlayersRequest:
			return wire.AppendPlayers(nil, 0, nil)
		case wire.KindRulesRequest:
			return wire.AppendRules(nil, 0, nil)
		}
		return nil
	})
	go func() { late.WriteTo(infoReply, <-scanner) }()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "a2sscan", "scan", "-q", "--allow-reserved", "--timeout", "300ms", "--cooldown", "0",
		"--retries", "1", "-r", "6", "--per-address-rate", "0", "--order", "input", late.LocalAddr().String(), busy.LocalAddr().String()).Output()
	if err != nil {
		t.Fatalf("%v, %v\n%s", ctx.Err(), err, out)
	}
	if !strings.Contains(string(out), `"addr":"`+late.LocalAddr().String()+`"`) || strings.Count(string(out), `"status":"ok"`) != 1 {
		t.Errorf("%s", out)
	}
}

var infoReply = wire.AppendInfo(nil, &wire.Info{
	Format: wire.FormatSource, Name: []byte("late"), Has: wire.HasProtocol | wire.HasName | wire.HasMap | wire.HasFolder |
		wire.HasGame | wire.HasAppID | wire.HasPlayers | wire.HasMaxPlayers | wire.HasBots | wire.HasServerType |
		wire.HasEnvironment | wire.HasPassword | wire.HasVAC | wire.HasVersion,
})

func listenUDP(t *testing.T) net.PacketConn {
	t.Helper()
	c, err := net.ListenPacket("udp4", "127.0.0.1:0")
	check(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// serveUDP replies to the requests that come, which it counts from 1, until c is closed.
func serveUDP(c net.PacketConn, reply func(n int, from net.Addr, req wire.Request) []byte) {
	b := make([]byte, 64)
	for n := 1; ; n++ {
		size, from, err := c.ReadFrom(b)
		if err != nil {
			return
		}
		if req, err := wire.DecodeRequest(b[:size]); err == nil {
			if answer := reply(n, from, req); answer != nil {
				c.WriteTo(answer, from)
			}
		}
	}
}
