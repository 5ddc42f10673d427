package scanner

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2sscan/a2sscan/scanner/internal/session"
	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// checkLedger checks that the scan took as many targets as given, and that Stats
// counts each of them exactly once.
func checkLedger(t *testing.T, st Stats, targets int) {
	t.Helper()
	sum := st.Unscannable + st.Excluded + st.Duplicate + st.OverLimit + st.TargetsFinished() + st.Unfinished
	if st.Taken != sum || st.Taken != uint64(targets) {
		t.Errorf("taken %d, accounted for %d, given %d: %+v", st.Taken, sum, targets, st)
	}
}

// TestScanFourDatagrams checks that an ordinary server costs four datagrams and two
// round trips.
func TestScanFourDatagrams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := answering()
		ts := addresses(3000)
		got, st := mustRun(t, n, Config{Rate: Off}, ts)
		if len(got) != len(ts) || st.Finished[StatusOK] != uint64(len(ts)) {
			t.Fatalf("%d results, %v", len(got), st.Finished)
		}
		if sent := st.DatagramsSent(); sent != 4*uint64(len(ts)) {
			t.Errorf("%d datagrams sent for %d servers", sent, len(ts))
		}
		for _, r := range got {
			if r.RTT != testRTT || r.Took != 2*testRTT || r.Sent != 4 || r.Received != 4 {
				t.Fatalf("rtt %v, took %v, sent %d, received %d", r.RTT, r.Took, r.Sent, r.Received)
			}
			if r.SentBytes != 25+29+9+9 || r.Unchallenged != 0 || len(r.Rules) != 1 || len(r.Players) != 1 {
				t.Fatalf("%+v", r)
			}
		}
	})
}

// TestScanQueryLimit checks that a server that answers only one query per second is
// complete, too.
func TestScanQueryLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newMemNet()
		last := map[uint64]time.Time{}
		s := newServer()
		n.serve = func(addr uint64, req wire.Request) {
			if time.Since(last[addr]) < time.Second {
				return
			}
			last[addr] = time.Now()
			s.answer(n, addr, req)
		}
		ts := addresses(300)
		_, st := mustRun(t, n, Config{}, ts)
		if st.Finished[StatusOK] != uint64(len(ts)) {
			t.Errorf("%v", st.Finished)
		}
	})
}

// TestScanAddressRefund checks that datagrams which a target reserved from the rate
// limit of its address, but did not need, are refunded: after two datagrams the next
// target on the address may start 200 ms later instead of 400 ms.
func TestScanAddressRefund(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := answering()
		const pause = 250 * time.Millisecond
		targets := trickle(ports(3), pause)
		cfg := Config{Questions: wire.AskInfo, Cooldown: Off, Tuning: Tuning{transport: n}}
		if _, err := Scan(t.Context(), cfg, targets, func(*Result) {}); err != nil {
			t.Fatal(err)
		}
		for i, sent := range n.sent {
			if at, most := sent.at.Sub(n.sent[0].at), time.Duration(i/2)*pause+pause/5; at > most {
				t.Errorf("datagram %d after %v, want at most %v", i, at, most)
			}
		}
	})
}

// TestScanHeldFor checks that Stats estimates how long the rate limit of an address
// will delay the scan.
func TestScanHeldFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, one := range []struct {
			questions wire.Questions
			silent    bool
		}{{0, false}, {wire.AskInfo, false}, {0, true}} {
			n, s := newMemNet(), newServer()
			if !one.silent {
				n.serve = func(addr uint64, req wire.Request) { s.answer(n, addr, req) }
			}
			m, start := new(Monitor), time.Now()
			cfg := Config{Questions: one.questions, Control: Control{Monitor: m}, Tuning: Tuning{transport: n}, Attempts: 1}
			guesses := map[time.Duration]time.Duration{} // estimated end, by the time of the estimate
			var watch sync.WaitGroup
			watch.Go(func() {
				for range 20 {
					time.Sleep(time.Second)
					if st := m.Stats(); st.Wait == WaitAddress {
						guesses[time.Since(start)] = st.Elapsed + st.HeldFor
					}
				}
			})
			var last time.Duration
			_, err := Scan(t.Context(), cfg, seqOf(ports(100)), func(*Result) { last = time.Since(start) })
			check(t, err)
			watch.Wait()
			if len(guesses) < 4 {
				t.Errorf("%v: only %d estimates", one, len(guesses))
			}
			for at, end := range guesses {
				if diff := (end - last).Abs(); at > 2*time.Second && diff > last/10+2*time.Second {
					t.Errorf("%v: after %v the last target was estimated to begin at %v, but it finished at %v", one, at, end, last)
				}
			}
		}
	})
}

func TestScanMaxPerAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := answering()
		ts := append(ports(20), addresses(5)...)
		_, st := mustRun(t, n, Config{MaxPerAddress: 7}, ts)
		if st.OverLimit != 13 || st.Finished[StatusOK] != 12 {
			t.Errorf("%+v", st)
		}
	})
}

// TestScanDuplicates checks that a target that the list names twice is queried once,
// whether its first entry is held back, open or finished.
func TestScanDuplicates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := answering()
		ts := append(ports(5), ports(5)...)
		ts = append(ts, ports(3)...)
		got, st := mustRun(t, n, Config{}, ts)
		if st.Duplicate != 8 || st.Finished[StatusOK] != 5 || len(got) != 5 {
			t.Errorf("%+v", st)
		}
	})
}

// TestScanSendErrors checks that a datagram that the kernel refuses with ErrAgain is
// sent again and does not count as a retry, and that a datagram that can't be sent at
// all affects no other.
func TestScanSendErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := answering()
		ts := addresses(200)
		bad := udp.Pack(ts[7].Addr)
		tries := 0
		n.refuse = func(addr uint64) error {
			if addr == bad {
				return errors.New("no route to host")
			}
			if tries++; tries%10 == 0 {
				return udp.ErrAgain
			}
			return nil
		}
		got, st := mustRun(t, n, Config{Rate: Off}, ts)
		if st.Finished[StatusOK] != 199 || st.Finished[StatusError] != 1 || st.Unheard != 1 || st.SendErrors != 3 {
			t.Errorf("%v, %d send errors", st.Finished, st.SendErrors)
		}
		if code := got[bad].Err[wire.QuestionInfo]; code != wire.ErrSendFailed {
			t.Errorf("info: %v", code)
		}
		if st.Repeats != 0 || st.SendAgain == 0 {
			t.Errorf("%d repeats, %d put off", st.Repeats, st.SendAgain)
		}
	})
}

// TestScanSendAgainOnce checks that a datagram that the kernel refuses with ErrAgain
// does not count as an attempt, even if an answer to another question comes in the
// meantime: PLAYER gets as many attempts as usual.
func TestScanSendAgainOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, s := newMemNet(), newServer()
		s.delay = 0
		n.serve = func(addr uint64, req wire.Request) {
			if req.Kind != wire.KindPlayersRequest {
				s.answer(n, addr, req)
			}
		}
		tries := 0
		n.refuse = func(uint64) error {
			if tries++; tries == 3 { // PLAYER, after INFO with its challenge
				return udp.ErrAgain
			}
			return nil
		}
		_, st := mustRun(t, n, Config{}, addresses(1))
		if asked := st.Sent[wire.QuestionPlayers]; st.SendAgain != 1 || asked != 3 {
			t.Errorf("%d put off, PLAYER asked %d times", st.SendAgain, asked)
		}
	})
}

