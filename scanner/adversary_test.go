package scanner

import (
	"bytes"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2sscan/a2sscan/scanner/internal/session"
	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// slowReply returns a datagram that holds half a megabyte in compressed form, with a
// wrong checksum. Unpacking it takes the decompressor about all the time that it is
// allowed.
func slowReply(t testing.TB) []byte {
	t.Helper()
	period := make([]byte, 50)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range period {
		period[i] = byte(rng.Uint32())
	}
	msg := bytes.Repeat(period, 500<<10/len(period))
	d := []byte(inBzip2(string(msg))[0])
	if len(d) > 1400 {
		t.Fatalf("%d bytes", len(d))
	}
	binary.LittleEndian.PutUint32(d[16:], 1) // the checksum
	return d
}

// TestSlowRepliesWithoutEnd checks that the scan gives up a server that sends
// compressed replies endlessly, faster than they can be unpacked, and that the
// compressed replies of other servers are still unpacked.
func TestSlowRepliesWithoutEnd(t *testing.T) {
	t.Parallel()
	n := newMemNet()
	s := newServer()
	small, slow := []byte(inBzip2(string(s.rules))[0]), slowReply(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	ts := addresses(20)
	hostile := udp.Pack(ts[0].Addr)
	flooding := false
	n.serve = func(addr uint64, req wire.Request) {
		honest := *s
		honest.rules = small
		switch {
		case addr != hostile || req.Kind != wire.KindRulesRequest || !req.HasChallenge:
			honest.answer(n, addr, req)
		case !flooding:
			flooding = true
			for i := range uint32(6000) { // 200 a second
				binary.LittleEndian.PutUint32(slow[4:], i|wire.CompressedID)
				n.reply(addr, time.Duration(i)*5*time.Millisecond, slow)
			}
		}
	}
	cfg := Config{Rate: 200, AddressRate: Off, Cooldown: Off, Timeout: 200 * time.Millisecond, Attempts: 2}
	start := time.Now()
	got, st, err := runContext(ctx, n, cfg, ts)
	if err != nil {
		t.Fatalf("%v after %v: %+v", err, time.Since(start), st)
	}
	for addr, r := range got {
		if want := addr != hostile; want != (r.Status == StatusOK) {
			t.Errorf("%v: %v %v", r.Addr, r.Status, r.Err)
		}
	}
	// ErrChecksum if decompression reaches the end, where the checksum is wrong;
	// ErrTooLarge if it runs out of time first.
	if err := got[hostile].Err[wire.QuestionRules]; err != wire.ErrChecksum && err != wire.ErrTooLarge {
		t.Errorf("the hostile one: %v", err)
	}
}

// TestEndless checks that the scan gives up a server that sends datagrams of one kind
// endlessly, whatever else it answers, and reports a reason for each missing answer.
func TestEndless(t *testing.T) {
	s, i := newServer(), uint32(0)
	next := func() uint32 { i++; return i }
	fragment := func(f wire.Fragment) []byte {
		f.Size, f.Payload = 1248, []byte("\xff\xff\xff\xffE\x01\x00")
		return wire.AppendFragment(nil, &f)
	}
	kinds := map[string]func() []byte{
		"new challenges":     func() []byte { return wire.AppendChallenge(nil, wire.Challenge(next())) },
		"one challenge":      func() []byte { return wire.AppendChallenge(nil, 5) },
		"two challenges":     func() []byte { return wire.AppendChallenge(nil, wire.Challenge(next()&1)) },
		"EC-10 challenge -1": func() []byte { return wire.AppendChallenge(nil, wire.NoChallenge) },
		"EC-21 too many":     func() []byte { return wire.AppendText(nil, wire.KindLimited, []byte("x")) },
		"EC-73 pings":        func() []byte { return wire.AppendText(nil, wire.KindPing, nil) },
		"unknown kinds":      func() []byte { return []byte("\xff\xff\xff\xff9") },
		"zeros":              func() []byte { return make([]byte, 64) },
		"empty":              func() []byte { return nil },
		"EC-24 empty infos":  func() []byte { return []byte("\xff\xff\xff\xffI") },
		"cut infos":          func() []byte { return s.info[:12] },
		"whole infos":        func() []byte { return s.info },
		"old infos":          func() []byte { return wire.AppendInfo(nil, &wire.Info{Format: wire.FormatGoldSource}) },
		"cut old infos":      func() []byte { return []byte("\xff\xff\xff\xffm12") },
		"players":            func() []byte { return s.players },
		"EC-92 cut rules":    func() []byte { return s.rules[:len(s.rules)-1] },
		"groups of one":      func() []byte { return fragment(wire.Fragment{Layout: wire.LayoutSource, ID: next(), Total: 1}) },
		"halves":             func() []byte { return fragment(wire.Fragment{Layout: wire.LayoutSource, ID: next(), Total: 2}) },
		"one half":           func() []byte { return fragment(wire.Fragment{Layout: wire.LayoutSource, ID: 1, Total: 2}) },
		"disagreeing halves": func() []byte {
			return fragment(wire.Fragment{Layout: wire.LayoutSource, ID: 1, Total: uint8(2 + next()%200)})
		},
		"GoldSource halves":   func() []byte { return fragment(wire.Fragment{Layout: wire.LayoutGoldSource, ID: next(), Total: 2}) },
		"EC-116 cut headers":  func() []byte { return []byte("\xfe\xff\xff\xff\x01\x00\x00\x00\x02") },
		"a fragment as reply": func() []byte { return []byte("\xff\xff\xff\xff\xfe\xff\xff\xff\x01\x00") },
	}
	for name, make := range kinds {
		for answers, asked := range map[string]wire.Questions{"nothing": 0, "info": wire.AskInfo, "all but rules": wire.AskInfo | wire.AskPlayers} {
			inBubble(t, name+", answers "+answers, func(t *testing.T) { testEndless(t, s, asked, make) })
		}
	}
}

// testEndless scans a server that answers the questions in answers and, from the first
// request on, sends a datagram every 90 ms for nine minutes.
func testEndless(t *testing.T, s *server, answers wire.Questions, next func() []byte) {
	n := newMemNet()
	started := false
	n.serve = func(addr uint64, req wire.Request) {
		q := map[wire.Kind]wire.Question{'T': 0, 'U': 1, 'V': 2}[req.Kind]
		if answers.Has(q) {
			s.answer(n, addr, req)
		}
		if !started {
			started = true
			for at := range 6000 {
				n.reply(addr, time.Duration(at)*90*time.Millisecond, next())
			}
		}
	}
	start := time.Now()
	got, st, err := run(n, Config{AddressRate: Off, Cooldown: Off}, addresses(1))
	if err != nil || len(got) != 1 {
		t.Fatalf("%v, %d results", err, len(got))
	}
	if took := time.Since(start); took > 2*time.Minute || st.DatagramsSent() > 40 {
		t.Errorf("it took %v and %d datagrams", took, st.DatagramsSent())
	}
	for _, r := range got {
		has := [wire.NumQuestions]bool{r.HasInfo, r.HasPlayers, r.HasRules}
		for q := range wire.AskAll.Each() {
			if !has[q] && r.Err[q] == 0 {
				t.Errorf("%v is missing for no reason", q)
			}
			switch r.Err[q] {
			case 0, wire.ErrChallengeLoop, wire.ErrTimeout:
			case wire.ErrTruncated: // a truncated reply is an answer, too, and the first answer counts
			default:
				if answers.Has(q) {
					t.Errorf("%v was answered: %v", q, r.Err[q])
				}
			}
		}
	}
}

// onceOnly returns a server whose challenge becomes invalid when it is used, or when
// the server gives another challenge.
func onceOnly() behaviour {
	h := host{open: true, info: []string{oddInfo}, players: []string{oddPlayers}, rules: []string{oddRules}}
	good, last := byte(0), byte(0)
	return func(req wire.Request) []string {
		if good != 0 && req.HasChallenge && req.Challenge == wire.Challenge(good) {
			good = 0
			return h.reply(req)
		}
		last++
		good = last
		return []string{challenge(good)}
	}
}

// interleaved alternates the datagrams of two replies.
func interleaved(a, b []string) (all []string) {
	for i := range max(len(a), len(b)) {
		if i < len(a) {
			all = append(all, a[i])
		}
		if i < len(b) {
			all = append(all, b[i])
		}
	}
	return all
}

// together returns a constructor of a server that answers both PLAYER and RULES with
// the datagrams in said.
func together(said []string) func() behaviour {
	return odd(func(h *host) { h.players, h.rules = said, said })
}

const (
	manyPlayersLen = 60
	sourceText     = ff + "Xslow down\x00"
	bannedText     = ff + "lgo away\x00"
)

// severalPlayers returns a PLAYER reply with n players.
func severalPlayers(n int) string {
	return ff + "D" + string([]byte{byte(n)}) + strings.Repeat(onePlayer, n)
}

// source splits a message into fragments as Source servers do.
func source(id uint32, msg string, size int) []string { return parts(wire.LayoutSource, id, msg, size) }

func adversaryQuirks() []quirk {
	long := strings.Repeat("n", 65507-len(oddInfo)+len("name"))
	rows := []quirk{
		{"EC-13 a challenge that is good once and only until the next", onceOnly,
			"ok, name, 1 players, 1 rules, 9 sent"},
		{"EC-21 too many requests, in fragments",
			first(wire.KindRulesRequest, source(3, sourceText, 7), odd(func(*host) {})),
			"ok \"slow down\", name, 1 players, 1 rules, 5 sent"},
		{"EC-22 banned, in fragments", withRules(source(3, bannedText, 7)...),
			"partial rules=banned \"go away\", name, 1 players, 4 sent"},
		{"a challenge in fragments", first(wire.KindInfoRequest, source(3, challenge(77), 6), odd(func(*host) {})), allWell},
		{"a header in two fragments", withRules(source(3, oddRules, 2)...),
			"partial rules=incomplete, name, 1 players, 8 sent"},
		{"a complete reply that is a fragment", withRules(source(3, source(4, oddRules, 99)[0], 20)...),
			"partial rules=incomplete, name, 1 players, 8 sent"},
		{"a compressed reply that is a fragment", withRules(inBzip2(source(4, oddRules, 99)[0])...),
			"partial rules=unexpected, name, 1 players, 8 sent"},
		{"a compressed challenge", first(wire.KindInfoRequest, inBzip2(challenge(77)), odd(func(*host) {})), allWell},
		{"EC-119 two replies, fragment by fragment", together(interleaved(
			source(3, severalPlayers(manyPlayersLen), 300), source(4, manyRules(80), 300))),
			"ok, name, 60 players, 80 rules, 4 sent"},
		{"two replies with one ID, fragment by fragment", together(interleaved(
			source(3, severalPlayers(manyPlayersLen), 300), source(3, manyRules(40), 300))),
			"ok, name, 60 players, 40 rules, 6 sent"},
		{"the last fragments first", withRules(reversed(source(3, manyRules(80), 100))...),
			"ok, name, 1 players, 80 rules, 4 sent"},
		{"every fragment twice, once too often", withRules(append(source(3, manyRules(80), 100), source(3, manyRules(80), 100)...)...),
			"ok, name, 1 players, 80 rules, 4 sent"},
		{"EC-120 255 fragments of one byte", withRules(source(3, manyRules(40)[:255], 1)...),
			"partial rules=incomplete, name, 1 players, 8 sent"},
		{"an INFO of 65,507 bytes", odd(func(h *host) { h.info = []string{strings.Replace(oddInfo, "name", long, 1)} }),
			"ok, " + long + ", 1 players, 1 rules, 4 sent"},
		{"EC-7 INFO to everything", odd(func(h *host) { h.players, h.rules = h.info, h.info }),
			"partial players=timeout rules=timeout, name, 9 sent"},
		{"requests come back", odd(func(h *host) {
			h.rules = []string{string(wire.AppendRequest(nil, wire.QuestionRules, 77))}
		}), "partial rules=unexpected, name, 1 players, 6 sent"},
	}
	for l := wire.LayoutGoldSource; l <= wire.LayoutSourceNoSize; l++ {
		rows = append(rows, quirk{"the type byte split off, " + l.String(),
			withRules(parts(l, 3, oddRules, 4)...), allWell})
	}
	return rows
}

// inBzip2 returns the datagrams of msg, compressed as a server does it.
func inBzip2(msg string) []string {
	return packed(wire.LayoutSource, msg, 9000, uint32(len(msg)), crc32.ChecksumIEEE([]byte(msg)))
}

func reversed(ds []string) []string {
	ds = slices.Clone(ds)
	slices.Reverse(ds)
	return ds
}

// TestAdversary scans servers that do things which no document forbids.
func TestAdversary(t *testing.T) {
	for _, row := range adversaryQuirks() {
		inBubble(t, row.name, func(t *testing.T) {
			r, st := askOdd(t, row.serve(), wire.AskAll)
			if got := describe(r); got != row.want {
				t.Errorf("%.300s\nwant %.300s", got, row.want)
			}
			if st.Reasm.Bytes != 0 {
				t.Errorf("%d bytes of fragments are left", st.Reasm.Bytes)
			}
		})
	}
}

// TestFragmentsOfOthers checks that fragments from another port of the server's
// address do not become part of the server's reply, that fragments which come after
// the server is finished count as late, and that no fragments stay in memory.
func TestFragmentsOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, s := newMemNet(), newServer()
		halves := source(3, manyRules(40), 300)
		n.serve = func(addr uint64, req wire.Request) {
			if req.Kind != wire.KindRulesRequest || !req.HasChallenge {
				s.answer(n, addr, req)
				return
			}
			for i, d := range halves {
				n.reply(addr+1, time.Duration(i)*time.Millisecond, []byte(d))
				n.reply(addr, 10*time.Millisecond, []byte(d))
			}
			other := source(9, manyRules(40), 300)
			n.reply(addr, 300*time.Millisecond, []byte(other[0]))
			n.reply(addr, 301*time.Millisecond, []byte(halves[0]))
		}
		got, st := mustRun(t, n, Config{}, addresses(1))
		for _, r := range got {
			if want := "ok, a, 1 players, 40 rules, 4 sent"; describe(r) != want || int(r.Received) != 3+len(halves) {
				t.Errorf("%s, %d received, want %s", describe(r), r.Received, want)
			}
		}
		foreign, late := st.Received[session.Foreign], st.Received[session.Late]
		if int(foreign) != len(halves) || late != 2 || st.Reasm.Bytes != 0 {
			t.Errorf("%d foreign, %d late, %d bytes left", foreign, late, st.Reasm.Bytes)
		}
	})
}

