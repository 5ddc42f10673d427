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

// DefaultUDP is Valve's master server for Source games. It has had long outages.
// Valve's master server for GoldSource games has been shut down.
const DefaultUDP = "hl2master.steampowered.com:27011"

// Errors of an incomplete list. The servers before the error have been passed to
// handle.
var (
	ErrNoReply    = errors.New("the master does not answer")
	ErrNoProgress = errors.New("the master makes no progress")
	ErrTooMany    = errors.New("the list has no end")
)

// UDPConfig describes which list to fetch from a master server, and how.
type UDPConfig struct {
	Addr   string // host:port; empty: DefaultUDP
	Region Region // World: all servers; zero is USEast
	Filter Filter // at most MaxUDPFilter bytes long

	Limits  []Limit       // nil: UDPLimits; empty: none
	Timeout time.Duration // for one reply; zero: 3 s
	Retries int           // maximum number of repeated requests for one page; zero: 3; negative: none
	Silence time.Duration // pause before the last repeated request; zero: 61 s, since masters stay silent for 60 s
	Max     uint64        // maximum number of servers; zero: 10,000,000
	Pages   uint64        // maximum number of pages; zero: 50,000, enough for 10,000,000 servers in full pages

	// Page is called with each new page, before its servers are passed to handle.
	// The datagram is valid until Page returns. Page may be nil.
	Page     func(datagram []byte) error
	Progress func(Progress) // called between requests; may be nil

	// Dial opens the connection; if Dial is nil, FetchUDP uses a net.Dialer. Each
	// Write must send one datagram, and each Read must return one datagram.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// The defaults of a UDPConfig.
const (
	udpTimeout = 3 * time.Second
	udpRetries = 3
	udpSilence = 61 * time.Second
	udpPages   = 50_000
)

// maxStale is the number of consecutive pages without a new server at which a fetch
// fails. Duplicates are normal, but pages full of them mean that the master has
// started again from the beginning.
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
// soon as it arrives; the Server is valid until handle returns. The fetch ends
// early if handle or Page returns an error, or if ctx ends. The Stats are correct
// even if FetchUDP returns an error.
//
// FetchUDP returns nil if the list ends with the terminator or an empty page. It
// returns a *FilterError for an invalid filter, and an error of handle or Page
// unchanged. Any other error wraps ErrNoReply, ErrNoProgress, ErrTooMany, ctx's
// error or a network error.
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
	// When ctx ends, a deadline in the past interrupts a Read that is blocked.
	defer context.AfterFunc(ctx, func() { conn.SetReadDeadline(time.Unix(1, 0)) })()
	l := udpList{
		UDPConfig: cfg, collector: newCollector(cfg.Max, handle), conn: conn,
		pace: pace{limits: cfg.Limits}, buf: make([]byte, maxDatagram),
		request: Request{Region: cfg.Region, Seed: noSeed, Filter: filter},
	}
	err = l.explain("master "+cfg.Addr, l.fetch(ctx))
	return l.stats, err
}

// maxDatagram is the size of the receive buffer. Every UDP payload is shorter.
const maxDatagram = 1 << 16

// udpList is the state of FetchUDP.
type udpList struct {
	UDPConfig
	*collector
	conn    net.Conn
	pace    pace
	request Request
	buf     []byte
	last    []byte // the previous page, to recognise its duplicates
	again   bool   // the previous page arrived again while the next was requested
	stale   int    // consecutive pages without a new server
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

// page requests the next page until it arrives, up to Retries+1 times. If it does
// not arrive, page returns the error of noReply. The page aliases l.buf.
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
		if !errors.Is(err, os.ErrDeadlineExceeded) { // not a timeout: an immediate retry would fail too
			if err := sleep(ctx, l.Timeout); err != nil {
				return nil, err
			}
		}
	}
	return nil, l.noReply(cause)
}

// await waits until the limits allow the request. Before the last repeated request
// it may also wait for l.Silence. try is the number of requests already sent for
// the page.
func (l *udpList) await(ctx context.Context, try int) error {
	if try > 0 {
		l.stats.Retries++
	}
	// A master that has answered before but is silent now may be ignoring the
	// client because of too many requests.
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

// ask sends the request and returns a new page if one arrives within l.Timeout. The
// result aliases l.buf.
func (l *udpList) ask(ctx context.Context) ([]byte, error) {
	l.pace.note(time.Now())
	l.stats.Requests++
	if err := l.conn.SetReadDeadline(time.Now().Add(l.Timeout)); err != nil {
		return nil, err
	}
	if ctx.Err() != nil { // SetReadDeadline may have overwritten the deadline that AfterFunc set
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

// isNew reports whether a datagram is a page that differs from the previous page.
// It counts all other datagrams.
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

// noReply returns the error for a page that did not arrive. cause is the error of
// the last request.
func (l *udpList) noReply(cause error) error {
	tries := times(l.Retries + 1)
	switch {
	case l.again:
		return fmt.Errorf("%w: asked %s for what follows %v, it sent the previous page again",
			ErrNoProgress, tries, l.request.Seed)
	case cause != nil && !errors.Is(cause, os.ErrDeadlineExceeded):
		if no, ok := errors.AsType[syscall.Errno](cause); ok {
			cause = no // without its addresses, since explain names the master
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

// take passes a page to l.Page and its servers to handle, and prepares the next
// request.
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

// turn sets the seed of the next request to the last address of p, or sets
// Stats.End if p ends the list. fresh is whether p contained a new server. turn
// returns an error if the master makes no progress.
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