// TestScanRoundTrip checks that a question that is sent again with another challenge
// has no round trip: the answer may belong to either request.
func TestScanRoundTrip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, s := newMemNet(), newServer()
		n.serve = func(addr uint64, req wire.Request) {
			c := *s
			if req.Kind == wire.KindInfoRequest && req.HasChallenge {
				c.challenge, c.delay = req.Challenge, 5*testRTT
			} else if len(n.sent) > 1 {
				c.challenge++
			}
			c.answer(n, addr, req)
		}
		got, _ := mustRun(t, n, Config{}, addresses(1))
		for _, r := range got {
			if r.Status != StatusOK || r.RTT != 0 {
				t.Errorf("%v, round trip %v", r.Status, r.RTT)
			}
		}
	})
}

// TestScanClasses checks that every datagram is counted in its class.
func TestScanClasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, s := newMemNet(), newServer()
		ts := addresses(2)
		slow := *s
		slow.delay = testRTT + testRTT/2
		n.serve = func(addr uint64, req wire.Request) {
			if req.Kind == wire.KindPlayersRequest {
				slow.answer(n, addr, req)
			} else {
				s.answer(n, addr, req)
			}
			if addr != udp.Pack(ts[0].Addr) {
				return
			}
			switch {
			case req.Kind == wire.KindInfoRequest && !req.HasChallenge:
				n.reply(addr+1, time.Millisecond, s.info)              // foreign
				n.reply(addr, time.Millisecond, []byte{0, 0, 0, 0, 0}) // malformed
				n.reply(addr, 3*testRTT, s.info)                       // late
			case req.Kind == wire.KindInfoRequest:
				n.reply(addr, testRTT/2, s.info) // the first of two INFO replies
			}
		}
		_, st := mustRun(t, n, Config{Questions: wire.AskInfo | wire.AskPlayers}, ts)
		want := [session.NumClasses]uint64{
			session.Foreign: 1, session.Late: 1, session.Malformed: 1, session.Duplicate: 1, session.Matched: 6,
		}
		if st.Received != want {
			t.Errorf("%v, want %v", st.Received, want)
		}
	})
}

// TestScanUnreachable checks that a second ICMP error ends the wait at once, and that
// earlier answers are kept.
func TestScanUnreachable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, s := newMemNet(), newServer()
		ts := addresses(3)
		n.serve = func(addr uint64, req wire.Request) {
			switch {
			case addr == udp.Pack(ts[0].Addr):
				n.unreachable = append(n.unreachable, addr, 12345)
			case addr == udp.Pack(ts[1].Addr) && req.Kind != wire.KindInfoRequest:
				n.unreachable = append(n.unreachable, addr)
			default:
				c := *s
				c.challenge = wire.NoChallenge
				c.answer(n, addr, req)
			}
		}
		got, st := mustRun(t, n, Config{}, ts)
		want := [NumStatuses]uint64{StatusOK: 1, StatusPartial: 1, StatusUnreachable: 1}
		if st.Finished != want || st.Repeats != 3 {
			t.Errorf("%v, want %v; %d repeats", st.Finished, want, st.Repeats)
		}
		if r := got[udp.Pack(ts[1].Addr)]; r.Err[wire.QuestionRules] != wire.ErrUnreachable || !r.HasInfo {
			t.Errorf("%+v", r)
		}
	})
}

