//go:build !portable

package udp

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"
)

// drain receives all datagrams that have arrived.
func drain(t *testing.T, c *Conn) {
	t.Helper()
	ps := make([]Packet, 100)
	for {
		n, err := c.Recv(ps, 0)
		check(t, err)
		if n == 0 {
			return
		}
	}
}

// TestKernelDrops overfills a receive buffer: each datagram sent is either received
// or counted as dropped.
func TestKernelDrops(t *testing.T) {
	from, to := listen(t, Config{}), listen(t, Config{RecvBuffer: 1 << 12})
	ps := slices.Repeat([]Packet{{Addr: Pack(to.LocalAddr()), Data: make([]byte, 500)}}, 1000)
	for round := range 3 {
		sendAll(t, from, ps)
		drain(t, to)
		s := to.Stats()
		if s.Received+s.KernelDrops != from.Stats().Sent || s.KernelDrops == 0 {
			t.Fatalf("round %d: sent %d, received %d + dropped %d",
				round, from.Stats().Sent, s.Received, s.KernelDrops)
		}
	}
}

// TestWhole captures a sent datagram: it must forbid fragmentation, and its
// identification must be 0.
func TestWhole(t *testing.T) {
	pc, err := net.ListenPacket("ip4:udp", loopback.String())
	if errors.Is(err, os.ErrPermission) {
		t.Skip("only root sees the headers of IPv4:", err)
	}
	check(t, err)
	defer pc.Close()
	raw, err := ipv4.NewRawConn(pc)
	check(t, err)
	const mark = "not to be fragmented"
	from, to := listen(t, Config{}), listen(t, Config{})
	raw.SetReadDeadline(time.Now().Add(never))
	for b := make([]byte, 1<<16); ; { // datagrams of other tests may fill the raw socket's buffer
		sendAll(t, from, []Packet{{Addr: Pack(to.LocalAddr()), Data: []byte(mark)}})
		h, payload, _, err := raw.ReadFrom(b)
		check(t, err)
		if !bytes.HasSuffix(payload, []byte(mark)) {
			continue // a datagram of another test
		}
		if h.Flags != ipv4.DontFragment || h.ID != 0 {
			t.Errorf("flags %v, identification %d", h.Flags, h.ID)
		}
		return
	}
}

// TestUnreachable checks that ICMP errors are reported with the right destinations,
// whichever call gets them from the kernel.
func TestUnreachable(t *testing.T) {
	from, to := listen(t, Config{}), listen(t, Config{RecvBuffer: 1 << 20})
	good := Packet{Addr: Pack(to.LocalAddr()), Data: []byte("good")}
	refused := []Packet{{Addr: closedPort(t), Data: []byte("1")}, {Addr: closedPort(t), Data: []byte("2")}}

	sendAll(t, from, []Packet{refused[0], good, refused[1], good})
	recvNone(t, from) // takes the pending errors
	addrs := make([]uint64, 10)
	addrs = addrs[:from.Unreachable(addrs)]
	want := []uint64{refused[0].Addr, refused[1].Addr}
	if !slices.Equal(addrs, want) {
		t.Errorf("Unreachable = %x, want %x", addrs, want)
	}
	if n := from.Unreachable(make([]uint64, 10)); n != 0 {
		t.Errorf("reported twice: %d", n)
	}
	if s := from.Stats(); s.Sent != 4 {
		t.Errorf("stats: %+v", s)
	}
}

// TestUnreachableBound checks that the number of addresses that wait for
// Unreachable is limited, and that they can be taken in several calls.
func TestUnreachableBound(t *testing.T) {
	c := listen(t, Config{})
	refused := Packet{Addr: closedPort(t), Data: []byte("no one")}
	for range maxUnreachable + 10 {
		sendAll(t, c, []Packet{refused})
		recvNone(t, c)
	}
	var addrs [1000]uint64
	total := 0
	for n := 1; n > 0; total += n {
		n = c.Unreachable(addrs[:])
	}
	if total != maxUnreachable {
		t.Errorf("%d addresses, want %d", total, maxUnreachable)
	}
}

