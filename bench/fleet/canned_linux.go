package fleet

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/net/bpf"
	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// CannedConfig says what a Canned fleet is. Its servers are on all of
// 127.0.0.0/8.
type CannedConfig struct {
	Ports    int           // how many ports of each address; each is a socket and a goroutine
	Alive    float64       // share of the places with a server; zero: all of them
	DelayMin time.Duration // each server answers after a time of its own
	DelayMax time.Duration // between these two

	// Filter has the kernel drop what is for an empty place, unread, as a
	// network does: it costs this process nothing and is counted by nobody.
	Filter bool
}

// What each of a Canned fleet's servers has.
const (
	CannedPlayers = 12
	CannedRules   = 24
)

// Canned is a fleet for measurements: its servers all want a challenge for all
// three questions, and their replies were made beforehand, so that it takes as
// little as possible of the machine from what is measured.
type Canned struct {
	Config CannedConfig
	ports  []*cannedPort
	cans   [numCans]can
}

// can is what one server in numCans says.
type can [wire.NumQuestions][]byte

// numCans is so large that the records next to each other in a file, which are
// compressed together, are those of different servers.
const numCans = 1 << 10

// NewCanned opens the sockets of a canned fleet, on ports of the system's
// choice.
func NewCanned(cfg CannedConfig) (*Canned, error) {
	f := &Canned{Config: cfg}
	f.fill()
	for range cfg.Ports {
		if err := f.addPort(); err != nil {
			f.Close()
			return nil, fmt.Errorf("fleet: %w", err)
		}
	}
	return f, nil
}

func (f *Canned) addPort() error {
	conn, err := listen(0)
	if err != nil {
		return err
	}
	number := conn.LocalAddr().(*net.UDPAddr).AddrPort().Port()
	m, err := newModel(Config{Network: loopback, Ports: []uint16{number}, DelayMax: f.Config.DelayMax})
	if err == nil && f.Config.Filter && f.Config.Alive > 0 {
		err = dropEmpty(conn, number, f.Config.Alive)
	}
	if err != nil {
		conn.Close()
		return err
	}
	sock, err := udp.Unpoll(conn)
	if err != nil {
		return err
	}
	f.ports = append(f.ports, &cannedPort{port: newPort(m, number, sock), fleet: f})
	return nil
}

// fill makes the replies.
func (f *Canned) fill() {
	for i := range f.cans {
		var c content
		n := cannedNature(uint64(i))
		c.fill(&n, scanner.AskAll)
		for q := range f.cans[i] {
			f.cans[i][q] = c.appendMessage(nil, wire.Question(q))
		}
	}
}

// cannedNature is the nature of the servers whose hash is h.
func cannedNature(h uint64) nature { return canNature(canSeeds()[h%numCans]) }

func canNature(seed uint64) nature {
	n := nature{
		hash: seed, kind: Source, challenged: scanner.AskAll,
		players: CannedPlayers, rules: CannedRules,
	}
	r := rng(n.hash)
	n.game = pick(&r, gamesOf(Source))
	return n
}

// canSeeds are the seeds of ordinary servers. Those whose texts are not UTF-8
// are rare in the world and not among the simulated ones; their records are
// twice as long.
var canSeeds = sync.OnceValue(func() (seeds [numCans]uint64) {
	var c content
	for i, found := uint64(0), 0; found < numCans; i++ {
		n := canNature(hash(i))
		if c.fill(&n, scanner.AskAll); c.readable() {
			seeds[found] = n.hash
			found++
		}
	}
	return seeds
})

// readable reports whether all texts that odd bytes occur in are UTF-8.
func (c *content) readable() bool {
	ok := utf8.Valid(c.info.Name)
	for i := range c.players {
		ok = ok && utf8.Valid(c.players[i].Name)
	}
	for i := range c.rules {
		ok = ok && utf8.Valid(c.rules[i].Name) && utf8.Valid(c.rules[i].Value)
	}
	return ok
}

// Truth returns what a perfect scan finds at addr, where a server is there.
func (cfg CannedConfig) Truth(addr netip.AddrPort, asked scanner.Questions) *scanner.Result {
	n := cannedNature(hash(pack(addr)))
	r := n.expect(new(content), asked).Result
	r.Addr = addr
	return r
}

// Ports returns the ports that the fleet is on.
func (f *Canned) Ports() (ports []uint16) {
	for _, p := range f.ports {
		ports = append(ports, p.number)
	}
	return ports
}

// HasServer reports whether a server is at addr, if a fleet of cfg is on its port.
func (cfg CannedConfig) HasServer(addr netip.AddrPort) bool {
	p := pack(addr)
	return p>>16 != broadcast && cfg.alive(uint32(p>>16), uint16(p))
}

// aliveOf is what the share of live places is counted in.
const aliveOf = 1000

