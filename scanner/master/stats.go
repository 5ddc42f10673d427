package master

import (
	"fmt"
	"time"
)

// Stats are the numbers of a list. Servers = Unscannable of all reasons + those
// that can be scanned; what was read is Servers + Duplicates + Elsewhere +
// Invalid.
type Stats struct {
	Requests  uint64 // sent, repeated ones included
	Retries   uint64 // requests repeated because no or no good answer came
	Replies   uint64 // pages, or answers of the Web API
	Bytes     uint64 // of the replies
	Truncated uint64 // pages that end inside an address
	Repeated  uint64 // pages that came again, by the network or the master
	Foreign   uint64 // datagrams that are no page

	Servers     uint64             // handed out, each address once
	Unscannable [numReasons]uint64 // of those, by Reason why nobody can ask them
	Duplicates  uint64             // of what was handed out before
	Elsewhere   uint64             // left out: in another region than the one asked for (Web API)
	Invalid     uint64             // entries without a usable address (Web API)
	Odd         uint64             // of what has one, entries with a field of another type, which is absent then (Web API)

	End    End      // how it ended
	Capped []Capped // what could not be reached under the cap (Web API)
}

// End is how a list came to its end.
type End uint8

// The ends of a list.
const (
	EndNone       End = iota // it did not: there is an error
	EndTerminator            // the list is whole: a terminator, or all answers under the cap
	EndEmpty                 // an empty page without a terminator: probably all, but nobody said so
	EndCapped                // more is there than could be reached; see Capped
)

var endTexts = [...]string{
	EndNone:       "the list is not whole",
	EndTerminator: "the list is whole",
	EndEmpty:      "the list ended with an empty page and no terminator; it may not be whole",
	EndCapped:     "there are more servers than the master's cap let through",
}

// String says the end in words for a person.
func (e End) String() string {
	if int(e) < len(endTexts) {
		return endTexts[e]
	}
	return "unknown"
}

// Capped is a question whose answer was cut at the cap and could not be split
// further.
type Capped struct {
	Filter string // the conditions of the question, as masters read them
	Got    int    // servers that its answer had
}

// String is the question in words for a person.
func (c Capped) String() string {
	return fmt.Sprintf("%s: %d servers, and more that could not be told apart", show(c.Filter), c.Got)
}

// Progress is told between requests.
type Progress struct {
	Stats
	Wait time.Duration // until the next request
	Why  Wait          // what that time is for
}

// Wait is what is waited for before a request.
type Wait uint8

// What is waited for.
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

// String says in words for a person what is waited for.
func (w Wait) String() string {
	if int(w) < len(waitTexts) {
		return waitTexts[w]
	}
	return "unknown"
}

// maxServers is the default bound of a list: the largest that anybody scans,
// with its set of addresses in some 200 MB.
const maxServers = 10_000_000

// collector hands out each server once, and counts.
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

// add takes a server and reports whether it is a new one.
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

// callerError is an error of the caller's own, which is handed back as it is.
type callerError struct{ err error }

func (e *callerError) Error() string { return e.err.Error() }

// explain says whose error it is, unless it is the caller's.
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
