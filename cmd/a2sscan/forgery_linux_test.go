package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/time/rate"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/wire"
)

var forgeBits = flag.Int("forge-bits", 6, "TestForgery scans 2 to the power of `N` servers; the long form is 12")

// forger sends datagrams that have the addresses of servers as their source.
type forger struct {
	*testing.T
	fd      int
	victim  netip.AddrPort // the address of the scan
	targets []netip.AddrPort
	make    func(i int, rng *rand.Rand) []byte // returns the forged reply of a server; nil: none
	limit   *rate.Limiter
	sent    int
}

func newForger(t *testing.T, victim netip.AddrPort, targets []netip.AddrPort) *forger {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_RAW)
	if err != nil {
		t.Skipf("no raw socket, so no reply was forged: %v", err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	return &forger{T: t, fd: fd, victim: victim, targets: targets}
}

// run forges replies of all servers, one after another, until ctx ends.
func (f *forger) run(ctx context.Context) {
	rng := rand.New(rand.NewPCG(1, 2))
	to := &unix.SockaddrInet4{Addr: f.victim.Addr().As4()}
	var b []byte
	for ctx.Err() == nil {
		for i, from := range f.targets {
			datagram := f.make(i, rng)
			if datagram == nil {
				continue
			}
			if f.limit.Wait(ctx) != nil {
				return
			}
			b = appendIPv4(b[:0], from, f.victim, datagram)
			if err := unix.Sendto(f.fd, b, 0, to); err == nil {
				f.sent++
			}
		}
	}
}

// appendIPv4 appends an IPv4 packet with a UDP datagram. The kernel fills in the
// checksum of the packet. The checksum of the datagram is 0, which means that it has no
// checksum.
func appendIPv4(b []byte, from, to netip.AddrPort, data []byte) []byte {
	header := [28]byte{0: 0x45, 8: 64, 9: unix.IPPROTO_UDP}
	binary.BigEndian.PutUint16(header[2:], uint16(len(header)+len(data)))
	*(*[4]byte)(header[12:]) = from.Addr().As4()
	*(*[4]byte)(header[16:]) = to.Addr().As4()
	binary.BigEndian.PutUint16(header[20:], from.Port())
	binary.BigEndian.PutUint16(header[22:], to.Port())
	binary.BigEndian.PutUint16(header[24:], uint16(8+len(data)))
	return append(append(b, header[:]...), data...)
}

// forgeries are the kinds of forged replies. A forger sends them in the name of one
// server in oneIn.
var forgeries = []struct {
	name  string
	oneIn int
	rate  float64 // replies per second
	reply func(i int, rng *rand.Rand) []byte
}{
	{"nothing", 0, 1, nil},
	{"info", 4, 5000, func(int, *rand.Rand) []byte { return forgedInfo() }},
	{"players", 4, 5000, func(int, *rand.Rand) []byte {
		return wire.AppendPlayers(nil, 1, []wire.Player{{Name: []byte("forged")}})
	}},
	{"rules", 4, 5000, func(int, *rand.Rand) []byte {
		return wire.AppendRules(nil, 1, []wire.Rule{{Name: []byte("forged"), Value: []byte("1")}})
	}},
	{"everything", 4, 5000, func(_ int, rng *rand.Rand) []byte {
		switch rng.IntN(3) {
		case 0:
			return wire.AppendPlayers(nil, 1, []wire.Player{{Name: []byte("forged")}})
		case 1:
			return wire.AppendRules(nil, 1, []wire.Rule{{Name: []byte("forged"), Value: []byte("1")}})
		}
		return forgedInfo()
	}},
	{"one challenge", 1, 5000, func(i int, _ *rand.Rand) []byte {
		return wire.AppendChallenge(nil, wire.Challenge(i+1))
	}},
	{"random challenges", 1, 20000, func(_ int, rng *rand.Rand) []byte {
		return wire.AppendChallenge(nil, wire.Challenge(rng.Int32()))
	}},
}

func forgedInfo() []byte {
	return wire.AppendInfo(nil, &wire.Info{Name: []byte("forged"), Map: []byte("x"), Folder: []byte("tf"),
		Version: []byte("1"), Players: 255, MaxPlayers: 255, ServerType: 'd', Environment: 'l'})
}

// TestForgery checks what a scan guarantees if somebody who knows its port forges
// replies. Every server has a record. A record with forged answers notes the conflict,
// and only a server that answers without a challenge is recorded as unchallenged; for
// each exception, the scan counts a late conflict.
func TestForgery(t *testing.T) {
	t.Parallel()
	network := netip.PrefixFrom(netip.MustParseAddr("127.88.0.0"), 32-*forgeBits)
	cfg, _ := serve(t, fleet.Config{Network: network, Seed: 5, Kinds: []fleet.Kind{fleet.Source},
		DelayMin: 5 * time.Millisecond, DelayMax: 60 * time.Millisecond})
	for _, test := range forgeries {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := newForger(t, netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), unusedPort(t)), nil)
			for at := range cfg.All() {
				f.targets = append(f.targets, at)
			}
			f.limit = rate.NewLimiter(rate.Limit(test.rate), 16)
			f.make = func(i int, rng *rand.Rand) []byte {
				if test.oneIn == 0 || i%test.oneIn != 0 {
					return nil
				}
				return test.reply(i, rng)
			}
			if test.oneIn == 0 {
				f.targets = nil
			}
			f.scan(cfg).judge(t)
		})
	}
}

