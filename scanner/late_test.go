package scanner

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2sscan/a2sscan/scanner/internal/session"
	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

var lateSeeds = flag.Int("late-seeds", 300, "how many scans TestLate simulates")

// unattended returns what is wrong with the sessions of e, or nil. Between two steps of
// the loop, each session that is not done is in the batch, in a queue or in the wheel, so
// that something will wake it.
func (e *engine) unattended() error {
	attended := map[int32]bool{}
	for _, o := range e.sender.out {
		if sl := e.open.slots.alive(o.ref); sl != nil {
			attended[o.ref.slot] = true
		}
	}
	for _, q := range []*queue{&e.open.follow, &e.open.retry} {
		for _, r := range q.refs[q.head:] {
			if e.open.slots.alive(r) != nil {
				attended[r.slot] = true
			}
		}
	}
	for tick, i := range e.open.wheel.heads {
		for ; i >= 0; i = e.open.slots.at(i).next {
			if sl := e.open.slots.at(i); int(sl.tick)%wheelBuckets != tick || e.open.wheel.due(sl)-e.open.wheel.done > wheelBuckets+1 {
				return fmt.Errorf("slot %d is filed under tick %d in bucket %d, and the wheel is at %d", i, sl.tick, tick, e.open.wheel.done)
			}
			attended[i] = true
		}
	}
	for i := range e.open.slots.all() {
		s := &e.open.slots.at(i).session
		if !attended[i] {
			return fmt.Errorf("nothing wakes slot %d: %+v", i, *s)
		}
	}
	return nil
}

// lateNet is a network on a machine that is too busy: the loop comes late, more often
// than it should, or not for a while, and the kernel refuses datagrams. Its servers do
// whatever the bytes of a fuzzer say.
type lateNet struct {
	*memNet
	e     *engine
	bytes []byte
	turns int
	fail  func(error)
}

// draw returns the next byte of the fuzzer, 0 after the last.
func (n *lateNet) draw() (b byte) {
	if len(n.bytes) > 0 {
		b, n.bytes = n.bytes[0], n.bytes[1:]
	}
	return b
}

// lateness are the times by which a step of the loop may be late.
var lateness = [...]time.Duration{
	0, 0, 0, 0, time.Millisecond, 3 * time.Millisecond, 9 * time.Millisecond, 40 * time.Millisecond,
	100 * time.Millisecond, 301 * time.Millisecond, 450 * time.Millisecond, 999 * time.Millisecond,
	2100 * time.Millisecond, 5 * time.Second, 17 * time.Second, 70 * time.Second,
}

func (n *lateNet) late() { time.Sleep(lateness[n.draw()%16]) }

func (n *lateNet) Recv(ps []udp.Packet, wait time.Duration) (int, error) {
	if err := n.e.unattended(); err != nil {
		n.fail(err)
	}
	if n.turns++; n.turns > 1e6 {
		n.fail(errors.New("the scan does not end"))
	}
	b := n.draw()
	if b >= 0xf0 {
		wait /= 2 // a signal
	}
	time.Sleep(lateness[b%16])
	return n.memNet.Recv(ps, wait)
}

func (n *lateNet) Send(ps []udp.Packet) (sent int, err error) {
	n.late()
	switch b := n.draw(); {
	case b > 0xf8:
		ps, err = ps[:int(b)%len(ps)], syscall.EHOSTUNREACH
	case b > 0xe0:
		ps, err = ps[:int(b)%len(ps)], udp.ErrAgain
	}
	n.memNet.Send(ps)
	n.late()
	return len(ps), err
}

// answer lets a server reply to one request as the fuzzer says.
func (n *lateNet) answer(addr uint64, req wire.Request) {
	s := newServer()
	if addr%3 == 0 {
		s.challenge = wire.NoChallenge
	}
	for b := n.draw(); ; b = n.draw() {
		s.delay = lateness[b%16]
		switch b >> 4 {
		case 0, 1, 2:
			s.answer(n.memNet, addr, req)
		case 3:
			s.challenge = wire.Challenge(b)
			s.answer(n.memNet, addr, req)
		case 4: // silence
		case 5:
			n.reply(addr, s.delay, slices.Concat([]byte("\xff\xff\xff\xffX"), []byte("slow down\x00")))
		case 6:
			n.reply(addr, s.delay, s.rules)
		case 7:
			n.reply(addr, s.delay, s.players)
		case 8:
			n.reply(addr, s.delay, wire.AppendChallenge(nil, wire.Challenge(n.draw())))
		case 9:
			n.reply(addr, s.delay, slices.Concat([]byte{0xfe, 0xff, 0xff, 0xff, 9, 0, 0, 0, 2, b & 1, 0xb0, 4}, s.rules))
		case 10:
			n.reply(addr, s.delay, s.info[:len(s.info)/2])
		case 11:
			n.reply(addr, s.delay, slices.Concat([]byte("\xff\xff\xff\xffm"), []byte("127.0.0.1:27015\x00a\x00b\x00c\x00d\x00\x01\x02\x2fdl\x00\x00\x00\x00")))
		case 12:
			n.reply(addr, s.delay, []byte("\xff\xff\xff\xffj00000000000000\x00"))
		case 13:
			n.unreachable = append(n.unreachable, addr)
		default: // several replies to one request
			s.answer(n.memNet, addr, req)
			continue
		}
		return
	}
}

