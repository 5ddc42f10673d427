package doctor

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	a2sudp "github.com/a2sscan/a2sscan/scanner/udp"
)

// This file measures how many datagrams this machine can send and receive.

// measuredFrom is the rate above which doctor measures. Every machine reaches less.
const measuredFrom = 20e3

// scanCost is what a scan costs relative to its system calls alone: it also keeps
// track of targets, decodes replies and writes records.
const scanCost = 1.5

// Loop is a measurement: one thread sent requests and received the replies to them.
type Loop struct {
	Sent     uint64
	Received uint64
	Spent    time.Duration // in the system calls of this side
}

// Rate is the number of requests per second that were sent and answered.
func (l Loop) Rate() float64 {
	if l.Spent <= 0 {
		return 0
	}
	return float64(l.Received) / l.Spent.Seconds()
}

// checkThroughput compares the rate with what this machine reaches on loopback.
func (m *machine) checkThroughput(o *Options) Finding {
	if o.rate() <= measuredFrom {
		return Finding{Level: OK, Found: "not measured: every machine reaches this rate"}
	}
	if m.measure == nil {
		return m.absent()
	}
	loop, err := m.measure(measureTime)
	switch {
	case err != nil:
		return unknown("loopback can't be measured: %v", err)
	case loop.Received == 0:
		return unknown("loopback can't be measured: no datagram was answered")
	}
	return o.judgeThroughput(loop)
}

// judgeThroughput compares the rate with a measurement.
func (o *Options) judgeThroughput(loop Loop) Finding {
	most := loop.Rate() / scanCost
	advised := console.Short(roundDown(most))
	found := Finding{
		Level:    OK,
		Measured: uint64(loop.Rate()),
		Found:    fmt.Sprintf("%s datagrams per second sent and answered on loopback", console.Short(loop.Rate())),
		Need: fmt.Sprintf("%s: a scan needs the CPU for its records, too. This machine scans with "+
			"-r %s at most, if its network does; --shard divides a scan among machines",
			console.Short(o.rate()*scanCost), advised),
	}
	switch {
	case o.Rate == 0:
		found.Found += "; expect a scan of about " + advised
	case o.rate() > loop.Rate():
		found.Level = Bad
	case o.rate() > most:
		found.Level = Warning
	}
	return found
}

// roundDown cuts a number to two digits, for advice.
func roundDown(v float64) float64 {
	if v < 1 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(v))-1)
	return math.Floor(v/unit) * unit
}

// measureTime is how long a measurement takes.
const measureTime = time.Second

// What a measurement sends: requests and replies of usual length.
const (
	requestLength = 29
	replyLength   = 200
	replyWait     = 20 * time.Millisecond
)

// loopback is where a measurement sends from and to; the system chooses the ports.
var loopback = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 0)

// measureLoopback sends batches of requests from one socket to another and receives
// the replies, as a scan does, until the time long has passed, but at least once. Both
// sockets are on loopback.
func measureLoopback(long time.Duration) (loop Loop, err error) {
	own, err := listenLoopback()
	if err != nil {
		return loop, err
	}
	defer own.Close()
	peer, err := listenLoopback()
	if err != nil {
		return loop, err
	}
	defer peer.Close()
	x := exchange{
		own: own, peer: peer,
		requests: batch(peer, requestLength), replies: batch(own, replyLength),
		received: make([]a2sudp.Packet, a2sudp.DefaultBatch),
	}
	for start := time.Now(); ; {
		if err := x.round(&loop); err != nil || time.Since(start) >= long {
			return loop, err
		}
	}
}

// listenLoopback opens a socket with room for a batch.
func listenLoopback() (*a2sudp.Conn, error) {
	return a2sudp.Listen(a2sudp.Config{Source: loopback, RecvBuffer: 1 << 20, SendBuffer: 1 << 20})
}

// batch returns datagrams to the address of c, as many as one system call sends.
func batch(c *a2sudp.Conn, length int) []a2sudp.Packet {
	packets := make([]a2sudp.Packet, a2sudp.DefaultBatch)
	for i := range packets {
		packets[i] = a2sudp.Packet{Addr: a2sudp.Pack(c.LocalAddr()), Data: make([]byte, length)}
	}
	return packets
}

// exchange is a pair of sockets: own is the scanner's, and peer plays all servers.
type exchange struct {
	own, peer                   *a2sudp.Conn
	requests, replies, received []a2sudp.Packet
}

// round sends a batch of requests and receives the replies. Only the time that the
// scanner's side takes is measured.
func (x *exchange) round(loop *Loop) error {
	start := time.Now()
	sent, err := x.own.Send(x.requests)
	loop.Spent += time.Since(start)
	loop.Sent += uint64(sent)
	if err != nil && !errors.Is(err, a2sudp.ErrAgain) {
		return err
	}
	arrived, err := x.receive(x.peer, sent)
	if err != nil {
		return err
	}
	answered, err := x.peer.Send(x.replies[:arrived])
	if err != nil && !errors.Is(err, a2sudp.ErrAgain) {
		return err
	}
	start = time.Now()
	got, err := x.receive(x.own, answered)
	loop.Spent += time.Since(start)
	loop.Received += uint64(got)
	return err
}

// receive receives want datagrams, or fewer if no more arrive.
func (x *exchange) receive(c *a2sudp.Conn, want int) (got int, err error) {
	for got < want {
		n, err := c.Recv(x.received[:want-got], replyWait)
		if n == 0 || err != nil {
			return got, err
		}
		got += n
	}
	return got, nil
}
