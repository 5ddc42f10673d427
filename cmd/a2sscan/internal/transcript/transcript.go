// Package transcript explains a session with one server. It shows every datagram
// with the meaning of its bytes, the record, and a verdict in words.
package transcript

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"net/netip"
	"slices"
	"time"

	"github.com/a2sscan/a2sscan/reasm"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/wire"
)

// Session is a session with one server. Query fills in everything but the target and
// the width.
type Session struct {
	Target netip.AddrPort
	Width  int // columns of the screen

	Result  *scanner.Result // nil: interrupted before the end
	Verdict Verdict

	timeout time.Duration // for the first request
	retries int

	events   []event
	bytes    int // in the events
	leftOut  int // datagrams beyond the limits
	received int // datagrams from the target

	// What the datagrams explained so far show together.
	table      *reasm.Table
	unpack     reasm.Unpacker
	repeats    int                     // requests that were sent again with the same bytes
	asksAnew   [wire.NumQuestions]bool // a request for the question had no challenge
	strangers  []string                // addresses that sent something although they were not queried, at most three
	junk       string                  // describes the target's first datagram that is not A2S; "": none
	speaks     bool                    // the target sent A2S
	challenged bool                    // the target sent challenges
	challenge  []byte                  // the last challenge
	longest    int                     // bytes of the longest datagram from the target
	replies    []*splitReply           // in the order of their first fragments
	ship       wire.ShipHint
}

// event is a datagram that was sent or received.
type event struct {
	at   time.Duration // since the scan began
	sent bool
	addr netip.AddrPort // the other end
	data []byte
	what string   // describes it in a few words
	rows []string // its fields, and those of the message that it completes
}

// These limit what is kept of a session, so that a server that floods fills neither
// the memory nor the screen. Datagrams beyond the limits are only counted.
const (
	keptDatagrams = 512
	keptBytes     = 8 << 20
)

// Query queries the server, and explains and judges what happened.
func (s *Session) Query(ctx context.Context, cfg scanner.Config) error {
	s.timeout, s.retries = cfg.Timeout, cfg.Attempts-1
	cfg.Trace = s.trace
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	target := slices.Values([]scanner.Target{{Addr: s.Target}})
	_, err := scanner.Scan(ctx, cfg, iter.Seq[scanner.Target](target), func(r *scanner.Result) {
		s.Result = r.Clone()
		if r.Status == scanner.StatusOK {
			stop() // nothing is left to wait for
		}
	})
	if err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	s.explain()
	if s.Result != nil {
		s.judge()
	}
	return nil
}

// trace keeps a datagram. The scan's loop calls it.
func (s *Session) trace(now time.Duration, sent bool, addr netip.AddrPort, datagram []byte) {
	if !sent && addr == s.Target {
		s.received++
	}
	if len(s.events) == keptDatagrams || s.bytes+len(datagram) > keptBytes {
		s.leftOut++
		return
	}
	s.bytes += len(datagram)
	s.events = append(s.events, event{at: now, sent: sent, addr: addr, data: bytes.Clone(datagram)})
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
