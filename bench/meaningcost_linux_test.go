package bench

import (
	"bytes"
	"encoding/json"
	"math"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/bench/fleet/canned"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/record"
	"github.com/a2sscan/a2sscan/wire"
)

// crowd holds servers in each form that the measured work needs: messages, results
// and records. The results and records exist with the new keys (all, lines) and
// without them (old, olds).
type crowd struct {
	servers     []messages
	all, old    []*scanner.Result
	lines, olds [][]byte
}

// newCrowd returns the crowd of the servers whose perfect results are in truth.
func newCrowd(truth []*scanner.Result) *crowd {
	c := new(crowd)
	var asm scanner.Assembler
	var enc record.Encoder
	for _, r := range truth {
		m := messages{addr: r.Addr, info: wire.AppendInfo(nil, &r.Info)}
		if r.HasPlayers {
			m.players = wire.AppendPlayers(nil, len(r.Players), r.Players)
		}
		if r.HasRules {
			m.rules = wire.AppendRules(nil, len(r.Rules), r.Rules)
		}
		c.servers = append(c.servers, m)
		all := asm.Result(m.info, m.players, m.rules).Clone()
		all.Addr = m.addr
		c.all = append(c.all, all)
	}
	measured(c.all)
	for _, r := range c.all {
		old := *r
		for _, k := range newKeys {
			k.drop(&old)
		}
		c.old = append(c.old, &old)
		line := enc.Append(nil, "20261122T030000Z", r)
		c.lines = append(c.lines, line[:len(line)-1])
		line = withoutAddr(enc.Append(nil, "20261122T030000Z", &old))
		c.olds = append(c.olds, line[:len(line)-1])
	}
	return c
}

// ordinaryCrowd returns servers of the canned fleet, as in the benchmarks of
// complete scans.
func ordinaryCrowd(testing.TB) *crowd {
	var truth []*scanner.Result
	ip := netip.MustParseAddr("127.16.0.1")
	for range 1024 {
		truth = append(truth, canned.Config{}.Truth(netip.AddrPortFrom(ip, 27015), scanner.AskAll))
		ip = ip.Next()
	}
	return newCrowd(truth)
}

// gamesCrowd returns servers that all hide values in their rules and keywords.
func gamesCrowd(t testing.TB) *crowd {
	return newCrowd(slices.DeleteFunc(fleetCensus(t, fleet.Games), func(r *scanner.Result) bool { return !r.HasInfo }))
}

// withoutAddr returns a record without its key addr.
func withoutAddr(line []byte) []byte {
	from := bytes.Index(line, []byte(`"addr":`))
	return append(line[:from], line[from+bytes.IndexByte(line[from:], ',')+1:]...)
}

// again is how many times a small part of the work is repeated to measure it, so
// that the difference exceeds the noise of two measurements.
const again = 16

// decode returns work that decodes and interprets the messages of each server, and
// then calls more with the result.
func (c *crowd) decode(more func(*messages, *scanner.Result)) some {
	var asm scanner.Assembler
	return func(from, to int) {
		for i := from; i < to; i++ {
			m := &c.servers[i]
			more(m, asm.Result(m.info, m.players, m.rules))
		}
	}
}

// interpret returns a function that repeats the interpretation of a result, to
// measure its cost.
func interpret() func(*messages, *scanner.Result) {
	var i scanner.Interpreter
	return func(_ *messages, r *scanner.Result) {
		for range again {
			i.Interpret(r)
		}
	}
}

// hash repeats the hashing that a scan does by default: it hashes the list of
// players if the list is not empty.
func hash(m *messages, r *scanner.Result) {
	for range again * min(len(r.Players), 1) {
		r.Hashes[wire.QuestionPlayers] = xxhash.Sum64(m.players)
	}
}

// record returns work that appends the records of results.
func (c *crowd) record(all []*scanner.Result) some {
	var enc record.Encoder
	line := make([]byte, 0, record.MaxSize)
	return func(from, to int) {
		for _, r := range all[from:to] {
			line = enc.Append(line[:0], "20261122T030000Z", r)
		}
	}
}

