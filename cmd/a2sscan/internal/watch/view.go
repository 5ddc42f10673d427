package watch

import (
	"iter"
	"net/netip"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watchdb"
	"github.com/a2sscan/a2sscan/sink/census"
)

// Row is what a watch knows of a server.
type Row struct {
	ID             int64 // in the database
	Addr           netip.AddrPort
	Known          *census.Server // its last full answer, which nobody changes; nil: none
	Status         watchdb.Status
	Since          time.Time // since when it has its status
	People, Places int       // -1: unknown
	Silent         time.Time // when it was asked first of the latest checks without an answer; zero: the last one was answered
}

// copied is how many servers are copied while the watch waits.
const copied = 1000

// Rows yields all servers that are watched, by their ID.
func (r *Watch) Rows() iter.Seq[Row] {
	return func(yield func(Row) bool) {
		var servers []server
		for id, more := int64(0), true; more; {
			r.mu.Lock()
			rest := r.watcher.servers[id:]
			servers = append(servers[:0], rest[:min(copied, len(rest))]...)
			r.mu.Unlock()
			more = len(rest) > copied
			for _, s := range servers {
				id++
				row := Row{
					ID: id, Addr: s.addr(), Known: s.known, Status: s.status,
					Since: moment(s.since), People: int(s.people), Places: int(s.places), Silent: moment(s.silentAt),
				}
				if !s.gone && !yield(row) {
					return
				}
			}
		}
	}
}
