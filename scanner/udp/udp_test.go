package udp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// never is how long tests wait for something that must happen. Only failing tests
// wait that long.
const never = 20 * time.Second

var loopback = netip.MustParseAddr("127.0.0.1")

func listen(t testing.TB, cfg Config) *Conn {
	t.Helper()
	if !cfg.Source.IsValid() {
		cfg.Source = netip.AddrPortFrom(loopback, 0)
	}
	c, err := Listen(cfg)
	check(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// recvN receives n datagrams and returns copies of them.
func recvN(t testing.TB, c *Conn, n int) []Packet {
	t.Helper()
	var got []Packet
	ps := make([]Packet, 100)
	for len(got) < n {
		m, err := c.Recv(ps, never)
		check(t, err)
		if m == 0 {
			t.Fatalf("received %d datagrams, want %d", len(got), n)
		}
		for _, p := range ps[:m] {
			got = append(got, Packet{Addr: p.Addr, Data: bytes.Clone(p.Data)})
		}
	}
	return got
}

// recvNone checks that nothing is left to receive.
func recvNone(t testing.TB, c *Conn) {
	t.Helper()
	if n, err := c.Recv(make([]Packet, 1), 0); n != 0 || err != nil {
		t.Errorf("Recv = %d, %v; want nothing", n, err)
	}
}

func sendAll(t testing.TB, c *Conn, ps []Packet) {
	t.Helper()
	if n, err := c.Send(ps); n != len(ps) || err != nil {
		t.Fatalf("Send = %d, %v; want %d", n, err, len(ps))
	}
}

// closedPort returns the address of a port without a listener.
func closedPort(t testing.TB) uint64 {
	t.Helper()
	c, err := Listen(Config{Source: netip.AddrPortFrom(loopback, 0)})
	check(t, err)
	defer c.Close()
	return Pack(c.LocalAddr())
}

func TestPack(t *testing.T) {
	tests := []struct {
		addr string
		want uint64
	}{
		{"127.0.0.1:27015", 0x7F000001_6987},
		{"255.255.255.255:65535", 0xFFFFFFFF_FFFF},
		{"0.0.0.0:0", 0},
		{"1.2.3.4:1", 0x01020304_0001},
	}
	for _, test := range tests {
		a := netip.MustParseAddrPort(test.addr)
		if got := Pack(a); got != test.want {
			t.Errorf("Pack(%v) = %#x, want %#x", a, got, test.want)
		}
		if got := Unpack(test.want); got != a {
			t.Errorf("Unpack(%#x) = %v, want %v", test.want, got, a)
		}
	}
	if got := Pack(netip.MustParseAddrPort("[::ffff:127.0.0.1]:27015")); got != 0x7F000001_6987 {
		t.Errorf("mapped address: %#x", got)
	}
	if got := Pack(netip.MustParseAddrPort("[2001:db8::1]:27015")); got != 0 {
		t.Errorf("IPv6 address: %#x", got)
	}
}

// TestBothWays sends datagrams of many sizes there and back.
func TestBothWays(t *testing.T) {
	a := listen(t, Config{RecvBuffer: 1 << 20})
	b := listen(t, Config{RecvBuffer: 1 << 20})
	for _, size := range []int{0, 1, 2, 25, 29, 1400, 1472, 1473, 9000, 65506, 65507} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			data := make([]byte, size)
			for i := range data {
				data[i] = byte(rand.Uint32())
			}
			sendAll(t, a, []Packet{{Addr: Pack(b.LocalAddr()), Data: data}})
			got := recvN(t, b, 1)[0]
			if got.Addr != Pack(a.LocalAddr()) || !bytes.Equal(got.Data, data) {
				t.Fatalf("there: %d bytes from %v", len(got.Data), Unpack(got.Addr))
			}
			sendAll(t, b, []Packet{got})
			got = recvN(t, a, 1)[0]
			if got.Addr != Pack(b.LocalAddr()) || !bytes.Equal(got.Data, data) {
				t.Fatalf("back: %d bytes from %v", len(got.Data), Unpack(got.Addr))
			}
		})
	}
	if s := a.Stats(); s.Sent != 11 || s.Received != 11 || s.SentBytes != s.ReceivedBytes {
		t.Errorf("stats: %+v", s)
	}
}