// FuzzLate drives a scan whose steps come late, repeatedly or not at all, with servers
// and a kernel that do what they like. Something wakes every session whatever the clock
// says, the scan ends, and no session is ended as a fault of the scanner.
func FuzzLate(f *testing.F) {
	f.Add(byte(0), []byte{})
	f.Add(byte(0), slices.Repeat([]byte{9}, 64))
	f.Add(byte(3), slices.Repeat([]byte{0x0b, 0x5a, 0x30, 0x96}, 64))
	f.Add(byte(12), slices.Repeat([]byte{0xed, 0x13, 0x41, 0xf9, 0x88, 0x0c}, 64))
	f.Fuzz(func(t *testing.T, options byte, bytes []byte) {
		synctest.Test(t, func(t *testing.T) { scanLate(t, options, bytes) })
	})
}

// TestLate is FuzzLate with random bytes.
func TestLate(t *testing.T) {
	seeds := *lateSeeds
	if testing.Short() {
		seeds = min(seeds, 30) // the race detector takes minutes for 300
	}
	for seed := range uint64(seeds) {
		random := rand.New(rand.NewPCG(seed, 35))
		bytes := make([]byte, random.IntN(3000))
		for i := range bytes {
			if bytes[i] = byte(random.Uint32()); random.IntN(2) == 0 {
				bytes[i] &= 0x33 // mostly on time, and mostly ordinary servers
			}
		}
		inBubble(t, strconv.FormatUint(seed, 10), func(t *testing.T) { scanLate(t, byte(random.Uint32()), bytes) })
	}
}

func scanLate(t *testing.T, options byte, bytes []byte) {
	const targets = 12
	cfg := Config{Timeout: 300 * time.Millisecond, Rate: 20, Cooldown: Off, Tuning: Tuning{TryPlayers: true}, AddressRate: Off}
	if options&1 != 0 {
		cfg.Timeout = 0
	}
	if options&2 != 0 {
		cfg.Questions = wire.AskAll | wire.AskPing
	}
	cfg.SecondPass, cfg.Tuning.Fallback = options&4 != 0, options&8 != 0
	if options&32 != 0 {
		cfg.Rate = 2000
	}
	if options&16 != 0 {
		excludeFrom := time.Now().Add(400 * time.Millisecond)
		cfg.Excluded = func(a netip.Addr) bool { return a.As4()[3]%2 == 0 && time.Now().After(excludeFrom) }
	}
	ctx, stop := context.WithCancelCause(t.Context())
	n := &lateNet{memNet: newMemNet(), bytes: bytes, fail: func(err error) { stop(err) }}
	n.serve = n.answer
	cfg.Tuning.transport = n
	set, err := cfg.complete()
	check(t, err)
	n.e = newEngine(set, n, func(*Result) {})
	stats, err := n.e.scan(ctx, seqOf(addresses(targets)))
	if err != nil {
		t.Fatal(context.Cause(ctx))
	}
	checkLedger(t, stats, targets)
	if stats.Overdue > 0 {
		t.Errorf("%d sessions were ended as a fault of the scanner", stats.Overdue)
	}
}

// forgetful is a network that makes its engine forget two sessions when they first wait.
type forgetful struct {
	*memNet
	e    *engine
	once bool
}

func (n *forgetful) Recv(ps []udp.Packet, wait time.Duration) (int, error) {
	if !n.once && n.e.open.slots.n == 4 && len(n.e.sender.out) == 0 {
		n.once = true
		n.e.open.wheel.remove(n.e.open.slots, 0)
		n.e.open.wheel.remove(n.e.open.slots, 2)
		n.e.open.slots.at(2).session.Flags |= session.Queued
	}
	return n.memNet.Recv(ps, wait)
}

// TestOverdue: targets that a fault makes the scan forget end as errors, long after their
// time, whether the fault left them out of the wheel or out of a queue. The others are as
// they would be.
func TestOverdue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg, err := Config{Rate: 1000, Timeout: time.Second}.complete()
		check(t, err)
		n, got := &forgetful{memNet: newMemNet()}, map[uint64]Status{}
		n.e = newEngine(cfg, n, func(r *Result) {
			got[udp.Pack(r.Addr)] = r.Status
			if faulty := r.Err[wire.QuestionInfo] == wire.ErrInternal; faulty != (r.Status == StatusError) {
				t.Errorf("%v %v", r.Status, r.Err)
			}
		})
		list := addresses(4)
		stats, err := n.e.scan(t.Context(), seqOf(list))
		check(t, err)
		checkLedger(t, stats, len(list))
		if stats.Overdue != 2 || stats.Unheard != 2 || stats.Finished[StatusNoReply] != 2 || stats.Answered() != 0 {
			t.Errorf("%d overdue, finished %v", stats.Overdue, stats.Finished)
		}
		if most := time.Minute; stats.Elapsed > most {
			t.Errorf("the scan took %v", stats.Elapsed)
		}
	})
}

// TestPassedWake: a session whose wake-up time has passed is filed in the wheel.
func TestPassedWake(t *testing.T) {
	h, err := NewHarness()
	check(t, err)
	defer h.Close()
	h.Begin(udp.Pack(addresses(1)[0].Addr))
	h.Send()
	h.e.open.wheel.remove(h.e.open.slots, 0)
	h.e.advance(h.now+time.Hour, 0)
	if err := h.e.unattended(); err != nil {
		t.Error(err)
	}
}
