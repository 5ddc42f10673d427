//go:build !portable

package udp

import (
	"net"
	"sync"
	"time"
)

// waker lets one goroutine wait in a read and any other end that wait. An
// interrupt that comes while nobody waits ends the next wait before it begins,
// so that none is lost between a look at the state of the world and the wait.
type waker struct {
	sock *net.UDPConn

	mu      sync.Mutex
	waiting bool // between begin and end
	asked   bool // an interrupt that ended no wait yet
}

// longAgo is a deadline that has passed, whatever the clock says.
var longAgo = time.Unix(1, 0)

// begin bounds the reads that follow by wait; false: an interrupt came, and
// there is to be no wait.
func (w *waker) begin(wait time.Duration) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.asked {
		w.asked = false
		return false, nil
	}
	w.waiting = true
	return true, w.sock.SetReadDeadline(time.Now().Add(wait))
}

// end takes the bound away: reads that don't wait would fail by it too.
func (w *waker) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting, w.asked = false, false
	w.sock.SetReadDeadline(time.Time{}) // fails only if closed, as the next read will
}

func (w *waker) interrupt() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = true
	if w.waiting {
		w.sock.SetReadDeadline(longAgo)
	}
}
