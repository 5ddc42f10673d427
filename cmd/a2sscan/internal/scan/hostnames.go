package scan

import (
	"context"
	"errors"
	"maps"
	"net/netip"
	"sync"
)

type resolver func(ctx context.Context, host string) ([]netip.Addr, error)

// HostName is the result of looking up one name.
type HostName struct {
	Addrs []netip.Addr `json:"addrs,omitempty"`
	Error string       `json:"error,omitempty"`
}

// HostNames remembers the addresses of host names. So a resumed scan queries the same
// addresses in the same order as the earlier runs, even if the names have new addresses.
type HostNames struct {
	mu    sync.Mutex
	known map[string]HostName
}

// Resolver returns a resolver that calls lookup only for names that neither this run nor
// an earlier run has looked up. If two lines with the same name are looked up at the same
// time, both get the first answer. If ctx is done, the resolver does not remember the
// answer.
func (n *HostNames) Resolver(lookup resolver) resolver {
	return func(ctx context.Context, host string) ([]netip.Addr, error) {
		n.mu.Lock()
		answer, known := n.known[host]
		n.mu.Unlock()
		if !known {
			addrs, err := lookup(ctx, host)
			if ctx.Err() != nil {
				return addrs, err
			}
			if answer.Addrs = addrs; err != nil {
				answer.Error = err.Error()
			}
			n.mu.Lock()
			if n.known == nil {
				n.known = map[string]HostName{}
			}
			if first, known := n.known[host]; known {
				answer = first
			}
			n.known[host] = answer
			n.mu.Unlock()
		}
		if answer.Error != "" {
			return nil, errors.New(answer.Error)
		}
		return answer.Addrs, nil
	}
}

func (n *HostNames) all() map[string]HostName {
	n.mu.Lock()
	defer n.mu.Unlock()
	return maps.Clone(n.known)
}
