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

// Limits for looking up host names.
const (
	maxLookups = 32   // lookups at the same time
	maxPending = 1024 // host names that are not looked up yet, and names queued behind them
)

// errNoIPv4 is the error for a host name without an IPv4 address.
var errNoIPv4 = errors.New("the name has no IPv4 address")

// pending is a host name, or a name that waits for the host names before it, because the
// targets must keep the order of the input.
type pending struct {
	name   name // for a host name, this has only the port
	labels labels
	host   string // the host name; empty if there is nothing to look up
	where  Invalid
	found  []uint32
	err    error
}

// lookUp finds the IPv4 addresses of host, including IPv4-mapped addresses.
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

// forEach calls do for each number below n, in at most maxLookups goroutines at a
// time, and waits until all calls have returned.
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

// settle looks up the pending host names and passes on all pending names, in order. It
// reports whether to continue.
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

// lookUpArgs looks up the host names among the arguments.
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

// listSuffixes are suffixes of file names. A name that ends with one of them is not
// used as a host name.
var listSuffixes = []string{".txt", ".csv", ".tsv", ".json", ".ndjson", ".jsonl", ".gz", ".zst", ".list", ".lst", ".log", ".toml"}

// isHostArg reports whether arg may be a host name, with or without a port. The
// caller must check first that it is not a file. A name that ends with the suffix
// of a list, such as .txt, is not a host name.
func isHostArg(arg string) bool {
	lower := strings.ToLower(arg)
	return isHost([]byte(arg)) && !slices.ContainsFunc(listSuffixes, func(suffix string) bool {
		return strings.HasSuffix(lower, suffix)
	})
}

// hostForm is the form of a host name, which contains a letter.
var hostForm = regexp.MustCompile(`^(\w[\w.-]*)?[A-Za-z][\w.-]*$`)

// maxHost is the maximum length of a host name in bytes (RFC 1035, section 2.3.4).
const maxHost = 253

// isHost reports whether b looks like a host name, with or without a port.
func isHost(b []byte) bool {
	host, _, _ := bytes.Cut(b, []byte(":"))
	return len(host) <= maxHost && hostForm.Match(host)
}

// parseHost separates a host name from its port, if it has one. n contains only the port.
func parseHost(b []byte) (host string, n name, f fault) {
	text, port, hasPort := bytes.Cut(b, []byte(":"))
	if hasPort {
		n.kind = kindAddrPort
		n.port, f = parsePort(port)
	}
	return string(text), n, f
}
