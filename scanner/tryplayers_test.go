package scanner

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2sscan/a2sscan/wire"
)

// TestTryPlayers checks that servers that answer only PLAYER are found, however late,
// without a datagram more to silent ones, and that the counts of datagrams are right.
func TestTryPlayers(t *testing.T) {
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
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
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
				cfg := Config{TryPlayers: true, Timeout: test.timeout, SecondPass: test.second, AddressRate: Off}
				got, st, err := run(n, cfg, addresses(4000))
				if err != nil {
					t.Fatal(err)
				}
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
		})
	}
}
