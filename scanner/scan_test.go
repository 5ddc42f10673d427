package scanner

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
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
		n, s := newMemNet(), newServer()
		n.serve = func(addr uint64, req wire.Request) { s.answer(n, addr, req) }
		ts := addresses(3000)
		got, st, err := run(n, Config{Rate: Off}, ts)
		if err != nil {
			t.Fatal(err)
		}
		checkLedger(t, st, len(ts))
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

// TestScanUnchallenged checks that answers without a challenge are reported: the
// server is an amplifier.
func TestScanUnchallenged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, s := newMemNet(), newServer()
		s.challenge = wire.NoChallenge
		n.serve = func(addr uint64, req wire.Request) { s.answer(n, addr, req) }
		got, _, err := run(n, Config{}, addresses(1))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range got {
			if r.Status != StatusOK || r.Unchallenged != AskAll || r.Sent != 3 {
				t.Errorf("%+v", r)
			}
		}
	})
}

func TestScanSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newMemNet()
		ts := addresses(500)
		start := time.Now()
		got, st, err := run(n, Config{Rate: Off}, ts)
		if err != nil {
			t.Fatal(err)
		}
		checkLedger(t, st, len(ts))
		if st.Finished[StatusNoReply] != 500 || len(got) != 500 || len(n.sent) != 1500 {
			t.Errorf("%v, %d results, %d datagrams", st.Finished, len(got), len(n.sent))
		}
		// The total is 1 + 1.5 + 2 timeouts, the cooldown, and a turn of the wheel.
		if d := time.Since(start); d < 6500*time.Millisecond || d > 6600*time.Millisecond {
			t.Errorf("took %v", d)
		}
	})
}

// TestScanFaults scans with loss in both directions, duplicates and reordering: every
// server must still be complete and have exactly one result.
func TestScanFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, s := newMemNet(), newServer()
		rng := rand.New(rand.NewPCG(1, 2))
		n.serve = func(addr uint64, req wire.Request) {
			for range 1 + rng.IntN(50)/49 {
				if rng.IntN(50) != 0 {
					c := *s
					c.delay += time.Duration(rng.IntN(40)) * time.Millisecond
					c.answer(n, addr, req)
				}
			}
		}
		ts := addresses(5000)
		got, st, err := run(n, Config{Rate: Off, Attempts: 6}, ts)
		if err != nil {
			t.Fatal(err)
		}
		checkLedger(t, st, len(ts))
		if st.Finished[StatusOK] != uint64(len(ts)) || len(got) != len(ts) {
			t.Errorf("%v", st.Finished)
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
		_, st, err := run(n, Config{}, ts)
		if err != nil {
			t.Fatal(err)
		}
		if st.Finished[StatusOK] != uint64(len(ts)) {
			t.Errorf("%v", st.Finished)
		}
	})
}

// TestScanAddressLimit checks that the scan queries many servers on one address no
// faster than the rate limit of the address.
func TestScanAddressLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, s := newMemNet(), newServer()
		n.serve = func(addr uint64, req wire.Request) { s.answer(n, addr, req) }
		ts := ports(40)
		_, st, err := run(n, Config{}, ts)
		if err != nil {
			t.Fatal(err)
		}
		checkLedger(t, st, len(ts))
		if st.Finished[StatusOK] != uint64(len(ts)) {
			t.Errorf("%v", st.Finished)
		}
		for i := range n.sent {
			end := i
			for end < len(n.sent) && n.sent[end].at.Sub(n.sent[i].at) <= time.Second {
				end++
			}
			if end-i > 10+addrBurst {
				t.Fatalf("%d datagrams to one address in a second", end-i)
			}
		}
	})
}

// TestScanAddressRefund checks that datagrams which a target reserved from the rate
// limit of its address, but did not need, are refunded: after two datagrams the next
// target on the address may start 200 ms later instead of 400 ms.
func TestScanAddressRefund(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, s := newMemNet(), newServer()
		n.serve = func(addr uint64, req wire.Request) { s.answer(n, addr, req) }
		const pause = 250 * time.Millisecond
		targets := trickle(ports(3), pause)
		cfg := Config{Questions: AskInfo, Cooldown: Off, transport: n}
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
			questions Questions
			silent    bool
		}{{0, false}, {AskInfo, false}, {0, true}} {
			n, s := newMemNet(), newServer()
			if !one.silent {
				n.serve = func(addr uint64, req wire.Request) { s.answer(n, addr, req) }
			}
			m, start := new(Monitor), time.Now()
			cfg := Config{Questions: one.questions, Monitor: m, transport: n, Attempts: 1}
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
			if err != nil {
				t.Fatal(err)
			}
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
		n, s := newMemNet(), newServer()
		n.serve = func(addr uint64, req wire.Request) { s.answer(n, addr, req) }
		ts := append(ports(20), addresses(5)...)
		_, st, err := run(n, Config{MaxPerAddress: 7}, ts)
		if err != nil {
			t.Fatal(err)
		}
		checkLedger(t, st, len(ts))
		if st.OverLimit != 13 || st.Finished[StatusOK] != 12 {
			t.Errorf("%+v", st)
		}
	})
}

