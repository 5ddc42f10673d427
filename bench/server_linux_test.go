package bench

import (
	"bytes"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/bench/fleet/canned"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink/record"
	"github.com/a2sscan/a2sscan/wire"
)

// sample holds the complete messages of servers of the canned fleet, and the memory
// for processing one server at a time. It has several servers because branch
// prediction would memorise the data of a single server.
type sample struct {
	servers []messages
	next    int

	asm    scanner.Assembler
	enc    record.Encoder
	info   wire.Info
	buf    []byte
	record []byte
	nuls   int
}

type messages struct {
	addr                      netip.AddrPort
	info, players, rules, all []byte
}

func newSample() *sample {
	s := &sample{record: make([]byte, 0, 64<<10), buf: make([]byte, 64<<10)}
	ip := netip.MustParseAddr("127.16.0.1")
	for range 16 {
		addr := netip.AddrPortFrom(ip, 27015)
		r := canned.Config{}.Truth(addr, scanner.AskAll)
		m := messages{
			addr:    addr,
			info:    wire.AppendInfo(nil, &r.Info),
			players: wire.AppendPlayers(nil, len(r.Players), r.Players),
			rules:   wire.AppendRules(nil, len(r.Rules), r.Rules),
		}
		m.all = slices.Concat(m.info, m.players, m.rules)
		s.servers = append(s.servers, m)
		ip = ip.Next()
	}
	return s
}

// server returns the messages of the next server.
func (s *sample) server() *messages {
	m := &s.servers[s.next]
	if s.next++; s.next == len(s.servers) {
		s.next = 0
	}
	return m
}

// scan copies b and counts its NULs, one byte at a time.
func (s *sample) scan(b []byte) {
	n := 0
	for _, c := range s.buf[:copy(s.buf, b)] {
		if c == 0 {
			n++
		}
	}
	s.nuls += n
}

func (s *sample) floor()     { s.scan(s.server().all) }
func (s *sample) infoFloor() { s.scan(s.server().info) }

func (s *sample) infoDecode() {
	if s.info.Decode(s.server().info) != nil {
		panic("a reply that is whole")
	}
}

// decode makes a Result from the messages of a server.
func (s *sample) decode() { s.result(s.server()) }

func (s *sample) result(m *messages) *scanner.Result {
	r := s.asm.Result(m.info, m.players, m.rules)
	r.Addr = m.addr
	traffic(r)
	return r
}

// decodeAppend makes a Result and its record.
func (s *sample) decodeAppend() {
	s.record = s.enc.Append(s.record[:0], "20261120T030000Z", s.result(s.server()))
}

// traffic sets the fields of a result that do not come from messages.
func traffic(r *scanner.Result) {
	r.Time = noon
	r.RTT, r.Took = 23412*time.Microsecond, 47103*time.Microsecond
	r.Sent, r.SentBytes, r.Received, r.RecvBytes = 4, 111, 4, 900
}

var noon = time.Date(2026, 11, 20, 12, 0, 0, 123e6, time.UTC)

// serverWork returns the work of BenchmarkServer, which must not allocate. The
// number of bytes is the average length of the messages that the work reads.
func serverWork(s *sample) []work {
	all, info := 0, 0
	for i := range s.servers {
		all += len(s.servers[i].all)
		info += len(s.servers[i].info)
	}
	n := len(s.servers)
	return []work{
		{"floor", all / n, s.floor},
		{"decode", all / n, s.decode},
		{"decode+append", all / n, s.decodeAppend},
		{"info/floor", info / n, s.infoFloor},
		{"info/decode", info / n, s.infoDecode},
	}
}

type work struct {
	name  string
	bytes int
	run   func()
}

func BenchmarkServer(b *testing.B) {
	for _, w := range serverWork(newSample()) {
		b.Run(w.name, func(b *testing.B) {
			b.SetBytes(int64(w.bytes))
			b.ReportAllocs()
			for b.Loop() {
				w.run()
			}
		})
	}
}

func TestServerAllocates(t *testing.T) {
	for _, w := range serverWork(newSample()) {
		if n := testing.AllocsPerRun(1000, w.run); n != 0 {
			t.Errorf("%s: %v allocations", w.name, n)
		}
	}
}

// TestServerRecord checks that the timed code does all of the work: its records
// must be those of the fleet's servers.
func TestServerRecord(t *testing.T) {
	s := newSample()
	for i := range s.servers {
		r := canned.Config{}.Truth(s.servers[i].addr, scanner.AskAll)
		traffic(r)
		s.decodeAppend()
		got := s.result(&s.servers[i])
		r.Hashes, r.Game, r.Flags = got.Hashes, got.Game, got.Flags // the truth has no replies to derive them from
		want := record.Append(nil, "20261120T030000Z", r)
		same := bytes.Equal(s.record, want)
		if !same || len(r.Players) != canned.Players || len(r.Rules) != canned.Rules {
			t.Errorf("%s\nwant %s", s.record, want)
		}
	}
}

// barsOfServer compares the cost of processing the messages of a server with that
// of copying and scanning their bytes.
func barsOfServer(t *testing.T) {
	s := newSample()
	hold(t,
		bar{what: "decode+append, times copying and scanning", got: timesOf(s.decodeAppend, s.floor), limit: 6},
		bar{what: "info decoded, times copying and scanning it", got: timesOf(s.infoDecode, s.infoFloor), limit: 2},
	)
	t.Logf("decode alone: %.2f times copying and scanning", timesOf(s.decode, s.floor))
}

// timesOf returns how many times as long a takes as b. It alternates between them
// for some seconds, and compares the shortest runs: those that nothing interrupted
// or slowed down. On a rented machine, the other half of the core may be busy with
// somebody else's work.
func timesOf(a, b func()) float64 {
	const span = 5 * time.Second
	bestA, bestB := time.Hour, time.Hour
	for start := time.Now(); time.Since(start) < span; {
		bestA = min(bestA, durationOf(a))
		bestB = min(bestB, durationOf(b))
	}
	return float64(bestA) / float64(bestB)
}

// floorTime returns how long it takes to copy and scan the bytes of a server. In
// this unit, user times of different machines can be compared.
func floorTime() time.Duration {
	s, best := newSample(), time.Hour
	for start := time.Now(); time.Since(start) < time.Second; {
		best = min(best, durationOf(s.floor))
	}
	return best / runsTimed
}

const runsTimed = 48

// durationOf returns how long runsTimed calls of f take: long enough for the
// resolution of the clock, and shorter than a time slice of the scheduler.
func durationOf(f func()) time.Duration {
	start := time.Now()
	for range runsTimed {
		f()
	}
	return time.Since(start)
}
