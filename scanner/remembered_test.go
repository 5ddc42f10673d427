package scanner

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

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
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
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
				got, st, err := run(n, Config{Timeout: time.Second, SecondPass: test.second, AddressRate: Off}, targets)
				if err != nil {
					t.Fatal(err)
				}
				checkLedger(t, st, 100)
				asked := AskAll
				if test.infoOnly {
					asked = AskInfo
				}
				for _, target := range targets {
					r := got[udp.Pack(target.Addr)]
					if r.Status != StatusOK || r.Asked != asked || r.Challenge != uint32(s.challenge) || r.Unchallenged != 0 || r.Sent != test.sent {
						t.Fatalf("%v: %v, asked %b, challenge %d, unchallenged %b, %d sent, want %d",
							r.Addr, r.Status, r.Asked, r.Challenge, r.Unchallenged, r.Sent, test.sent)
					}
				}
			})
		})
	}
}