var floodLen = flag.Int("flood", 200_000, "how many fragments TestFragmentFlood sends")

// floodNet is a network of targets that send only fragments with random IDs, or of
// strangers that do.
type floodNet struct {
	*memNet
	targets   int
	strangers bool
	asked     []uint64
	rng       *rand.Rand
	bufs      [][]byte
	given     int
	most      uint64 // bytes of memory in use
	end       func()
}

func (n *floodNet) Send(ps []udp.Packet) (int, error) {
	for i := range ps {
		n.asked = append(n.asked, ps[i].Addr)
	}
	return len(ps), nil
}

// Recv returns fragments once all targets are open.
func (n *floodNet) Recv(ps []udp.Packet, wait time.Duration) (int, error) {
	switch {
	case len(n.asked) < n.targets:
		return 0, nil
	case n.given >= *floodLen:
		n.end()
		time.Sleep(min(wait, time.Millisecond))
		return 0, nil
	}
	for i := range ps {
		from, b := n.asked[n.rng.IntN(len(n.asked))], n.bufs[i]
		if n.strangers {
			from = n.rng.Uint64() >> 16
		}
		binary.LittleEndian.PutUint32(b[4:], n.rng.Uint32()&^wire.CompressedID)
		b[9] = uint8(n.rng.IntN(4))
		binary.LittleEndian.PutUint32(b[100:], n.rng.Uint32())
		ps[i] = udp.Packet{Addr: from, Data: b}
	}
	const each = 50_000
	if n.given += len(ps); n.given/each != (n.given-len(ps))/each {
		n.most = max(n.most, heapInUse())
	}
	return len(ps), nil
}

