package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink/census"
	"github.com/a2sscan/a2sscan/wire"
)

// nights simulates the servers of TestNights on two nights, with known changes between
// them. Server i has address i of the lower half of the network. Servers that move get
// an address in the upper half.
type nights struct {
	servers int
	network netip.Prefix
	port    uint16
	now     atomic.Pointer[night]
}

// night holds the replies of the servers on one night, by address, and the loss of
// their network.
type night struct {
	replies map[netip.Addr]*nightReplies
	loss    float64 // share of datagrams, each way
	rnd     *rand.Rand
}

// nightReplies are the replies of a server, and the questions for which it demands no
// challenge.
type nightReplies struct {
	unchallenged scanner.Questions
	reply        [wire.NumQuestions][]byte
}

// startNights opens a socket for the servers on the device lo, and answers until the
// test ends.
func startNights(t *testing.T, servers int) *nights {
	t.Helper()
	n := &nights{servers: servers, network: netip.MustParsePrefix("127.112.0.0/15")}
	lc := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) (err error) {
		e := raw.Control(func(fd uintptr) {
			_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF, 4<<20)
			err = unix.BindToDevice(int(fd), "lo")
		})
		return errors.Join(e, err)
	}}
	conn, err := lc.ListenPacket(t.Context(), "udp4", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	pc := ipv4.NewPacketConn(conn)
	if err := pc.SetControlMessage(ipv4.FlagDst, true); err != nil {
		t.Fatal(err)
	}
	n.port = conn.LocalAddr().(*net.UDPAddr).AddrPort().Port()
	n.now.Store(&night{})
	done := make(chan bool)
	go func() {
		defer close(done)
		for buf := make([]byte, 64); ; {
			size, control, from, err := pc.ReadFrom(buf)
			if err != nil {
				return // the socket is closed
			}
			server, _ := netip.AddrFromSlice(control.Dst.To4())
			if reply := n.now.Load().answer(server, buf[:size]); reply != nil {
				// A reply that can't be sent is a lost reply.
				_, _ = pc.WriteTo(reply, &ipv4.ControlMessage{Src: control.Dst}, from)
			}
		}
	}()
	t.Cleanup(func() { conn.Close(); <-done })
	return n
}

// begin makes the servers answer as on the first night or, if later is set, the second.
func (n *nights) begin(t *testing.T, later bool, loss float64) {
	t.Helper()
	now := &night{replies: map[netip.Addr]*nightReplies{}, loss: loss, rnd: rand.New(rand.NewPCG(3, 4))}
	for i := range n.servers {
		r := n.server(i, later)
		if r == nil {
			continue
		}
		now.replies[r.Addr.Addr()] = &nightReplies{r.Unchallenged, [wire.NumQuestions][]byte{
			wire.AppendInfo(nil, &r.Info),
			wire.AppendPlayers(nil, len(r.Players), r.Players),
			wire.AppendRules(nil, len(r.Rules), r.Rules),
		}}
	}
	n.now.Store(now)
}

// nightChallenge is the challenge of all servers.
const nightChallenge = 0x0BADCAFE

// answer returns the reply of a server to a request, or nil if it is silent or a
// datagram is lost.
func (n *night) answer(server netip.Addr, datagram []byte) []byte {
	request, err := wire.DecodeRequest(datagram)
	q, known := fleet.QuestionOf(request.Kind)
	s := n.replies[server]
	switch {
	case err != nil || !known || s == nil:
		return nil
	case n.rnd.Float64() < 1-(1-n.loss)*(1-n.loss): // lost on its way there or back
		return nil
	case !s.unchallenged.Has(q) && (!request.HasChallenge || request.Challenge != nightChallenge):
		return wire.AppendChallenge(nil, nightChallenge)
	}
	return s.reply[q]
}

// planned returns the change that happens to server i. Every kind of change happens to
// one server in 64; most servers do not change.
func (n *nights) planned(i int) census.Kind {
	if k := i % 64; k < len(census.Kinds) {
		return census.Kinds[k].Kind
	}
	return ""
}

// address returns the address of server i on a night.
func (n *nights) address(i int, later bool) netip.AddrPort {
	b := n.network.Addr().As4()
	b[2], b[3] = byte(i>>8), byte(i)
	if later && n.planned(i) == "moved" {
		b[1]++
	}
	return netip.AddrPortFrom(netip.AddrFrom4(b), n.port)
}

// server returns what server i answers on a night, or nil if it is silent.
func (n *nights) server(i int, later bool) *scanner.Result {
	kind := n.planned(i)
	switch kind {
	case "gone":
		if later {
			return nil
		}
	case "back":
		if !later {
			return nil
		}
	case "mods":
		return n.withMods(i, later)
	}
	r := n.usual(i, later)
	if later {
		n.change(r, kind)
	}
	return r
}

// usualFields are the fields in a server's INFO.
const usualFields = wire.HasProtocol | wire.HasName | wire.HasMap | wire.HasFolder | wire.HasGame | wire.HasAppID | wire.HasPlayers |
	wire.HasMaxPlayers | wire.HasBots | wire.HasServerType | wire.HasEnvironment | wire.HasPassword | wire.HasVAC | wire.HasVersion |
	wire.HasEDF | wire.HasSteamID | wire.HasKeywords | wire.HasGameID

