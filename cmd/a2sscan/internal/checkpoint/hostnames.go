package checkpoint

import (
	"context"
	"errors"
	"maps"
	"net/netip"
	"sync"
)

// resolver looks up the addresses of a host.
type resolver func(ctx context.Context, host string) ([]netip.Addr, error)

// HostNames remembers the addresses of host names. A resumed scan queries the same
// addresses in the same order, even if the names have other addresses by then.
type HostNames struct {
	mu    sync.Mutex
	known map[string]HostName
	saved map[string]HostName // a copy of known for checkpoints; never modified
}

// HostName is the answer to the look-up of one name.
type HostName struct {
	Addrs []netip.Addr `json:"addrs,omitempty"`
	Error string       `json:"error,omitempty"`
}

// Resolver returns a resolver that calls lookup only for names not yet known. It
// does not remember an answer if ctx is done.
func (n *HostNames) Resolver(lookup resolver) resolver {
	return func(ctx context.Context, host string) ([]netip.Addr, error) {
		if was, known := n.get(host); known {
			return was.addrs()
		}
		addrs, err := lookup(ctx, host)
		answer := HostName{Addrs: addrs}
		if err != nil {
			answer.Error = err.Error()
		}
		if ctx.Err() != nil {
			return addrs, err
		}
		return n.put(host, answer).addrs()
	}
}

// addrs returns the answer in the form that a resolver returns.
func (h HostName) addrs() ([]netip.Addr, error) {
	if h.Error != "" {
		return nil, errors.New(h.Error)
	}
	return h.Addrs, nil
}

func (n *HostNames) get(host string) (HostName, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	answer, known := n.known[host]
	return answer, known
}

// put stores and returns the answer for a name. If two lines with the same name
// were looked up at the same time, both get the first answer.
func (n *HostNames) put(host string, answer HostName) HostName {
	n.mu.Lock()
	defer n.mu.Unlock()
	if was, known := n.known[host]; known {
		return was
	}
	if n.known == nil {
		n.known = map[string]HostName{}
	}
	n.known[host] = answer
	return answer
}

// all returns a copy of all answers so far, for a checkpoint.
func (n *HostNames) all() map[string]HostName {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.saved) != len(n.known) {
		n.saved = maps.Clone(n.known)
	}
	return n.saved
}
