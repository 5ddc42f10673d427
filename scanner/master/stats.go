package master

import (
	"fmt"
	"time"
)

// Stats counts what a fetch did. The number of entries read is Servers + Duplicates
// + Elsewhere + Invalid; Servers includes the servers in Unscannable.
type Stats struct {
	Requests  uint64 // requests sent, including repeated requests
	Retries   uint64 // requests repeated because there was no usable answer
	Replies   uint64 // pages, or answers of the Web API
	Bytes     uint64 // bytes of the replies; from the Web API, also of failed answers
	Truncated uint64 // pages that end inside an address
	Repeated  uint64 // pages equal to the previous page, repeated by the network or the master
	Foreign   uint64 // datagrams that are not pages

	Servers     uint64             // servers passed to the caller, each address once
	Unscannable [numReasons]uint64 // servers passed to the caller that can't be queried, by Reason
	Duplicates  uint64             // entries whose address was in an earlier entry
	Elsewhere   uint64             // servers skipped because they do not claim the requested region (Web API)
	Invalid     uint64             // entries without a usable address (Web API)
	Odd         uint64             // entries with an address and a field of a wrong type, which is dropped (Web API)

	End    End      // how the list ended
	Capped []Capped // requests with more servers than could be reached (Web API)
}

// End is how a list ended.
type End uint8

// The ends of a list.
const (
	EndNone       End = iota // with an error, or not yet
	EndTerminator            // complete: with a terminator, or with all parts under the cap
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
	Got    int    // number of servers in the answer
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
	WaitLimit        // to observe the limits
	WaitRetry        // before a request is repeated
	WaitAsked        // the master asked for it (Retry-After)
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

// maxServers is the default maximum number of servers in a list. It is enough for
// the largest lists; the set of that many addresses takes about 200 MB.
const maxServers = 10_000_000

// collector passes each server to handle once, and counts entries.
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

// add passes a server to handle if its address is new, and reports whether it is.
// It returns ErrTooMany if the list is too long, and an error of handle as a
// *callerError.
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

// callerError wraps an error of a function that the caller passed. explain unwraps
// it, so that the caller gets its own error back.
type callerError struct{ err error }

func (e *callerError) Error() string { return e.err.Error() }

// explain prepares an error for the caller: it sets Stats.End to EndNone and
// prefixes the error with who, the master or API. It returns the caller's own error
// without a prefix.
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
