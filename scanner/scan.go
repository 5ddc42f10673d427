package scanner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/netip"
	"slices"
	"time"

	"github.com/a2sscan/a2sscan/scanner/udp"
)

// transport is a *udp.Conn, or in tests a network in memory.
type transport interface {
	Recv(ps []udp.Packet, wait time.Duration) (int, error)
	Send(ps []udp.Packet) (int, error)
	Unreachable(addrs []uint64) int
	Stats() udp.Stats
	Interrupt()
	Close() error
}

// Scan queries every target and calls handle once for each finished target. The calls
// come one at a time from one goroutine, which on Linux runs on a thread of lower
// priority (package thread). The Result is valid until handle returns; use Clone to
// keep it.
//
// Scan returns when the last target is finished and the cooldown is over. If
// cfg.Control.Drain is closed, Scan starts no new targets, finishes those in progress and
// returns without the cooldown. If ctx is done, Scan stops querying, calls handle for the
// targets that are already finished, and returns ctx's error. In both cases
// Stats.Unfinished counts the targets that were not finished. Another goroutine reads the
// sequence. If the sequence blocks, that goroutine may outlive the call.
//
// Some targets get no Result: those without an IPv4 address or a port, those that are
// already being queried or were just finished, those that were excluded before anything
// was sent to them, and those beyond MaxPerAddress. Stats counts them.
//
// handle may be slow: Scan continues to receive, but starts no new targets while too
// many Results wait.
//
// Scan also returns an error if cfg is invalid or the socket fails. An unreachable target
// is not an error.
func Scan(
	ctx context.Context, cfg Config, targets iter.Seq[Target], handle func(*Result),
) (Stats, error) {
	if targets == nil || handle == nil {
		return Stats{}, errors.New("the arguments targets and handle must not be nil")
	}
	set, err := cfg.complete()
	if err != nil {
		return Stats{}, err
	}
	sock := set.Tuning.transport
	if sock == nil {
		recv, send, _ := set.Buffers()
		sock, err = listen(ctx, &set, udp.Config{Source: set.Source, RecvBuffer: recv, SendBuffer: send})
		if sock == nil {
			return Stats{}, err
		}
	}
	defer sock.Close()
	return newEngine(set, sock, handle).scan(ctx, targets)
}

// listen opens the socket. If the network of this machine is away, for example because
// the address to send from is missing, listen waits for the network, and sets cfg.waited. If
// ctx or cfg.Control.Drain ends this wait, listen returns no socket.
func listen(ctx context.Context, cfg *settings, options udp.Config) (transport, error) {
	since := time.Now()
	for {
		sock, err := udp.Listen(options)
		switch {
		case err == nil:
			return sock, nil
		case cfg.Tuning.NoOutage || !isLocal(err):
			return nil, err
		case cfg.Control.Monitor != nil:
			cfg.Control.Monitor.set(Stats{Away: since.Unix(), AwayFor: time.Since(since), Outages: 1, Rate: cfg.Rate})
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-cfg.Control.Drain:
			return nil, nil
		case <-time.After(pauseAfter(time.Since(since))):
			cfg.waited = time.Since(since)
		}
	}
}

// Query queries one server with the questions and limits of cfg. It returns the server's
// Result, which belongs to the caller. A server that does not answer gets a Result, too:
// see Result.Status. Query returns the error of Scan, or an error if the server was not
// queried.
func Query(ctx context.Context, cfg Config, addr netip.AddrPort) (*Result, error) {
	cfg.Cooldown, cfg.Tuning.NoOutage = cmp.Or(cfg.Cooldown, Off), true
	var answer *Result
	_, err := Scan(ctx, cfg, slices.Values([]Target{{Addr: addr}}), func(r *Result) { answer = r.Clone() })
	if err == nil && answer == nil {
		err = fmt.Errorf("%v was not queried: it is excluded, or is not an IPv4 address with a port", addr)
	}
	return answer, err
}

const (
	minBuffer    = 4 << 20
	maxBuffer    = 64 << 20
	bufferTime   = 100 * time.Millisecond // the receive buffer has room for the replies that come in this time
	datagramCost = 2304                   // the buffer space that the kernel charges for a datagram of 1400 bytes
)

// Buffers returns the sizes in bytes of the receive and the send buffer that a scan with
// cfg requests from the kernel. Its last result is the size of the receive buffer that
// the scan needs: it has room for the replies of a tenth of a second, because a busy
// machine may keep the loop from reading for so long. udp.Stats has the sizes that the
// kernel granted.
func (cfg Config) Buffers() (recv, send, need int) {
	need = maxBuffer
	if rate := cmp.Or(cfg.Rate, cfg.defaultRate()); rate != Off {
		need = int(min(rate*bufferTime.Seconds()*datagramCost, maxBuffer))
	}
	return max(need, minBuffer), minBuffer, need
}
