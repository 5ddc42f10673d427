package scanner

import (
	"testing"

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
		s := sender{packets: make([]udp.Packet, batchLen), out: make([]outgoing, batchLen)}
		for i := range test.heard {
			s.out[i].heard = true
		}
		if test.pairAt >= 0 {
			s.packets[test.pairAt].GSO = true
		}
		length, from := s.pieceLen(), 0
		for _, want := range test.ends {
			to := s.pieceEnd(from, length)
			if to != want {
				t.Errorf("%d heard, a pair at %d: from %d to %d, want %d", test.heard, test.pairAt, from, to, want)
			}
			from = to
		}
	}
}