// The tags of a Rust server: its mode and version.
const usualTags = "mp64,vanilla,v2511"

// usual returns what server i answers if nothing has happened to it.
func (n *nights) usual(i int, later bool) *scanner.Result {
	rnd := rand.New(rand.NewPCG(uint64(i), 7))
	r := &scanner.Result{
		Addr: n.address(i, later), Status: scanner.StatusOK, Asked: scanner.AskAll, HasInfo: true, HasPlayers: true,
		HasRules: true, RulesDistinct: true, PlayersAnnounced: -1, RulesAnnounced: -1,
	}
	r.Info = wire.Info{
		Format: wire.FormatSource, Has: usualFields, Protocol: 17,
		Name: fmt.Appendf(nil, "Server #%d — 24/7 \u202e", i), Map: []byte("Procedural Map"), Folder: []byte("rust"), Game: []byte("Rust"),
		Players: uint32(5 + rnd.IntN(10)), MaxPlayers: 64, ServerType: 'd', Environment: "lw"[i%2], Version: []byte("2511"),
		GameID: 252490, SteamID: 3<<52 | uint64(i+1), Keywords: []byte(usualTags),
	}
	for p := range r.Info.Players {
		r.Players = append(r.Players, wire.Player{Name: fmt.Appendf(nil, "player \"%d\"", p), Duration: rnd.Float32() * 9000})
	}
	clock := 1000
	if later {
		clock = 2000
	}
	r.Rules = append(r.Rules, wire.Rule{Name: []byte("uptime"), Value: fmt.Append(nil, clock)})
	for k := range 20 {
		r.Rules = append(r.Rules, wire.Rule{Name: fmt.Append(nil, "rule_", k), Value: fmt.Append(nil, rnd.IntN(9))})
	}
	if i%3 == 0 {
		r.Unchallenged = scanner.AskInfo
	}
	return r
}

// clonePlayers is how many people each server of a farm claims.
const clonePlayers = 12

// change applies a change of a kind to a server.
func (n *nights) change(r *scanner.Result, kind census.Kind) {
	in := &r.Info
	switch kind {
	case "renamed":
		in.Name = append(in.Name, " now"...)
	case "map":
		in.Map = []byte("Other Map")
	case "version":
		in.Keywords = []byte("mp64,vanilla,v2512")
	case "capacity":
		in.MaxPlayers, in.Keywords = 65, []byte("mp65,vanilla,v2511")
	case "mode":
		in.Keywords = []byte("mp64,softcore,v2511")
	case "rules":
		r.Rules[1].Value = []byte("changed")
	case "flags":
		in.Keywords = []byte(usualTags + ",dest=192.0.2.1:27015")
	case "challenge":
		r.Unchallenged ^= scanner.AskInfo
	case "farm":
		like := n.usual(0, true)
		r.Rules, in.Name, in.Players = like.Rules, []byte("Best server of the world"), clonePlayers
	case "players":
		in.Players++
	}
}

// withMods returns server i as a server of a game whose rules name the mods.
func (n *nights) withMods(i int, later bool) *scanner.Result {
	r := n.usual(i, later)
	r.Info.Folder, r.Info.Game, r.Info.GameID, r.Info.Keywords = []byte("zomboid"), []byte("Project Zomboid"), 108600, []byte("pvp")
	mods := "Alpha;Beta"
	if later {
		mods = "Alpha;Gamma"
	}
	r.Rules = append(r.Rules, wire.Rule{Name: []byte("mods"), Value: []byte(mods)})
	return r
}

// targets returns the list of a night. New servers are only on the later list, and
// servers that are not queried again are only on the earlier one.
func (n *nights) targets(later bool) (list []byte) {
	for i := range n.servers {
		kind := n.planned(i)
		if kind == "new" && !later || kind == "not_asked" && later {
			continue
		}
		list = fmt.Appendln(list, n.address(i, false))
		if kind == "moved" && later {
			list = fmt.Appendln(list, n.address(i, true))
		}
	}
	return list
}

// changes returns the changes that happen, by kind and address. Some changes cause
// others.
func (n *nights) changes() map[string]bool {
	want := map[string]bool{}
	for i := range n.servers {
		kind := n.planned(i)
		also := map[census.Kind][]census.Kind{
			"mods": {"rules"}, "farm": {"renamed", "rules"},
		}
		for _, k := range append(also[kind], kind) {
			if k != "" {
				want[change(k, n.address(i, true).String())] = true
			}
		}
		if kind == "farm" && n.usual(i, true).Info.Players != clonePlayers {
			want[change("players", n.address(i, true).String())] = true
		}
	}
	return want
}

// change returns the key of a change in the result of changes.
func change(k census.Kind, addr string) string { return fmt.Sprint(k, " ", addr) }

// scanTimeout returns how long a scan waits for an answer, given the number of servers.
func (n *nights) scanTimeout() time.Duration {
	if n.servers > 10_000 {
		return time.Second
	}
	return 400 * time.Millisecond
}

// partSize returns the size of the parts of a shard.
func (n *nights) partSize() string {
	if n.servers > 10_000 {
		return "300k"
	}
	return "100k"
}

// scanRate returns a rate at which the servers can answer while other tests run.
func (n *nights) scanRate() string {
	if n.servers > 10_000 {
		return "20k"
	}
	return "3k"
}
