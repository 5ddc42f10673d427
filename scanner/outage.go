package scanner

import (
	"cmp"
	"errors"
	"net"
	"net/netip"
	"syscall"
	"time"

	"github.com/a2sscan/a2sscan/scanner/internal/session"
	"github.com/a2sscan/a2sscan/scanner/udp"
)

// outage knows whether the network of this machine is away. It owns the scan's clock,
// which is stopped while the network is away.
//
// The network is away if all sends have failed with one of the localErrors for at least
// outageAfter, and the routes to addresses that answered before are gone as well. While a
// scan only waits, no send fails, so it also looks up a route when the wait of a session
// is over. A datagram that could not be sent counts as lost until an outage is certain,
// and is sent again after the outage.
type outage struct {
	route func(addr uint64) error // looks up a route; if it is nil, outages are not detected
	start time.Time               // when the scan began

	answered [16]uint64 // ring buffer of the addresses that answered last
	n        int        // number of addresses that answered
	reached  uint64     // the destination of the last datagram that was sent; 0: none

	provedAt time.Duration // when a datagram was last sent, or a route was last found
	failedAt time.Duration // when the first send after provedAt failed; 0 if none failed
	failed   []failure     // the sends that failed after provedAt

	since   time.Time     // when the outage began; zero: there is no outage
	frozen  time.Duration // the time of the scan at which its clock stopped
	lostAt  time.Duration // datagrams that the scan or a server sent after this time may be lost
	next    time.Time     // when the routes are looked up next
	targets []uint64      // the addresses whose routes are looked up
	past    []span        // the outages that are over

	faults  [numSendFaults]uint64 // datagrams that could not be sent for a reason other than an outage
	outages uint64
	total   time.Duration // total length of the outages that are over
	awayFor time.Duration // length of the current outage so far
}

type failure struct {
	outgoing
	addr  uint64
	fault sendFault
	err   error
}

type span struct {
	at    time.Duration // the time of the scan at which its clock was stopped
	shift time.Duration // how far the clock is behind real time after the outage
}

const (
	outageAfter  = 200 * time.Millisecond
	provedFor    = 20 * time.Millisecond // for how long a sent datagram proves that the network is there
	firstPause   = 10 * time.Millisecond
	longestPause = 10 * time.Second
)

func newOutage(cfg *settings, sock transport, start time.Time) *outage {
	o := &outage{start: start}
	if cfg.waited > 0 { // this outage was over before the clock began
		o.outages, o.total, o.past = 1, cfg.waited, []span{{-1, cfg.waited}}
	}
	if r, ok := sock.(interface{ Route(addr uint64) error }); ok && !cfg.Tuning.NoOutage {
		o.route = r.Route
	}
	return o
}

// localErrors are the errors of a machine whose network is away. EPERM and EACCES are not
// among them, because a firewall causes them.
var localErrors = map[syscall.Errno]bool{
	syscall.ENETUNREACH: true, syscall.EHOSTUNREACH: true, syscall.ENETDOWN: true, syscall.EADDRNOTAVAIL: true,
	syscall.EINVAL: true, syscall.ENODEV: true, syscall.ENXIO: true,
}

func isLocal(err error) bool { return localErrors[errnoOf(err)] }

// winsock maps errors of sockets on Windows to the errors of other systems. Package syscall
// has these names on Windows, too, but with numbers that no socket returns.
var winsock = map[syscall.Errno]syscall.Errno{
	10013: syscall.EACCES, 10022: syscall.EINVAL, 10049: syscall.EADDRNOTAVAIL,
	10050: syscall.ENETDOWN, 10051: syscall.ENETUNREACH, 10065: syscall.EHOSTUNREACH,
}

// errnoOf returns the errno in an error, or 0 if there is none.
func errnoOf(err error) syscall.Errno {
	no, _ := errors.AsType[syscall.Errno](err)
	return cmp.Or(winsock[no], no)
}

// clock returns the time since the scan began, not counting outages.
func (o *outage) clock() time.Duration { return o.at(time.Now()) }

func (o *outage) at(t time.Time) time.Duration {
	if o.away() {
		return o.frozen
	}
	return t.Sub(o.start) - o.shift()
}

func (o *outage) shift() time.Duration { return o.shiftAt(1<<63 - 1) }

// shiftAt returns the total length of the outages before the time at, which is on the
// scan's clock.
func (o *outage) shiftAt(at time.Duration) time.Duration {
	for i := len(o.past) - 1; i >= 0; i-- {
		if at > o.past[i].at {
			return o.past[i].shift
		}
	}
	return 0
}

func (o *outage) away() bool { return !o.since.IsZero() }

func (o *outage) heard(addr uint64) {
	o.answered[o.n%len(o.answered)] = addr
	o.n++
}

// proved records that the network is there. It counts the stored failures as faults of
// their destinations.
func (o *outage) proved(now time.Duration) {
	o.provedAt, o.failedAt = now, 0
	for _, f := range o.failed {
		o.faults[f.fault]++
	}
	o.failed = o.failed[:0]
}

