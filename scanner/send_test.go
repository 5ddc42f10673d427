package scanner

import (
	"slices"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/scanner/udp"
)

// TestPieces checks that a batch in which many servers are known to answer goes out in
// pieces, and that the two datagrams of a GSO pair stay in the same piece. A batch with
// few known servers goes out at once.
func TestPieces(t *testing.T) {
	for _, test := range []struct {
		heard  int // of the 128 datagrams
		pairAt int // the first datagram of a pair; -1: there is none
		ends   []int
	}{
		{0, -1, []int{128}},
		{31, -1, []int{128}},
		{32, -1, []int{32, 64, 96, 128}},
		{128, 31, []int{33, 65, 97, 128}},
		{128, 32, []int{32, 64, 96, 128}},
	} {
		n := &piecesNet{memNet: newMemNet()}
		e := newEngine(Config{Rate: Off, AddressRate: Off, ByteBudget: DefaultByteBudget}, n, func(*Result) {})
		e.recv.worker.Close()
		s := e.sender
		s.clock = func() time.Duration { return 0 }
		e.open.slots.take()
		s.packets, s.out = make([]udp.Packet, batchLen), make([]outgoing, batchLen)
		for i := range test.heard {
			s.out[i].heard = true
		}
		if test.pairAt >= 0 {
			s.packets[test.pairAt].GSO = true
		}
		if done, _ := s.flush(); done != batchLen || !slices.Equal(n.ends, test.ends) {
			t.Errorf("%d heard, a pair at %d: pieces end at %v, want %v", test.heard, test.pairAt, n.ends, test.ends)
		}
	}
}

// piecesNet notes how many datagrams were sent after each call of Send.
type piecesNet struct {
	*memNet
	ends []int
}

func (n *piecesNet) Send(ps []udp.Packet) (int, error) {
	before := 0
	if len(n.ends) > 0 {
		before = n.ends[len(n.ends)-1]
	}
	n.ends = append(n.ends, before+len(ps))
	return len(ps), nil
}
