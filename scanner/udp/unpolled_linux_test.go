//go:build !portable

package udp

import (
	"errors"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"
)

func unpoll(t *testing.T) *Unpolled {
	t.Helper()
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	check(t, err)
	u, err := Unpoll(c)
	check(t, err)
	t.Cleanup(func() { u.Close() })
	return u
}

// TestUnpolledBatches sends a batch from one socket to another, and then waits for a
// second batch, which never comes.
func TestUnpolledBatches(t *testing.T) {
	from, to := unpoll(t), unpoll(t)
	out := []ipv4.Message{
		{Buffers: [][]byte{[]byte("a")}, Addr: to.LocalAddr()},
		{Buffers: [][]byte{[]byte("bc")}, Addr: to.LocalAddr()},
	}
	if n, err := ipv4.NewPacketConn(from).WriteBatch(out, 0); n != len(out) || err != nil {
		t.Fatalf("sent %d: %v", n, err)
	}
	in := []ipv4.Message{{Buffers: [][]byte{make([]byte, 8)}}, {Buffers: [][]byte{make([]byte, 8)}}}
	pc := ipv4.NewPacketConn(to)
	if n, err := pc.ReadBatch(in, 0); n != len(out) || err != nil || string(in[1].Buffers[0][:in[1].N]) != "bc" {
		t.Fatalf("received %d: %v", n, err)
	}
	if in[0].Addr.String() != from.LocalAddr().String() {
		t.Errorf("from %v, want %v", in[0].Addr, from.LocalAddr())
	}
	to.Timeout = time.Millisecond
	to.interrupt() // it does not affect reads
	if _, err := pc.ReadBatch(in, 0); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a read of nothing: %v", err)
	}
}

// TestUnpolledClose closes a socket while one goroutine waits and others use it.
// Afterwards all of them get net.ErrClosed.
func TestUnpolledClose(t *testing.T) {
	for range 200 {
		u := unpoll(t)
		raw, _ := u.SyscallConn()
		var users sync.WaitGroup
		users.Go(func() {
			for err := error(nil); err != net.ErrClosed; _, err = u.wait(never) {
				if err != nil {
					t.Errorf("wait: %v", err)
					return
				}
			}
		})
		users.Go(func() {
			for raw.Control(func(uintptr) {}) != net.ErrClosed {
				u.interrupt()
			}
		})
		check(t, u.Close())
		users.Wait()
		if err := u.Close(); err != net.ErrClosed {
			t.Fatalf("closing twice: %v", err)
		}
	}
}

// TestErrorQueueWakes wakes a waiting Recv through the error queue: Recv must continue
// to wait, and must not spin.
func TestErrorQueueWakes(t *testing.T) {
	c := listen(t, Config{})
	refused := Packet{Addr: closedPort(t), Data: []byte("no one")}
	sendAll(t, c, []Packet{refused, refused, refused})
	err := c.icmp.raw.Control(func(fd uintptr) { // takes the error, but leaves the queue entry
		unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_ERROR)
	})
	check(t, err)
	const wait = 20 * time.Millisecond
	begin := time.Now()
	n, err := c.Recv(make([]Packet, 1), wait)
	if n != 0 || err != nil || time.Since(begin) < wait {
		t.Errorf("Recv = %d, %v after %v", n, err, time.Since(begin))
	}
	if reads := c.Stats().Reads; reads > 10 {
		t.Errorf("%d reads", reads)
	}
	if n := c.Unreachable(make([]uint64, 10)); n != 3 {
		t.Errorf("%d unreachable, want 3", n)
	}
}
