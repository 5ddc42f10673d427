package master

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"
)

// DefaultUDP is Valve's master server for Source games. It has had long outages;
// the one for GoldSource has been shut down.
const DefaultUDP = "hl2master.steampowered.com:27011"

// Errors of an incomplete list. The servers before the error were passed on.
var (
	ErrNoReply    = errors.New("the master does not answer")
	ErrNoProgress = errors.New("the master makes no progress")
	ErrTooMany    = errors.New("the list has no end")
)

// UDPConfig describes which list to fetch from a master server, and how.
type UDPConfig struct {
	Addr   string // host:port; empty: DefaultUDP
	Region Region // zero is USEast; World for all
	Filter Filter // at most MaxUDPFilter bytes long

	Limits  []Limit       // nil: UDPLimits; empty: none
	Timeout time.Duration // for an answer; zero: 3 s
	Retries int           // requests repeated for one page; zero: 3; negative: none
	Silence time.Duration // pause before the last of them; zero: 61 s, as long as masters punish
	Max     uint64        // most servers; zero: 10,000,000
	Pages   uint64        // most pages; zero: 50,000, enough for 10,000,000 servers in full pages

	// Page is called with each new page, before its servers are passed on. The
	// datagram is valid until Page returns. Page may be nil.
	Page     func(datagram []byte) error
	Progress func(Progress) // called between requests; may be nil

	// Dial opens the socket; if it is nil, net.Dialer is used. Each write to the
	// connection must be one datagram, and so must each read.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// The defaults of a UDPConfig.
const (
	udpTimeout = 3 * time.Second
	udpRetries = 3
	udpSilence = 61 * time.Second
	udpPages   = 50_000
)

// maxStale is how many pages in a row may contain nothing new: duplicates are
// normal, but pages full of them mean that the master has started again from the
// beginning.
const maxStale = 3

func (c UDPConfig) withDefaults() UDPConfig {
	c.Addr = cmp.Or(c.Addr, DefaultUDP)
	c.Timeout = cmp.Or(c.Timeout, udpTimeout)
	c.Retries = max(cmp.Or(c.Retries, udpRetries), 0)
	c.Silence = cmp.Or(c.Silence, udpSilence)
	c.Pages = cmp.Or(c.Pages, udpPages)
	if c.Limits == nil {
		c.Limits = UDPLimits
	}
	if c.Dial == nil {
		c.Dial = new(net.Dialer).DialContext
	}
	return c
}

// FetchUDP fetches a list page by page and passes each server to handle once, as
// soon as it arrives; the Server is valid until handle returns. The fetch ends if
// handle or Page returns an error, or if ctx ends. The Stats are correct in any
// case.
//
// The list ends with the terminator or an empty page. Otherwise FetchUDP returns an
// error: one that wraps ErrNoReply, ErrNoProgress or ErrTooMany, ctx's error, a
// *FilterError, or an error of the network.
func FetchUDP(ctx context.Context, cfg UDPConfig, handle func(*Server) error) (Stats, error) {
	cfg = cfg.withDefaults()
	filter, err := cfg.Filter.appendUDP()
	if err != nil {
		return Stats{}, err
	}
	conn, err := cfg.Dial(ctx, "udp4", cfg.Addr)
	if err != nil {
		return Stats{}, fmt.Errorf("master %s: %w", cfg.Addr, err)
	}
	defer conn.Close()
	// Only a new deadline ends a read that is already waiting.
	defer context.AfterFunc(ctx, func() { conn.SetReadDeadline(time.Unix(1, 0)) })()
	l := udpList{
		UDPConfig: cfg, collector: newCollector(cfg.Max, handle), conn: conn,
		pace: pace{limits: cfg.Limits}, buf: make([]byte, maxDatagram),
		request: Request{Region: cfg.Region, Seed: noSeed, Filter: filter},
	}
	err = l.explain("master "+cfg.Addr, l.fetch(ctx))
	return l.stats, err
}

// maxDatagram is one more than the longest possible UDP payload.
const maxDatagram = 1 << 16

// udpList is a list being fetched.
type udpList struct {
	UDPConfig
	*collector
	conn    net.Conn
	pace    pace
	request Request
	buf     []byte
	last    []byte // the previous page, to recognise its duplicates
	again   bool   // it came again since the last new page
	stale   int    // pages in a row with nothing new
}

func (l *udpList) fetch(ctx context.Context) error {
	for l.stats.End == EndNone {
		if l.stats.Replies == l.UDPConfig.Pages {
			return fmt.Errorf("%w: more than %d pages", ErrTooMany, l.stats.Replies)
		}
		datagram, err := l.page(ctx)
		if err != nil {
			return err
		}
		if err := l.take(datagram); err != nil {
			return err
		}
	}
	l.progress(0, WaitNothing)
	return nil
}

// page requests until a new page arrives.
func (l *udpList) page(ctx context.Context) ([]byte, error) {
	l.again = false
	var cause error
	for try := range l.Retries + 1 {
		if err := l.await(ctx, try); err != nil {
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
		if !errors.Is(err, os.ErrDeadlineExceeded) { // an immediate error would come again at once
			if err := sleep(ctx, l.Timeout); err != nil {
				return nil, err
			}
		}
	}
	return nil, l.noReply(cause)
}

// await waits until the request may be sent for the given try.
func (l *udpList) await(ctx context.Context, try int) error {
	if try > 0 {
		l.stats.Retries++
	}
	// A master that has answered before but is silent now is punishing too many
	// requests.
	if try > 0 && try == l.Retries && l.stats.Replies > 0 && !l.again {
		l.progress(l.Silence, WaitRetry)
		if err := sleep(ctx, l.Silence); err != nil {
			return err
		}
	}
	d := l.pace.delay(time.Now())
	if d > 0 {
		l.progress(d, WaitLimit)
	} else if try == 0 {
		l.progress(0, WaitNothing)
	}
	return sleep(ctx, d)
}

func (l *udpList) progress(wait time.Duration, why Wait) {
	if l.Progress != nil {
		l.Progress(Progress{Stats: l.stats, Wait: wait, Why: why})
	}
}

// ask sends the request and returns a new page if one arrives in time.
func (l *udpList) ask(ctx context.Context) ([]byte, error) {
	l.pace.note(time.Now())
	l.stats.Requests++
	if err := l.conn.SetReadDeadline(time.Now().Add(l.Timeout)); err != nil {
		return nil, err
	}
	if ctx.Err() != nil { // its deadline may just have been overwritten
		return nil, ctx.Err()
	}
	if _, err := l.conn.Write(AppendRequest(nil, &l.request)); err != nil {
		return nil, err
	}
	for {
		n, err := l.conn.Read(l.buf)
		if err != nil {
			return nil, err
		}
		if l.isNew(l.buf[:n]) {
			return l.buf[:n], nil
		}
	}
}

// isNew reports whether a datagram is a page other than the previous one.
func (l *udpList) isNew(datagram []byte) bool {
	if new(Page).Reset(datagram) != nil {
		l.stats.Foreign++
		return false
	}
	if len(l.last) > 0 && bytes.Equal(datagram, l.last) {
		l.stats.Repeated++
		l.again = true
		return false
	}
	return true
}

// noReply returns the error for a page that did not arrive.
func (l *udpList) noReply(cause error) error {
	tries := times(l.Retries + 1)
	switch {
	case l.again:
		return fmt.Errorf("%w: asked %s for what follows %v, it sent the previous page again",
			ErrNoProgress, tries, l.request.Seed)
	case cause != nil && !errors.Is(cause, os.ErrDeadlineExceeded):
		if no, ok := errors.AsType[syscall.Errno](cause); ok {
			cause = no // without the addresses, since the master is named
		}
		return fmt.Errorf("%w: %w", ErrNoReply, cause)
	case l.stats.Foreign > 0:
		return fmt.Errorf("%w: asked %s, and what came is no page of a list", ErrNoReply, tries)
	case l.stats.Replies == 0:
		return fmt.Errorf("%w: asked %s (it may be down, or silent for a minute "+
			"towards those who ask too often)", ErrNoReply, tries)
	}
	return fmt.Errorf("%w: asked %s for what follows %v", ErrNoReply, tries, l.request.Seed)
}

// times returns "once", or "n times" if n is not 1.
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// take passes on the servers of a page, and prepares the next request.
func (l *udpList) take(datagram []byte) error {
	l.stats.Replies++
	l.stats.Bytes += uint64(len(datagram))
	l.last = append(l.last[:0], datagram...)
	if l.Page != nil {
		if err := l.Page(datagram); err != nil {
			return &callerError{err}
		}
	}
	var p Page
	if err := p.Reset(datagram); err != nil {
		return err
	}
	fresh := false
	for p.Next() {
		isFresh, err := l.add(&Server{Addr: p.Addr()})
		if err != nil {
			return err
		}
		fresh = fresh || isFresh
	}
	if p.Err() != nil {
		l.stats.Truncated++
	}
	return l.turn(&p, fresh)
}

// turn advances to the next page, if there is one.
func (l *udpList) turn(p *Page, fresh bool) error {
	switch {
	case p.End():
		l.stats.End = EndTerminator
		return nil
	case p.Count() == 0 && p.Err() != nil:
		return fmt.Errorf("%w: a page that is cut off before its first address", ErrNoProgress)
	case p.Count() == 0:
		l.stats.End = EndEmpty
		return nil
	case p.Addr() == l.request.Seed:
		return fmt.Errorf("%w: what follows %v ends with it", ErrNoProgress, p.Addr())
	}
	l.request.Seed = p.Addr()
	l.stale++
	if fresh {
		l.stale = 0
	}
	if l.stale >= maxStale {
		return fmt.Errorf("%w: %d pages in a row had nothing new", ErrNoProgress, l.stale)
	}
	return nil
}
