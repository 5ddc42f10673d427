package scanner

import (
	"container/heap"
	"net/netip"
	"time"

	"github.com/a2sscan/a2sscan/scanner/internal/session"
	"github.com/a2sscan/a2sscan/scanner/udp"
)

// addrs enforces the limits per address. Each address has a token bucket of addrBurst
// datagrams that fills at the address rate. A target starts only when the bucket of its
// address is full. It then empties the bucket, so its further requests never wait. When
// the target is finished, refund returns the unused datagrams. Datagrams beyond the burst
// (retries) delay the next target of the address.
//
// addrs also holds the targets that have to wait. Targets of the same address keep their
// order. While it holds maxHeld targets, the scan takes no targets from the list.
type addrs struct {
	every time.Duration // time in which a bucket gains one datagram; 0: no limit
	most  int           // maximum number of servers queried per address; Off: no limit

	full   map[uint32]time.Duration // when the bucket of each address will be full
	sweep  time.Duration            // when full buckets were last removed
	held   map[uint32]*heldAddr
	ready  readyHeap
	n      int               // number of held targets
	counts map[uint32]uint32 // servers queried per address; nil if most is Off
}

const (
	addrBurst  = 4       // datagrams: INFO, and then all three questions with a challenge
	maxHeld    = 1 << 16 // maximum number of held targets (3 MiB)
	sweepEvery = time.Second
)

// heldAddr is an address with targets that wait for its bucket.
type heldAddr struct {
	ip      uint32
	ready   time.Duration // when the bucket will be full; retries may delay this
	targets []uint64
}

func newAddrs(cfg *settings) *addrs {
	rate, most := cfg.AddressRate, cfg.MaxPerAddress
	if cfg.Tuning.SweepPort != 0 {
		rate, most = Off, Off
	}
	a := &addrs{most: most, held: map[uint32]*heldAddr{}}
	if rate != Off {
		a.every = time.Duration(float64(time.Second) / rate)
		a.full = map[uint32]time.Duration{}
	}
	if most != Off {
		a.counts = map[uint32]uint32{}
	}
	// MaxPerAddress also covers the servers that earlier parts of a resumed scan queried.
	for addr, n := range cfg.Resume.Asked {
		if a.most != Off && n > 0 {
			a.counts[ipOf(udp.Pack(netip.AddrPortFrom(addr, 0)))] = uint32(min(n, a.most))
		}
	}
	return a
}

func ipOf(addr uint64) uint32 { return uint32(addr >> 16) }

// overLimit reports whether the address of a target has reached MaxPerAddress. If not,
// overLimit counts the target.
func (a *addrs) overLimit(addr uint64) bool {
	if a.most == Off {
		return false
	}
	ip := ipOf(addr)
	if a.counts[ip] >= uint32(a.most) {
		return true
	}
	a.counts[ip]++
	return false
}

// admit reports whether a target may start now: the bucket of its address must be full,
// and no other target may wait for that address. If so, admit empties the bucket. If not,
// it holds the target back.
func (a *addrs) admit(now time.Duration, addr uint64) bool {
	if a.every == 0 {
		return true
	}
	ip := ipOf(addr)
	h, full := a.held[ip], a.full[ip]
	if h == nil && full <= now {
		a.charge(now, ip, addrBurst)
		return true
	}
	if h == nil {
		h = &heldAddr{ip: ip, ready: full}
		a.held[ip] = h
		heap.Push(&a.ready, h)
	}
	h.targets = append(h.targets, addr)
	a.n++
	return false
}

// release removes a held target that may start now, and empties the bucket of its
// address. It returns this target, or 0 if no target may start.
func (a *addrs) release(now time.Duration) (addr uint64) {
	for len(a.ready) > 0 && a.ready[0].ready <= now {
		h := a.ready[0]
		if full := a.full[h.ip]; full > now { // retries were charged after h.ready was set
			h.ready = full
			heap.Fix(&a.ready, 0)
			continue
		}
		addr = h.targets[0]
		h.targets = h.targets[1:]
		a.n--
		a.charge(now, h.ip, addrBurst)
		h.ready = a.full[h.ip]
		if len(h.targets) == 0 {
			heap.Pop(&a.ready)
			delete(a.held, h.ip)
		} else {
			heap.Fix(&a.ready, 0)
		}
		return addr
	}
	return 0
}

// next returns the earliest time at which release may return a target, or 0 if no target
// is held.
func (a *addrs) next() time.Duration {
	if len(a.ready) == 0 {
		return 0
	}
	return a.ready[0].ready
}

// last estimates when the last of the held targets may start. Its second argument is the
// mean number of datagrams that a target takes from the bucket of its address.
func (a *addrs) last(now time.Duration, each float64) time.Duration {
	last := now
	for _, h := range a.held {
		rest := time.Duration(float64(len(h.targets)-1) * each * float64(a.every))
		last = max(last, max(h.ready, now)+rest)
	}
	return last
}

// refund returns the unused part of a finished target's burst to the bucket of its
// address. Its last argument is the number of datagrams that were sent to the target.
func (a *addrs) refund(now time.Duration, addr uint64, sent int) {
	if a.every != 0 && sent < addrBurst {
		a.charge(now, ipOf(addr), sent-addrBurst)
	}
}

// reclaim reverses refund. It is called when a silent target answers late, because the
// query then goes on.
func (a *addrs) reclaim(now time.Duration, addr uint64, sent int) {
	if a.every != 0 && sent < addrBurst {
		a.charge(now, ipOf(addr), addrBurst-sent)
	}
}

// sent charges the address of a target for a datagram beyond the burst.
func (a *addrs) sent(now time.Duration, addr uint64) {
	if a.every != 0 {
		a.charge(now, ipOf(addr), 1)
	}
}

// slowDown delays the next target of an address by at least session.SerialGap, because a
// server there complained of too many requests (EC-21).
func (a *addrs) slowDown(now time.Duration, addr uint64) {
	if a.every != 0 {
		ip := ipOf(addr)
		a.full[ip] = max(a.full[ip], now+session.SerialGap)
	}
}

// charge takes n datagrams out of the bucket of ip. A negative n returns datagrams to
// the bucket.
func (a *addrs) charge(now time.Duration, ip uint32, n int) {
	full := max(a.full[ip], now) + time.Duration(n)*a.every
	if full <= now {
		delete(a.full, ip)
		return
	}
	a.full[ip] = full
}

// forget removes full buckets. If an address has no bucket, its bucket counts as full.
func (a *addrs) forget(now time.Duration) {
	if a.every == 0 || now-a.sweep < sweepEvery {
		return
	}
	a.sweep = now
	for ip, full := range a.full {
		if full <= now {
			delete(a.full, ip)
		}
	}
}

// readyHeap orders addresses by the time at which their next target may start.
type readyHeap []*heldAddr

func (h readyHeap) Len() int           { return len(h) }
func (h readyHeap) Less(i, j int) bool { return h[i].ready < h[j].ready }
func (h readyHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *readyHeap) Push(x any)        { *h = append(*h, x.(*heldAddr)) }
func (h *readyHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return x
}
