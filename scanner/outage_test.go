package scanner

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// awayNet returns a network of servers that is away from a time on, for a while.
// Datagrams under way at its beginning are lost.
func awayNet(from, d time.Duration) *memNet {
	n, s, start := newMemNet(), newServer(), time.Now()
	away := func() bool { return time.Since(start) >= from && time.Since(start) < from+d }
	n.route = func(uint64) error {
		if away() {
			return syscall.ENETUNREACH
		}
		return nil
	}
	n.refuse = n.route
	n.serve = func(addr uint64, req wire.Request) {
		if late := time.Since(start) + s.delay; late < from || late >= from+d {
			s.answer(n, addr, req)
		}
	}
	return n
}

// TestOutage: a scan whose network is away waits, and then has every server, at no cost of
// attempts: at its start, in the middle, and when it only waits for the last replies.
func TestOutage(t *testing.T) {
	for _, from := range []time.Duration{0, 300 * time.Millisecond, 995 * time.Millisecond} {
		for _, d := range []time.Duration{200 * time.Millisecond, time.Second, 3 * time.Second, time.Hour} {
			for _, attempts := range []int{1, 3} {
				inBubble(t, fmt.Sprintf("from %v for %v, %d attempts", from, d, attempts), func(t *testing.T) {
					list, n := addresses(250), awayNet(from, d)
					got, st := mustRun(t, n, Config{Rate: 1000, AddressRate: Off, Attempts: attempts, Timeout: 100 * time.Millisecond}, list)
					if st.Finished[StatusOK] != uint64(len(list)) || st.SendErrors != 0 {
						t.Errorf("finished %v, %d send errors", st.Finished, st.SendErrors)
					}
					if d > outageAfter && st.Outages != 1 {
						t.Errorf("%d outages", st.Outages)
					}
					if most := d + min(d/8, longestPause) + 3200*time.Millisecond; st.Elapsed > most {
						t.Errorf("it took %v, and %v are enough", st.Elapsed, most)
					}
					for _, r := range got {
						if r.Took > 2*time.Second {
							t.Errorf("%v took %v", r.Addr, r.Took)
						}
					}
				})
			}
		}
	}
}

// TestForbidden: targets that alone can't be reached, whatever the reason, end as errors
// and hold up nobody.
func TestForbidden(t *testing.T) {
	for _, err := range []error{syscall.EPERM, syscall.EACCES, syscall.EINVAL, syscall.EHOSTUNREACH} {
		inBubble(t, err.Error(), func(t *testing.T) {
			list, n := addresses(400), newMemNet()
			s := newServer()
			n.serve = func(addr uint64, req wire.Request) { s.answer(n, addr, req) }
			n.route = func(addr uint64) error {
				if addr>>16%4 == 1 {
					return err
				}
				return nil
			}
			n.refuse = n.route
			got, st := mustRun(t, n, Config{Rate: 1000, AddressRate: Off}, list)
			if st.Finished[StatusOK] != 300 || st.Finished[StatusError] != 100 || st.Unheard != 100 || st.Outages != 0 {
				t.Errorf("finished %v, %d outages", st.Finished, st.Outages)
			}
			if r := got[udp.Pack(list[1].Addr)]; r.Sent != 0 || r.Err[wire.QuestionInfo] != wire.ErrSendFailed {
				t.Errorf("%d sent, %v", r.Sent, r.Err)
			}
			if st.Elapsed > 8*time.Second {
				t.Errorf("it took %v", st.Elapsed)
			}
		})
	}
}

// TestOutageForGood: a scan that is drained while its network is away ends at once, and
// what is open stays unfinished.
func TestOutageForGood(t *testing.T) {
	inBubble(t, "", func(t *testing.T) {
		drain := make(chan struct{})
		time.AfterFunc(10*time.Minute, func() { close(drain) })
		_, st, err := run(awayNet(100*time.Millisecond, 24*time.Hour), Config{Rate: 1000, AddressRate: Off, Drain: drain}, addresses(2000))
		if err != nil || st.Unfinished < 1000 || st.Finished[StatusNoReply]+st.Finished[StatusError] != 0 {
			t.Errorf("%v, %d unfinished, %v", err, st.Unfinished, st.Finished)
		}
		if st.Elapsed < 10*time.Minute || st.Elapsed > 10*time.Minute+time.Second || st.AwayFor < 9*time.Minute ||
			time.Duration(st.OutageTime)*time.Microsecond < 9*time.Minute {
			t.Errorf("ended after %v, away for %v, %d µs in all", st.Elapsed, st.AwayFor, st.OutageTime)
		}
	})
}