// TestPendingBothWays has one goroutine receive while another sends to refused ports
// and to the socket itself: no datagram to itself may be lost.
func TestPendingBothWays(t *testing.T) {
	const rounds = 500
	c := listen(t, Config{RecvBuffer: 1 << 20})
	good := Packet{Addr: Pack(c.LocalAddr()), Data: []byte("good")}
	refused := Packet{Addr: closedPort(t), Data: []byte("no one")}
	var done sync.WaitGroup
	done.Go(func() { recvN(t, c, 3*rounds) })
	for range rounds {
		sendAll(t, c, []Packet{good, refused, good, refused, refused, good})
	}
	done.Wait()
}

// faulty is a batcher with faults: WriteBatch and ReadBatch call its functions first.
type faulty struct {
	batcher
	write func(ms []ipv4.Message) (n int, err error) // n of ms are sent before the fault
	read  func() error
}

func (f *faulty) WriteBatch(ms []ipv4.Message, flags int) (int, error) {
	n, err := len(ms), error(nil)
	if f.write != nil {
		n, err = f.write(ms)
	}
	if n > 0 { // as the kernel does: a fault after the first datagram isn't reported
		return f.batcher.WriteBatch(ms[:n], flags)
	}
	if err == nil {
		return 0, errors.New("a fault without an error")
	}
	return -1, wrapped("sendmmsg", err)
}

func (f *faulty) ReadBatch(ms []ipv4.Message, flags int) (int, error) {
	if f.read != nil {
		if err := f.read(); err != nil {
			return -1, wrapped("recvmmsg", err)
		}
	}
	return f.batcher.ReadBatch(ms, flags)
}

// wrapped returns err in the form in which package ipv4 returns it.
func wrapped(call string, err error) error {
	if errno, ok := err.(unix.Errno); ok {
		err = os.NewSyscallError(call, errno)
	}
	return &net.OpError{Op: "write", Net: "udp4", Err: err}
}

// at returns the index of a datagram to addr in a batch, or the length of the
// batch.
func at(ms []ipv4.Message, addr uint64) int {
	i := slices.IndexFunc(ms, func(m ipv4.Message) bool {
		return Pack(m.Addr.(*net.UDPAddr).AddrPort()) == addr
	})
	if i < 0 {
		return len(ms)
	}
	return i
}

// refusing returns a write function for faulty that refuses datagrams to c with err,
// the given number of times.
func refusing(c *Conn, times int, err error) func(ms []ipv4.Message) (int, error) {
	return func(ms []ipv4.Message) (int, error) {
		i := at(ms, Pack(c.LocalAddr()))
		if i < len(ms) && times > 0 {
			times--
			return i, err
		}
		return len(ms), nil
	}
}

// TestSendFaults makes the kernel refuse the third of five datagrams a number of
// times.
func TestSendFaults(t *testing.T) {
	const always = 1 << 20
	tests := []struct {
		err   error
		times int
		n     int
		again bool
	}{
		{unix.EAGAIN, 2, 2, true},
		{unix.ENOBUFS, 2, 2, true},
		{unix.ENOMEM, 2, 2, true},
		{unix.EPERM, always, 2, false}, // a firewall
		{unix.EINTR, 2, 2, true},
		{unix.ECONNREFUSED, 1, 5, false}, // the kernel forgot it between two batches
		{unix.ECONNREFUSED, 2, 5, false},
		{unix.EHOSTUNREACH, 2, 5, false},
		{unix.ENETUNREACH, 2, 5, false},
		{unix.ENETUNREACH, always, 2, false}, // no route
		{unix.EINVAL, always, 2, false},
		{unix.EACCES, always, 2, false},
	}
	for _, test := range tests {
		t.Run(fmt.Sprint(test.err, test.times), func(t *testing.T) {
			from, to := listen(t, Config{}), listen(t, Config{})
			other := listen(t, Config{})
			from.batch = &faulty{batcher: from.batch, write: refusing(other, test.times, test.err)}
			good := Packet{Addr: Pack(to.LocalAddr()), Data: []byte("good")}
			n, err := from.Send([]Packet{good, good, {Addr: Pack(other.LocalAddr()), Data: nil}, good, good})
			if n != test.n || (err == nil) != (n == 5) || errors.Is(err, ErrAgain) != test.again {
				t.Errorf("Send = %d, %v; want %d", n, err, test.n)
			}
			if err != nil && !errors.Is(err, test.err) {
				t.Errorf("error %v, want %v in it", err, test.err)
			}
			if s := from.Stats(); s.Sent != uint64(n) {
				t.Errorf("stats: %+v", s)
			}
		})
	}
}

