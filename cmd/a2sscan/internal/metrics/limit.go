package metrics

import (
	"net"
	"net/http"
	"slices"
	"sync"
)

// limit counts open connections. If a new connection exceeds the maximum, limit closes the
// connection that has been silent longest. So clients that send no request can't use up
// the file descriptors that a scan needs, nor make other clients wait.
type limit struct {
	most int // maximum number of open connections

	mu   sync.Mutex
	open []net.Conn // the connection that has been silent longest is the first
}

// changed is the ConnState function of the http.Server.
func (l *limit) changed(conn net.Conn, state http.ConnState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch state {
	case http.StateNew:
		if l.open = append(l.open, conn); len(l.open) > l.most {
			l.open[0].Close()
			l.open = l.open[1:]
		}
	case http.StateIdle: // the server has answered a request
		if i := slices.Index(l.open, conn); i >= 0 {
			l.open = append(slices.Delete(l.open, i, i+1), conn)
		}
	case http.StateClosed:
		l.open = slices.DeleteFunc(l.open, func(other net.Conn) bool { return other == conn })
	}
}
