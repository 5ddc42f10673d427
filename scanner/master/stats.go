package master

import (
	"fmt"
	"time"
)

// Stats counts what a fetch did. Servers includes those in Unscannable; the entries
// read are Servers + Duplicates + Elsewhere + Invalid.
type Stats struct {
	Requests  uint64 // sent, including repeated ones
	Retries   uint64 // requests repeated because there was no usable answer
	Replies   uint64 // pages, or answers of the Web API
	Bytes     uint64 // of the replies
	Truncated uint64 // pages that end inside an address
	Repeated  uint64 // pages that came twice, because of the network or the master
	Foreign   uint64 // datagrams that are not pages

	Servers     uint64             // passed on, each address once
	Unscannable [numReasons]uint64 // those of Servers that can't be queried, by Reason
	Duplicates  uint64             // entries with an address that was passed on before
	Elsewhere   uint64             // skipped: in a region other than the requested one (Web API)
	Invalid     uint64             // entries without a usable address (Web API)
	Odd         uint64             // other entries that have a field of a wrong type, which is dropped (Web API)

	End    End      // how the list ended
	Capped []Capped // requests with more servers than could be reached (Web API)
}

// End is how a list ended.
type End uint8

// The ends of a list.
const (
	EndNone       End = iota // with an error
	EndTerminator            // complete: with a terminator, or with all answers under the cap
	EndEmpty                 // with an empty page and no terminator: probably complete
	EndCapped                // there are more servers than could be reached; see Capped
)

var endTexts = [...]string{
	EndNone:       "the list is incomplete",
	EndTerminator: "the list is complete",
	EndEmpty:      "the list ended with an empty page and no terminator; it may be incomplete",
	EndCapped:     "there are more servers than the master's cap let through",
}

// String describes the end in words.
func (e End) String() string {
	if int(e) < len(endTexts) {
		return endTexts[e]
	}
	return "unknown"
}

// Capped is a request whose answer was cut at the cap, and which could not be
// divided further.
type Capped struct {
	Filter string // the conditions of the request, as masters read them
	Got    int    // servers in its answer
}

// String describes the request in words.
func (c Capped) String() string {
	return fmt.Sprintf("%s: %d servers, and more that could not be told apart", show(c.Filter), c.Got)
}

// Progress is the state of a fetch between two requests.
type Progress struct {
	Stats
	Wait time.Duration // until the next request
	Why  Wait          // the reason to wait
}

// Wait is the reason to wait before a request.
type Wait uint8

// The reasons.
const (
	WaitNothing Wait = iota
	WaitLimit        // the master's limits
	WaitRetry        // before a request is repeated
	WaitAsked        // the master asked to (429)
)

var waitTexts = [...]string{
	WaitNothing: "",
	WaitLimit:   "keeping the master's limits",
	WaitRetry:   "before asking again",
	WaitAsked:   "the master asked to wait",
}

// String describes the reason in words.
func (w Wait) String() string {
	if int(w) < len(waitTexts) {
		return waitTexts[w]
	}
	return "unknown"
}

// maxServers is the default limit on the length of a list. It allows the largest
// scans, and the set of addresses then takes about 200 MB.
const maxServers = 10_000_000

// collector passes on each server once and counts entries.
type collector struct {
	stats  Stats
	seen   map[uint64]struct{}
	most   uint64
	handle func(*Server) error
}

func newCollector(most uint64, handle func(*Server) error) *collector {
	if most == 0 {
		most = maxServers
	}
	return &collector{seen: make(map[uint64]struct{}), most: most, handle: handle}
}

// add passes on a server if it is new, and reports whether it is.
func (c *collector) add(s *Server) (fresh bool, err error) {
	k := key(s.Addr)
	if _, ok := c.seen[k]; ok {
		c.stats.Duplicates++
		return false, nil
	}
	if c.stats.Servers == c.most {
		return false, fmt.Errorf("%w: more than %d servers", ErrTooMany, c.most)
	}
	c.seen[k] = struct{}{}
	c.stats.Servers++
	if r := s.Unscannable(); r != Scannable {
		c.stats.Unscannable[r]++
	}
	if err := c.handle(s); err != nil {
		return true, &callerError{err}
	}
	return true, nil
}

// callerError is an error of the caller's own function, which is returned
// unchanged.
type callerError struct{ err error }

func (e *callerError) Error() string { return e.err.Error() }

// explain prefixes an error with the name of its origin, unless it is the caller's
// own.
func (c *collector) explain(who string, err error) error {
	if err == nil {
		return nil
	}
	c.stats.End = EndNone
	if own, ok := err.(*callerError); ok {
		return own.err
	}
	return fmt.Errorf("%s: %w", who, err)
}
