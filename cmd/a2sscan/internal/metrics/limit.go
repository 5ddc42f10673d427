package metrics

import (
	"context"
	"net"
	"net/http"
	"slices"
	"sync"
)

// limitListener accepts every connection at once. If more than most connections are
// then open, it closes one of them: the connection that has been idle for the
// longest time, or the oldest if none is idle. So clients that connect and send no
// request can't use up the file descriptors that a scan needs, nor make other
// clients wait.
type limitListener struct {
	net.Listener
	most int

	mu   sync.Mutex
	open []*limitedConn // idle connections among them are in the order in which they became idle
}

// limitedConn is a connection of a limitListener.
type limitedConn struct {
	net.Conn
	from *limitListener
	busy bool // a request is being answered
}

// Accept waits for the next connection. If there are then too many, it closes
// another connection.
func (l *limitListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &limitedConn{Conn: conn, from: l}
	if old := l.add(c); old != nil {
		old.Close()
	}
	return c, nil
}

// add records a connection and returns the connection to close, or nil if there is
// room.
func (l *limitListener) add(c *limitedConn) (old *limitedConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.open) >= l.most {
		old = l.open[max(0, slices.IndexFunc(l.open, func(c *limitedConn) bool { return !c.busy }))]
	}
	l.open = append(l.open, c)
	return old
}

// Close closes the connection and removes it from the list of its listener.
func (c *limitedConn) Close() error {
	c.from.mu.Lock()
	c.from.open = slices.DeleteFunc(c.from.open, func(other *limitedConn) bool { return other == c })
	c.from.mu.Unlock()
	return c.Conn.Close()
}

// setBusy records the beginning or the end of a request, and makes c the newest
// connection.
func (c *limitedConn) setBusy(busy bool) {
	l := c.from
	l.mu.Lock()
	defer l.mu.Unlock()
	c.busy = busy
	if i := slices.Index(l.open, c); i >= 0 {
		l.open = append(slices.Delete(l.open, i, i+1), c)
	}
}

type connKey struct{}

// withConn stores the connection in the context for markBusy.
func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// markBusy returns a handler that calls h, and marks the connection as busy during
// the call.
func markBusy(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, ok := r.Context().Value(connKey{}).(*limitedConn); ok {
			c.setBusy(true)
			defer c.setBusy(false)
		}
		h.ServeHTTP(w, r)
	})
}
