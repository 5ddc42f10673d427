package fleet

import (
	"testing"

	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// TestMemory sends each server of a Memory INFO without a challenge, and then with
// the challenge that the server sent.
func TestMemory(t *testing.T) {
	cfg := testConfig()
	cfg.Kinds = []Kind{Source}
	f, err := NewMemory(cfg)
	if err != nil {
		t.Fatal(err)
	}
	const client = 0x7F000001<<16 | 4000
	for addr := range cfg.All() {
		server := udp.Pack(addr)
		ask := func(c wire.Challenge) (reply []byte) {
			f.Ask(0, client, server, wire.AppendInfoRequest(nil, c), func(from uint64, datagram []byte) {
				if from != server || reply != nil {
					t.Fatalf("asked %v, answered by %v", addr, udp.Unpack(from))
				}
				reply = append(reply, datagram...)
			})
			return reply
		}
		c, err := wire.DecodeChallenge(ask(wire.NoChallenge))
		if err != nil {
			t.Fatalf("%v: %v", addr, err)
		}
		if got := wire.KindOf(ask(c)); got != wire.KindInfo {
			t.Fatalf("%v: answered %v", addr, got)
		}
	}
	f.Ask(0, client, client, nil, func(uint64, []byte) { t.Error("an answer from a port without a fleet") })
}