// TestBatches sends more than a batch at once to two sockets in turn. Each datagram
// has different bytes.
func TestBatches(t *testing.T) {
	const count = 300
	from := listen(t, Config{})
	to := []*Conn{
		listen(t, Config{RecvBuffer: 1 << 20}),
		listen(t, Config{RecvBuffer: 1 << 20}),
	}
	ps := make([]Packet, count)
	for i := range ps {
		data := binary.BigEndian.AppendUint32(nil, uint32(i))
		ps[i] = Packet{Addr: Pack(to[i%2].LocalAddr()), Data: append(data, make([]byte, i)...)}
	}
	sendAll(t, from, ps)
	for k, c := range to {
		for i, got := range recvN(t, c, count/2) {
			want := ps[2*i+k].Data
			if got.Addr != Pack(from.LocalAddr()) || !bytes.Equal(got.Data, want) {
				t.Fatalf("socket %d, datagram %d: %x from %v", k, i, got.Data[:4], Unpack(got.Addr))
			}
		}
		recvNone(t, c)
	}
}

// TestRecvShort checks that Recv fills in at most len(ps) datagrams, and loses
// none.
func TestRecvShort(t *testing.T) {
	a, b := listen(t, Config{}), listen(t, Config{})
	sendAll(t, a, []Packet{{Addr: Pack(b.LocalAddr()), Data: []byte("1")}, {Addr: Pack(b.LocalAddr()), Data: []byte("2")}})
	if n, err := b.Recv(nil, never); n != 0 || err != nil {
		t.Fatalf("Recv(nil) = %d, %v", n, err)
	}
	ps := make([]Packet, 1)
	for _, want := range []string{"1", "2"} {
		n, err := b.Recv(ps, never)
		if n != 1 || err != nil || string(ps[0].Data) != want {
			t.Fatalf("Recv = %d, %v, %q; want %q", n, err, ps[0].Data, want)
		}
	}
}

// TestRecvNoWait checks that a wait that timed out does not affect later reads.
func TestRecvNoWait(t *testing.T) {
	c := listen(t, Config{})
	recvNone(t, c)
	ps := make([]Packet, 1)
	if n, err := c.Recv(ps, time.Millisecond); n != 0 || err != nil {
		t.Fatalf("Recv = %d, %v; want nothing", n, err)
	}
	sendAll(t, c, []Packet{{Addr: Pack(c.LocalAddr()), Data: []byte("x")}})
	for end := time.Now().Add(never); ; {
		n, err := c.Recv(ps, 0)
		check(t, err)
		if n == 1 {
			return
		}
		if time.Now().After(end) {
			t.Fatal("nothing came")
		}
	}
}

// TestInterrupt interrupts a Recv again and again, at any moment of its wait.
func TestInterrupt(t *testing.T) {
	c := listen(t, Config{})
	start := make(chan struct{})
	go func() {
		for range start {
			c.Interrupt()
		}
	}()
	defer close(start)
	end := time.Now().Add(never)
	for range 2000 {
		start <- struct{}{}
		n, err := c.Recv(make([]Packet, 1), never)
		if n != 0 || err != nil {
			t.Fatalf("Recv = %d, %v", n, err)
		}
		if time.Now().After(end) {
			t.Fatal("an interrupt was lost")
		}
	}
}

