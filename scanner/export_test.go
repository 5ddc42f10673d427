package scanner

import (
	"runtime"
	"time"

	"github.com/a2sscan/a2sscan/scanner/udp"
)

// RaceEnabled reports whether the race detector is on, which itself allocates.
const RaceEnabled = raceEnabled

// Transport is the network as the loop sees it, for tests outside the package.
type Transport = transport

// Over returns cfg with the network t, and with a short backlog of results, so that
// memory soon stops growing.
func (cfg Config) Over(t Transport) Config {
	cfg.Tuning.transport, cfg.Tuning.unhandled = t, 2*blockLen
	return cfg
}

// Harness drives single sessions through the engine, without its loop and without a
// clock, to measure the cost of a datagram from the receive loop to the Result.
type Harness struct {
	e    *engine
	net  harnessNet
	now  time.Duration
	Give func(*Result) // receives each Result
}

// harnessNet is a network that remembers the last datagrams sent.
type harnessNet struct{ sent []udp.Packet }

func (n *harnessNet) Send(ps []udp.Packet) (int, error) {
	n.sent = append(n.sent, ps...)
	return len(ps), nil
}

func (n *harnessNet) Recv([]udp.Packet, time.Duration) (int, error) { return 0, nil }
func (n *harnessNet) Unreachable([]uint64) int                      { return 0 }
func (n *harnessNet) Stats() udp.Stats                              { return udp.Stats{} }
func (n *harnessNet) Interrupt()                                    {}
func (n *harnessNet) Close() error                                  { return nil }

// NewHarness returns a Harness with the defaults of a scan, but without rate limits
// and cooldown.
func NewHarness() (*Harness, error) {
	cfg, err := Config{Rate: Off, AddressRate: Off, Cooldown: Off}.complete()
	if err != nil {
		return nil, err
	}
	h := &Harness{Give: func(*Result) {}, now: time.Second}
	h.e = newEngine(cfg, &h.net, func(*Result) {})
	h.e.draining = true // there is no list
	h.e.clock = func() time.Duration { return h.now }
	return h, nil
}

// Close ends the goroutines of the engine.
func (h *Harness) Close() {
	h.e.recv.unpack.close()
}

// Begin opens a target.
func (h *Harness) Begin(addr uint64) { h.e.begin(addr) }

// Send sends everything that is due and returns it. The result is valid until the
// next call.
func (h *Harness) Send() []udp.Packet {
	h.net.sent = h.net.sent[:0]
	for h.e.send(h.now) > 0 {
	}
	return h.net.sent
}

// Receive gives the engine a datagram.
func (h *Harness) Receive(p *udp.Packet) {
	h.now += time.Microsecond
	h.e.take(h.now, h.now, p)
}

// Wait advances the clock to the next timeout.
func (h *Harness) Wait() {
	h.Unpack()
	h.now += idleWait
	if next := h.e.open.wheel.next(); next > 0 {
		h.now = next
	}
	h.e.open.wheel.advance(h.e.open.slots, h.now, func(i int32) { h.e.fire(h.now, i) })
}

// Unpack waits until the decompressor is done, and passes its replies to the engine.
func (h *Harness) Unpack() {
	for h.e.recv.unpack.pending() > 0 {
		h.e.unpacked(h.now)
		runtime.Gosched()
	}
}

// Open returns how many targets are open.
func (h *Harness) Open() int { return h.e.open.slots.n }

// Finish passes the Results of the finished targets to Give.
func (h *Harness) Finish() {
	outcomes := h.e.handoff.filling.outcomes
	for i := range outcomes {
		o := &outcomes[i]
		h.Give(h.e.finisher.make(o))
		if o.answer != nil {
			h.e.memory.Recycle(o.answer)
		}
		*o = outcome{}
	}
	h.e.handoff.waiting -= len(outcomes)
	h.e.handoff.filling.outcomes = outcomes[:0]
}
