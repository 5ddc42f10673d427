package scanner

import (
	"testing"
	"testing/synctest"

	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// gsoNet is a network behind a device that receives two datagrams in one piece.
type gsoNet struct {
	*memNet
	loses  bool // loses what it receives in one piece
	single bool // does not accept two datagrams in one piece
	pieces int
	wrong  []udp.Packet // marked, but not a first request for players followed by the one for rules
}

func (n *gsoNet) Send(ps []udp.Packet) (int, error) {
	for i := 0; i < len(ps); i++ {
		size := 1
		ps[i].GSO = ps[i].GSO && !n.single
		if ps[i].GSO {
			n.inspect(ps[i:])
			n.pieces++
			size = 2
		}
		if size == 2 && n.loses {
			i++
			continue
		}
		if sent, err := n.memNet.Send(ps[i : i+size]); err != nil {
			return i + sent, err
		}
		i += size - 1
	}
	return len(ps), nil
}

func (n *gsoNet) inspect(ps []udp.Packet) {
	kind := func(p udp.Packet) wire.Kind {
		req, _ := wire.DecodeRequest(p.Data)
		return req.Kind
	}
	if len(ps) < 2 || ps[0].Addr != ps[1].Addr || ps[1].GSO ||
		kind(ps[0]) != wire.KindPlayersRequest || kind(ps[1]) != wire.KindRulesRequest {
		n.wrong = append(n.wrong, ps[0])
	}
}

// newGSONet returns a network in which all servers want a challenge.
func newGSONet() *gsoNet {
	n, s := &gsoNet{memNet: newMemNet()}, newServer()
	n.serve = func(addr uint64, req wire.Request) { s.answer(n.memNet, addr, req) }
	return n
}

func (n *gsoNet) scan(t *testing.T, cfg Config, servers int) (complete int, st Stats) {
	t.Helper()
	cfg.Tuning.transport = n
	st, err := Scan(t.Context(), cfg, seqOf(addresses(servers)), func(r *Result) {
		if r.Status == StatusOK {
			complete++
		}
	})
	if err != nil {
		t.Error(err)
	}
	if len(n.wrong) > 0 {
		t.Errorf("%d datagrams should not be marked: % x", len(n.wrong), n.wrong[0].Data)
	}
	return complete, st
}

func TestGSO(t *testing.T) {
	tests := []struct {
		name   string
		cfg    Config
		pieces int // the minimum number of pieces; the maximum is the number of servers
	}{
		{"all", Config{Rate: 100_000}, 450}, // some pairs are divided by the end of a batch
		{"switched off", Config{Rate: 100_000, Tuning: Tuning{NoGSO: true}}, 0},
		{"no rules", Config{Rate: 100_000, Questions: wire.AskInfo | wire.AskPlayers}, 0},
		{"too slow", Config{Rate: 100}, 0}, // a datagram at a time
	}
	for _, test := range tests {
		inBubble(t, test.name, func(t *testing.T) {
			n := newGSONet()
			complete, st := n.scan(t, test.cfg, 500)
			if complete != 500 || st.GSOStopped != 0 {
				t.Errorf("%d complete, GSOStopped %d; want 500, 0", complete, st.GSOStopped)
			}
			if n.pieces < test.pieces || n.pieces > 500 || test.pieces == 0 && n.pieces > 0 {
				t.Errorf("%d pieces, want %d", n.pieces, test.pieces)
			}
		})
	}
}

// TestGSOLost uses a device that loses pairs: every server must still be complete, and
// the scan must soon stop sending pairs.
func TestGSOLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const open = 16
		n := newGSONet()
		n.loses = true
		complete, st := n.scan(t, Config{Tuning: Tuning{InFlight: open}}, 500)
		if complete != 500 || st.GSOStopped != 1 {
			t.Errorf("%d complete, GSOStopped %d; want 500, 1", complete, st.GSOStopped)
		}
		if n.pieces < maxSilentPairs || n.pieces > maxSilentPairs+open {
			t.Errorf("%d pieces, want %d and a few", n.pieces, maxSilentPairs)
		}
	})
}

// TestGSOSilentServers mixes servers that never answer PLAYER and RULES with servers
// that do. GSO must stay on.
func TestGSOSilentServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, s := newGSONet(), newServer()
		n.serve = func(addr uint64, req wire.Request) {
			if addr>>16%8 == 0 || req.Kind == wire.KindInfoRequest {
				s.answer(n.memNet, addr, req)
			}
		}
		complete, st := n.scan(t, Config{Tuning: Tuning{InFlight: 16}}, 640)
		if complete != 80 || n.pieces < 500 || st.GSOStopped != 0 {
			t.Errorf("%d complete, %d pieces, GSOStopped %d; want 80, more than 500, 0", complete, n.pieces, st.GSOStopped)
		}
	})
}

// TestGSOAbsent uses silent servers on a system without GSO, like most systems: the
// scan must not blame GSO.
func TestGSOAbsent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, s := newGSONet(), newServer()
		n.single = true
		n.serve = func(addr uint64, req wire.Request) {
			if req.Kind == wire.KindInfoRequest {
				s.answer(n.memNet, addr, req)
			}
		}
		if complete, st := n.scan(t, Config{}, 200); complete != 0 || st.GSOStopped != 0 {
			t.Errorf("%d complete, GSOStopped %d; want none", complete, st.GSOStopped)
		}
	})
}