func TestClose(t *testing.T) {
	c := listen(t, Config{})
	errs := make(chan error, 1)
	go func() {
		_, err := c.Recv(make([]Packet, 1), never)
		errs <- err
	}()
	c.Close()
	if err := <-errs; err != net.ErrClosed {
		t.Errorf("Recv while closing: %v", err)
	}
	if _, err := c.Recv(make([]Packet, 1), 0); err != net.ErrClosed {
		t.Errorf("Recv after closing: %v", err)
	}
	if n, err := c.Send([]Packet{{Addr: closedPort(t), Data: nil}}); n != 0 || err != net.ErrClosed {
		t.Errorf("Send after closing: %d, %v", n, err)
	}
	c.Interrupt()
	c.Stats()
	if err := c.Close(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closing twice: %v", err)
	}
}

// sendPast sends ps, skips entries that fail, and returns their indices.
func sendPast(t *testing.T, c *Conn, ps []Packet) (failed []int) {
	t.Helper()
	for i := 0; i < len(ps); {
		n, err := c.Send(ps[i:])
		i += n
		switch {
		case errors.Is(err, ErrAgain):
			t.Fatalf("entry %d: %v", i, err)
		case err != nil:
			failed = append(failed, i)
			i++
		case i < len(ps):
			t.Fatalf("Send stopped at entry %d without an error", i)
		}
	}
	return failed
}

// TestSendIsolation checks that a datagram that can't be sent does not stop others.
// None of the bad datagrams leaves the machine: 127.255.255.255 is a broadcast to the
// loopback network, which is forbidden.
func TestSendIsolation(t *testing.T) {
	from, to := listen(t, Config{}), listen(t, Config{RecvBuffer: 1 << 20})
	good := Packet{Addr: Pack(to.LocalAddr()), Data: []byte("good")}
	bad := []Packet{
		{Addr: Pack(netip.MustParseAddrPort("127.255.255.255:27015")), Data: []byte("x")},
		{Addr: Pack(netip.MustParseAddrPort("127.0.0.1:0")), Data: []byte("x")},
		{Addr: good.Addr, Data: make([]byte, 65508)},
	}
	for _, p := range bad {
		t.Run(Unpack(p.Addr).String(), func(t *testing.T) {
			ps := []Packet{good, p, good, p, p, good}
			failed := sendPast(t, from, ps)
			if fmt.Sprint(failed) != "[1 3 4]" {
				t.Errorf("failed: %v", failed)
			}
			recvN(t, to, 3)
			recvNone(t, to)
		})
	}
	if s := from.Stats(); s.Sent != 9 {
		t.Errorf("stats: %+v", s)
	}
}

// TestRefused sends to a port without a listener, between datagrams that must
// arrive, and from a socket that also receives.
func TestRefused(t *testing.T) {
	from, to := listen(t, Config{}), listen(t, Config{RecvBuffer: 1 << 20})
	good := Packet{Addr: Pack(to.LocalAddr()), Data: []byte("good")}
	refused := Packet{Addr: closedPort(t), Data: []byte("no one")}
	const rounds = 50
	for range rounds {
		sendAll(t, from, []Packet{refused, good, refused, refused, good, good})
		sendAll(t, to, []Packet{{Addr: Pack(from.LocalAddr()), Data: []byte("back")}})
		recvN(t, from, 1)
	}
	recvN(t, to, 3*rounds)
	recvNone(t, to)
}

func TestListenErrors(t *testing.T) {
	tests := []struct {
		cfg  Config
		want string
	}{
		{Config{Source: netip.MustParseAddrPort("[::1]:0")}, "the source address ::1 is not an IPv4 address"},
		{Config{Source: netip.MustParseAddrPort("192.0.2.1:0")}, "192.0.2.1:0"},
	}
	for _, test := range tests {
		c, err := Listen(test.cfg)
		if err == nil {
			c.Close()
			t.Errorf("%+v: no error", test.cfg)
		} else if !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %q, want %q in it", test.cfg, err, test.want)
		}
	}
}

func TestSource(t *testing.T) {
	first := listen(t, Config{Source: netip.MustParseAddrPort("127.0.0.2:0")})
	addr := first.LocalAddr()
	if addr.Addr().String() != "127.0.0.2" || addr.Port() == 0 {
		t.Errorf("LocalAddr = %v", addr)
	}
	if c, err := Listen(Config{Source: addr}); err == nil {
		c.Close()
		t.Errorf("%v was opened twice", addr)
	}
}

