package scanner

import (
	"context"
	"errors"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// slowNet is a memNet whose Send takes the time each per datagram.
type slowNet struct {
	*memNet
	each time.Duration
}

func (n slowNet) Send(ps []udp.Packet) (int, error) {
	time.Sleep(time.Duration(len(ps)) * n.each)
	return n.memNet.Send(ps)
}

// trickle yields targets one at a time, with a pause before each.
func trickle(ts []Target, pause time.Duration) iter.Seq[Target] {
	return func(yield func(Target) bool) {
		for _, t := range ts {
			time.Sleep(pause)
			if !yield(t) {
				return
			}
		}
	}
}

// TestScanLimitedBy checks that a scan that stays below its rate reports the reason,
// and that a scan that keeps its rate reports none.
func TestScanLimitedBy(t *testing.T) {
	t.Parallel()
	type setting struct {
		cfg     Config
		net     *memNet
		each    time.Duration // how long sending a datagram takes
		targets iter.Seq[Target]
		handle  func(*Result)
	}
	full := errors.Join(udp.ErrAgain)
	tests := []struct {
		want Wait
		set  func(s *setting)
	}{
		{WaitNothing, func(s *setting) {}},
		{WaitNothing, func(s *setting) { // a low rate with little to send at the end
			s.cfg.Rate, s.cfg.Attempts, s.cfg.Timeout = 100, 51, 100*time.Millisecond
			s.net.serve, s.targets = nil, seqOf(addresses(1))
		}},
		{WaitTargets, func(s *setting) { s.targets = trickle(addresses(600), 5*time.Millisecond) }},
		{waitInFlight, func(s *setting) { s.cfg.InFlight, s.net.serve = 100, nil }},
		{WaitAddress, func(s *setting) { s.targets = seqOf(ports(100)) }},
		{waitBudget, func(s *setting) {
			s.cfg.ByteBudget, s.cfg.Rate = 4<<20, 50_000
			s.targets = seqOf(addresses(600)) // fifty datagrams each
			big := newServer()
			big.rules = wire.AppendRules(nil, 30, make([]wire.Rule, 30_000))
			s.net.serve = func(addr uint64, req wire.Request) { big.answer(s.net, addr, req) }
			s.handle = func(*Result) { time.Sleep(time.Millisecond) }
		}},
		{waitOutput, func(s *setting) {
			s.cfg.unhandled = 2 * blockLen
			s.handle = func(*Result) { time.Sleep(5 * time.Millisecond) }
		}},
		{waitKernel, func(s *setting) {
			tries := 0
			s.targets = seqOf(addresses(600)) // eighty attempts each
			s.net.refuse = func(uint64) error {
				if tries++; tries%20 > 0 {
					return full
				}
				return nil
			}
		}},
		{WaitSending, func(s *setting) { s.each = time.Millisecond }},
	}
	for _, test := range tests {
		t.Run(test.want.Word(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := newServer()
				s := setting{
					cfg: Config{Rate: 2000}, net: newMemNet(),
					targets: seqOf(addresses(3000)), handle: func(*Result) {},
				}
				s.net.serve = func(addr uint64, req wire.Request) { srv.answer(s.net, addr, req) }
				test.set(&s)
				s.cfg.transport = slowNet{s.net, s.each}
				st, err := Scan(context.Background(), s.cfg, s.targets, s.handle)
				if err != nil {
					t.Fatal(err)
				}
				why, part := st.LimitedBy()
				if why != test.want || (part > 0.3) != (why != WaitNothing) {
					t.Errorf("limited by %q for %.2f of the time, want %q: %v", why.Word(), part, test.want.Word(), st.Waited)
				}
			})
		})
	}
}

// TestScanTimeAddsUp checks that all the time of a scan without a rate is accounted
// for.
func TestScanTimeAddsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := halfSilent()
		st, err := Scan(context.Background(), Config{Rate: Off, transport: slowNet{n, 10 * time.Microsecond}},
			seqOf(addresses(3000)), func(*Result) {})
		if err != nil {
			t.Fatal(err)
		}
		total := time.Duration(sum(st.Waited[:])) * time.Microsecond
		if d := st.Elapsed - total; d < 0 || d > 10*time.Millisecond {
			t.Errorf("%v of %v: %v", total, st.Elapsed, st.Waited)
		}
		if st.Waited[WaitCooldown] == 0 || st.Waited[WaitReplies] == 0 {
			t.Errorf("%v", st.Waited)
		}
	})
}
