package fleet

import (
	"fmt"
	"time"
)

// Memory is a fleet without sockets and without a clock: Ask takes a datagram and
// returns the answers at once. Its network is perfect: Memory ignores the faults
// and delays of a Config. Only one goroutine at a time may use it.
type Memory struct {
	ports map[uint16]*responder
}

// strayPort is the port from which a Memory sends stray replies: those that do not
// come from the port that was queried.
const strayPort = 1

// NewMemory returns the fleet that c describes.
func NewMemory(c Config) (*Memory, error) {
	m, err := newModel(c)
	if err != nil {
		return nil, fmt.Errorf("fleet: %w", err)
	}
	f := &Memory{ports: map[uint16]*responder{}}
	for _, number := range m.ports {
		f.ports[number] = newResponder(m, number)
	}
	return f, nil
}

// Ask passes a datagram to the server at an address, and calls reply for each
// datagram of the answer. Addresses are packed as in scanner/udp. The datagram that
// reply gets is valid until reply returns.
func (f *Memory) Ask(
	now time.Duration, client, server uint64, datagram []byte, reply func(from uint64, datagram []byte),
) {
	p := f.ports[uint16(server)]
	if p == nil {
		return
	}
	p.Respond(now, client, server, datagram)
	for i := range p.out.List {
		d := &p.out.List[i]
		from := d.From
		if d.Stray {
			from = from&^0xFFFF | strayPort
		}
		reply(from, p.out.Bytes(d))
	}
	p.out.Reset()
}
