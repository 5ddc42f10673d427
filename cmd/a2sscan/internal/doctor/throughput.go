package doctor

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	a2sudp "github.com/a2sscan/a2sscan/scanner/udp"
)

// doctor measures the throughput only for rates above measuredFrom, in datagrams per
// second. Any usual machine reaches this rate. measureTime is the duration of the
// measurement.
const (
	measuredFrom = 20e3
	measureTime  = time.Second
)

// scanCost is the CPU time of a scan divided by the CPU time of its system calls. It is
// above 1, because a scan also keeps track of targets, decodes replies and writes records.
const scanCost = 1.5

// checkThroughput compares the rate of the scan with the rate that this machine reaches on
// loopback.
func (m *machine) checkThroughput(o *Options) Finding {
	if o.rate() <= measuredFrom {
		return Finding{Level: OK, Found: "not measured, because any usual machine reaches this rate"}
	}
	reached, err := m.measure(measureTime)
	if err != nil {
		return unknown("the measurement on loopback failed: %v", err)
	}
	most := reached / scanCost
	found := Finding{
		Level:    OK,
		Measured: uint64(reached),
		Found:    fmt.Sprintf("%s datagrams per second sent and answered on loopback", console.Short(reached)),
		Need: fmt.Sprintf("%s datagrams per second on loopback, because a scan also needs CPU time for its records. "+
			"A scan on this machine reaches at most -r %s; --shard divides a scan among machines",
			console.Short(o.rate()*scanCost), console.Short(most)),
	}
	switch {
	case o.Rate == 0:
		found.Found += "; expect a scan to reach about " + console.Short(most)
	case o.rate() > reached:
		found.Level = Bad
	case o.rate() > most:
		found.Level = Warning
	}
	return found
}

// batch is the number of datagrams that measureLoopback sends at a time. requestLength and
// replyLength are the usual lengths of a request and of a reply in bytes. replyWait is how
// long receive waits for the next datagram.
const (
	batch         = 128
	requestLength = 29
	replyLength   = 200
	replyWait     = 20 * time.Millisecond
)

// measureLoopback sends batches of requests, as a scan does, from one loopback socket to
// another, which answers them. Its argument, long, is the duration of the measurement. It
// returns the number of replies divided by the seconds in which the first socket sent and
// received.
func measureLoopback(long time.Duration) (rate float64, err error) {
	cfg := a2sudp.Config{Source: netip.MustParseAddrPort("127.0.0.1:0"), RecvBuffer: 1 << 20, SendBuffer: 1 << 20}
	own, err := a2sudp.Listen(cfg)
	if err != nil {
		return 0, err
	}
	defer own.Close()
	peer, err := a2sudp.Listen(cfg)
	if err != nil {
		return 0, err
	}
	defer peer.Close()
	var requests, replies, space [batch]a2sudp.Packet
	for i := range requests {
		requests[i] = a2sudp.Packet{Addr: a2sudp.Pack(peer.LocalAddr()), Data: make([]byte, requestLength)}
		replies[i] = a2sudp.Packet{Addr: a2sudp.Pack(own.LocalAddr()), Data: make([]byte, replyLength)}
	}
	answers, spent := 0, time.Duration(0)
	for end := time.Now().Add(long); ; {
		start := time.Now()
		sent, err := own.Send(requests[:])
		spent += time.Since(start)
		if err != nil && !errors.Is(err, a2sudp.ErrAgain) {
			return 0, err
		}
		arrived, err := receive(peer, space[:sent])
		if err != nil {
			return 0, err
		}
		answered, err := peer.Send(replies[:arrived])
		if err != nil && !errors.Is(err, a2sudp.ErrAgain) {
			return 0, err
		}
		start = time.Now()
		got, err := receive(own, space[:answered])
		spent += time.Since(start)
		answers += got
		switch {
		case err != nil:
			return 0, err
		case time.Now().Before(end):
		case answers == 0:
			return 0, errors.New("no datagram was answered")
		default:
			return float64(answers) / spent.Seconds(), nil
		}
	}
}

// receive fills space with datagrams. It returns early if no datagram arrives for
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