// address returns work that appends empty records or, if with is set, records that
// have only an address: ip, port and addr.
func (c *crowd) address(with bool) some {
	all := make([]*scanner.Result, len(c.all))
	for i, r := range c.all {
		if all[i] = new(scanner.Result); with {
			all[i].Addr = r.Addr
		}
	}
	return c.record(all)
}

// pack returns a function that writes lines to a compressed file packedTimes times.
func (c *crowd) pack(t testing.TB, lines [][]byte) func() {
	path := filepath.Join(t.TempDir(), "census.ndjson.zst")
	return func() {
		w, err := sink.Create(path, sink.Options{FlushEvery: -1})
		if err != nil {
			t.Fatal(err)
		}
		for range packedTimes {
			for _, line := range lines {
				if err := w.WriteLine(line); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// packedTimes is how many times pack writes all lines. It is large enough that
// opening, syncing and closing the file hardly count.
const packedTimes = 8

// meaningCost holds times per server in microseconds.
type meaningCost struct {
	decode, interpret, hash float64 // the latter two are part of decode, and measured by doing them again
	record, oldRecord       float64
	addr                    float64 // ip, port and addr: more than addr alone
	pack, oldPack           float64
}

// cost measures the work on a server. It takes span for compression and span for
// everything else.
func (c *crowd) cost(t testing.TB, span time.Duration) (m meaningCost) {
	var interpreted, hashed, address, nothing float64
	quickest(span, len(c.servers), []part{
		{c.decode(func(*messages, *scanner.Result) {}), &m.decode},
		{c.decode(interpret()), &interpreted}, {c.decode(hash), &hashed},
		{c.record(c.all), &m.record}, {c.record(c.old), &m.oldRecord},
		{c.address(true), &address}, {c.address(false), &nothing},
	})
	m.interpret, m.hash, m.addr = (interpreted-m.decode)/again, (hashed-m.decode)/again, address-nothing
	m.pack, m.oldPack = c.packs(t, span)
	return m
}

// some does work on the servers from index from up to, but not including, index to.
type some func(from, to int)

// part is some work. us is where quickest stores its time per server in
// microseconds.
type part struct {
	run some
	us  *float64
}

// quickest measures parts of the work in turn, each on all n servers, until span
// has passed. Before it times a part, it runs the part once, so that it does not
// matter what the previous part left in the caches. It times pieces that take less
// than a time slice of the scheduler, and adds up the shortest time of each piece:
// that of a run that nothing interrupted.
func quickest(span time.Duration, n int, parts []part) {
	const piece = 64
	best := make([][]time.Duration, len(parts))
	for i := range best {
		best[i] = slices.Repeat([]time.Duration{time.Hour}, (n+piece-1)/piece)
	}
	for start := time.Now(); time.Since(start) < span; {
		for i, p := range parts {
			p.run(0, n)
			for from := 0; from < n; from += piece {
				began := time.Now()
				p.run(from, min(from+piece, n))
				best[i][from/piece] = min(best[i][from/piece], time.Since(began))
			}
		}
	}
	for i, p := range parts {
		var sum time.Duration
		for _, d := range best[i] {
			sum += d
		}
		*p.us = us(sum) / float64(n)
	}
}

// packs measures how long it takes to compress a record with the new keys (all) and
// without them (old). It measures processor time, because the writer has a
// goroutine of its own. The shortest of the alternating runs counts.
func (c *crowd) packs(t testing.TB, span time.Duration) (all, old float64) {
	all, old = math.Inf(1), math.Inf(1)
	packAll, packOld := c.pack(t, c.lines), c.pack(t, c.olds)
	spent := func(run func()) float64 {
		before := usage()
		run()
		return us(usage().minus(before).Total()) / float64(len(c.lines)*packedTimes)
	}
	for start := time.Now(); time.Since(start) < span; {
		all, old = min(all, spent(packAll)), min(old, spent(packOld))
	}
	return all, old
}

// whole returns the cost of a server, from its messages to its compressed record.
func (m *meaningCost) whole() float64 { return m.decode + m.record + m.pack }

// keys returns the cost of all new keys, in a record that is not compressed.
func (m *meaningCost) keys() float64 {
	return m.interpret + m.hash + m.record - m.oldRecord + m.addr
}

// packed returns the cost of compressing the new keys.
func (m *meaningCost) packed() float64 { return m.pack - m.oldPack }

// log logs the cost of each part, and by how much game decoding and the new keys
// increase the cost of the other work.
func (m *meaningCost) log(t testing.TB, name string) {
	t.Logf("%s, µs a server: decode %.3f (of it interpret %.3f, hash %.3f), record %.3f (without the keys %.3f, addr at most %.3f), zstd %.3f (%.3f)",
		name, m.decode, m.interpret, m.hash, m.record, m.oldRecord, m.addr, m.pack, m.oldPack)
	more := func(part float64) float64 { return 100 * part / (m.whole() - part) }
	t.Logf("%s: game decoding adds %.2f %% to decoding, record and zstd; all new keys add %.2f %%",
		name, more(m.interpret), more(m.keys()+m.packed()))
}

// TestCostOfMeaning measures the time that the new keys of records take. With -bars
// it compares this time with that of a complete scan, per server. Without -bars it
// only checks that the compared records differ in nothing but the new keys.
func TestCostOfMeaning(t *testing.T) {
	ordinary := ordinaryCrowd(t)
	checkCrowd(t, ordinary)
	if !*barsFlag {
		return
	}
	m := ordinary.cost(t, 20*time.Second)
	m.log(t, "ordinary")
	games := gamesCrowd(t).cost(t, 20*time.Second)
	games.log(t, "games")
	all := clients(*serversFlag)
	s := measure(t, *roundsFlag, all[2], all[3])
	ndjson, zstd := us(s[0].CPU()), us(s[1].CPU())
	t.Logf("whole scan, µs a server: NDJSON %.2f, zstd %.2f", ndjson, zstd)
	if m.interpret <= 0 || m.hash <= 0 || m.record <= m.oldRecord || m.pack <= m.oldPack {
		t.Error("the machine is too busy: a part of the work takes less than nothing")
	}
	hold(t,
		bar{what: "game decoding, % of a scan to NDJSON", got: 100 * m.interpret / ndjson, limit: 3},
		bar{what: "all new keys, % of a scan to NDJSON", got: 100 * m.keys() / ndjson, limit: 5},
		bar{what: "game decoding, % of a scan to zstd", got: 100 * m.interpret / zstd, limit: 3},
		bar{what: "all new keys, % of a scan to zstd", got: 100 * (m.keys() + m.packed()) / zstd, limit: 5},
	)
}

// checkCrowd fails the test if a record in c.lines lacks addr, rtts_ms or hashes,
// if it differs from the record in c.olds in more than the new keys, or if less
// than half of the servers play a known game.
func checkCrowd(t *testing.T, c *crowd) {
	t.Helper()
	interpreted := 0
	for i := range c.lines {
		all, old := keysOf(t, c.lines[i]), keysOf(t, c.olds[i])
		for _, key := range []string{"addr", "rtts_ms", "hashes"} {
			if all[key] == nil {
				t.Fatalf("no %s in %s", key, c.lines[i])
			}
		}
		if all["game"] != nil {
			interpreted++
		}
		for _, key := range []string{"addr", "rtts_ms", "hashes", "game", "flags"} {
			delete(all, key)
		}
		if !reflect.DeepEqual(all, old) {
			t.Fatalf("%s\nwithout the keys\n%s", c.lines[i], c.olds[i])
		}
	}
	if interpreted < len(c.all)/2 {
		t.Errorf("only %d of %d servers play a game that is known", interpreted, len(c.all))
	}
}

// keysOf returns the JSON of each value of a record, by its key.
func keysOf(t *testing.T, line []byte) (keys map[string]json.RawMessage) {
	t.Helper()
	if err := json.Unmarshal(line, &keys); err != nil {
		t.Fatal(err)
	}
	return keys
}
