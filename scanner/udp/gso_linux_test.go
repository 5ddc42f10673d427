//go:build !portable

package udp

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"
)

// paired returns datagrams to c, each marked for GSO with the next one.
func paired(c *Conn, texts ...string) (ps []Packet) {
	for _, text := range texts {
		ps = append(ps, Packet{Addr: Pack(c.LocalAddr()), Data: []byte(text), GSO: true})
	}
	return ps
}

// TestGSO sends datagrams marked for GSO and checks what arrives.
func TestGSO(t *testing.T) {
	to, other := listen(t, Config{}), listen(t, Config{})
	elsewhere := paired(other, "else")
	alone := paired(to, "lone")
	alone[0].GSO = false
	tests := []struct {
		name  string
		ps    []Packet
		batch int
		gso   uint64
	}{
		{"a pair", paired(to, "abcd", "efgh"), 0, 1},
		{"two pairs", paired(to, "abcd", "efgh", "ijkl", "mnop"), 0, 2},
		{"a pair and one", paired(to, "ab", "cd", "ef"), 0, 1},
		{"one byte", paired(to, "a", "b"), 0, 1},
		{"nothing", paired(to, "", ""), 0, 0},
		{"as long as may be", paired(to, strings.Repeat("a", maxSegment), strings.Repeat("b", maxSegment)), 0, 1},
		{"too long", paired(to, strings.Repeat("a", maxSegment+1), strings.Repeat("b", maxSegment+1)), 0, 0},
		{"other lengths", paired(to, "abc", "de", "f"), 0, 0},
		{"to others", slices.Concat(paired(to, "abcd"), elsewhere, paired(to, "efgh")), 0, 0},
		{"not asked for", slices.Concat(alone, alone), 0, 0},
		{"the first alone", slices.Concat(alone, paired(to, "abcd", "efgh")), 0, 1},
		{"a batch between", paired(to, "abcd", "efgh"), 1, 0},
		{"three batches", paired(to, "ab", "cd", "ef", "gh", "ij"), 2, 2},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			from := listen(t, Config{})
			if test.batch > 0 {
				from.out.room = from.out.room[:test.batch]
			}
			sendAll(t, from, test.ps)
			bytes, marks := 0, uint64(0)
			var want []string
			for _, p := range test.ps {
				if p.GSO {
					marks++
				}
				if bytes += len(p.Data); p.Addr == Pack(to.LocalAddr()) {
					want = append(want, string(p.Data))
				}
			}
			var got []string
			for _, p := range recvN(t, to, len(want)) {
				got = append(got, string(p.Data))
			}
			if !slices.Equal(got, want) {
				t.Errorf("received %q, want %q", got, want)
			}
			recvNone(t, to)
			s := from.Stats()
			if s.GSO != test.gso || s.Sent != uint64(len(test.ps)) || s.SentBytes != uint64(bytes) {
				t.Errorf("stats: %+v; want GSO %d", s, test.gso)
			}
			if marks != test.gso {
				t.Errorf("%d are marked, want %d", marks, test.gso)
			}
		})
	}
}

// TestGSORefused makes the kernel refuse GSO, as it does for a device that can't
// compute checksums. All datagrams must still be sent, and GSO must be off afterwards.
func TestGSORefused(t *testing.T) {
	for _, refusal := range []error{unix.EIO, unix.EINVAL} {
		for before := range 3 {
			t.Run(fmt.Sprint(refusal, before), func(t *testing.T) {
				from, to := listen(t, Config{}), listen(t, Config{})
				from.batch = &faulty{batcher: from.batch, write: func(ms []ipv4.Message) (int, error) {
					i := slices.IndexFunc(ms, func(m ipv4.Message) bool { return len(m.Buffers) > 1 })
					if i < 0 {
						return len(ms), nil
					}
					return i, refusal
				}}
				ps := slices.Concat(paired(to, "1", "22", "333")[:before], paired(to, "abcd", "efgh", "ijkl"))
				for range 2 {
					sendAll(t, from, ps)
					for i, p := range recvN(t, to, len(ps)) {
						if string(p.Data) != string(ps[i].Data) {
							t.Errorf("datagram %d is %q, want %q", i, p.Data, ps[i].Data)
						}
					}
				}
				recvNone(t, to)
				for _, p := range ps {
					if p.GSO {
						t.Errorf("%q is marked", p.Data)
					}
				}
				if s := from.Stats(); s.GSO != 0 || s.Sent != uint64(2*len(ps)) {
					t.Errorf("stats: %+v", s)
				}
				if from.out.gso {
					t.Error("it still uses GSO")
				}
			})
		}
	}
}

// TestGSOFaults makes the kernel refuse a pair for reasons other than GSO.
func TestGSOFaults(t *testing.T) {
	tests := []struct {
		err   error
		times int
		n     int
	}{
		{unix.EAGAIN, 2, 2},
		{unix.ECONNREFUSED, 2, 6},
		{unix.EACCES, 1 << 20, 2},
	}
	for _, test := range tests {
		t.Run(fmt.Sprint(test.err), func(t *testing.T) {
			from, to, other := listen(t, Config{}), listen(t, Config{}), listen(t, Config{})
			from.batch = &faulty{batcher: from.batch, write: refusing(other, test.times, test.err)}
			n, err := from.Send(slices.Concat(paired(to, "ab", "cd"), paired(other, "ab", "cd"), paired(to, "ef", "gh")))
			if n != test.n || (err == nil) != (n == 6) {
				t.Errorf("Send = %d, %v; want %d", n, err, test.n)
			}
			if s := from.Stats(); s.Sent != uint64(n) || s.GSO != uint64(n/2) || !from.out.gso {
				t.Errorf("stats: %+v", s)
			}
		})
	}
}