// alive is what dropEmpty says in the kernel's words. Neighbours are alive
// independently of each other.
func (cfg CannedConfig) alive(ip uint32, port uint16) bool {
	if cfg.Alive == 0 {
		return true
	}
	h := (ip + uint32(port)*aliveStep) * aliveMix >> aliveShift
	return h%aliveOf < uint32(cfg.Alive*aliveOf)
}

const (
	aliveStep  = 0x85EBCA6B
	aliveMix   = 0x9E3779B1 // 2^32 divided by the golden ratio
	aliveShift = 7
)

// dropEmpty has the kernel drop what is for an address without a server.
func dropEmpty(conn *net.UDPConn, number uint16, alive float64) error {
	const networkHeader, destination = 0xFFF00000, 16 // SKF_NET_OFF
	code, err := bpf.Assemble([]bpf.Instruction{
		bpf.LoadAbsolute{Off: networkHeader + destination, Size: 4},
		bpf.ALUOpConstant{Op: bpf.ALUOpAdd, Val: uint32(number) * aliveStep & 0xFFFFFFFF},
		bpf.ALUOpConstant{Op: bpf.ALUOpMul, Val: aliveMix},
		bpf.ALUOpConstant{Op: bpf.ALUOpShiftRight, Val: aliveShift},
		bpf.ALUOpConstant{Op: bpf.ALUOpMod, Val: aliveOf},
		bpf.JumpIf{Cond: bpf.JumpLessThan, Val: uint32(alive * aliveOf), SkipFalse: 1},
		bpf.RetConstant{Val: 1 << 16},
		bpf.RetConstant{Val: 0},
	})
	if err != nil {
		return err
	}
	filter := make([]unix.SockFilter, len(code))
	for i, c := range code {
		filter[i] = unix.SockFilter{Code: c.Op, Jt: c.Jt, Jf: c.Jf, K: c.K}
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	e := raw.Control(func(fd uintptr) {
		err = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &prog)
	})
	return errors.Join(e, err)
}

func (f *Canned) canOf(h uint64) *can { return &f.cans[h%numCans] }

// Serve answers until ctx is done. It may be called once.
func (f *Canned) Serve(ctx context.Context) error {
	errs := make([]error, len(f.ports))
	start := time.Now()
	var wg sync.WaitGroup
	for i, p := range f.ports {
		wg.Go(func() { errs[i] = p.serve(ctx, start) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Close closes the sockets. It must not be called before Serve returned.
func (f *Canned) Close() error {
	var errs []error
	for _, p := range f.ports {
		errs = append(errs, p.conn.Close())
	}
	return errors.Join(errs...)
}

// Stats returns the numbers of the fleet, up to the last batch of each port.
func (f *Canned) Stats() Stats {
	var sum Stats
	for _, p := range f.ports {
		p.mu.Lock()
		sum.Add(&p.seen)
		p.mu.Unlock()
	}
	return sum
}

// cannedPort is a port that answers out of a can.
type cannedPort struct {
	*port
	fleet *Canned
}

// serve answers until ctx is done.
func (p *cannedPort) serve(ctx context.Context, start time.Time) error {
	return p.loop(ctx, start, func(now time.Duration, m *ipv4.Message) {
		server := p.arrival(m.OOB[:m.NN])<<16 | uint64(p.number)
		p.answer(now, pack(m.Addr.(*net.UDPAddr).AddrPort()), server, m.Buffers[0][:m.N])
	}, nil)
}

// answer puts the reply of a server into the outbox, or holds it back.
func (p *cannedPort) answer(now time.Duration, client, server uint64, datagram []byte) {
	if !walled(client) || !walled(server) {
		p.stats.Walled++
		return
	}
	p.stats.Queries++
	q := query{}
	var err error
	if q.request, err = wire.DecodeRequest(datagram); err != nil || !q.setQuestion() {
		p.stats.Malformed++
		return
	}
	if !p.fleet.Config.alive(uint32(server>>16), uint16(server)) {
		p.stats.Nobody++
		return
	}
	at, first, h := len(p.out.data), len(p.out.list), hash(server)
	if c := notNone(h >> 16); q.request.HasChallenge && q.request.Challenge == c {
		p.out.data = append(p.out.data, p.fleet.canOf(h)[q.question]...)
	} else {
		p.out.data = wire.AppendChallenge(p.out.data, c)
	}
	p.out.add(server, at)
	cfg := &p.fleet.Config
	if cfg.DelayMax > 0 {
		delay := cfg.DelayMin + time.Duration(h>>32)%(cfg.DelayMax-cfg.DelayMin+1)
		address(p.out.list[first:], client, delay)
		p.apply(now, &p.out, first, &p.stats)
		return
	}
	address(p.out.list[first:], client, 0)
}
