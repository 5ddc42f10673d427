package scanner

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// backlogNet is a network whose socket fills with datagrams from strangers for a
// while after the first send. The answers of servers wait behind them. Each batch
// takes a millisecond to read.
type backlogNet struct {
	*memNet
	flood  time.Duration
	ends   time.Time
	behind int // datagrams sent to new servers during the flood
}

func (n *backlogNet) Send(ps []udp.Packet) (int, error) {
	if n.ends.IsZero() {
		n.ends = time.Now().Add(n.flood)
	} else if time.Now().Before(n.ends) {
		n.behind += len(ps)
	}
	return n.memNet.Send(ps)
}

func (n *backlogNet) Recv(ps []udp.Packet, wait time.Duration) (int, error) {
	if n.ends.IsZero() || !time.Now().Before(n.ends) {
		return n.memNet.Recv(ps, wait)
	}
	time.Sleep(time.Millisecond)
	for i := range ps {
		ps[i] = udp.Packet{Addr: 1<<16 | uint64(i), Data: []byte("\xff\xff\xff\xffI")}
	}
	return len(ps), nil
}

func scanBacklog(t *testing.T, flood time.Duration) (map[uint64]*Result, *backlogNet) {
	t.Helper()
	n := &backlogNet{memNet: newMemNet(), flood: flood}
	s := newServer()
	n.serve = func(addr uint64, req wire.Request) { s.answer(n.memNet, addr, req) }
	got := map[uint64]*Result{}
	cfg := Config{
		Rate: 1000, AddressRate: Off, Cooldown: Off, Timeout: 100 * time.Millisecond, Attempts: 2,
		transport: n,
	}
	st, err := Scan(t.Context(), cfg, seqOf(addresses(500)), func(r *Result) {
		got[udp.Pack(r.Addr)] = r.Clone()
	})
	if err != nil || len(got) != 500 {
		t.Fatalf("%v, %d results: %+v", err, len(got), st)
	}
	return got, n
}

// TestBacklog checks that a server whose answer waits in the socket does not count
// as silent, and that no new target starts until the socket is empty.
func TestBacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got, n := scanBacklog(t, maxBehind-100*time.Millisecond)
		for addr, r := range got {
			if r.Status != StatusOK || r.Sent != 4 {
				t.Fatalf("%v: %v, %d sent", udp.Unpack(addr), r.Status, r.Sent)
			}
		}
		if n.behind != 0 {
			t.Errorf("%d datagrams went out meanwhile", n.behind)
		}
	})
}

// TestBacklogWithoutEnd checks that a flood from strangers that lasts longer than
// maxBehind can't stop the scan.
func TestBacklogWithoutEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		got, n := scanBacklog(t, maxBehind+5*time.Second)
		silent := 0
		for _, r := range got {
			if r.Status == StatusNoReply {
				silent++
			}
		}
		if silent == 0 {
			t.Error("those asked first were never given up")
		}
		if n.behind == 0 {
			t.Error("no other target was queried")
		}
		if took := time.Since(start); took > time.Minute {
			t.Errorf("it took %v", took)
		}
	})
}
