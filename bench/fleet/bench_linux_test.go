package fleet

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/ipv4"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/loopback"
	"github.com/a2sscan/a2sscan/wire"
)

// The servers of benchKinds answer every query with a single message, so that the
// load can count answers.
var benchKinds = map[string][]Kind{
	"source": {Source},
	"mix": {Source, SourceLists, SourceOpen, GoldSource, GoldSourceOld, GoldSourceMod,
		Ship, Split, SplitNoSize, SplitGoldSource, Packed, TruncatedRules},
}

func benchConfig(kinds string) Config {
	return Config{
		Network: netip.MustParsePrefix("127.0.0.0/8"), Ports: anyPort,
		Seed: 1, Kinds: benchKinds[kinds],
	}
}

// BenchmarkServe measures a fleet on one socket. Another process scans it: it sends
// each server INFO, and then all three questions with the challenge. cpu-ns/query
// is the processor time of this process, including system calls; queries/s is what
// the two processes reach together.
func BenchmarkServe(b *testing.B) {
	for _, kinds := range []string{"source", "mix"} {
		b.Run(kinds, func(b *testing.B) { benchmarkServe(b, kinds) })
	}
}

func benchmarkServe(b *testing.B, kinds string) {
	f := start(b, benchConfig(kinds))
	load := exec.Command(os.Args[0], "-test.run=^TestLoad$")
	load.Env = append(os.Environ(), fmt.Sprintf("FLEET_LOAD=%s,%d,%d", kinds, f.Ports()[0], b.N))
	load.Stderr = os.Stderr
	before, begin := cpuTime(b), time.Now()
	b.ResetTimer()
	if out, err := load.Output(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	b.StopTimer()
	took, spent := time.Since(begin), cpuTime(b)-before
	s := f.Stats()
	if s.KernelDrops > 0 {
		b.Fatalf("the fleet dropped %d queries: no measurement", s.KernelDrops)
	}
	b.ReportMetric(float64(s.Queries)/took.Seconds(), "queries/s")
	b.ReportMetric(float64(spent.Nanoseconds())/float64(s.Queries), "cpu-ns/query")
	b.ReportMetric(float64(s.Replies)/float64(s.Queries), "datagrams/query")
	b.ReportMetric(float64(s.ReplyBytes)/float64(s.Queries), "B/query")
}

// cpuTime returns the user and system time that this process has spent.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestLoad checks that a fleet answers every query of the load. BenchmarkServe runs
// it in another process: there it is the load, and queries the fleet of the
// benchmark.
func TestLoad(t *testing.T) {
	spec := strings.Split(os.Getenv("FLEET_LOAD"), ",")
	if len(spec) == 3 {
		port, _ := strconv.ParseUint(spec[1], 10, 16)
		queries, _ := strconv.Atoi(spec[2])
		ask(t, benchConfig(spec[0]).on([]uint16{uint16(port)}), queries)
		return
	}
	var f *Fleet
	t.Cleanup(func() { // after the fleet has ended: it counts a query after answering it
		if n := f.Stats().Queries; n != 2*window {
			t.Errorf("the fleet was asked %d times, not %d", n, 2*window)
		}
	})
	f = start(t, benchConfig("mix"))
	ask(t, f.Config(), 2*window)
}

// ask sends the given number of queries to a fleet and waits for the answers.
func ask(t *testing.T, c Config, queries int) {
	l := newLoad(t, c)
	for sent, answered := 0, 0; answered < queries; {
		for sent < queries && sent-answered < window {
			n := l.send(min(loadBatch, queries-sent))
			sent += n
		}
		answered += l.receive()
	}
}

// loadBatch is the maximum number of datagrams that the load sends or receives with
// one system call.
const loadBatch = 64

// window is the maximum number of queries in flight: enough that the fleet never
// waits, and few enough for its receive buffer and that of the load.
const window = 4096

// load is a client that sends and receives in batches.
type load struct {
	t     *testing.T
	m     *model
	pc    *ipv4.PacketConn
	me    uint64
	next  uint64 // number of the next query, counted over all servers
	out   []ipv4.Message
	in    []ipv4.Message
	conn  *net.UDPConn
	bytes []byte
}

func newLoad(t *testing.T, c Config) *load {
	m, err := newModel(c)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := loopback.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	l := &load{t: t, m: m, conn: conn, pc: ipv4.NewPacketConn(conn), me: 0x7F000001 << 16}
	for range loadBatch {
		l.out = append(l.out, ipv4.Message{Buffers: make([][]byte, 1), Addr: &net.UDPAddr{IP: make(net.IP, 4)}})
		l.in = append(l.in, ipv4.Message{Buffers: [][]byte{make([]byte, 1<<16)}})
	}
	return l
}

// send sends the next n queries.
func (l *load) send(n int) int {
	l.bytes = l.bytes[:0]
	for i := range n {
		server := l.m.place(1 + l.next/4)
		nat, _ := l.m.nature(server)
		c := l.m.challengeOf(&nat, l.me, 0, challengeOnly)
		at := len(l.bytes)
		switch l.next % 4 {
		case 0:
			l.bytes = wire.AppendInfoRequest(l.bytes, wire.NoChallenge)
		default:
			l.bytes = wire.AppendRequest(l.bytes, wire.Question(l.next%4-1), c)
		}
		l.next++
		l.out[i].Buffers[0] = l.bytes[at:]
		to := l.out[i].Addr.(*net.UDPAddr)
		binary.BigEndian.PutUint32(to.IP, uint32(server>>16))
		to.Port = int(uint16(server))
	}
	for ms := l.out[:n]; len(ms) > 0; {
		k, err := l.pc.WriteBatch(ms, 0)
		if err != nil {
			l.t.Fatal(err)
		}
		ms = ms[k:]
	}
	return n
}

// receive waits for a batch of datagrams and returns the number of answers in it:
// messages and first fragments.
func (l *load) receive() (answers int) {
	l.conn.SetReadDeadline(time.Now().Add(5 * time.Second))
	n, err := l.pc.ReadBatch(l.in, 0)
	if err != nil {
		l.t.Fatal("an answer is missing: ", err)
	}
	for i := range l.in[:n] {
		d := l.in[i].Buffers[0][:l.in[i].N]
		if layout, _ := wire.ShowLayout(d); wire.IsSingle(d) || layout != wire.LayoutUnknown {
			answers++
		}
	}
	return answers
}
