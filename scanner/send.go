package scanner

import (
	"errors"
	"syscall"
	"time"

	"github.com/a2sscan/a2sscan/scanner/internal/session"
	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// sender puts requests into a batch and sends it. Datagrams that the kernel refuses for
// now stay in the batch, and the next flush sends them first.
type sender struct {
	packets []udp.Packet // the batch
	out     []outgoing   // out[i] describes packets[i]
	request []byte       // the memory that packets point to
	again   int          // how many times in a row the kernel refused out[0] with ErrAgain
	refused uint64       // how many times the kernel refused a datagram with ErrAgain
	left    []departure  // the datagrams that the last flush sent
	failed  []failure    // the datagrams that the last flush could not send
	gso     gso
}

type departure struct {
	outgoing
	at   time.Duration
	addr uint64
	data []byte // valid until the next batch is filled
	gso  bool
}

// outgoing is one datagram of a batch.
type outgoing struct {
	ref     ref
	q       wire.Question // the question for which the datagram is sent
	request wire.Question // the request that is sent: q, or GETCHALLENGE or PLAYER in place of q
}

func newSender(cfg *settings) *sender {
	return &sender{
		packets: make([]udp.Packet, 0, batchLen),
		out:     make([]outgoing, 0, batchLen),
		request: make([]byte, batchLen*requestLen),
		left:    make([]departure, 0, batchLen),
		gso:     gso{off: cfg.Tuning.NoGSO},
	}
}

// addDue adds the due requests of a session to the batch. Its last two arguments are the
// challenge of an earlier scan and the maximum length of the batch. It reports whether
// some requests did not fit.
func (s *sender) addDue(plan *session.Plan, r ref, sl *slot, remembered wire.Challenge, room int) bool {
	for q := range sl.session.Due().Each() {
		if len(s.out) == room {
			return true
		}
		at := s.request[len(s.out)*requestLen:][:0:requestLen]
		request, challenge := sl.session.Request(q, remembered)
		s.out = append(s.out, outgoing{r, q, request})
		s.packets = s.packets[:len(s.out)]
		p := &s.packets[len(s.out)-1] // filled in place: appending a literal would copy it
		p.Addr, p.Data, p.GSO = sl.source(), plan.AppendRequest(at, request, challenge), false
		s.gso.mark(s.packets, s.out, sl)
	}
	sl.session.Flags &^= session.Queued
	return false
}

// flush sends the batch. Datagrams that were sent move to s.left, and those that can't be
// sent move to s.failed, so that they do not hold up the others. The times of sending are
// estimates: a system call is assumed to spend the same time on each datagram.
func (s *sender) flush(sock transport, clock func() time.Duration) {
	s.left, s.failed = s.left[:0], s.failed[:0]
	done := 0
	for done < len(s.out) {
		begun := clock()
		n, err := sock.Send(s.packets[done:])
		took := clock() - begun
		n = max(n, 0)
		for i := range n {
			at, p := begun+took*time.Duration(2*i+1)/time.Duration(2*n), &s.packets[done+i]
			s.left = append(s.left, departure{s.out[done+i], at, p.Addr, p.Data, p.GSO})
		}
		if done += n; n > 0 {
			s.again = 0
		}
		if err == nil || done == len(s.out) {
			break
		}
		fault := sendPutOff
		if !errors.Is(err, udp.ErrAgain) {
			fault = faultOf[errnoOf(err)]
		} else if s.again++; s.again <= maxAgain {
			s.refused++
			break
		}
		s.again = 0
		s.failed = append(s.failed, failure{s.out[done], s.packets[done].Addr, fault, err})
		done++
	}
	left := copy(s.out, s.out[done:])
	copy(s.packets, s.packets[done:])
	s.out, s.packets = s.out[:left], s.packets[:left]
}

func (e *engine) sent(d *departure) {
	if e.cfg.Control.Trace != nil {
		e.cfg.Control.Trace(d.at, true, udp.Unpack(d.addr), d.data)
	}
	e.stats.Sent[d.request]++
	e.stats.SentBytes += uint64(len(d.data))
	sl := e.open.slots.alive(d.ref)
	if sl == nil {
		return
	}
	if sl.session.Flags.Has(session.Repeat) {
		e.stats.Repeats++
	}
	sl.sent++
	sl.sentBytes += uint16(len(d.data))
	if sl.sent > addrBurst {
		e.addrs.sent(d.at, sl.source())
	}
	if d.gso {
		sl.session.Flags |= session.Paired
	}
	e.open.sent(d.at, d.ref.slot, d.q)
	if e.rate != nil {
		e.asked(sl, d.q)
	}
}

type sendFault uint8

const (
	sendOther     sendFault = iota // none of the following
	sendPutOff                     // the kernel refused the datagram with ErrAgain too many times
	sendNetwork                    // the network is unreachable
	sendHost                       // the host is unreachable
	sendForbidden                  // a firewall or the system forbids the datagram
	sendAddress                    // the address is not valid as a destination
	sendInterface                  // the interface is down or gone
	numSendFaults = iota
)

// SendFaults are the words for the faults in the scan's summary, in the order of
// Stats.SendFaults.
var SendFaults = [numSendFaults]string{
	"other", "put_off", "network_unreachable", "host_unreachable", "forbidden", "bad_address", "interface_down",
}

// faultOf maps errors of the system to faults. All other errors are sendOther.
var faultOf = map[syscall.Errno]sendFault{
	syscall.ENETUNREACH: sendNetwork, syscall.EHOSTUNREACH: sendHost,
	syscall.EPERM: sendForbidden, syscall.EACCES: sendForbidden,
	syscall.EINVAL: sendAddress, syscall.EADDRNOTAVAIL: sendAddress,
	syscall.EAFNOSUPPORT: sendAddress, syscall.EDESTADDRREQ: sendAddress,
	syscall.ENETDOWN: sendInterface, syscall.ENODEV: sendInterface, syscall.ENXIO: sendInterface,
}

// gso decides whether a pair, the requests for players and rules to one server, goes to
// the kernel in one piece (generic segmentation offload). Retries never do, so that they
// reach servers behind a device that loses such pieces.
type gso struct {
	off      bool
	stopped  uint64 // 1 if GSO is off because pairs got lost
	silent   int    // pairs for which neither request was answered in time
	answered int    // pairs for which a request was answered in time
}

// A server that gets a pair has answered before, so it should answer again. The scan
// turns GSO off if at least maxSilentPairs pairs got no answer, and if they are more than
// mostlySilent times as many as the answered pairs.
const (
	maxSilentPairs = 64
	mostlySilent   = 16
)

// both is the set of the two questions whose requests go out in one piece.
const both = wire.AskPlayers | wire.AskRules

// mark marks a pair if its requests are the last two in the batch and neither was sent
// before. Only the request for players gets the mark.
func (g *gso) mark(ps []udp.Packet, out []outgoing, sl *slot) {
	n := len(out)
	if g.off || n < 2 || sl.session.Flags.Has(session.Repeat) || sl.session.Agenda.Asked&both != 0 {
		return
	}
	first, second := &out[n-2], &out[n-1]
	if first.ref == second.ref && first.q == wire.QuestionPlayers && second.q == wire.QuestionRules {
		ps[n-2].GSO = true
	}
}

// waited is called when a wait of a session is over. It turns GSO off if pairs get lost.
func (g *gso) waited(sl *slot) {
	if !sl.session.Flags.Has(session.Paired) {
		return
	}
	sl.session.Flags &^= session.Paired
	if sl.session.Agenda.Silent()&both == both {
		g.silent++
	} else {
		g.answered++
	}
	if !g.off && g.silent >= maxSilentPairs && g.silent > mostlySilent*g.answered {
		g.off = true
		g.stopped++
	}
}