// TestSendStorm produces ICMP errors faster than Send can put them aside. Send must
// return ErrAgain and not blame the datagram.
func TestSendStorm(t *testing.T) {
	from := listen(t, Config{})
	refused := Packet{Addr: closedPort(t), Data: []byte("no one")}
	real := from.batch
	from.batch = &faulty{batcher: real, write: func([]ipv4.Message) (int, error) {
		real.WriteBatch(newOutBatch(1).fill([]Packet{refused}), unix.MSG_DONTWAIT)
		return 0, unix.ECONNREFUSED
	}}
	n, err := from.Send([]Packet{refused})
	if n != 0 || !errors.Is(err, ErrAgain) || !errors.Is(err, unix.ECONNREFUSED) {
		t.Errorf("Send = %d, %v", n, err)
	}
}

// TestRecvFaults checks errors of reads: Recv skips those about other datagrams, and
// returns those of the socket.
func TestRecvFaults(t *testing.T) {
	broken := errors.New("broken")
	tests := []struct {
		err   error
		times int
		want  error
	}{
		{unix.ECONNREFUSED, 3, nil},
		{unix.EHOSTUNREACH, 3, nil},
		{unix.EINTR, 3, nil},
		{unix.ENOTCONN, 1, unix.ENOTCONN},
		{broken, 1, broken},
		{net.ErrClosed, 1, net.ErrClosed},
	}
	for _, test := range tests {
		t.Run(test.err.Error(), func(t *testing.T) {
			c := listen(t, Config{})
			left := test.times
			c.batch = &faulty{batcher: c.batch, read: func() error {
				if left == 0 {
					return nil
				}
				left--
				return test.err
			}}
			sendAll(t, c, []Packet{{Addr: Pack(c.LocalAddr()), Data: []byte("x")}})
			n, err := c.Recv(make([]Packet, 1), 0)
			if !errors.Is(err, test.want) || (n == 1) != (test.want == nil) {
				t.Errorf("Recv = %d, %v; want error %v", n, err, test.want)
			}
		})
	}
}

// TestRecvStorm checks that endless pending errors don't block a Recv that must not
// wait.
func TestRecvStorm(t *testing.T) {
	c := listen(t, Config{})
	c.batch = &faulty{batcher: c.batch, read: func() error { return unix.ECONNREFUSED }}
	recvNone(t, c)
	if got := c.Stats().Reads; got != maxPending {
		t.Errorf("%d reads, want %d", got, maxPending)
	}
}

func TestParseICMP(t *testing.T) {
	tests := []struct {
		e    icmpError
		want bool
	}{
		{icmpError{3, 3}, true},  // port unreachable
		{icmpError{3, 13}, true}, // forbidden by a router
		{icmpError{3, 4}, false}, // fragmentation needed
		{icmpError{11, 0}, true}, // time exceeded
		{icmpError{12, 0}, false},
		{icmpError{4, 0}, false},
	}
	for _, test := range tests {
		if got := test.e.unreachable(); got != test.want {
			t.Errorf("%+v: %v", test.e, got)
		}
	}
	for _, oob := range [][]byte{nil, make([]byte, 5), make([]byte, 64)} {
		if e, ok := parseICMP(oob); ok {
			t.Errorf("%x: %+v", oob, e)
		}
	}
}

// TestAllocs checks that sending allocates nothing, and that receiving allocates
// only what package ipv4 does: a net.UDPAddr and its IP for each datagram.
func TestAllocs(t *testing.T) {
	if raceEnabled {
		t.Skip("SKIPPED, NO ALLOCATION WAS COUNTED: the race detector empties the pools of package ipv4 at random; " +
			"run the tests without -race too")
	}
	for _, batch := range []int{1, 64} {
		x := newExchange(t, batch, 200)
		if got := testing.AllocsPerRun(100, x.send); got != 0 {
			t.Errorf("sending %d: %v allocations", batch, got)
		}
		drain(t, x.to)
		got := testing.AllocsPerRun(100, func() { x.send(); x.recv() })
		if got > float64(2*batch) {
			t.Errorf("receiving %d: %v allocations", batch, got)
		}
		// An empty socket costs a net.OpError and an os.SyscallError, and recvNone
		// makes a slice.
		if got := testing.AllocsPerRun(100, func() { recvNone(t, x.to) }); got > 3 {
			t.Errorf("receiving nothing: %v allocations", got)
		}
	}
}
