package bench

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"

	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// The sizes of the bare loops are those of the scanner.
const (
	bareBatch   = 128
	bareBuffer  = 4 << 20
	bareMessage = 1<<16 - 1
	bareRequest = 32
	bareStall   = 2 * time.Second // without a datagram: then a datagram was lost
)

// bare is a client that decodes nothing except challenges. It counts the other
// replies by kind.
type bare struct {
	*Client
	t    *task
	sock *udp.Unpolled
	pc   *ipv4.PacketConn

	in   []ipv4.Message
	out  []ipv4.Message
	want int // number of servers
	next int // the next server to start

	addrs    []net.UDPAddr // addresses of the new servers in out
	ips      []byte
	requests []byte
	base     uint32
}

func (t *task) newBare(c *Client) (*bare, error) {
	conn, err := listenBare(t.Config.Loop != Blast)
	if err != nil {
		return nil, err
	}
	sock, err := udp.Unpoll(conn)
	if err != nil {
		return nil, err
	}
	sock.Timeout = bareStall
	const out = wire.NumQuestions*bareBatch + window
	b := &bare{
		Client: c, t: t, sock: sock, pc: ipv4.NewPacketConn(sock),
		in: make([]ipv4.Message, bareBatch), out: make([]ipv4.Message, 0, out),
		want:  t.Config.Targets(),
		addrs: make([]net.UDPAddr, out), ips: make([]byte, net.IPv4len*out),
		requests: make([]byte, bareRequest*out),
	}
	first := t.Config.Network.Masked().Addr().As4()
	b.base = binary.BigEndian.Uint32(first[:])
	room := make([]byte, bareBatch*bareMessage)
	for i := range b.in {
		b.in[i].Buffers = [][]byte{room[i*bareMessage : (i+1)*bareMessage]}
	}
	for i := range b.addrs {
		b.addrs[i].IP = b.ips[i*net.IPv4len : (i+1)*net.IPv4len]
	}
	vecs := make([][]byte, out)
	for i := range vecs {
		b.out = append(b.out, ipv4.Message{Buffers: vecs[i : i+1]})
	}
	b.out = b.out[:0]
	return b, nil
}

// listenBare opens a socket with buffers as large as the scanner's. If whole is
// set, it forbids fragmentation, as the scanner does: then the kernel need not
// choose an identification for each datagram.
func listenBare(whole bool) (*net.UDPConn, error) {
	lc := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		return raw.Control(func(fd uintptr) {
			s := int(fd)
			if whole {
				_ = unix.SetsockoptInt(s, unix.SOL_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_DO)
			}
			if unix.SetsockoptInt(s, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, bareBuffer) != nil {
				_ = unix.SetsockoptInt(s, unix.SOL_SOCKET, unix.SO_RCVBUF, bareBuffer)
			}
			if unix.SetsockoptInt(s, unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, bareBuffer) != nil {
				_ = unix.SetsockoptInt(s, unix.SOL_SOCKET, unix.SO_SNDBUF, bareBuffer)
			}
		})
	}}
	pc, err := lc.ListenPacket(context.Background(), "udp4", "0.0.0.0:0")
	if err != nil {
		return nil, err
	}
	return pc.(*net.UDPConn), nil
}

// bare is the ceiling: one goroutine that reads a batch, counts it, answers its
// challenges, and sends INFO requests to new servers until the number of servers being
// queried reaches window.
func (t *task) bare(c *Client) error {
	b, err := t.newBare(c)
	if err != nil {
		return err
	}
	defer b.sock.Close()
	for open := uint64(0); b.Complete < uint64(b.want); {
		for open-b.Complete < window && b.next < b.want && len(b.out) < cap(b.out) {
			b.startNext()
			open++
		}
		if err := b.flush(); err != nil {
			return err
		}
		n, err := b.pc.ReadBatch(b.in, 0)
		b.Reads++
		if errors.Is(err, os.ErrDeadlineExceeded) {
			b.problem("%d of %d servers: a datagram was lost", b.Complete, b.want)
			return nil
		}
		if err != nil {
			return err
		}
		for i := range b.in[:n] {
			b.take(&b.in[i])
		}
	}
	return nil
}

// take counts a datagram, and answers a challenge.
func (b *bare) take(m *ipv4.Message) {
	b.Received++
	switch d := m.Buffers[0][:m.N]; wire.KindOf(d) {
	case wire.KindChallenge:
		b.Kinds.Challenge++
		c, _ := wire.DecodeChallenge(d)
		for q := range wire.Question(wire.NumQuestions) {
			b.add(q, c).Addr = m.Addr
		}
	case wire.KindInfo:
		b.Kinds.Info++
	case wire.KindPlayers:
		b.Kinds.Players++
	case wire.KindRules:
		b.Kinds.Rules++
		b.Answered++
		b.Complete++
	}
}

// add adds a request to the batch, and returns its message. The caller sets the
// address.
func (b *bare) add(q wire.Question, c wire.Challenge) *ipv4.Message {
	i := len(b.out)
	b.out = b.out[:i+1]
	m := &b.out[i]
	m.Buffers[0] = wire.AppendRequest(b.requests[i*bareRequest:][:0:bareRequest], q, c)
	return m
}

// startNext adds the first request to the next server to the batch.
func (b *bare) startNext() {
	i, ports := len(b.out), b.t.Ports
	binary.BigEndian.PutUint32(b.addrs[i].IP, b.base+uint32(b.next/len(ports)))
	b.addrs[i].Port = int(ports[b.next%len(ports)])
	b.add(wire.QuestionInfo, wire.NoChallenge).Addr = &b.addrs[i]
	b.next++
}

// flush sends the batch and empties it. It skips a datagram to the broadcast
// address, the last address of the loopback network, which can't be sent.
func (b *bare) flush() error {
	for ms := b.out; len(ms) > 0; {
		n, err := b.pc.WriteBatch(ms[:min(len(ms), bareBatch)], 0)
		b.Writes++
		switch {
		case errors.Is(err, unix.EACCES):
			ms = ms[1:]
			continue
		case err != nil:
			return err
		}
		b.Sent += uint64(n)
		ms = ms[n:]
	}
	b.out = b.out[:0]
	return nil
}

// blast sends INFO to every target and reads nothing.
func (t *task) blast(c *Client) error {
	b, err := t.newBare(c)
	if err != nil {
		return err
	}
	defer b.sock.Close()
	for b.next < b.want {
		for b.next < b.want && len(b.out) < bareBatch {
			b.startNext()
		}
		if err := b.flush(); err != nil {
			return fmt.Errorf("after %d datagrams: %w", b.Sent, err)
		}
	}
	return nil
}
