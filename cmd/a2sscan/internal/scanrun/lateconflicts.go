package scanrun

import (
	"net/netip"
	"sync"
)

// lateConflictsKept is the maximum number of servers that are listed; further ones
// are only counted.
const lateConflictsKept = 100

// lateConflicts holds the servers whose later replies contradicted their record
// after it was written. The scan's loop adds to it.
type lateConflicts struct {
	mu    sync.Mutex
	addrs []string
}

func (l *lateConflicts) add(addr netip.AddrPort) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.addrs) < lateConflictsKept {
		l.addrs = append(l.addrs, addr.String())
	}
}

func (l *lateConflicts) list() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.addrs
}
