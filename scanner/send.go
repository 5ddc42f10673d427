package scanner

import (
	"errors"
	"syscall"
	"time"

	"github.com/a2sscan/a2sscan/scanner/internal/session"
	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// sender puts requests into a batch and sends it. Datagrams that the kernel does
// not accept stay in the batch and go out first the next time.
type sender struct {
	packets []udp.Packet // the batch
	out     []outgoing   // one element for each of packets
	request []byte       // the memory that packets point to
	again   int          // number of attempts to send out[0]
	refused uint64       // how many times the kernel refused a datagram with ErrAgain
	left    []departure  // the datagrams that the last flush sent
	failed  []failure    // the datagrams that the last flush could not send
	gso     gso
}

// departure is a datagram that was sent.
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
	q       wire.Question // the question that it serves
	request wire.Question // the request itself: q, or GETCHALLENGE in its place
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

// addDue adds the due requests of a session to the batch. The parameter room is the
// maximum length of the batch. addDue reports whether some requests did not fit.
// remembered is the challenge of an earlier scan.
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

// flush sends the batch. It removes from the batch the datagrams that it sent (left) and
// those that could not be sent (failed). A datagram that can't be sent does not hold up the
// others. flush assumes that a system call spends the same time on each datagram.
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
			no, _ := errors.AsType[syscall.Errno](err)
			fault = faultOf[no]
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

// sent records that a datagram was sent.
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

// sendFault is the reason why a datagram could not be sent.
type sendFault uint8

// The faults of sending.
const (
	sendOther     sendFault = iota // anything else
	sendPutOff                     // the kernel refused the datagram with ErrAgain too many times
	sendNetwork                    // the network is unreachable
	sendHost                       // the host is unreachable
	sendForbidden                  // a firewall or the system forbids the datagram
	sendAddress                    // the address is not valid as a destination
	sendInterface                  // the interface is down or gone
	numSendFaults = iota
)

// SendFaults are the summary's words for the faults, in the order of Stats.SendFaults.
var SendFaults = [numSendFaults]string{
	"other", "put_off", "network_unreachable", "host_unreachable", "forbidden", "bad_address", "interface_down",
}

// faultOf maps errors to faults. The fault of all other errors is sendOther.
var faultOf = map[syscall.Errno]sendFault{
	syscall.ENETUNREACH: sendNetwork, syscall.EHOSTUNREACH: sendHost,
	syscall.EPERM: sendForbidden, syscall.EACCES: sendForbidden,
	syscall.EINVAL: sendAddress, syscall.EADDRNOTAVAIL: sendAddress,
	syscall.EAFNOSUPPORT: sendAddress, syscall.EDESTADDRREQ: sendAddress,
	syscall.ENETDOWN: sendInterface, syscall.ENODEV: sendInterface, syscall.ENXIO: sendInterface,
}

// gso decides whether the requests for players and rules go to the kernel in one
// piece (generic segmentation offload): they have the same length and usually go
// out together. It marks only the first pair to each server, so that retries reach
// the server even behind a device that loses such pieces.
type gso struct {
	off      bool
	stopped  uint64 // 1 if GSO is off because pairs got lost
	silent   int    // pairs for which neither request was answered in time
	answered int    // pairs for which a request was answered in time
}

// Every server that gets a pair has just sent a challenge, so it should answer. If at
// least maxSilentPairs servers don't answer, and more than mostlySilent times as many as
// answer, some device loses pairs.
const (
	maxSilentPairs = 64
	mostlySilent   = 16
)

// both are the questions whose requests go out in one piece.
const both = wire.AskPlayers | wire.AskRules

// mark marks the request for players if the request for rules to the same server has
// just been added to the batch after it. It marks only first requests.
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

// waited evaluates the first wait of a session after a pair was sent to it, and turns GSO
// off if pairs get lost. It does nothing for other waits.
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