// TestScanDuplicates checks that a target that the list names twice is queried once,
// whether its first entry is held back, open or finished.
func TestScanDuplicates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, s := newMemNet(), newServer()
		n.serve = func(addr uint64, req wire.Request) { s.answer(n, addr, req) }
		ts := append(ports(5), ports(5)...)
		ts = append(ts, ports(3)...)
		got, st, err := run(n, Config{}, ts)
		if err != nil {
			t.Fatal(err)
		}
		checkLedger(t, st, len(ts))
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
		n, s := newMemNet(), newServer()
		n.serve = func(addr uint64, req wire.Request) { s.answer(n, addr, req) }
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
		got, st, err := run(n, Config{Rate: Off}, ts)
		if err != nil {
			t.Fatal(err)
		}
		checkLedger(t, st, len(ts))
		if st.Finished[StatusOK] != 199 || st.Finished[StatusNoReply] != 1 || st.SendErrors != 3 {
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
		_, st, err := run(n, Config{}, addresses(1))
		if err != nil {
			t.Fatal(err)
		}
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
		got, _, err := run(n, Config{}, addresses(1))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range got {
			if r.Status != StatusOK || r.RTT != 0 {
				t.Errorf("%v, round trip %v", r.Status, r.RTT)
			}
		}
	})
}

// TestScanSendAgainIsBounded checks that a datagram that the kernel refuses with
// ErrAgain every time counts as a send failure in the end.
func TestScanSendAgainIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newMemNet()
		n.refuse = func(uint64) error { return udp.ErrAgain }
		_, st, err := run(n, Config{Questions: AskInfo}, addresses(2))
		if err != nil {
			t.Fatal(err)
		}
		if st.Errors[wire.ErrSendFailed] != 2 {
			t.Errorf("%+v", st)
		}
	})
}

// TestScanDrain checks that a scan finishes the open targets and starts no new ones
// when Drain is closed.
func TestScanDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, s := newMemNet(), newServer()
		drain := make(chan struct{})
		n.serve = func(addr uint64, req wire.Request) {
			if len(n.sent) == 1000 {
				close(drain)
			}
			s.answer(n, addr, req)
		}
		ts := addresses(20000)
		got, st, err := run(n, Config{Drain: drain}, ts)
		if err != nil {
			t.Fatal(err)
		}
		if st.Unfinished == 0 || st.Open != 0 || uint64(len(got)) != st.TargetsFinished() {
			t.Errorf("%d results, %+v", len(got), st)
		}
		checkLedger(t, st, int(st.Taken))
	})
}

// TestScanCancel checks that a scan ends when its context is cancelled, and still
// passes on the Results of the finished targets.
func TestScanCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, s := newMemNet(), newServer()
		ctx, cancel := context.WithCancel(context.Background())
		n.serve = func(addr uint64, req wire.Request) {
			if len(n.sent) == 1000 {
				cancel()
			}
			s.answer(n, addr, req)
		}
		got, st, err := runContext(ctx, n, Config{}, addresses(20000))
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		if st.Unfinished == 0 || st.Open == 0 || uint64(len(got)) != st.TargetsFinished() {
			t.Errorf("%d results, %+v", len(got), st)
		}
		checkLedger(t, st, int(st.Taken))
	})
}

