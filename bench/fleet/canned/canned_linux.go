// Package canned simulates game servers for measurements, with prepared replies. It needs
// Linux.
package canned

import (
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/bench/fleet/internal/loopback"
	"github.com/a2sscan/a2sscan/bench/fleet/internal/random"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// Config describes a Fleet, whose servers are on addresses of 127.0.0.0/8.
type Config struct {
	// Number of ports, which all addresses have in common. A port costs one socket and one
	// goroutine.
	Ports int
	// Share of the pairs of an address and a port that have a server; zero means all.
	Alive float64
	// Each server has a constant delay between DelayMin and DelayMax.
	DelayMin, DelayMax time.Duration
	// With Tail, one server in a hundred answers after 0.8 to 1.5 s, and one in a
	// thousand after 3 s.
	Tail bool
	// The time from the first query until all delays double; zero means never.
	Doubled time.Duration
	Loss    float64 // share of the replies that are lost

	// Filter makes the kernel drop datagrams to addresses and ports without a server,
	// as a network does. Such datagrams cost this process nothing and are not counted.
	Filter bool
}

// The numbers of players and rules of each server.
const (
	Players = 12
	Rules   = 24
)

// Fleet is a fleet for measurements. All of its servers demand a challenge for all three
// questions. New prepares their replies, so that the measured program gets as much of the
// machine's CPU time as possible.
type Fleet struct {
	loopback.Group
	Config Config
	cans   [numCans][wire.NumQuestions][]byte // replies
}

// numCans is the number of different servers. It is large enough that neighbouring
// records in a file, which are compressed together, come from different servers.
const numCans = 1 << 10

// New prepares the replies and opens the sockets of a canned fleet, on ports that the
// system chooses.
func New(cfg Config) (*Fleet, error) {
	f := &Fleet{Config: cfg}
	for i, seed := range canSeeds() {
		f.cans[i], _ = fleet.Ordinary(seed, Players, Rules, wire.AskAll)
	}
	longest := cfg.DelayMax
	if cfg.Tail {
		longest = max(longest, tailMost)
	}
	if cfg.Doubled > 0 {
		longest *= 2
	}
	for range cfg.Ports {
		port, err := f.Open(0)
		if err == nil && cfg.Filter && cfg.Alive > 0 {
			err = dropEmpty(port, cfg.Alive)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("fleet: %w", err), f.Close())
		}
		number := uint64(port.Number())
		port.Answer(&responder{fleet: f, lost: random.Stream(number)},
			loopback.Faults{Seed: number, DelayMax: longest})
	}
	return f, nil
}

// canSeeds returns the seeds that New passes to fleet.Ordinary. It leaves out servers with
// strings that are not UTF-8. Such servers are rare in the real world, and their records
// are twice as long.
var canSeeds = sync.OnceValue(func() (seeds [numCans]uint64) {
	for i, found := uint64(0), 0; found < numCans; i++ {
		seed := random.Hash(i)
		_, truth := fleet.Ordinary(seed, Players, Rules, wire.AskAll)
		odd := !utf8.Valid(truth.Info.Name)
		for _, p := range truth.Players {
			odd = odd || !utf8.Valid(p.Name)
		}
		for _, rule := range truth.Rules {
			odd = odd || !utf8.Valid(rule.Name) || !utf8.Valid(rule.Value)
		}
		if !odd {
			seeds[found] = seed
			found++
		}
	}
	return seeds
})

// Truth returns what a perfect scan finds at addr; there must be a server there.
func (cfg Config) Truth(addr netip.AddrPort, asked wire.Questions) *scanner.Result {
	seed := canSeeds()[random.Hash(udp.Pack(addr))%numCans]
	_, r := fleet.Ordinary(seed, Players, Rules, asked)
	r.Addr = addr
	return r
}

// Numbers returns the numbers of the ports.
func (f *Fleet) Numbers() (ports []uint16) {
	for _, p := range f.Ports {
		ports = append(ports, p.Number())
	}
	return ports
}

