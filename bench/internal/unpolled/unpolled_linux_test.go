package unpolled

import (
	"errors"
	"net"
	"os"
	"testing"
	"time"

	"golang.org/x/net/ipv4"
)

func open(t *testing.T) *Conn {
	t.Helper()
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	u, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := u.Close(); err != nil {
			t.Error(err)
		}
	})
	return u
}

// TestBatches sends a batch from one socket to another, and waits for a second
// one in vain.
func TestBatches(t *testing.T) {
	from, to := open(t), open(t)
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
	to.Wait = time.Millisecond
	if _, err := pc.ReadBatch(in, 0); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a read of nothing: %v", err)
	}
}
