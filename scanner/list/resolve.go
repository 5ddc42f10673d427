package list

import (
	"bytes"
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
)

// How host names are looked up.
const (
	maxLookups = 32   // at once
	maxPending = 1024 // host names and the names after them
)

// ErrNoIPv4 is the error for a host name without an IPv4 address.
var ErrNoIPv4 = errors.New("the name has no IPv4 address")

// resolver is the type of Config.Resolve.
type resolver func(ctx context.Context, host string) ([]netip.Addr, error)

// hostQueue holds the host names that are being looked up and the names that were
// read after them, so that all are passed on in the order in which they were read.
type hostQueue struct {
	resolve resolver
	all     []pending
	running chan struct{} // one element per lookup
}

// pending is a name that waits in the queue.
type pending struct {
	name   name
	labels labels
	host   string
	where  Invalid
	found  chan lookup // nil: there is nothing to look up
}

// lookup is the answer for a host name.
type lookup struct {
	addrs []netip.Addr
	err   error
}

func (l labels) clone() labels { return labels{bytes.Clone(l.tag), bytes.Clone(l.master)} }

func (q *hostQueue) empty() bool { return len(q.all) == 0 }

func (q *hostQueue) add(p pending) { q.all = append(q.all, p) }

// first removes and returns the first element.
func (q *hostQueue) first() pending {
	p := q.all[0]
	q.all = q.all[1:]
	return p
}

// ready reports whether to take the first element out of the queue: either it needs
// no waiting, or the queue is full.
func (q *hostQueue) ready() bool {
	if len(q.all) == 0 || len(q.all) >= maxPending {
		return len(q.all) > 0
	}
	found := q.all[0].found
	return found == nil || len(found) > 0
}

// lookUp starts the lookup of a host name. The channel delivers the answer, unless
// ctx ends first.
func (q *hostQueue) lookUp(ctx context.Context, host string) chan lookup {
	if q.running == nil {
		q.running = make(chan struct{}, maxLookups)
	}
	found := make(chan lookup, 1)
	go func() {
		select {
		case q.running <- struct{}{}:
			defer func() { <-q.running }()
		case <-ctx.Done():
			return
		}
		addrs, err := q.resolve(ctx, host)
		found <- lookup{addrs, err}
	}()
	return found
}

// maxHost is the maximum length of a host name in bytes (RFC 1035, section 2.3.4).
const maxHost = 253

// lookUpArgs looks up the host names among the arguments.
func (l *List) lookUpArgs(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	hosts := hostQueue{resolve: l.cfg.Resolve}
	found := map[*input]chan lookup{}
	for _, in := range l.inputs {
		if in.host != "" {
			found[in] = hosts.lookUp(ctx, in.host)
		}
	}
	for _, in := range l.inputs {
		if in.host == "" {
			continue
		}
		select {
		case in.found = <-found[in]:
			l.counts.resolved.Add(1)
		case <-ctx.Done():
			return ctx.Err()
		}
		if len(in.addrs()) == 0 {
			return notFound(in)
		}
	}
	return nil
}

// addrs returns the IPv4 addresses among those found for the host, including
// IPv4-mapped ones.
func (in *input) addrs() (all []uint32) {
	for _, a := range in.found.addrs {
		if a = a.Unmap(); a.Is4() {
			all = append(all, ipOf(a))
		}
	}
	return all
}

// notFound returns the error for an argument that is neither a file nor a host name
// with an IPv4 address.
func notFound(in *input) error {
	e := &ArgError{Arg: show([]byte(in.arg)), Problem: "no such file, and " + ErrNoIPv4.Error(), Err: ErrNoIPv4}
	if in.found.err != nil {
		e.Problem = "no such file, and no such host: " + in.found.err.Error()
		e.Err = in.found.err
	}
	return e
}

// listSuffixes are suffixes of file names. A name that ends with one of them is not
// taken for a host name.
var listSuffixes = []string{".txt", ".csv", ".tsv", ".json", ".ndjson", ".jsonl", ".gz", ".zst", ".list", ".lst", ".log", ".toml"}

// IsHostName reports whether arg may be a host name, with or without a port. The
// caller must check first that it is not a file. A name that ends with the suffix
// of a list, such as .txt, is not a host name.
func IsHostName(arg string) bool {
	lower := strings.ToLower(arg)
	return isHost([]byte(arg)) && !slices.ContainsFunc(listSuffixes, func(suffix string) bool {
		return strings.HasSuffix(lower, suffix)
	})
}

// isHost reports whether b looks like a host name, with or without a port. A host
// name must contain a letter.
func isHost(b []byte) bool {
	host, _, _ := bytes.Cut(b, []byte(":"))
	if len(host) == 0 || len(host) > maxHost || host[0] == '.' || host[0] == '-' {
		return false
	}
	letters := false
	for _, c := range host {
		switch {
		case 'a' <= c|0x20 && c|0x20 <= 'z':
			letters = true
		case '0' <= c && c <= '9' || c == '-' || c == '.' || c == '_':
		default:
			return false
		}
	}
	return letters
}