func TestConfigRefuses(t *testing.T) {
	for name, cfg := range map[string]Config{
		"rate":      {Rate: -5},
		"timeout":   {Timeout: time.Microsecond},
		"attempts":  {Attempts: 1000},
		"budget":    {Tuning: Tuning{ByteBudget: 1}},
		"in flight": {Tuning: Tuning{InFlight: -1}},
		"questions": {Questions: 64},
		"cooldown":  {Cooldown: 2 * time.Hour},
		"only ping": {Questions: wire.AskPing}, // there would be no status to report
	} {
		if _, err := Scan(context.Background(), cfg, seqOf(nil), func(*Result) {}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := Scan(context.Background(), Config{}, nil, func(*Result) {}); err == nil {
		t.Error("no targets: no error")
	}
	if _, err := Scan(context.Background(), Config{}, seqOf(nil), nil); err == nil {
		t.Error("no function for results: no error")
	}
}

func TestBuffers(t *testing.T) {
	const mib = 1 << 20
	for _, test := range []struct {
		name             string
		cfg              Config
		recv, send, need int
	}{
		{"the default rate", Config{}, 4 * mib, 4 * mib, 5000 / 10 * datagramCost},
		{"a high rate", Config{Rate: 100_000}, 10_000 * datagramCost, 4 * mib, 10_000 * datagramCost},
		{"no limit", Config{Rate: Off}, 64 * mib, 4 * mib, 64 * mib},
	} {
		recv, send, need := test.cfg.Buffers()
		if recv != test.recv || send != test.send || need != test.need {
			t.Errorf("%s: %d, %d, %d, want %d, %d, %d", test.name, recv, send, need, test.recv, test.send, test.need)
		}
	}
}

// TestScanTrace checks that Trace receives each datagram that the scan counts, in both
// directions, with its bytes and its time, including those of strangers.
func TestScanTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := answering()
		ts := addresses(1)
		stranger := netip.MustParseAddrPort("127.9.9.9:1")
		n.reply(udp.Pack(stranger), testRTT/2, []byte("who?"))

		var got []string
		cfg := Config{Control: Control{Trace: func(now time.Duration, sent bool, addr netip.AddrPort, datagram []byte) {
			who := "stranger"
			if addr == ts[0].Addr {
				who = "target"
			}
			word := "<"
			if sent {
				word = ">"
			}
			// The time is truncated: the bucket of the rate starts empty, so the
			// first datagram goes out a moment after 0.
			got = append(got, fmt.Sprintf("%v %s %s %d",
				now.Truncate(testRTT/2), word, who, len(datagram)))
		}}}
		_, st := mustRun(t, n, cfg, ts)
		want := []string{
			"0s > target 25", "10ms < stranger 4", "20ms < target 9",
			"20ms > target 29", "20ms > target 9", "20ms > target 9",
		}
		if len(got) < len(want) || !slices.Equal(got[:len(want)], want) {
			t.Errorf("traced %q, want %q first", got, want)
		}
		if counted := st.DatagramsSent() + st.DatagramsReceived(); uint64(len(got)) != counted {
			t.Errorf("traced %d datagrams, counted %d", len(got), counted)
		}
	})
}

