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

// measuredFrom is the rate, in datagrams per second, above which doctor measures.
// Every machine reaches this rate.
const measuredFrom = 20e3

// scanCost is the cost of a scan relative to its system calls alone: a scan also
// keeps track of targets, decodes replies and writes records.
const scanCost = 1.5

// Loop is a measurement on loopback: one thread sent requests and received the
// replies.
type Loop struct {
	Sent     uint64
	Received uint64
	Spent    time.Duration // time spent in the system calls of the scanner's side
}

// Rate returns how many requests per second were sent and answered.
func (l Loop) Rate() float64 {
	if l.Spent <= 0 {
		return 0
	}
	return float64(l.Received) / l.Spent.Seconds()
}

// checkThroughput compares the rate with the rate that this machine reaches on
// loopback.
func (m *machine) checkThroughput(o *Options) Finding {
	if o.rate() <= measuredFrom {
		return Finding{Level: OK, Found: "not measured: every machine reaches this rate"}
	}
	loop, err := m.measure(measureTime)
	switch {
	case err != nil:
		return unknown("loopback can't be measured: %v", err)
	case loop.Received == 0:
		return unknown("loopback can't be measured: no datagram was answered")
	}
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

// roundDown rounds a number down to two significant digits, for advice.
func roundDown(v float64) float64 {
	if v < 1 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(v))-1)
	return math.Floor(v/unit) * unit
}

// measureTime is how long a measurement takes.
const measureTime = time.Second

// requestLength and replyLength are the usual lengths of datagrams. replyWait is
// how long a measurement waits for the next one.
const (
	requestLength = 29
	replyLength   = 200
	replyWait     = 20 * time.Millisecond
)

// measureLoopback sends batches of requests from one loopback socket to another, which
// acts as all servers, and receives the replies, as a scan does. It does so for the
// time long, but at least once. Only the time of the scanner's side counts.
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
	requests, replies := batch(peer, requestLength), batch(own, replyLength)
	space := make([]a2sudp.Packet, a2sudp.DefaultBatch)
	for end := time.Now().Add(long); ; {
		start := time.Now()
		sent, err := own.Send(requests)
		loop.Spent += time.Since(start)
		loop.Sent += uint64(sent)
		if err != nil && !errors.Is(err, a2sudp.ErrAgain) {
			return loop, err
		}
		arrived, err := receive(peer, space[:sent])
		if err != nil {
			return loop, err
		}
		answered, err := peer.Send(replies[:arrived])
		if err != nil && !errors.Is(err, a2sudp.ErrAgain) {
			return loop, err
		}
		start = time.Now()
		got, err := receive(own, space[:answered])
		loop.Spent += time.Since(start)
		loop.Received += uint64(got)
		if err != nil || !time.Now().Before(end) {
			return loop, err
		}
	}
}

// listenLoopback opens a loopback socket whose buffers have room for a batch.
func listenLoopback() (*a2sudp.Conn, error) {
	anyPort := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 0)
	return a2sudp.Listen(a2sudp.Config{Source: anyPort, RecvBuffer: 1 << 20, SendBuffer: 1 << 20})
}

// batch returns as many datagrams to the address of c as one system call sends.
func batch(c *a2sudp.Conn, length int) []a2sudp.Packet {
	packets := make([]a2sudp.Packet, a2sudp.DefaultBatch)
	for i := range packets {
		packets[i] = a2sudp.Packet{Addr: a2sudp.Pack(c.LocalAddr()), Data: make([]byte, length)}
	}
	return packets
}

// receive fills space with datagrams, or a part of it if no more arrive within
// replyWait.
func receive(c *a2sudp.Conn, space []a2sudp.Packet) (got int, err error) {
	for got < len(space) {
		n, err := c.Recv(space[got:], replyWait)
		if n == 0 || err != nil {
			return got, err
		}
		got += n
	}
	return got, nil
}
