package master

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// DefaultWeb is the address of Valve's GetServerList.
const DefaultWeb = "https://api.steampowered.com/IGameServersService/GetServerList/v1/"

// Errors of Fetch and of ReadAnswers. The servers before the error have been passed to handle.
var (
	ErrKey     = errors.New("the key was refused")
	ErrRefused = errors.New("the request was refused")
	ErrNoReply = errors.New("the master does not answer")
	ErrSlow    = errors.New("the master asks for a longer pause than allowed")
	ErrTooMuch = errors.New("too much data")
	// ErrMalformed also means that the answer is truncated, or that the master makes no
	// progress: its pages do not advance through the list.
	ErrMalformed = errors.New("malformed answer")
)

// Config describes which list to fetch, from where and how.
type Config struct {
	UDP string // host:port of a master server; if empty, Fetch uses the Web API
	// The address of the Web API, without a query; it must be https, except on
	// loopback. Empty means DefaultWeb.
	URL string
	Key Key // key of the Web API: see ParseKey
	// Fetch returns only servers that claim this region; World means all servers. Zero is
	// the east of the United States.
	Region Region
	Filter Filter // an empty filter selects all servers; over UDP at most 190 bytes

	// Ignore the rate limits of masters. This is only for a master of your own.
	Unlimited bool
	Timeout   time.Duration // timeout per answer; zero: 3 s over UDP, 60 s for the Web API
	// The maximum number of times that a request without a usable answer is repeated. Zero
	// means 3 over UDP, and 4 for the Web API; a negative number means never.
	Retries int
	// The longest wait for a master that is silent or asks for a pause. Zero means 61 s
	// over UDP, and 5 min for the Web API.
	MaxWait time.Duration
	Max     uint64 // maximum number of servers; zero means 10,000,000
	// The maximum number of answers. Zero means 50,000 pages, or 1,000 answers of the
	// Web API.
	Answers uint64
	// An answer counts as cut if its number of servers is Cap or a multiple of Cap. Zero
	// means 10,000.
	Cap int

	Progress func(Stats) // called between requests; may be nil

	// Dial opens the connection to a master server; nil: a net.Dialer. Each Write must
	// send one datagram, and each Read must return one datagram.
	Dial      func(ctx context.Context, network, addr string) (net.Conn, error)
	Transport http.RoundTripper // for the Web API; nil means http.DefaultTransport
}

// limit is a maximum number of requests in a time span.
type limit struct {
	requests int
	in       time.Duration
}

// udpLimits are the limits of master servers. Reportedly, they accept 30 requests per
// minute and 60 per five minutes, and ignore a client for a minute if it exceeds one of
// these limits. Valve has stated a limit of 20 per minute, but 15 works best in practice
// (docs/FORMATS.md, section 1). Each time span here is a second longer than the master's,
// because network delay varies.
var udpLimits = []limit{{15, 61 * time.Second}, {60, 301 * time.Second}}

// webLimits are the limits of the Web API, which has been observed to accept this rate
// from one key (docs/FORMATS.md, section 2).
var webLimits = []limit{{1, 1500 * time.Millisecond}, {200, 5 * time.Minute}}

// Server is one entry of a master's list.
type Server struct {
	Addr netip.AddrPort // the query address

	// Details is what the master said about the server, as a JSON object: the value of
	// "master" in a record. It is nil if the master sent only the address. Its strings
	// are untrusted; all unprintable characters are escaped.
	Details []byte

	// Entry is the JSON object in the answer of the Web API; nil if the master sent only
	// the address.
	Entry []byte

	sampled
	region string // a number; empty: unknown
	odd    bool   // a field has a wrong type and was dropped
}

// sampled holds the properties of a server by which a list can be divided.
type sampled struct {
	name, gameMap string
	players       string // "1": somebody plays
	linux         string // "1": the server runs on Linux
}

// Stats counts what a fetch did. The number of entries read is Servers + Duplicates +
// Elsewhere + Invalid.
type Stats struct {
	Requests uint64 // requests sent, including repeated requests
	Retries  uint64 // requests repeated because there was no usable answer
	Replies  uint64 // pages, or answers of the Web API
	// Bytes of the replies, and of failed answers of the Web API.
	Bytes     uint64
	Truncated uint64 // pages that end inside an address
	// Pages equal to the previous page, because the network or the master repeated it.
	Repeated uint64
	Foreign  uint64 // datagrams that are not pages

	Servers uint64 // servers passed to the caller, each address once
	// Servers at addresses of Steam's relays, which can't be queried (EC-126).
	Relays     uint64
	Unusable   uint64 // servers with the address 0.0.0.0 or port 0
	Duplicates uint64 // entries whose address occurred before
	// Web API: servers skipped because they do not claim the requested region.
	Elsewhere uint64
	Invalid   uint64 // entries without a usable address (Web API)
	// Web API: entries with an address, but with a field of a wrong type, which is
	// dropped.
	Odd uint64

	End string // how the list ended, in words
	// The list ended properly, and no part of it is known to be missing.
	Complete bool
	Capped   []string // parts of the list that have more servers than the master sent (Web API)
	// Keys of the filter that no known master understands; masters ignore them.
	Unknown []string

	Wait time.Duration // time until the next request; set only for Progress
	Why  string        // reason for Wait; may be empty
}