// TestSweep checks that a scan with SweepPort still knows its silent targets when they
// answer late, and that a source with another port is foreign.
func TestSweep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, s := newMemNet(), newServer()
		n.serve = func(addr uint64, req wire.Request) {
			switch addr >> 16 % 4 {
			case 0:
				s.answer(n, addr, req)
			case 1:
				n.reply(addr, 2500*time.Millisecond, s.info)
			case 2:
				n.reply(addr+1, 2500*time.Millisecond, s.info)
			}
		}
		got, st, err := run(n, Config{Tuning: Tuning{SweepPort: 27015}, Questions: wire.AskInfo, Attempts: 1}, addresses(400))
		if err != nil || len(got) != 400 {
			t.Fatal(len(got), err)
		}
		checkLedger(t, st, 400)
		if st.Received[session.Late] != 100 || st.Received[session.Foreign] != 100 || st.Finished[StatusOK] != 100 {
			t.Errorf("late %d, foreign %d, ok %d", st.Received[session.Late], st.Received[session.Foreign], st.Finished[StatusOK])
		}
	})
}

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
		cfg := Config{Rate: rate, AddressRate: Off, Tuning: Tuning{transport: n, unhandled: 2048}}
		st, err := Scan(context.Background(), cfg, seqOf(addresses(targets)), handle)
		check(t, err)
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
		n := answering()
		var m Monitor
		handle := func(*Result) {
			for try := 0; m.Stats().Wait != waitOutput; try++ {
				if try == 100 {
					t.Fatalf("it waits for %q", m.Stats().Wait.Limit())
				}
				time.Sleep(100 * time.Millisecond)
			}
		}
		st, err := Scan(t.Context(), Config{Tuning: Tuning{transport: n}, Control: Control{Monitor: &m}}, seqOf(addresses(3)), handle)
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
		_, err := Scan(t.Context(), Config{Tuning: Tuning{transport: n}, Attempts: 1}, seqOf(addresses(200)), func(r *Result) {
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
		Tuning: Tuning{transport: n},
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
	if !isLocal(syscall.Errno(10051)) {
		t.Error("the error of Windows for an unreachable network is none of this machine")
	}
	if testing.Short() {
		t.Skip("SKIPPED under -short: other tests run the same goroutines, and go test without -short runs it")
	}
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

// TestNoRoute: a list begins with targets to which this machine has no route, although it
// has one to the Internet. They are errors, and the scan goes on. The second error is that
// of Windows.
func TestNoRoute(t *testing.T) {
	for _, err := range []error{syscall.EHOSTUNREACH, syscall.Errno(10065)} {
		inBubble(t, err.Error(), func(t *testing.T) {
			list, n, s := addresses(400), newMemNet(), newServer()
			n.serve = func(addr uint64, req wire.Request) { s.answer(n, addr, req) }
			behind := map[uint64]bool{}
			for _, target := range list[:300] {
				behind[udp.Pack(target.Addr)] = true
			}
			n.route = func(addr uint64) error {
				if behind[addr] {
					return err
				}
				return nil
			}
			n.refuse = n.route
			drain := make(chan struct{})
			time.AfterFunc(time.Hour, func() { close(drain) })
			_, st := mustRun(t, n, Config{Rate: 1000, AddressRate: Off, Control: Control{Drain: drain}}, list)
			if st.Finished[StatusOK] != 100 || st.Finished[StatusError] != 300 || st.Outages != 0 || st.SendFaults[sendHost] != st.SendErrors {
				t.Errorf("finished %v, %d outages, faults %v", st.Finished, st.Outages, st.SendFaults)
			}
		})
	}
}

// TestForbiddenLate: a server that could be asked, but can't any more, keeps the status that
// follows from what was sent to it. A question that was never sent says so.
func TestForbiddenLate(t *testing.T) {
	for _, test := range []struct {
		name          string
		sends         int // how many datagrams to a server can be sent
		isSilent      bool
		want          Status
		info, players wire.Error
	}{
		{"silent in the first pass, forbidden in the second", 3, true, StatusNoReply, wire.ErrTimeout, wire.ErrTimeout},
		{"forbidden after INFO", 2, false, StatusPartial, 0, wire.ErrSendFailed},
	} {
		inBubble(t, test.name, func(t *testing.T) {
			n, s, sends := newMemNet(), newServer(), map[uint64]int{}
			n.serve = func(addr uint64, req wire.Request) {
				if sends[addr]++; !test.isSilent {
					s.answer(n, addr, req)
				}
			}
			n.refuse = func(addr uint64) error {
				if sends[addr] == test.sends {
					return syscall.EPERM
				}
				return nil
			}
			got, st := mustRun(t, n, Config{Rate: 1000, AddressRate: Off, Attempts: 3, SecondPass: true}, addresses(10))
			for _, r := range got {
				if r.Status != test.want || r.Err[wire.QuestionInfo] != test.info || r.Err[wire.QuestionPlayers] != test.players || r.Sent != uint32(test.sends) {
					t.Errorf("%v: %v, %v, %d sent", r.Addr, r.Status, r.Err, r.Sent)
				}
			}
			if len(got) != 10 || st.SendErrors == 0 || st.Unheard != 0 {
				t.Errorf("%d results, %d send errors, %d unheard", len(got), st.SendErrors, st.Unheard)
			}
		})
	}
}

// TestLastReplyInOutage: a scan whose last target is finished in an outage ends, because
// nothing is left to send.
func TestLastReplyInOutage(t *testing.T) {
	inBubble(t, "", func(t *testing.T) {
		n, start := newMemNet(), time.Now()
		n.serve = func(addr uint64, _ wire.Request) {
			n.reply(addr, 700*time.Millisecond, wire.AppendInfo(nil, &wire.Info{Format: wire.FormatSource}))
		}
		n.route = func(uint64) error {
			if time.Since(start) > 100*time.Millisecond {
				return syscall.ENETUNREACH
			}
			return nil
		}
		n.refuse = n.route
		drain := make(chan struct{})
		time.AfterFunc(time.Minute, func() { close(drain) })
		_, st := mustRun(t, n, Config{Questions: wire.AskInfo, Timeout: 300 * time.Millisecond, Cooldown: Off, Control: Control{Drain: drain}}, addresses(1))
		if st.Outages != 1 || st.Answered() != 1 || st.Elapsed > time.Second {
			t.Errorf("%d outages, %d answered, after %v", st.Outages, st.Answered(), st.Elapsed)
		}
	})
}

// TestTripAcrossOutage: a request was sent before an outage and again after it. An answer
// may belong to either, so it shows no round trip.
func TestTripAcrossOutage(t *testing.T) {
	inBubble(t, "", func(t *testing.T) {
		n, start := newMemNet(), time.Now()
		n.serve = func(addr uint64, _ wire.Request) {
			n.reply(addr, 1400*time.Millisecond, wire.AppendInfo(nil, &wire.Info{Format: wire.FormatSource}))
		}
		n.route = func(uint64) error {
			if d := time.Since(start); d > 100*time.Millisecond && d < 1200*time.Millisecond {
				return syscall.ENETUNREACH
			}
			return nil
		}
		n.refuse = n.route
		got, st := mustRun(t, n, Config{Questions: wire.AskInfo, Timeout: 300 * time.Millisecond, Cooldown: Off}, addresses(1))
		for _, r := range got {
			if r.RTT != 0 || r.Sent != 2 || st.Outages != 1 {
				t.Errorf("round trip %v, %d sent, %d outages", r.RTT, r.Sent, st.Outages)
			}
		}
	})
}

// TestOutageForGood: a scan that is drained while its network is away ends at once, and
// what is open stays unfinished.
func TestOutageForGood(t *testing.T) {
	inBubble(t, "", func(t *testing.T) {
		drain, monitor := make(chan struct{}), new(Monitor)
		time.AfterFunc(10*time.Minute, func() {
			if late := 10*time.Minute - monitor.Stats().Elapsed; late > time.Second {
				t.Errorf("the Monitor got its last numbers %v ago", late)
			}
			close(drain)
		})
		var saved Stats
		cfg := Config{Rate: 1000, AddressRate: Off, Control: Control{Drain: drain, Monitor: monitor}}
		cfg.Resume.Snapshot = func(s *Snapshot) { saved = s.Stats }
		_, st, err := run(awayNet(100*time.Millisecond, 24*time.Hour), cfg, addresses(2000))
		if saved.Outages != 1 || saved.Elapsed < 10*time.Minute || saved.Active() < 0 || saved.Active() > time.Second {
			t.Errorf("a scan that resumes believes in %d outages, and %v of %v without them", saved.Outages, saved.Active(), saved.Elapsed)
		}
		if err != nil || st.Unfinished < 1000 || st.Finished[StatusNoReply]+st.Finished[StatusError] != 0 {
			t.Errorf("%v, %d unfinished, %v", err, st.Unfinished, st.Finished)
		}
		if st.Elapsed < 10*time.Minute || st.Elapsed > 10*time.Minute+time.Second || st.Active() < 0 || st.Active() > time.Second ||
			time.Duration(st.OutageTime)*time.Microsecond < 9*time.Minute {
			t.Errorf("ended after %v, active for %v, away for %d µs in all", st.Elapsed, st.Active(), st.OutageTime)
		}
	})
}