func heapInUse() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestFragmentFlood checks that fragments of 1260 bytes with random IDs, from open
// targets or from strangers, take no more memory than the budget allows them.
func TestFragmentFlood(t *testing.T) {
	if raceEnabled {
		t.Skip("SKIPPED, NO MEMORY WAS MEASURED: the race detector takes its own; run the tests without -race too")
	}
	const mostMemory = 300 << 20 // a quarter of it is for fragments
	first := wire.AppendFragment(nil, &wire.Fragment{
		Layout: wire.LayoutSource, Total: 4, Size: 1248, Payload: make([]byte, 1248),
	})
	copy(first[12:], "\xff\xff\xff\xffE\x00\x01")
	for _, strangers := range []bool{false, true} {
		t.Run(fmt.Sprintf("strangers=%v", strangers), func(t *testing.T) {
			runtime.GC()
			before := heapInUse()
			ctx, cancel := context.WithCancel(t.Context())
			n := &floodNet{memNet: newMemNet(), targets: 20_000, strangers: strangers, rng: rand.New(rand.NewPCG(1, 2)), end: cancel}
			for range batchLen {
				n.bufs = append(n.bufs, bytes.Clone(first))
			}
			cfg := Config{Rate: Off, AddressRate: Off, Tuning: Tuning{InFlight: n.targets, transport: n}, Timeout: 5 * time.Minute}
			st, _ := Scan(ctx, cfg, seqOf(addresses(n.targets)), func(*Result) {}) // it is cancelled
			got := st.Kinds[session.KindFragment] + st.Received[session.Foreign]
			t.Logf("%d datagrams, %d bytes held, %d MB", got, st.Bytes, int(n.most-before)/1e6)
			if int(got) < *floodLen || strangers && st.Kinds[session.KindFragment] > 0 {
				t.Errorf("%d datagrams reached the scanner, want %d", got, *floodLen)
			}
			if st.Bytes > DefaultByteBudget/4 || n.most > before+mostMemory {
				t.Errorf("%d bytes are held, %d MB in use", st.Bytes, int(n.most-before)/1e6)
			}
		})
	}
}
