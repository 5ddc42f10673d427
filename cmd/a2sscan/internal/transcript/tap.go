package transcript

import (
	"net/netip"
	"time"
)

// These limit what is kept of a session, so that a server that floods fills neither
// the memory nor the screen. Datagrams beyond the limits are only counted.
const (
	keptDatagrams = 512
	keptBytes     = 8 << 20
)

// Event is a datagram that was sent or received.
type Event struct {
	at   time.Duration // since the scan began
	sent bool
	addr netip.AddrPort // the other end
	data []byte
}

// Tap copies the datagrams out of the scan's loop. Its channel has room for all
// datagrams that it keeps, so it never blocks the loop.
type Tap struct {
	Events chan Event

	target   netip.AddrPort
	kept     int
	bytes    int
	dropped  int // datagrams not kept
	received int // from the target
}

// NewTap returns a tap for the datagrams of one server.
func NewTap(target netip.AddrPort) *Tap {
	return &Tap{target: target, Events: make(chan Event, keptDatagrams)}
}

// Trace copies a datagram. The scan's loop calls it.
func (t *Tap) Trace(now time.Duration, sent bool, addr netip.AddrPort, datagram []byte) {
	if !sent && addr == t.target {
		t.received++
	}
	if t.kept == keptDatagrams || t.bytes+len(datagram) > keptBytes {
		t.dropped++
		return
	}
	t.kept++
	t.bytes += len(datagram)
	t.Events <- Event{now, sent, addr, append([]byte(nil), datagram...)}
}