// TestScanSlowHandle checks that a function for Results that blocks for seconds costs
// no Result and causes no retries.
func TestScanSlowHandle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, s := newMemNet(), newServer()
		n.serve = func(addr uint64, req wire.Request) { s.answer(n, addr, req) }
		ts := addresses(15_000)
		seen := 0
		cfg := Config{Rate: Off, transport: n, unhandled: 1024}
		st, err := Scan(context.Background(), cfg, seqOf(ts), func(*Result) {
			if seen++; seen == 100 {
				time.Sleep(5 * time.Second)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		checkLedger(t, st, len(ts))
		if seen != len(ts) || st.Finished[StatusOK] != uint64(len(ts)) || st.Repeats != 0 {
			t.Errorf("%d handled, %v, %d repeats", seen, st.Finished, st.Repeats)
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
		_, st, err := run(n, Config{Questions: AskInfo | AskPlayers}, ts)
		if err != nil {
			t.Fatal(err)
		}
		want := [session.NumClasses]uint64{
			session.Foreign: 1, session.Late: 1, session.Malformed: 1, session.Duplicate: 1, session.Matched: 6,
		}
		if st.Received != want {
			t.Errorf("%v, want %v", st.Received, want)
		}
	})
}

// TestScanSplit checks that split replies are reassembled. If a fragment of a reply is
// missing, the part before the gap must be kept.
func TestScanSplit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, s := newMemNet(), newServer()
		rules := make([]wire.Rule, 200)
		for i := range rules {
			rules[i] = wire.Rule{Name: []byte{'r', byte('a' + i/26), byte('a' + i%26)}, Value: []byte("0123456789")}
		}
		s.rules = wire.AppendRules(nil, len(rules), rules)
		lossy := udp.Pack(addresses(2)[1].Addr)
		n.serve = func(addr uint64, req wire.Request) {
			if req.Kind != wire.KindRulesRequest || req.Challenge != s.challenge {
				s.answer(n, addr, req)
				return
			}
			for i := range 3 {
				part := s.rules[i*1010 : min((i+1)*1010, len(s.rules))]
				if addr == lossy && i == 2 {
					continue
				}
				f := wire.Fragment{
					Layout: wire.LayoutSource, ID: uint32(len(n.sent)), Total: 3,
					Number: uint8(i), Size: 1248, Payload: part,
				}
				n.reply(addr, testRTT+time.Duration(3-i)*time.Millisecond, wire.AppendFragment(nil, &f))
			}
		}
		got, st, err := run(n, Config{}, addresses(2))
		if err != nil {
			t.Fatal(err)
		}
		if st.Finished[StatusOK] != 1 || st.Finished[StatusPartial] != 1 {
			t.Errorf("%v", st.Finished)
		}
		whole, part := got[lossy-1<<16], got[lossy]
		if len(whole.Rules) != len(rules) || whole.Err[wire.QuestionRules] != 0 {
			t.Errorf("%d rules, %v", len(whole.Rules), whole.Err)
		}
		if len(part.Rules) == 0 || part.Err[wire.QuestionRules] != wire.ErrIncomplete {
			t.Errorf("%d rules, %v", len(part.Rules), part.Err)
		}
		if part.RulesAnnounced != len(rules) || string(part.Rules[5].Name) != "raf" {
			t.Errorf("announced %d, %q", part.RulesAnnounced, part.Rules[5].Name)
		}
	})
}

// TestScanByteBudget checks that servers that answer PLAYER and RULES with 60 KB take no
// more memory than the budget, and that the scan still finishes the other servers.
func TestScanByteBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, s := newMemNet(), newServer()
		huge := *newServer()
		junk := make([]byte, 60_000)
		for i := range junk {
			junk[i] = 'A'
		}
		huge.players = append(huge.players, junk...)
		huge.rules = append(huge.rules, junk...)
		n.serve = func(addr uint64, req wire.Request) {
			if addr>>16%3 == 0 {
				huge.answer(n, addr, req)
			} else {
				s.answer(n, addr, req)
			}
		}
		ts := addresses(3000)
		mon := new(Monitor)
		_, st, err := run(n, Config{Rate: 50_000, ByteBudget: 8 << 20, Monitor: mon}, ts)
		if err != nil {
			t.Fatal(err)
		}
		checkLedger(t, st, len(ts))
		if st.Finished[StatusOK] != 2000 || st.PeakBytes > 8<<20 {
			t.Errorf("%v, peak %d bytes", st.Finished, st.PeakBytes)
		}
		if last := mon.Stats(); last.Taken != st.Taken {
			t.Errorf("the monitor knows of %d targets, not %d", last.Taken, st.Taken)
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
		got, st, err := run(n, Config{}, ts)
		if err != nil {
			t.Fatal(err)
		}
		checkLedger(t, st, len(ts))
		want := [NumStatuses]uint64{StatusOK: 1, StatusPartial: 1, StatusUnreachable: 1}
		if st.Finished != want || st.Repeats != 3 {
			t.Errorf("%v, want %v; %d repeats", st.Finished, want, st.Repeats)
		}
		if r := got[udp.Pack(ts[1].Addr)]; r.Err[wire.QuestionRules] != wire.ErrUnreachable || !r.HasInfo {
			t.Errorf("%+v", r)
		}
	})
}

func TestScanRaw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, s := newMemNet(), newServer()
		n.serve = func(addr uint64, req wire.Request) { s.answer(n, addr, req) }
		got, _, err := run(n, Config{Raw: true}, addresses(1))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range got {
			d := NewDecoder()
			for _, b := range r.Raw {
				d.Add(b)
			}
			c := d.Result()
			if len(r.Raw) != 4 || c.Status != StatusOK || string(c.Info.Name) != "a" || len(c.Rules) != 1 {
				t.Errorf("%d datagrams, %+v", len(r.Raw), c)
			}
		}
	})
}

func TestConfigRefuses(t *testing.T) {
	for name, cfg := range map[string]Config{
		"rate":      {Rate: -5},
		"timeout":   {Timeout: time.Microsecond},
		"attempts":  {Attempts: 1000},
		"budget":    {ByteBudget: 1},
		"in flight": {InFlight: -1},
		"questions": {Questions: 64},
		"cooldown":  {Cooldown: 2 * time.Hour},
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
