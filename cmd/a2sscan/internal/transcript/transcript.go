// Package transcript explains a session with one server. It shows every datagram
// with the meaning of its bytes, the record, and a verdict in words.
package transcript

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
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

	Result  *scanner.Result // nil: Query was interrupted before it had a result
	Verdict Verdict

	timeout time.Duration // timeout of the first request
	retries int

	events  []event
	leftOut int    // number of datagrams beyond maxDatagrams
	late    uint64 // number of replies that arrived after the last timeout
	repeats uint64 // number of requests repeated after silence

	// The fields below hold what explain has learned from the datagrams so far.
	table    *reasm.Table
	unpack   reasm.Unpacker
	asksAnew [wire.NumQuestions]bool // questions that were asked without a challenge
	// strangers has at most three addresses that sent something although they were not
	// queried.
	strangers []string
	junk      string        // the target's first datagram that is not A2S
	speaks    bool          // the target sent an A2S reply
	challenge []byte        // the last challenge that the target sent
	longest   int           // length of the target's longest datagram in bytes
	replies   []*splitReply // in the order of their first fragments
	ship      wire.ShipHint // whether the game is The Ship
}

// event is a datagram that was sent or received.
type event struct {
	Millis float64        `json:"ms"` // since the first datagram
	Sent   bool           `json:"sent"`
	Addr   netip.AddrPort `json:"addr"` // the address of the other end
	Bytes  int            `json:"bytes"`
	What   string         `json:"what"` // description; its wording may change
	Data   datagram       `json:"hex"`

	at   time.Duration // since the scan began
	rows []string      // the fields of the datagram; if it completes a split reply, also the fields of the reply
}

// datagram is written as hexadecimal digits in JSON.
type datagram []byte

// MarshalText returns the hexadecimal digits.
func (d datagram) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, d), nil }

// maxDatagrams is the maximum number of datagrams in memory. If a server floods, further
// datagrams are only counted.
const maxDatagrams = 512

// Query queries the server, and explains and judges what happened.
func (s *Session) Query(ctx context.Context, cfg scanner.Config) error {
	s.timeout, s.retries = cfg.Timeout, cfg.Attempts-1
	cfg.Control.Trace, cfg.Tuning.NoOutage = s.trace, true // do not wait for a lost network
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	target := slices.Values([]scanner.Target{{Addr: s.Target}})
	stats, err := scanner.Scan(ctx, cfg, target, func(r *scanner.Result) {
		s.Result = r.Clone()
		if r.Status == scanner.StatusOK {
			stop() // the record is complete
		}
	})
	if err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	s.late, s.repeats = stats.Received[slices.Index(scanner.Classes[:], "late")], stats.Repeats
	s.explain()
	if s.Result != nil {
		s.judge()
	}
	return nil
}

// trace stores a datagram. The scan's loop calls it.
func (s *Session) trace(now time.Duration, sent bool, addr netip.AddrPort, data []byte) {
	if len(s.events) == maxDatagrams {
		s.leftOut++
		return
	}
	e := event{Sent: sent, Addr: addr, Bytes: len(data), Data: bytes.Clone(data), at: now}
	if len(s.events) > 0 {
		// On loopback, the kernel's timestamp of a reply may be earlier than the program's
		// timestamp of its request.
		e.Millis = ms(max(0, now-s.events[0].at))
	}
	s.events = append(s.events, e)
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