func TestBufferSizes(t *testing.T) {
	s := listen(t, Config{}).Stats()
	if s.RecvBufferAsked != 0 || s.RecvBuffer <= 0 || s.SendBuffer <= 0 {
		t.Errorf("defaults: %+v", s)
	}
	s = listen(t, Config{RecvBuffer: 150_000, SendBuffer: 140_000}).Stats()
	if s.RecvBufferAsked != 150_000 || s.RecvBuffer < 150_000 {
		t.Errorf("receiving: asked %d, granted %d", s.RecvBufferAsked, s.RecvBuffer)
	}
	if s.SendBuffer < 140_000 {
		t.Errorf("sending: granted %d", s.SendBuffer)
	}
}

func TestErrAgain(t *testing.T) {
	err := sendError(&net.OpError{Op: "write", Err: wouldBlock})
	if !errors.Is(err, ErrAgain) || !errors.Is(err, wouldBlock) || errors.Is(err, net.ErrClosed) {
		t.Errorf("%v", err)
	}
	if !strings.HasPrefix(err.Error(), "can't send now: ") {
		t.Errorf("%q", err)
	}
	if err := sendError(net.ErrWriteToConnected); err != net.ErrWriteToConnected {
		t.Errorf("an error without a number: %v", err)
	}
}

// exchange is the body of benchmarks and allocation tests: it sends a batch and
// receives it.
type exchange struct {
	t        testing.TB
	from, to *Conn
	out, in  []Packet
}

func newExchange(t testing.TB, batch, size int) *exchange {
	x := &exchange{
		t:    t,
		from: listen(t, Config{}),
		to:   listen(t, Config{RecvBuffer: 1 << 20}),
		out:  make([]Packet, batch),
		in:   make([]Packet, batch),
	}
	for i := range x.out {
		x.out[i] = Packet{Addr: Pack(x.to.LocalAddr()), Data: make([]byte, size)}
	}
	return x
}

// mark marks every other datagram for GSO with the next one.
func (x *exchange) mark() {
	for i := range x.out {
		x.out[i].GSO = i%2 == 0
	}
}

func (x *exchange) send() {
	if n, err := x.from.Send(x.out); n != len(x.out) || err != nil {
		x.t.Fatalf("Send = %d, %v", n, err)
	}
}

func (x *exchange) recv() {
	for got := 0; got < len(x.out); {
		n, err := x.to.Recv(x.in, never)
		if n == 0 || err != nil {
			x.t.Fatalf("Recv = %d, %v", n, err)
		}
		got += n
	}
}

// BenchmarkSend sends to a socket without a reader: the kernel drops what does not
// fit.
func BenchmarkSend(b *testing.B) {
	for _, batch := range []int{1, 64, 128} {
		b.Run(fmt.Sprint(batch), func(b *testing.B) {
			x := newExchange(b, batch, 25)
			b.ReportAllocs()
			b.SetBytes(int64(25 * batch))
			for b.Loop() {
				x.send()
			}
			report(b, batch)
		})
	}
	b.Run("gso", func(b *testing.B) {
		const batch = 128
		x := newExchange(b, batch, 9)
		x.mark()
		b.ReportAllocs()
		b.SetBytes(9 * batch)
		for b.Loop() {
			x.send()
		}
		report(b, batch)
	})
}

func BenchmarkRecv(b *testing.B) {
	for _, batch := range []int{1, 64, 128} {
		b.Run(fmt.Sprint(batch), func(b *testing.B) {
			x := newExchange(b, batch, 200)
			b.ReportAllocs()
			b.SetBytes(int64(200 * batch))
			for b.Loop() {
				b.StopTimer()
				x.send()
				b.StartTimer()
				x.recv()
			}
			report(b, batch)
		})
	}
}

func report(b *testing.B, batch int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*batch), "ns/datagram")
}

// check ends the test if err is not nil.
func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
