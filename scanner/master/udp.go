package master

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"
)

// maxDatagram is the size of the receive buffer. Every UDP payload is shorter.
const maxDatagram = 1 << 16

// maxStale is the number of consecutive pages without a new server at which a fetch
// fails. Duplicates are normal, but several pages full of duplicates mean that the master
// has started again from the beginning.
const maxStale = 3

var errNoProgress = fmt.Errorf("%w: the master makes no progress", ErrMalformed)

func (f *fetch) overUDP(ctx context.Context) error {
	f.withDefaults(3*time.Second, 61*time.Second, 3, 50_000, udpLimits)
	if text := f.Filter.String(); len(text) > maxUDPFilter {
		return fmt.Errorf("%w: the filter is %d bytes long, but masters accept at most %d over UDP; remove conditions, or use the Web API",
			ErrRefused, len(text), maxUDPFilter)
	}
	if f.Dial == nil {
		f.Dial = new(net.Dialer).DialContext
	}
	conn, err := f.Dial(ctx, "udp4", f.UDP)
	if err != nil {
		return fmt.Errorf("master %s: %w", f.UDP, err)
	}
	defer conn.Close()
	// When ctx ends, a deadline in the past interrupts a Read that is blocked.
	defer context.AfterFunc(ctx, func() { conn.SetReadDeadline(time.Unix(1, 0)) })()
	l := pages{
		fetch: f, conn: conn, buf: make([]byte, maxDatagram),
		request: Request{Region: f.Region, Seed: noSeed, Filter: f.Filter.String()},
	}
	for f.stats.End = ""; f.stats.End == ""; {
		if f.stats.Replies == f.Answers {
			return fmt.Errorf("master %s: %w: the list has more pages than the maximum, %d", f.UDP, ErrTooMuch, f.Answers)
		}
		datagram, err := l.fetchPage(ctx)
		if err == nil {
			err = l.take(datagram)
		}
		if err != nil {
			return fmt.Errorf("master %s: %w", f.UDP, err)
		}
	}
	return nil
}

type pages struct {
	*fetch
	conn    net.Conn
	request Request
	buf     []byte
	page    Page
	last    []byte // the previous page, to recognise its duplicates
	// The previous page arrived again after the request for the next page.
	again bool
	stale int // consecutive pages without a new server
}

// fetchPage requests the next page until it arrives, up to Retries+1 times. The result
// aliases l.buf.
func (l *pages) fetchPage(ctx context.Context) ([]byte, error) {
	l.again = false
	foreign := l.stats.Foreign
	var cause error
	for try := range l.Retries + 1 {
		if try > 0 {
			l.stats.Retries++
		}
		// A master that has answered before but is silent now may be ignoring the client
		// because of too many requests.
		if try > 0 && try == l.Retries && l.stats.Replies > 0 && !l.again {
			if err := l.pause(ctx, l.MaxWait, "pause before the next attempt"); err != nil {
				return nil, err
			}
		}
		if err := l.awaitLimits(ctx); err != nil {
			return nil, err
		}
		datagram, err := l.ask(ctx)
		if err == nil {
			return datagram, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		cause = err
		// After an error other than a timeout, an immediate retry would fail, too.
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			if err := l.pause(ctx, l.Timeout, "pause before the next attempt"); err != nil {
				return nil, err
			}
		}
	}
	tries := times(l.Retries + 1)
	switch {
	case l.again:
		return nil, fmt.Errorf("%w: asked %s for the page after %v, but the master sent the previous page again",
			errNoProgress, tries, l.request.Seed)
	case !errors.Is(cause, os.ErrDeadlineExceeded):
		if no, ok := errors.AsType[syscall.Errno](cause); ok {
			cause = no // the system's error without addresses; overUDP adds the master's name
		}
		return nil, fmt.Errorf("%w: %w", ErrNoReply, cause)
	case l.stats.Foreign > foreign:
		return nil, fmt.Errorf("%w: asked %s, and received only datagrams that are not pages of a list", ErrNoReply, tries)
	case l.stats.Replies == 0:
		return nil, fmt.Errorf("%w: asked %s (the master may be down, or may ignore this client for a minute after too many requests)",
			ErrNoReply, tries)
	}
	return nil, fmt.Errorf("%w: asked %s for the page after %v", ErrNoReply, tries, l.request.Seed)
}

// ask sends the request and returns a new page if one arrives within l.Timeout.
func (l *pages) ask(ctx context.Context) ([]byte, error) {
	if err := l.conn.SetReadDeadline(time.Now().Add(l.Timeout)); err != nil {
		return nil, err
	}
	// SetReadDeadline may have overwritten the deadline that AfterFunc set.
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if _, err := l.conn.Write(l.request.Append(nil)); err != nil {
		return nil, err
	}
	for {
		n, err := l.conn.Read(l.buf)
		switch {
		case err != nil:
			return nil, err
		case l.page.Decode(l.buf[:n]) != nil:
			l.stats.Foreign++
		case bytes.Equal(l.buf[:n], l.last):
			l.stats.Repeated++
			l.again = true
		default:
			return l.buf[:n], nil
		}
	}
}

// take passes the page's servers to handle. It then sets the seed of
// the next request or, after the last page, Stats.End. It returns an error if the
// master makes no progress.
func (l *pages) take(datagram []byte) error {
	l.stats.Replies++
	l.stats.Bytes += uint64(len(datagram))
	l.last = append(l.last[:0], datagram...)
	l.stale++
	for _, a := range l.page.Addrs {
		fresh, err := l.add(&Server{Addr: a})
		if err != nil {
			return err
		}
		if fresh {
			l.stale = 0
		}
	}
	if l.page.Cut {
		l.stats.Truncated++
	}
	n := len(l.page.Addrs)
	switch {
	case l.page.End:
		l.stats.End, l.stats.Complete = "the list is complete", true
		return nil
	case n == 0:
		l.stats.End = "the list ended with an empty page and no terminator; it may be incomplete"
		return nil
	case l.stale >= maxStale:
		return fmt.Errorf("%w: %d pages in a row have no new server", errNoProgress, l.stale)
	}
	l.request.Seed = l.page.Addrs[n-1]
	return nil
}
