package fleet

import (
	"net/netip"
	"testing"

	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// TestUnusualKinds checks kinds of servers that only some programs can query. It
// sends several requests in order and compares the type bytes of the replies.
func TestUnusualKinds(t *testing.T) {
	info, players := wire.AppendRequest(nil, wire.QuestionInfo, wire.NoChallenge), wire.AppendRequest(nil, wire.QuestionPlayers, wire.NoChallenge)
	ping, get := wire.AppendRequest(nil, wire.QuestionPing, 0), wire.AppendRequest(nil, wire.QuestionChallenge, 0)
	for _, test := range []struct {
		kind     Kind
		requests [][]byte
		want     []string
	}{
		{OwnChallenge, [][]byte{info, players, ping, get}, []string{"A", "A", "", ""}},
		{ShortChallenge, [][]byte{info, players, ping, get}, []string{"A", "A", "", ""}},
		{GetChallenge, [][]byte{info, players, ping, get}, []string{"I", "", "", "A"}},
		{TrailingNUL, [][]byte{info, players, append(players, 0), append(ping, 0), ping}, []string{"I", "", "D", "j", ""}},
		{PlayersOnly, [][]byte{info, players, ping, get}, []string{"", "A", "j", ""}},
		{GoldSource, [][]byte{ping, append(ping, 0), get}, []string{"j", "", ""}},
		{Silent, [][]byte{info, ping, get}, []string{"", "", ""}},
	} {
		t.Run(test.kind.String(), func(t *testing.T) {
			ask, addr := serverOf(t, test.kind)
			for i, request := range test.requests {
				got := ""
				for _, d := range ask(addr, request) {
					got += string(d[4:5])
				}
				if got != test.want[i] {
					t.Errorf("%q is answered by %q, want %q", request, got, test.want[i])
				}
			}
		})
	}
}

// serverOf returns the packed address of a server of a kind, and a function that
// queries it.
func serverOf(t *testing.T, k Kind) (ask func(uint64, []byte) [][]byte, addr uint64) {
	t.Helper()
	m, err := newModel(Config{
		Network: netip.MustParsePrefix("127.3.0.0/30"), Ports: []uint16{27015}, Seed: 3, Kinds: []Kind{k},
	})
	if err != nil {
		t.Fatal(err)
	}
	addr = udp.Pack(netip.MustParseAddrPort("127.3.0.1:27015"))
	_, ok := m.nature(addr)
	if !ok {
		t.Fatal("nobody there")
	}
	return inProcess(m), addr
}
