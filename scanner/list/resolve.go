package list

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

const (
	maxLookups = 32   // maximum number of lookups at the same time
	maxPending = 1024 // maximum length of reader.pending
)

var errNoIPv4 = errors.New("the name has no IPv4 address")

// pending is an entry that waits: a host name that is not looked up yet, or an address,
// network or range that comes after such a host name in the input. An entry of the second
// kind waits too, because the targets keep the order of the input.
type pending struct {
	name   name // for a host name, only its port is set
	labels labels
	host   string // the host name; empty if there is nothing to look up
	where  Invalid
	found  []uint32
	err    error
}

// lookUp returns the IPv4 addresses of a host, including IPv4-mapped IPv6 addresses.
func (l *List) lookUp(ctx context.Context, host string) (found []uint32, err error) {
	addrs, err := l.cfg.Resolve(ctx, host)
	for _, a := range addrs {
		if a = a.Unmap(); a.Is4() {
			found = append(found, ipOf(a))
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if len(found) > 0 {
		return found, nil
	}
	return nil, cmp.Or(err, errNoIPv4)
}

func (r *reader) enqueue(p pending) bool {
	r.pending = append(r.pending, p)
	return len(r.pending) < maxPending || r.settle()
}

// forEach calls do(i) for each i from 0 to n-1, in at most maxLookups goroutines at a time,
// and waits until all calls have returned.
func forEach(n int, do func(i int)) {
	var all sync.WaitGroup
	running := make(chan struct{}, maxLookups)
	for i := range n {
		running <- struct{}{}
		all.Go(func() {
			defer func() { <-running }()
			do(i)
		})
	}
	all.Wait()
}

// settle empties r.pending: it looks up the host names, then passes on all entries in order.
func (r *reader) settle() bool {
	all := r.pending
	r.pending = nil
	forEach(len(all), func(i int) {
		if p := &all[i]; p.host != "" && r.ctx.Err() == nil {
			p.found, p.err = r.l.lookUp(r.ctx, p.host)
		}
	})
	for i := range all {
		p := &all[i]
		more := r.ctx.Err() == nil
		switch {
		case !more:
		case p.host == "":
			more = r.passOn(p.name, p.labels)
		case p.err == errNoIPv4:
			more = r.invalid(p.where, p.err)
		case p.err != nil:
			more = r.invalid(p.where, fmt.Errorf("looking up the host name failed: %w", p.err))
		}
		for _, ip := range p.found {
			p.name.span = span{ip, ip}
			more = more && r.passOn(p.name, p.labels)
		}
		if !more {
			return false
		}
	}
	return true
}

func (l *List) lookUpArgs(ctx context.Context) error {
	var hosts []*input
	for _, in := range l.inputs {
		if in.host != "" {
			hosts = append(hosts, in)
		}
	}
	found, errs := make([][]uint32, len(hosts)), make([]error, len(hosts))
	forEach(len(hosts), func(i int) { found[i], errs[i] = l.lookUp(ctx, hosts[i].host) })
	for i, err := range errs {
		problem := "no such file, and "
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && err != errNoIPv4:
			problem += "looking up the host name failed: "
			fallthrough
		case err != nil:
			return &ArgError{Arg: show([]byte(hosts[i].arg)), Problem: problem + err.Error(), Err: err}
		}
		n := hosts[i].names[0]
		hosts[i].names = nil
		for _, ip := range found[i] {
			n.span = span{ip, ip}
			hosts[i].names = append(hosts[i].names, n)
		}
	}
	return nil
}

var listSuffixes = []string{".txt", ".csv", ".tsv", ".json", ".ndjson", ".jsonl", ".gz", ".zst", ".list", ".lst", ".log", ".toml"}

// isHostArg reports whether arg may be a host name, with or without a port. The caller must
// check first that no file has this name. An argument with the suffix of a list, such as
// .txt, is probably the misspelled name of a file.
func isHostArg(arg string) bool {
	lower := strings.ToLower(arg)
	return isHost([]byte(arg)) && !slices.ContainsFunc(listSuffixes, func(suffix string) bool {
		return strings.HasSuffix(lower, suffix)
	})
}

// hostForm requires a letter, so that it does not match an IPv4 address.
var hostForm = regexp.MustCompile(`^(\w[\w.-]*)?[A-Za-z][\w.-]*$`)

// maxHost is the maximum length of a host name in bytes, as text. The encoded name is two
// bytes longer, and RFC 1035, section 2.3.4, limits it to 255 bytes.
const maxHost = 253

// isHost reports whether b looks like a host name, with or without a port.
func isHost(b []byte) bool {
	host, _, _ := bytes.Cut(b, []byte(":"))
	return len(host) <= maxHost && hostForm.Match(host)
}

// parseHost splits b into a host name and its port, which may be missing. It sets only the
// port and the kind of n.
func parseHost(b []byte) (host string, n name, f fault) {
	text, port, hasPort := bytes.Cut(b, []byte(":"))
	if hasPort {
		n.kind = kindAddrPort
		n.port, f = parsePort(port)
	}
	return string(text), n, f
}