// settle is called at the end of a scan. If the network is away, settle adds the length of
// this outage to o.total. Otherwise it counts the failed sends in o.faults.
func (o *outage) settle(now time.Duration) {
	if o.away() {
		o.total += time.Since(o.since)
		o.awayFor = 0
		return
	}
	o.proved(now)
}

func (o *outage) fail(now time.Duration, f failure) {
	o.failed = append(o.failed, f)
	switch {
	case o.route == nil || !isLocal(f.err):
		o.proved(now)
	case o.failedAt == 0:
		o.failedAt = max(now, 1)
	}
}

// check begins an outage if all sends have failed for at least outageAfter and the
// routes are gone.
func (o *outage) check(now time.Duration) {
	if o.failedAt == 0 || now-o.failedAt < outageAfter {
		return
	}
	var tried []uint64
	for _, f := range o.failed[:min(len(o.failed), len(o.answered))] {
		tried = append(tried, f.addr)
	}
	o.lookUp(now, tried)
}

// doubt begins an outage if the route to addr is gone and lookUp finds no other route.
// It reports whether an outage began. If so, the silence of addr proves nothing.
func (o *outage) doubt(now time.Duration, addr uint64) bool {
	if o.route == nil || now-o.provedAt < provedFor {
		return false
	}
	if !isLocal(o.route(addr)) {
		if o.failedAt == 0 {
			o.provedAt = now
		}
		return false
	}
	return o.lookUp(now, []uint64{addr})
}

// lookUp looks up the routes to addresses that answered. If none answered, it looks up
// the routes to the addresses in its last argument, to o.reached and to publicAddr. If it
// finds no route, it begins an outage and returns true.
func (o *outage) lookUp(now time.Duration, tried []uint64) bool {
	if o.n > 0 {
		tried = o.answered[:min(o.n, len(o.answered))]
	} else {
		tried = append(tried, cmp.Or(o.reached, publicAddr), publicAddr)
	}
	if o.found(tried) {
		o.proved(now)
		return false
	}
	o.targets = append(o.targets[:0], tried...)
	o.since, o.frozen, o.lostAt = time.Now(), now, o.provedAt
	o.next = o.since.Add(pauseAfter(0))
	o.outages++
	return true
}

func (o *outage) found(addrs []uint64) bool {
	for _, addr := range addrs {
		if !isLocal(o.route(addr)) {
			return true
		}
	}
	return false
}

// over reports whether the outage is over. To find out, it looks up the routes again
// once o.next has passed.
func (o *outage) over() bool {
	now := time.Now()
	if o.awayFor = now.Sub(o.since); now.Before(o.next) {
		return false
	}
	if !o.found(o.targets) {
		o.next = now.Add(pauseAfter(o.awayFor))
		return false
	}
	o.past = append(o.past, span{o.frozen, o.shift() + o.awayFor})
	o.total += o.awayFor
	o.awayFor, o.since = 0, time.Time{}
	o.provedAt, o.failedAt = o.frozen, 0
	return true
}

// pauseAfter returns how long to wait before the next look-up of routes. Its argument is
// the length of the outage so far.
func pauseAfter(away time.Duration) time.Duration {
	return min(max(away/8, firstPause), longestPause)
}

// publicAddr belongs to no host (RFC 5737). Most machines reach it by the default route.
var publicAddr = udp.Pack(netip.MustParseAddrPort("203.0.113.1:53"))

// NetworkAway reports whether the network of this machine is away: err says that sending
// or looking up a name failed, and this machine has no route to the Internet now.
// NetworkAway sends nothing.
func NetworkAway(err error) bool {
	dns, ok := errors.AsType[*net.DNSError](err)
	return (isLocal(err) || ok && !dns.IsNotFound) && isLocal(udp.Config{}.Route(publicAddr))
}

// recover resumes the scan after an outage. It repeats the requests that could not be
// sent, and those whose answers may have been lost in the outage. These repetitions do not
// count as attempts.
func (e *engine) recover(now time.Duration) {
	for _, f := range e.outage.failed {
		if sl := e.open.slots.alive(f.ref); sl != nil {
			sl.session.Refund(f.q)
		}
	}
	e.outage.failed = e.outage.failed[:0]
	for i := range e.open.slots.all() {
		sl := e.open.slots.at(i)
		if sl.session.Clock.LastAt() < e.outage.lostAt-e.open.planOf(sl).Schedule.First() {
			continue
		}
		sl.session.Flags &^= session.Paired
		if sl.session.Again() && !sl.session.Flags.Has(session.Queued) {
			e.advance(now, i)
		}
	}
}

// unsent handles the datagrams that could not be sent. Each counts as an attempt, and
// the session waits as if the datagram had been lost on its way.
func (e *engine) unsent(now time.Duration, failed []failure) {
	for _, f := range failed {
		e.outage.fail(now, f)
		sl := e.open.slots.alive(f.ref)
		if sl == nil {
			continue
		}
		sl.session.Unsent(e.open.planOf(sl), now, f.q)
		e.advance(now, f.ref.slot)
	}
}
