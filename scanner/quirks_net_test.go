package scanner

import (
	"bytes"
	"hash/crc32"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dsnet/compress/bzip2"

	"github.com/a2sscan/a2sscan/scanner/internal/session"
	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// This file tests facts that concern more than the replies of a single server: which
// requests are sent, how fast, from which address, and to how many servers.

// strict is a network of servers that check the length of each request.
type strict struct {
	*memNet
	t *testing.T
}

func (n strict) Send(ps []udp.Packet) (int, error) {
	for _, p := range ps {
		switch k := wire.Kind(p.Data[4]); {
		case k == wire.KindInfoRequest && (len(p.Data) == 25 || len(p.Data) == 29):
		case k == wire.KindPlayersRequest && len(p.Data) == 9:
		case k == wire.KindRulesRequest && len(p.Data) == 9:
		default:
			n.t.Errorf("sent %d bytes of %q", len(p.Data), k)
		}
	}
	return n.memNet.Send(ps)
}

func TestQuirkRequests(t *testing.T) {
	inBubble(t, "EC-16 EC-17 EC-18 three requests of exact length", func(t *testing.T) {
		n, s := newMemNet(), newServer()
		n.serve = func(addr uint64, req wire.Request) {
			c := *s
			if addr>>16%2 == 0 {
				c.challenge = wire.NoChallenge
			}
			if addr>>16%5 != 0 {
				c.answer(n, addr, req)
			}
		}
		cfg := Config{Tuning: Tuning{transport: strict{n, t}}}
		if _, err := Scan(t.Context(), cfg, seqOf(addresses(50)), func(*Result) {}); err != nil {
			t.Fatal(err)
		}
		if len(n.sent) < 150 {
			t.Errorf("%d datagrams", len(n.sent))
		}
	})
}

// TestQuirkProtocol checks that the layout of a reply is inferred from its bytes, not
// from the server's protocol number.
func TestQuirkProtocol(t *testing.T) {
	for _, protocol := range []byte{7, 17, 46, 47, 48, 49} {
		for l := wire.LayoutGoldSource; l <= wire.LayoutSourceNoSize; l++ {
			inBubble(t, "EC-49 EC-110 EC-112 "+l.String(), func(t *testing.T) {
				info := strings.Replace(oddInfo, "I\x11", "I"+string(rune(protocol)), 1)
				serve := odd(func(h *host) {
					h.info, h.rules = []string{info}, parts(l, 9, manyRules(100), 700)
				})
				r, _ := askOdd(t, serve(), wire.AskAll)
				want := "ok, name, 1 players, 100 rules, 4 sent"
				if got := describe(r); got != want || r.Info.Protocol != protocol {
					t.Errorf("protocol %d: %s", r.Info.Protocol, got)
				}
			})
		}
	}
}

// shipInfo is an INFO of The Ship.
const shipInfo = ff + "I\x07name\x00map\x00ship\x00The Ship\x00\x60\x09\x06\x08\x00lw\x00\x00\x01\x03\x051.0\x00"

func TestQuirkShip(t *testing.T) {
	list := ff + "D\x13" + nameless(6) + strings.Repeat("\x02\x00\x00\x00\xC4\x09\x00\x00", 6)
	for name, change := range map[string]func(h *host){
		"EC-74 EC-75 a lying count": func(h *host) {
			h.info, h.players = []string{shipInfo}, []string{list}
		},
		"EC-70 EC-74 a lying count before INFO": func(h *host) {
			h.info, h.players = nil, []string{list, shipInfo}
		},
	} {
		inBubble(t, name, func(t *testing.T) {
			r, _ := askOdd(t, odd(change)(), wire.AskAll)
			if got := describe(r); got != "ok players.count, name, 6 players of 19, 1 rules, 4 sent" {
				t.Fatal(got)
			}
			for _, p := range r.Players {
				if !p.Ship || p.Deaths != 2 || p.Money != 2500 {
					t.Errorf("%+v", p)
				}
			}
			if r.Info.Ship != (wire.Ship{Mode: 1, Witnesses: 3, Duration: 5}) {
				t.Errorf("%+v", r.Info.Ship)
			}
		})
	}
}

// TestQuirkAddress checks that the address of an 'm' is kept if a server sends both an
// 'm' and an 'I', whichever comes first.
func TestQuirkAddress(t *testing.T) {
	for name, serve := range map[string]func() behaviour{
		"EC-63 m and I": open(oddGold, oddInfo),
		"EC-63 I and m": open(oddInfo, oddGold),
	} {
		inBubble(t, name, func(t *testing.T) {
			r, _ := askOdd(t, serve(), wire.AskAll)
			if in := &r.Info; string(in.Name) != "name" || string(in.Address) != "192.0.2.7:27015" {
				t.Errorf("%q at %q", in.Name, in.Address)
			}
		})
	}
}

// TestQuirkNotAsked checks that a reply to a question that was not asked does not
// count.
func TestQuirkNotAsked(t *testing.T) {
	checkQuirks(t, wire.AskPlayers|wire.AskRules, []quirk{
		{"EC-71 an I to PLAYER", behind(oddInfo, open()), "ok open-players open-rules, 1 players, 1 rules, 2 sent"},
		{"EC-71 an m to PLAYER", behind(oddGold, open()), "ok open-players open-rules, 1 players, 1 rules, 2 sent"},
	})
	inBubble(t, "EC-64 an E that is never asked for, in fragments", func(t *testing.T) {
		half := parts(wire.LayoutSource, 9, manyRules(100), 700)[:1]
		r, _ := askOdd(t, open(append(half, oddInfo)...)(), wire.AskInfo)
		if got := describe(r); got != "ok open-info, name, 1 sent" {
			t.Error(got)
		}
	})
}

// bzipped compresses a reply.
func bzipped(msg string) *bytes.Buffer {
	var b bytes.Buffer
	zw, err := bzip2.NewWriter(&b, nil)
	if err != nil {
		panic(err)
	}
	_, _ = zw.Write([]byte(msg)) // into memory
	_ = zw.Close()
	return &b
}

// packed returns the fragments of a compressed reply with the given declared size
// and checksum.
func packed(l wire.Layout, msg string, size int, declared, crc uint32) (ds []string) {
	b := bzipped(msg)
	f := wire.Fragment{Layout: l, ID: 9 | wire.CompressedID, Compressed: true, Size: uint16(size)}
	f.DeclaredSize, f.CRC = declared, crc
	f.Total = uint8((b.Len() + size - 1) / size)
	for ; b.Len() > 0; f.Number++ {
		f.Payload = b.Next(size)
		ds = append(ds, string(wire.AppendFragment(nil, &f)))
	}
	return ds
}

func TestQuirkPacked(t *testing.T) {
	msg := manyRules(300)
	size, crc := uint32(len(msg)), crc32.ChecksumIEEE([]byte(msg))
	checkQuirks(t, wire.AskAll, []quirk{
		{"EC-108 EC-109 one fragment of 10 bytes and bzip2", withRules(packed(wire.LayoutSourceNoSize, msg, 9000, size, crc)...),
			"ok, name, 1 players, 300 rules, 4 sent"},
		{"EC-95 EC-106 several fragments of bzip2", withRules(packed(wire.LayoutSource, msg, 300, size, crc)...),
			"ok, name, 1 players, 300 rules, 4 sent"},
		{"EC-95 a fragment of bzip2 is missing", withRules(packed(wire.LayoutSource, msg, 300, size, crc)[1:]...),
			"partial rules=incomplete, name, 1 players, 8 sent"},
		{"EC-121 2 GiB declared", withRules(packed(wire.LayoutSource, msg, 9000, 1<<31, crc)...),
			"partial rules=too_large, name, 1 players, 8 sent"},
		{"EC-121 another size declared", withRules(packed(wire.LayoutSource, msg, 9000, size-1, crc)...),
			"partial rules=malformed, name, 1 players, 8 sent"},
		{"EC-108 another checksum", withRules(packed(wire.LayoutSource, msg, 9000, size, crc+1)...),
			"partial rules=bad_checksum, name, 1 players, 8 sent"},
	})
}

// TestQuirkPackedAgain checks the error of a server that sends more compressed
// replies than are unpacked: it is the error of those that were unpacked, or
// ErrTooLarge if they had none.
func TestQuirkPackedAgain(t *testing.T) {
	pack := func(msg string, crc uint32) []byte {
		return []byte(packed(wire.LayoutSource, msg, 9000, uint32(len(msg)), crc)[0])
	}
	for want, reply := range map[wire.Error][]byte{
		wire.ErrChecksum: pack(manyRules(300), 1),
		wire.ErrTooLarge: pack(oddPlayers, crc32.ChecksumIEEE([]byte(oddPlayers))), // not an answer to RULES
	} {
		const maxUnpacked = 16
		synctest.Test(t, func(t *testing.T) {
			n, s := newMemNet(), newServer()
			s.rules = reply
			n.serve = func(addr uint64, req wire.Request) { s.answer(n, addr, req) }
			got, _ := mustRun(t, n, Config{Attempts: maxUnpacked + 4}, addresses(1))
			for _, r := range got {
				if r.Sent < 4+maxUnpacked || r.Err[wire.QuestionRules] != want {
					t.Errorf("%d sent, %v, want %v", r.Sent, r.Err[wire.QuestionRules], want)
				}
			}
		})
	}
}

// TestQuirkNetwork scans networks that are odd as a whole.
func TestQuirkNetwork(t *testing.T) {
	for name, scan := range map[string]func(*testing.T){
		"EC-14 a challenge is good for two seconds":      shortChallenges,
		"EC-127 replies from elsewhere":                  repliesFromElsewhere,
		"EC-129 refused, and silent":                     refusedAndSilent,
		"EC-130 EC-133 a filter for the whole address":   filterForAddress,
		"EC-132 a gateway that knows fifty servers":      smallGateway,
		"EC-13 EC-15 a challenge for each of two scans":  twoScans,
		"EC-59 EC-36 numbers that can't be, as they are": oddNumbers,
	} {
		inBubble(t, name, scan)
	}
}

// shortChallenges checks that new targets do not delay the use of a challenge that is
// valid for two seconds.
func shortChallenges(t *testing.T) {
	n, s := newMemNet(), newServer()
	given := map[uint64]time.Time{}
	n.serve = func(addr uint64, req wire.Request) {
		c := *s
		c.challenge = wire.Challenge(given[addr].UnixNano())
		if time.Since(given[addr]) > 2*time.Second {
			given[addr] = time.Now()
			c.challenge = wire.Challenge(given[addr].UnixNano())
			req.HasChallenge = false
		}
		c.answer(n, addr, req)
	}
	ts := addresses(200)
	_, st := mustRun(t, n, Config{Rate: 50}, ts)
	if st.Finished[StatusOK] != uint64(len(ts)) || st.DatagramsSent() != 4*uint64(len(ts)) {
		t.Errorf("%v, %d datagrams", st.Finished, st.DatagramsSent())
	}
}

func repliesFromElsewhere(t *testing.T) {
	n := newMemNet()
	n.serve = func(addr uint64, req wire.Request) {
		n.reply(addr+1, testRTT, []byte(oddInfo))     // another port
		n.reply(addr+1<<24, testRTT, []byte(oddInfo)) // another address
	}
	got, st := mustRun(t, n, Config{}, addresses(3))
	if st.Finished[StatusNoReply] != 3 || st.Received[session.Foreign] != 18 || len(got) != 3 {
		t.Errorf("%v, %v", st.Finished, st.Received)
	}
}

func refusedAndSilent(t *testing.T) {
	n := newMemNet()
	ts := addresses(2)
	n.serve = func(addr uint64, req wire.Request) {
		if addr == udp.Pack(ts[0].Addr) {
			n.unreachable = append(n.unreachable, addr)
		}
	}
	got, _ := mustRun(t, n, Config{}, ts)
	for i, want := range []string{
		"unreachable info=unreachable players=unreachable rules=unreachable, 2 sent",
		"no_reply info=timeout players=timeout rules=timeout, 3 sent",
	} {
		if r := describe(got[udp.Pack(ts[i].Addr)]); r != want {
			t.Errorf("%s, want %s", r, want)
		}
	}
}

// filterForAddress scans servers behind a filter for their whole address, which bans
// for good any client that sends more than a burst of four and ten datagrams per
// second. The filter must not ban the scan.
func filterForAddress(t *testing.T) {
	n, s := newMemNet(), newServer()
	banned := false
	n.serve = func(addr uint64, req wire.Request) {
		i := len(n.sent) - 1 - (10 + addrBurst)
		banned = banned || i >= 0 && time.Since(n.sent[i].at) < time.Second
		if !banned {
			s.answer(n, addr, req)
		}
	}
	_, st := mustRun(t, n, Config{}, ports(30))
	if st.Finished[StatusOK] != 30 {
		t.Errorf("%v", st.Finished)
	}
}

// smallGateway checks that InFlight limits the number of open targets, so that a
// gateway on the path does not have to track too many servers at a time.
func smallGateway(t *testing.T) {
	n := newMemNet()
	mustRun(t, n, Config{Rate: Off, Tuning: Tuning{InFlight: 50}, Attempts: 1, Questions: wire.AskInfo}, addresses(500))
	for i := 50; i < len(n.sent); i++ {
		if d := n.sent[i].at.Sub(n.sent[i-50].at); d < DefaultTimeout {
			t.Fatalf("51 servers within %v", d)
		}
	}
}

// twoScans has another scan from the same address change the server's challenge: the
// scan must send the open questions again with the new challenge.
func twoScans(t *testing.T) {
	n, s := newMemNet(), newServer()
	n.serve = func(addr uint64, req wire.Request) {
		c := *s
		c.delay += time.Duration(len(n.sent)) * time.Microsecond
		if len(n.sent) > 2 {
			c.challenge++
		}
		c.answer(n, addr, req)
	}
	got, _ := mustRun(t, n, Config{}, addresses(1))
	for _, r := range got {
		if r.Status != StatusOK || r.Sent != 6 {
			t.Error(describe(r))
		}
	}
}

func oddNumbers(t *testing.T) {
	info := strings.Replace(oddInfo, "\x01\x08\x00dl", "\xC8\x02\xFFdl", 1)
	r, _ := askOdd(t, open(info)(), wire.AskInfo)
	if in := &r.Info; in.Players != 200 || in.MaxPlayers != 2 || in.Bots != 255 || r.Notes != 0 {
		t.Errorf("%+v, %v", in, r.Notes)
	}
}

// TestQuirkSocket scans servers on real sockets of this machine, which answer with
// large datagrams.
func TestQuirkSocket(t *testing.T) {
	large := oddInfo[:6] + strings.Repeat("n", 2000) + oddInfo[10:]
	huge := ff + "E\x01\x00name\x00" + strings.Repeat("v", 60_000) + "\x00"
	players := ff + "D\xC8" + nameless(200)
	var mu sync.Mutex
	from := map[netip.AddrPort]int{}
	note := func(p netip.AddrPort) {
		mu.Lock()
		defer mu.Unlock()
		from[p]++
	}
	const servers = 400
	ts := make([]Target, servers)
	for i := range ts {
		b := host{info: []string{large}, players: []string{players}, rules: []string{huge}}
		ts[i].Addr = listenHere(t, b.reply, note)
	}
	ok := 0
	cfg := Config{Rate: 20_000, AddressRate: Off, Cooldown: Off, Tuning: Tuning{InFlight: 20}}
	_, err := Scan(t.Context(), cfg, seqOf(ts), func(r *Result) {
		if r.Status == StatusOK && len(r.Info.Name) == 2000 && len(r.Players) == 200 && len(r.Rules[0].Value) == 60_000 {
			ok++
		} else {
			t.Log(describe(r))
		}
	})
	check(t, err)
	t.Run("EC-52 EC-53 EC-124 datagrams larger than 1400 bytes", func(t *testing.T) {
		if ok != servers {
			t.Errorf("%d of %d servers complete", ok, servers)
		}
	})
	t.Run("EC-131 one socket for all", func(t *testing.T) {
		mu.Lock()
		defer mu.Unlock()
		if len(from) != 1 {
			t.Errorf("asked from %d sockets", len(from))
		}
	})
}

// listenHere runs a server on a loopback port until the test is over.
func listenHere(t *testing.T, b behaviour, note func(netip.AddrPort)) netip.AddrPort {
	t.Helper()
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	check(t, err)
	t.Cleanup(func() { c.Close() })
	go func() {
		buf := make([]byte, 64)
		for {
			n, from, err := c.ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			note(from)
			req, err := wire.DecodeRequest(buf[:n])
			if err != nil {
				continue
			}
			for _, d := range b(req) {
				_, _ = c.WriteToUDPAddrPort([]byte(d), from) // a lost datagram is requested again
			}
		}
	}()
	return netip.MustParseAddrPort(c.LocalAddr().String())
}
