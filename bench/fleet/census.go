package fleet

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/random"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// Census computes what a scan of a fleet may report about each place. A place is a pair of
// an address and a port. Only one goroutine at a time may use a Census.
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

// Expect returns what a scan that asks these questions may report about addr. The slices in
// the result are valid until the next call of Expect.
func (c *Census) Expect(addr netip.AddrPort, asked wire.Questions) Expect {
	n, ok := c.m.nature(udp.Pack(addr))
	if !ok {
		return Expect{}
	}
	return n.expect(&c.content, asked)
}

// Memory is a fleet in memory, without sockets or a clock. Ask passes a datagram to a
// server, which answers at once. The network is perfect: Memory ignores the faults and
// delays of a Config. Only one goroutine at a time may use it.
type Memory struct {
	ports map[uint16]*responder
}

// strayPort is the port from which a Memory sends stray replies, that is, replies that
// do not come from the port that was queried.
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

// Ordinary returns, for each question, the complete reply of a server of the kind Source
// without oddities. It also returns what a perfect scan finds if it asks that server the
// questions in asked. The server has the given numbers of players and rules, and no address.
// The seed determines the contents of its replies.
func Ordinary(
	seed uint64, players, rules int, asked wire.Questions,
) (replies [wire.NumQuestions][]byte, truth *scanner.Result) {
	r := random.Stream(seed)
	n := nature{
		hash: seed, kind: Source, game: random.Pick(&r, simpleGames[Source]),
		challenged: wire.AskAll, players: players, rules: rules,
	}
	var c content
	c.fill(&n, wire.AskAll)
	for q := range replies {
		replies[q] = c.appendMessage(nil, wire.Question(q))
	}
	return replies, n.expect(new(content), asked).Result
}
