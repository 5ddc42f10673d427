package scanner

import (
	"context"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// boundedNet drops datagrams that do not fit into its receive buffer, as a kernel
// does.
type boundedNet struct {
	*memNet
	room    int
	drops   uint64
	reads   []time.Time // when Recv was called
	sending []time.Time
}

func (n *boundedNet) Recv(ps []udp.Packet, wait time.Duration) (int, error) {
	n.reads = append(n.reads, time.Now())
	n.mu.Lock()
	if over := len(n.inbox) - n.room; over > 0 {
		n.drops += uint64(over)
		n.inbox = n.inbox[:n.room]
	}
	n.mu.Unlock()
	return n.memNet.Recv(ps, wait)
}

func (n *boundedNet) Send(ps []udp.Packet) (int, error) {
	n.sending = append(n.sending, time.Now())
	return n.memNet.Send(ps)
}

// longest returns the longest time between two consecutive events.
func longest(at []time.Time) (most time.Duration) {
	for i := 1; i < len(at); i++ {
		most = max(most, at[i].Sub(at[i-1]))
	}
	return most
}

// TestScanOutputStalls stalls the output for five seconds. Sending must slow down and
// nothing may be lost: the scan continues to receive, starts no new targets, and in
// the end all targets are complete.
func TestScanOutputStalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const (
			stall   = 5 * time.Second
			rate    = 20_000
			targets = 30_000
		)
		n, s := &boundedNet{memNet: newMemNet(), room: 2000}, newServer()
		n.serve = func(addr uint64, req wire.Request) { s.answer(n.memNet, addr, req) }
		results := 0
		handle := func(*Result) {
			if results++; results == 1000 {
				time.Sleep(stall)
			}
		}
		cfg := Config{Rate: rate, AddressRate: Off, transport: n, unhandled: 2048}
		st, err := Scan(context.Background(), cfg, seqOf(addresses(targets)), handle)
		if err != nil {
			t.Fatal(err)
		}
		checkLedger(t, st, targets)
		if st.Finished[StatusOK] != targets || results != targets || n.drops > 0 || st.Repeats > 0 {
			t.Errorf("%v, %d results, %d dropped, %d asked again", st.Finished, results, n.drops, st.Repeats)
		}
		if d := longest(n.reads); d > idleWait {
			t.Errorf("nothing was read for %v", d)
		}
		if d := longest(n.sending); d < stall/2 {
			t.Errorf("sending paused for only %v", d)
		}
		if why, _ := st.LimitedBy(); why != waitOutput {
			t.Errorf("limited by %q", why.Word())
		}
	})
}

// TestLastResultsAreWaitedFor checks that a scan whose last Results wait for the
// caller's function reports waitOutput.
func TestLastResultsAreWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, s := newMemNet(), newServer()
		n.serve = func(addr uint64, req wire.Request) { s.answer(n, addr, req) }
		var m Monitor
		handle := func(*Result) {
			for try := 0; m.Stats().Wait != waitOutput; try++ {
				if try == 100 {
					t.Fatalf("it waits for %q", m.Stats().Wait.Limit())
				}
				time.Sleep(100 * time.Millisecond)
			}
		}
		st, err := Scan(t.Context(), Config{transport: n, Monitor: &m}, seqOf(addresses(3)), handle)
		if err != nil || st.Wait != WaitNothing {
			t.Errorf("%v, and it waits for %q", err, st.Wait.Limit())
		}
	})
}

// TestResultOfSilenceIsEmpty checks that a Result without an INFO reply contains
// nothing of an earlier INFO, whose memory may by then belong to another server.
func TestResultOfSilenceIsEmpty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := halfSilent()
		silent := 0
		_, err := Scan(t.Context(), Config{transport: n, Attempts: 1}, seqOf(addresses(200)), func(r *Result) {
			if r.HasInfo {
				return
			}
			silent++
			if !reflect.DeepEqual(r.Info, wire.Info{}) {
				t.Fatalf("%v: %+v", r.Addr, r.Info)
			}
		})
		if err != nil || silent != 100 {
			t.Errorf("%v, %d silent", err, silent)
		}
	})
}