// HasServer reports whether there is a server at addr. The port of addr must be one that a
// fleet with this Config uses.
func (cfg Config) HasServer(addr netip.AddrPort) bool {
	p := udp.Pack(addr)
	return p>>16 != loopback.Broadcast && cfg.alive(uint32(p>>16), uint16(p))
}

// aliveOf is the denominator of the share of addresses and ports with a server.
const aliveOf = 1000

// alive reports whether there is a server at an address and port. The filter of dropEmpty
// does the same computation in the kernel. The hash spreads the servers over all
// addresses.
func (cfg Config) alive(ip uint32, port uint16) bool {
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

// dropEmpty makes the kernel drop datagrams to addresses without a server.
func dropEmpty(port *loopback.Port, alive float64) error {
	const networkHeader, destination = 0xFFF00000, 16 // SKF_NET_OFF; offset in the IPv4 header
	code, err := bpf.Assemble([]bpf.Instruction{
		bpf.LoadAbsolute{Off: networkHeader + destination, Size: 4},
		bpf.ALUOpConstant{Op: bpf.ALUOpAdd, Val: uint32(port.Number()) * aliveStep & 0xFFFFFFFF},
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
	raw, err := port.SyscallConn()
	if err != nil {
		return err
	}
	e := raw.Control(func(fd uintptr) {
		err = unix.SetsockoptSockFprog(int(fd), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &prog)
	})
	return errors.Join(e, err)
}

type responder struct {
	fleet *Fleet
	out   loopback.Outbox
	stats fleet.Stats
	lost  random.Stream
	begun time.Duration // time of the first query, or 0 before it
}

// Out returns the outbox for the answers, and the counters.
func (r *responder) Out() (*loopback.Outbox, *fleet.Stats) { return &r.out, &r.stats }

// Has returns true, so that Respond gets, and counts, the queries to addresses and ports
// without a server.
func (r *responder) Has(uint64) bool { return true }

// Respond adds a server's answer to the outbox.
func (r *responder) Respond(now time.Duration, client, server uint64, datagram []byte) {
	r.stats.Queries++
	if r.begun == 0 {
		r.begun = now
	}
	request, err := wire.DecodeRequest(datagram)
	q, known := fleet.QuestionOf(request.Kind)
	cfg := &r.fleet.Config
	switch {
	case err != nil || !known:
		r.stats.Malformed++
		return
	case !cfg.alive(uint32(server>>16), uint16(server)):
		r.stats.Nobody++
		return
	}
	if r.lost.Chance(cfg.Loss) {
		return
	}
	at, h := len(r.out.Data), random.Hash(server)
	if c := random.Challenge(h >> 16); request.HasChallenge && request.Challenge == c {
		r.out.Data = append(r.out.Data, r.fleet.cans[h%numCans][q]...)
	} else {
		r.out.Data = wire.AppendChallenge(r.out.Data, c)
	}
	r.out.Add(server, at)
	d := &r.out.List[len(r.out.List)-1]
	d.To = client
	d.Delay = cfg.delay(h, now-r.begun)
}

// delay returns how long a server takes to answer a query. Its first argument, h, is the
// hash of the server. Its second argument, after, is the time between the first query to the
// port and this query.
func (cfg *Config) delay(h uint64, after time.Duration) (d time.Duration) {
	switch tail := h >> 20 % 1000; {
	case cfg.DelayMax == 0:
		return 0
	case cfg.Tail && tail == 0:
		d = tailMost
	case cfg.Tail && tail <= 10:
		d = tailMin + time.Duration(h>>32)%(tailMax-tailMin)
	default:
		d = cfg.DelayMin + time.Duration(h>>32)%(cfg.DelayMax-cfg.DelayMin+1)
	}
	if cfg.Doubled > 0 && after > cfg.Doubled {
		d *= 2
	}
	return d
}

// The delays of the servers that Config.Tail makes slow.
const (
	tailMin  = 800 * time.Millisecond
	tailMax  = 1500 * time.Millisecond
	tailMost = 3 * time.Second
)
