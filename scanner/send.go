package scanner

import (
	"errors"
	"net/netip"
	"time"

	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// sender puts requests into a batch and sends it. Datagrams that the kernel does
// not accept stay in the batch and go out first the next time.
type sender struct {
	packets []udp.Packet // the batch
	out     []outgoing   // describes each of packets
	request []byte       // the memory that packets point to
	again   int          // attempts to send out[0]
	gso     gso

	sock  transport
	clock func() time.Duration
	open  *sessions
	addrs *addrs
	stats *Stats
	rate  *rateFinder // nil: the scan has a rate
	trace func(now time.Duration, sent bool, addr netip.AddrPort, datagram []byte)
}

// outgoing is one datagram of a batch.
type outgoing struct {
	ref     ref
	q       wire.Question // the question that it serves
	request wire.Question // the request itself: q, or GETCHALLENGE in its place
	heard   bool          // the server answered something before
}

func newSender(cfg *Config) sender {
	return sender{
		packets: make([]udp.Packet, 0, batchLen),
		out:     make([]outgoing, 0, batchLen),
		request: make([]byte, batchLen*requestLen),
		gso:     gso{off: cfg.NoGSO},
		trace:   cfg.Trace,
	}
}

// addDue adds the due requests of a session until the batch is as long as room. It
// reports whether some of them did not fit.
func (s *sender) addDue(r ref, sl *slot, room int) bool {
	t := &sl.session
	t.agenda.due &= t.agenda.open | aside
	for q := range each(t.agenda.due) {
		if len(s.out) == room {
			return true
		}
		s.add(r, sl, q)
	}
	t.flags &^= flagQueued
	return false
}

// add puts one request into the batch.
func (s *sender) add(r ref, sl *slot, q wire.Question) {
	at := s.request[len(s.out)*requestLen:][:0:requestLen]
	request := sl.session.requestFor(q)
	challenge := sl.session.challengeFor(q)
	if sl.session.got == nil && sl.session.beside&besideKeyed != 0 {
		challenge = s.open.slots.labels.get(r.slot).remembered()
	}
	s.out = append(s.out, outgoing{r, q, request, sl.session.got != nil})
	s.packets = append(s.packets, udp.Packet{Addr: sl.source(), Data: s.open.plan.appendRequest(at, request, challenge)})
	s.gso.mark(s.packets, s.out, &sl.session)
}

// flush sends the batch. It returns how many datagrams it removed from the batch,
// and the one among them that could not be sent, or nil.
func (s *sender) flush() (done int, failed *outgoing) {
	n, err := 0, error(nil)
	length := s.pieceLen()
	for to := 0; n == to && n < len(s.packets) && err == nil; {
		to = s.pieceEnd(n, length)
		n, err = s.sendPiece(n, to)
	}
	if n > 0 {
		s.again = 0
	}
	if err != nil && n < len(s.out) && s.refused(err) {
		refused := s.out[n]
		failed = &refused
		n++
	}
	s.keepUnsent(n)
	return n, failed
}

// exactPiece is how many datagrams are sent with one call if at least a quarter of the
// batch goes to servers that have answered before.
const exactPiece = 32

// pieceLen returns how many datagrams of the batch are sent with one call. A round
// trip begins when its datagram leaves, some time during the call, so short calls
// measure it better. But calls take time, and in a sweep hardly any target answers.
func (s *sender) pieceLen() int {
	heard := 0
	for i := range s.out {
		if s.out[i].heard {
			heard++
		}
	}
	if 4*heard < len(s.out) {
		return batchLen
	}
	return exactPiece
}

// pieceEnd returns the index at which the piece of the batch that begins at from ends.
// It does not separate two datagrams that the kernel is to take as one.
func (s *sender) pieceEnd(from, length int) int {
	to := min(from+length, len(s.packets))
	if to < len(s.packets) && s.packets[to-1].GSO {
		to++
	}
	return to
}

// sendPiece sends the datagrams of the batch from index from to before index to. It
// assumes that each took the same part of the time of the call. It returns the index
// of the first datagram that was not sent, and the reason.
func (s *sender) sendPiece(from, to int) (n int, err error) {
	begun := s.clock()
	n, err = s.sock.Send(s.packets[from:to])
	took := s.clock() - begun
	n = max(n, 0)
	for i := range n {
		s.sent(begun+took*time.Duration(2*i+1)/time.Duration(2*n), from+i)
	}
	return from + n, err
}

// sent records that datagram i of the batch was sent at the time now.
func (s *sender) sent(now time.Duration, i int) {
	o, p := &s.out[i], &s.packets[i]
	if s.trace != nil {
		s.trace(now, true, udp.Unpack(p.Addr), p.Data)
	}
	s.stats.Sent[o.request]++
	s.stats.SentBytes += uint64(len(p.Data))
	sl := s.open.slots.alive(o.ref)
	if sl == nil {
		return
	}
	if sl.session.flags&flagRepeat != 0 {
		s.stats.Repeats++
	}
	sl.sent++
	sl.sentBytes += uint16(len(p.Data))
	if sl.sent > addrBurst {
		s.addrs.sent(now, sl.source())
	}
	if p.GSO {
		sl.session.flags |= flagGSO
	}
	s.open.sent(now, o.ref.slot, o.q)
	if s.rate != nil {
		s.rate.noteAsked(sl, o.q)
	}
}

// refused handles an error of Send for the first datagram that was not sent. It
// returns true if the datagram is to be given up, and false if it is to be sent
// again.
func (s *sender) refused(err error) bool {
	if isAgain(err) && s.again < maxAgain {
		s.again++
		s.stats.SendAgain++
		return false
	}
	s.again = 0
	s.stats.SendErrors++
	s.stats.SendFaults[sendFaultOf(err)]++
	return true
}

// keepUnsent moves the unsent rest of the batch to its front.
func (s *sender) keepUnsent(done int) {
	left := copy(s.out, s.out[done:])
	copy(s.packets, s.packets[done:])
	s.out, s.packets = s.out[:left], s.packets[:left]
}

// isAgain reports whether an error of Send asks to try again later.
func isAgain(err error) bool { return errors.Is(err, udp.ErrAgain) }
