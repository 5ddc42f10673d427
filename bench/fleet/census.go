package fleet

import (
	"net/netip"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// Census finds out what a scan of a fleet may report about each of its places:
// pairs of an address and a port. Only one goroutine at a time may use it.
type Census struct {
	m       *model
	content content
}

// NewCensus returns the Census of a fleet with the Config c. It returns an error if
// c is invalid.
func NewCensus(c Config) (*Census, error) {
	m, err := newModel(c)
	if err != nil {
		return nil, err
	}
	return &Census{m: m}, nil
}

// Places returns the number of places: addresses times ports.
func (c *Census) Places() uint64 { return c.m.places() }

// Place returns place i, in address order.
func (c *Census) Place(i uint64) netip.AddrPort { return udp.Unpack(c.m.place(i)) }

// Index returns the i for which Place returns addr. It returns false if addr is
// outside the fleet.
func (c *Census) Index(addr netip.AddrPort) (uint64, bool) { return c.m.index(udp.Pack(addr)) }

// Kind returns the kind of the server at addr, or false if there is none.
func (c *Census) Kind(addr netip.AddrPort) (Kind, bool) {
	n, ok := c.m.nature(udp.Pack(addr))
	return n.kind, ok
}

// Expect returns what a scan that asks these questions may report about addr. Its
// slices are valid until the next call of Expect or Answers.
func (c *Census) Expect(addr netip.AddrPort, asked scanner.Questions) Expect {
	n, ok := c.m.nature(udp.Pack(addr))
	if !ok {
		return Expect{}
	}
	return n.expect(&c.content, asked)
}

// Answers reports whether a scan that asks these questions finds a server at addr.
func (c *Census) Answers(addr netip.AddrPort, asked scanner.Questions) bool {
	n, ok := c.m.nature(udp.Pack(addr))
	if !ok || n.kind == Silent || n.kind == PlayersOnly || n.kind == OtherPort || n.kind == OtherAddress {
		return false
	}
	// All other kinds answer INFO.
	return asked.Has(wire.QuestionInfo) || n.expect(&c.content, asked).Result != nil
}