// Fetch fetches a list and passes each server to handle once, as soon as it arrives;
// the Server is valid until handle returns. The fetch ends early if handle returns an
// error, which Fetch returns unchanged, or if ctx ends. The Stats are correct even if
// Fetch returns an error.
//
// No error, and nothing that it wraps, contains the key or the URL of the Web API.
func Fetch(ctx context.Context, cfg Config, handle func(*Server) error) (Stats, error) {
	f := fetch{Config: cfg, handle: handle, seen: make(map[netip.AddrPort]struct{})}
	f.Max = cmp.Or(f.Max, 10_000_000) // a set of that many addresses takes about 400 MB
	f.Cap = cmp.Or(f.Cap, 10_000)
	f.stats.Unknown = f.Filter.unknown()
	var err error
	if cfg.UDP != "" {
		err = f.overUDP(ctx)
	} else {
		err = f.overWeb(ctx)
	}
	f.pause(ctx, 0, "")
	if err != nil {
		f.stats.Complete, f.stats.End = false, "the list is incomplete"
	}
	return f.stats, cmp.Or(f.own, err)
}

type fetch struct {
	Config
	handle func(*Server) error
	stats  Stats
	own    error // the error that handle returned
	seen   map[netip.AddrPort]struct{}
	limits []limit
	// The times of the latest requests, oldest first. It holds at most as many times as the
	// largest limit.requests.
	sent []time.Time
}

func (f *fetch) withDefaults(timeout, maxWait time.Duration, retries int, answers uint64, limits []limit) {
	f.Timeout = cmp.Or(f.Timeout, timeout)
	f.MaxWait = cmp.Or(f.MaxWait, maxWait)
	f.Retries = max(cmp.Or(f.Retries, retries), 0)
	f.Answers = cmp.Or(f.Answers, answers)
	if !f.Unlimited {
		f.limits = limits
	}
}

// relays is the network of the addresses that Steam gives to servers behind its relays.
var relays = netip.MustParsePrefix("169.254.0.0/16")

// add passes a server to handle if its address is new, and reports whether it is new.
func (f *fetch) add(s *Server) (fresh bool, err error) {
	if _, ok := f.seen[s.Addr]; ok {
		f.stats.Duplicates++
		return false, nil
	}
	if f.stats.Servers == f.Max {
		return false, fmt.Errorf("%w: the list has more servers than the maximum, %d", ErrTooMuch, f.Max)
	}
	f.seen[s.Addr] = struct{}{}
	f.stats.Servers++
	switch {
	case relays.Contains(s.Addr.Addr()):
		f.stats.Relays++
	case s.Addr.Addr().IsUnspecified() || s.Addr.Port() == 0:
		f.stats.Unusable++
	}
	f.own = f.handle(s)
	return true, f.own
}

// pause reports to Progress why the next request has to wait, and waits.
func (f *fetch) pause(ctx context.Context, wait time.Duration, why string) error {
	if f.Progress != nil {
		now := f.stats
		now.Wait = wait
		if wait > 0 {
			now.Why = why
		}
		f.Progress(now)
	}
	if wait <= 0 {
		return ctx.Err()
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(wait):
		return nil
	}
}

// awaitLimits waits until the limits allow the next request, and counts that request.
func (f *fetch) awaitLimits(ctx context.Context) error {
	now, wait, most := time.Now(), time.Duration(0), 0
	for _, l := range f.limits {
		most = max(most, l.requests)
		if len(f.sent) >= l.requests {
			oldest := f.sent[len(f.sent)-l.requests]
			wait = max(wait, oldest.Add(l.in).Sub(now))
		}
	}
	err := f.pause(ctx, wait, "the master's rate limit")
	f.sent = append(f.sent, time.Now())
	f.sent = f.sent[max(len(f.sent)-most, 0):]
	f.stats.Requests++
	return err
}

// Key is a Steam Web API key. It is never shown: a Key that is formatted or logged
// becomes "[key]".
type Key struct{ secret string }

// ParseKey reads a key from the contents of a file or an environment variable. It
// ignores white space around the key. Its errors never quote the key.
func ParseKey(text []byte) (Key, error) {
	s := strings.TrimSpace(string(text))
	switch {
	case s == "":
		return Key{}, errors.New("the key is empty")
	case !isKey.MatchString(s): // Steam's keys have 32 characters
		return Key{}, errors.New("the key must consist of letters, digits, - and _; check that it is a Steam Web API key")
	}
	return Key{s}, nil
}

var isKey = regexp.MustCompile(`^[0-9A-Za-z_-]{1,256}$`)

const hidden = "[key]"

// Format prints "[key]" for every verb.
func (Key) Format(f fmt.State, _ rune) { f.Write([]byte(hidden)) }

// show quotes an untrusted string for a message. Unprintable characters become Go
// escape sequences, and a string of more than 80 characters is cut.
func show(s string) string {
	n := 0
	for i := range s {
		if n == 80 {
			return strconv.Quote(s[:i]) + "…"
		}
		n++
	}
	return strconv.Quote(s)
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