// TestHonestConflicts: bad networks and odd servers are not taken for forgers. The
// network loses, doubles and delays datagrams, there are servers of every honest
// kind, and the scan repeats requests.
func TestHonestConflicts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		cfg  fleet.Config
	}{
		{"lost", fleet.Config{Loss: 0.05}},
		{"doubled", fleet.Config{Duplicate: 0.2, DelayMax: 20 * time.Millisecond}},
		{"everything", fleet.Config{Loss: 0.03, Duplicate: 0.1, Reorder: 0.1, DelayMax: 30 * time.Millisecond}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.cfg.Network = netip.PrefixFrom(netip.MustParseAddr("127.92.0.0"), 32-*forgeBits)
			test.cfg.Seed, test.cfg.Kinds = 6, fleet.HonestKinds()
			cfg, _ := serve(t, test.cfg)
			f := &forger{T: t, victim: netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), unusedPort(t))}
			d := f.scan(cfg, "--timeout", "200ms")
			if n := d.summary.Datagrams; n.N("conflicts")+n.N("late_conflicts")+n.N("early_replies") > 0 {
				t.Errorf("conflicts without a forger: %v", n.Counts)
			}
		})
	}
}

// unusedPort returns a UDP port that is not in use.
func unusedPort(t *testing.T) uint16 {
	t.Helper()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return conn.LocalAddr().(*net.UDPAddr).AddrPort().Port()
}

// deceived counts the results of a scan while replies were forged.
type deceived struct {
	servers, records  int
	sent              int
	ok                int
	falseInfo         int // records whose INFO is not the server's, with or without a note
	unmarked          int // records with status ok, without a note of a conflict, and with something that is not the server's
	accused           int // records with the flag unchallenged and without a note of a conflict
	summary           *ledger.Summary
	code              int
	standardErrorText string
}

// scan scans the fleet while the forger sends.
func (f *forger) scan(cfg fleet.Config, more ...string) *deceived {
	ctx, end := context.WithCancel(f.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if f.targets != nil {
			f.run(ctx)
		}
	}()
	census := filepath.Join(f.TempDir(), "census.ndjson")
	args := []string{"scan", cfg.Network.String(), "-p", strconv.Itoa(int(cfg.Ports[0])), "--allow-reserved",
		"--source", f.victim.String(), "-o", census, "-r", "1k", "--cooldown", "500ms"}
	args = append(args, more...)
	d := new(deceived)
	d.code, _, d.standardErrorText = runIn(args...)
	end()
	<-done
	d.sent = f.sent
	d.summary = readSummary(f.T, census+".summary.json")
	for range cfg.All() {
		d.servers++
	}
	d.read(f.T, census)
	return d
}

// read counts the records of a census.
func (d *deceived) read(t *testing.T, census string) {
	t.Helper()
	r, err := sink.Open(census)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for line, err := r.Next(); err == nil; line, err = r.Next() {
		var rec struct {
			Status       string
			Unchallenged []string
			Notes        []string
			Info         *struct{ Name string }
		}
		if err := json.Unmarshal(line, &rec); err != nil {
			t.Fatal(err)
		}
		d.records++
		noted := slices.Contains(rec.Notes, "info.conflict")
		ok := rec.Status == "ok"
		if ok {
			d.ok++
		}
		if rec.Info != nil && rec.Info.Name == "forged" {
			d.falseInfo++
		}
		if ok && !noted && bytes.Contains(line, []byte(`"forged"`)) {
			d.unmarked++
		}
		if len(rec.Unchallenged) > 0 && !noted {
			d.accused++
		}
	}
}

// judge fails the test if the forger had more success than TestForgery allows.
func (d *deceived) judge(t *testing.T) {
	t.Helper()
	n := d.summary.Datagrams
	t.Logf("%d servers, %d records, %d ok; %d replies forged, %d kernel drops; INFO false %d; "+
		"false and ok without a note %d; unchallenged %d; conflicts %d, late %d, early %d, foreign %d, forged %v; %.1f s",
		d.servers, d.records, d.ok, d.sent, n.N("kernel_drops"), d.falseInfo, d.unmarked, d.accused,
		n.N("conflicts"), n.N("late_conflicts"), n.N("early_replies"), n.N("foreign_replies"), n.N("forged") > 0, d.summary.Seconds)
	switch late := int(n.N("late_conflicts")); {
	case d.code != 0:
		t.Errorf("exit code %d: %s", d.code, d.standardErrorText)
	case d.records != d.servers:
		t.Errorf("%d of %d servers were found", d.records, d.servers)
	case d.unmarked > late:
		t.Errorf("%d records are false, and ok without a note, and %d late conflicts were counted", d.unmarked, late)
	case d.accused > late:
		t.Errorf("%d servers are wrongly recorded as unchallenged, and %d late conflicts were counted", d.accused, late)
	case d.ok < d.servers-d.servers/100:
		t.Errorf("%d of %d servers have an incomplete record", d.servers-d.ok, d.servers)
	case d.sent == 0 && n.N("conflicts")+n.N("late_conflicts")+n.N("early_replies") > 0:
		t.Error("conflicts were counted without a forger")
	}
}
