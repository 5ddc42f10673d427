package loopback

import (
	"encoding/binary"
	"net"
	"net/netip"
	"testing"
	"time"

	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"

	"github.com/a2sscan/a2sscan/wire"
)

// arrived returns a message like those that ReadBatch fills in.
func arrived(from string, to [4]byte, datagram []byte) *ipv4.Message {
	return &ipv4.Message{
		Buffers: [][]byte{datagram}, N: len(datagram),
		OOB: unix.PktInfo4(&unix.Inet4Pktinfo{Addr: to}), NN: unix.CmsgSpace(unix.SizeofInet4Pktinfo),
		Addr: net.UDPAddrFromAddrPort(netip.MustParseAddrPort(from)),
	}
}

// echo is a handler whose servers, in 127.1.0.0/24, answer with the datagram that
// they receive.
type echo struct {
	out   Outbox
	stats Stats
}

func (e *echo) Out() (*Outbox, *Stats) { return &e.out, &e.stats }
func (e *echo) Has(server uint64) bool { return server>>24 == 127<<16|1<<8 }

func (e *echo) Respond(_ time.Duration, client, server uint64, datagram []byte) {
	e.stats.Queries++
	at := len(e.out.Data)
	e.out.Data = append(e.out.Data, datagram...)
	e.out.Add(server, at)
}

// socketless returns a port that can receive datagrams but sends none.
func socketless() *Port {
	e := &echo{}
	return &Port{handler: e, out: &e.out, stats: &e.stats, faults: new(Faults).start(), number: 27015}
}

// TestWall passes a port datagrams from and to all kinds of addresses. The port
// must drop a datagram before it reads it if either address is outside 127.0.0.0/8.
// It must also drop a datagram to an address that is not the fleet's.
func TestWall(t *testing.T) {
	request := wire.AppendRequest(nil, wire.QuestionInfo, wire.NoChallenge)
	tests := []struct {
		from string
		to   [4]byte
		want Stats
	}{
		{"127.0.0.1:5000", [4]byte{127, 1, 0, 7}, Stats{Queries: 1}},
		{"127.255.3.1:5000", [4]byte{127, 1, 0, 7}, Stats{Queries: 1}},
		{"10.0.0.1:5000", [4]byte{127, 1, 0, 7}, Stats{Walled: 1}},
		{"126.255.255.255:5000", [4]byte{127, 1, 0, 7}, Stats{Walled: 1}},
		{"128.0.0.1:5000", [4]byte{127, 1, 0, 7}, Stats{Walled: 1}},
		{"0.0.0.0:5000", [4]byte{127, 1, 0, 7}, Stats{Walled: 1}},
		{"127.0.0.1:5000", [4]byte{192, 0, 2, 1}, Stats{Walled: 1}},
		{"127.0.0.1:5000", [4]byte{255, 1, 0, 7}, Stats{Walled: 1}},
		{"127.0.0.1:5000", [4]byte{127, 1, 1, 0}, Stats{Foreign: 1}},
		{"127.0.0.1:5000", [4]byte{127, 0, 255, 255}, Stats{Foreign: 1}},
	}
	for _, test := range tests {
		p := socketless()
		p.take(0, arrived(test.from, test.to, request))
		if *p.stats != test.want {
			t.Errorf("from %s to %v: %+v, want %+v", test.from, test.to, p.stats, test.want)
		}
		if answered := len(p.out.List) > 0; answered != (test.want.Queries > 0) {
			t.Errorf("from %s to %v: answered %v", test.from, test.to, answered)
		}
	}
	p := socketless()
	blind := arrived("127.0.0.1:5000", [4]byte{127, 1, 0, 7}, request)
	blind.NN = 0
	p.take(0, blind)
	if p.stats.Walled != 1 {
		t.Error("a datagram was answered that did not say for which address it is")
	}
}

// TestKernelDropsAreCounted passes the kernel's count of drops to a port. The count
// wraps around.
func TestKernelDropsAreCounted(t *testing.T) {
	control := make([]byte, unix.CmsgSpace(4))
	binary.NativeEndian.PutUint64(control, uint64(unix.CmsgLen(4)))
	binary.NativeEndian.PutUint32(control[8:], unix.SOL_SOCKET)
	binary.NativeEndian.PutUint32(control[12:], unix.SO_RXQ_OVFL)
	p := socketless()
	for _, n := range []uint32{3, 10, 0xFFFFFFFF, 4} {
		binary.NativeEndian.PutUint32(control[unix.CmsgLen(0):], n)
		p.arrival(control)
	}
	if want := uint64(0xFFFFFFFF + 5); p.stats.KernelDrops != want {
		t.Errorf("%d drops, want %d", p.stats.KernelDrops, want)
	}
}

// TestBoundToLoopback asks the kernel for the device to which the sockets are
// bound.
func TestBoundToLoopback(t *testing.T) {
	var g Group
	port, err := g.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	raw, err := port.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var device string
	if e := raw.Control(func(fd uintptr) {
		device, err = unix.GetsockoptString(int(fd), unix.SOL_SOCKET, unix.SO_BINDTODEVICE)
	}); e != nil || err != nil {
		t.Fatal(e, err)
	}
	if device != "lo" {
		t.Errorf("bound to %q", device)
	}
}
