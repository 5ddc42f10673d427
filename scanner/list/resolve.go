package list

import (
	"bytes"
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

// lookup is a host name and its addresses.
type lookup struct {
	host  string
	found []uint32 // the IPv4 addresses, including IPv4-mapped IPv6 addresses
	err   error
}

// pending is an entry that waits: a host name that is not looked up yet, or an address,
// network or range that comes after such a host name in the input. An entry of the second
// kind waits too, because the targets keep the order of the input.
type pending struct {
	name    name // for a host name, only its port is set
	labels  labels
	where   Invalid
	*lookup // nil if there is nothing to look up
}

// lookUp looks up host names, at most maxLookups at a time. It returns the error of ctx.
func (l *List) lookUp(ctx context.Context, hosts []*lookup) error {
	var all sync.WaitGroup
	running := make(chan struct{}, maxLookups)
	for _, h := range hosts {
		running <- struct{}{}
		all.Go(func() {
			defer func() { <-running }()
			if ctx.Err() != nil {
				return
			}
			addrs, err := l.cfg.Resolve(ctx, h.host)
			for _, a := range addrs {
				if a = a.Unmap(); a.Is4() {
					h.found = append(h.found, ipOf(a))
				}
			}
			switch {
			case len(h.found) > 0:
			case err != nil:
				h.err = fmt.Errorf("looking up the host name failed: %w", err)
			default:
				h.err = errors.New("the name has no IPv4 address")
			}
		})
	}
	all.Wait()
	return ctx.Err()
}

func (r *reader) enqueue(p pending) bool {
	r.pending = append(r.pending, p)
	return len(r.pending) < maxPending || r.settle()
}

// settle empties r.pending: it looks up the host names, then passes on all entries in order.
func (r *reader) settle() bool {
	all := r.pending
	r.pending = nil
	var hosts []*lookup
	for i := range all {
		if all[i].lookup != nil {
			hosts = append(hosts, all[i].lookup)
		}
	}
	if r.l.lookUp(r.ctx, hosts) != nil {
		return false
	}
	for i := range all {
		p := &all[i]
		more := true
		switch {
		case p.lookup == nil:
			more = r.passOn(p.name, p.labels)
		case p.err != nil:
			more = r.invalid(p.where, p.err)
		default:
			for _, n := range p.name.at(p.found) {
				more = more && r.passOn(n, p.labels)
			}
		}
		if !more || r.ctx.Err() != nil {
			return false
		}
	}
	return true
}

// lookUpArgs looks up the host names among the arguments.
func (l *List) lookUpArgs(ctx context.Context) error {
	var hosts []*lookup
	for _, in := range l.inputs {
		if in.host != nil {
			hosts = append(hosts, in.host)
		}
	}
	if err := l.lookUp(ctx, hosts); err != nil {
		return err
	}
	for _, in := range l.inputs {
		switch {
		case in.host == nil:
		case in.host.err != nil:
			return &ArgError{Arg: show([]byte(in.arg)), Problem: "no such file, and " + in.host.err.Error(), Err: in.host.err}
		default:
			in.names = in.names[0].at(in.host.found)
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
func parseHost(b []byte) (host *lookup, n name, f fault) {
	text, port, hasPort := bytes.Cut(b, []byte(":"))
	if hasPort {
		n.kind = kindAddrPort
		n.port, f = parsePort(port)
	}
	return &lookup{host: string(text)}, n, f
}

// at returns the name of a host for each of the host's addresses.
func (n name) at(addrs []uint32) (all []name) {
	for _, ip := range addrs {
		n.span = span{ip, ip}
		all = append(all, n)
	}
	return all
}
