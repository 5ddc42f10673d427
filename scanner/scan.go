package scanner

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"time"

	"github.com/a2sscan/a2sscan/scanner/udp"
)

// transport is the network as the loop sees it: a *udp.Conn, or in tests one
// that lives in memory. The rules are those of udp.Conn.
type transport interface {
	Recv(ps []udp.Packet, wait time.Duration) (int, error)
	Send(ps []udp.Packet) (int, error)
	Unreachable(addrs []uint64) int
	Stats() udp.Stats
	Interrupt()
	Close() error
}

// Scan asks every target and calls handle once for each that was asked to the
// end, one call at a time, in a goroutine of its own, which on Linux has a
// thread of lower priority (package thread). The Result is valid until handle
// returns; Clone keeps.
//
// Scan returns when the last target is finished and cfg.Cooldown has passed.
// When cfg.Drain is closed no new target is started and the open ones are
// finished; when ctx is done Scan stops at once, hands over what is finished
// and returns ctx's error. In both cases the rest is Stats.Unfinished. The
// sequence is read in a goroutine of its own; one that blocks for ever is
// left behind.
//
// A target that can't be asked, or not again, has no Result: what has no IPv4
// address or no port, is open already, was excluded, or is one too many for its
// address. Stats counts each of them.
//
// handle may take its time: Scan goes on receiving, and starts no new targets
// while too many Results wait.
//
// An error of the network itself, such as a socket that can't be opened, is
// returned; that a target can't be reached is not an error.
func Scan(
	ctx context.Context, cfg Config, targets iter.Seq[Target], handle func(*Result),
) (Stats, error) {
	if targets == nil || handle == nil {
		return Stats{}, errors.New("a sequence of targets and a function for their results are needed")
	}
	cfg, err := cfg.withDefaults()
	if err != nil {
		return Stats{}, err
	}
	sock := cfg.transport
	if sock == nil {
		if sock, err = listen(&cfg); err != nil {
			return Stats{}, err
		}
	}
	defer sock.Close()
	return newEngine(cfg, sock, handle).scan(ctx, targets)
}

const (
	minBuffer    = 4 << 20
	maxBuffer    = 64 << 20
	bufferTime   = 100 * time.Millisecond // of the rate, in replies
	datagramCost = 2304                   // what the kernel counts for one of 1400 bytes
)

// Buffers returns how many bytes a scan with cfg asks the kernel for, for
// receiving and for sending, and how many of the former it needs: room for what
// may come in a tenth of a second at its rate, which is how long a busy machine
// keeps the loop from reading. What the kernel grants is in udp.Stats.
func (cfg Config) Buffers() (recv, send, need int) {
	need = maxBuffer
	if rate := cmp.Or(cfg.Rate, DefaultRate); rate != Off {
		need = int(min(rate*bufferTime.Seconds()*datagramCost, maxBuffer))
	}
	recv, send = cfg.RecvBuffer, cfg.SendBuffer
	if recv == 0 {
		recv = max(need, minBuffer)
	}
	if send == 0 {
		send = minBuffer
	}
	return recv, send, need
}

// listen opens the shared socket with the buffers that the rate needs.
func listen(cfg *Config) (*udp.Conn, error) {
	recv, send, _ := cfg.Buffers()
	return udp.Listen(udp.Config{Source: cfg.Source, RecvBuffer: recv, SendBuffer: send, Batch: batchLen})
}
