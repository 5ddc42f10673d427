package main

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/bench/fleet/replay"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink/census"
	"github.com/a2sscan/a2sscan/sink/record"
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

// night holds the servers of one night, and the loss of their network.
type night struct {
	servers *replay.Recording
	loss    float64 // share of datagrams, each way

	mu  sync.Mutex
	rnd *rand.Rand
}

// startNights opens a socket for the servers, and answers until the test ends.
func startNights(t *testing.T, servers int) *nights {
	t.Helper()
	n := &nights{servers: servers, network: netip.MustParsePrefix("127.112.0.0/15")}
	sockets, err := fleet.Listen([]uint16{0})
	if err != nil {
		t.Fatal(err)
	}
	n.port = sockets.Ports()[0]
	n.now.Store(&night{servers: replay.NewRecording()})
	f, err := sockets.Fleet(fleet.Config{Network: n.network, Ports: sockets.Ports()}, n)
	if err != nil {
		t.Fatal(err)
	}
	serveFleet(t, f)
	return n
}

// begin makes the servers answer as on the first night or, if later is set, the second.
func (n *nights) begin(t *testing.T, later bool, loss float64) {
	t.Helper()
	rec := replay.NewRecording()
	var e record.Encoder
	for i := range n.servers {
		if r := n.server(i, later); r != nil {
			if err := rec.Add(e.Append(nil, "", r)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := rec.Place(n.network, []uint16{n.port}); err != nil {
		t.Fatal(err)
	}
	if rec.Stats.Moved > 0 {
		t.Fatalf("%d servers are at other addresses", rec.Stats.Moved)
	}
	n.now.Store(&night{servers: rec, loss: loss, rnd: rand.New(rand.NewPCG(3, 4))})
}

// Answer answers as the server does on the current night, unless a datagram is lost.
func (n *nights) Answer(server uint64, q wire.Question, r *wire.Request, send func([]byte)) {
	now := n.now.Load()
	if now.lost() {
		return
	}
	now.servers.Answer(server, q, r, func(datagram []byte) {
		if !now.lost() {
			send(datagram)
		}
	})
}

// lost reports whether the next datagram is lost.
func (n *night) lost() bool {
	if n.loss == 0 {
		return false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.rnd.Float64() < n.loss
}

// planned returns the change that happens to server i. Every kind of change happens to
// one server in 64; most servers do not change.
func (n *nights) planned(i int) census.Kind {
	if k := i % 64; k < len(census.Kinds) {
		return census.Kinds[k]
	}
	return ""
}

// address returns the address of server i on a night.
func (n *nights) address(i int, later bool) netip.AddrPort {
	b := n.network.Addr().As4()
	b[2], b[3] = byte(i>>8), byte(i)
	if later && n.planned(i) == census.KindMoved {
		b[1]++
	}
	return netip.AddrPortFrom(netip.AddrFrom4(b), n.port)
}

// server returns what server i answers on a night, or nil if it is silent.
func (n *nights) server(i int, later bool) *scanner.Result {
	kind := n.planned(i)
	switch kind {
	case census.KindGone:
		if later {
			return nil
		}
	case census.KindBack:
		if !later {
			return nil
		}
	case census.KindMods:
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
		Players: uint8(5 + rnd.IntN(10)), MaxPlayers: 64, ServerType: 'd', Environment: "lw"[i%2], Version: []byte("2511"),
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
	case census.KindRenamed:
		in.Name = append(in.Name, " now"...)
	case census.KindMap:
		in.Map = []byte("Other Map")
	case census.KindVersion:
		in.Keywords = []byte("mp64,vanilla,v2512")
	case census.KindCapacity:
		in.MaxPlayers, in.Keywords = 65, []byte("mp65,vanilla,v2511")
	case census.KindMode:
		in.Keywords = []byte("mp64,softcore,v2511")
	case census.KindRules:
		r.Rules[1].Value = []byte("changed")
	case census.KindFlags:
		in.Keywords = []byte(usualTags + ",dest=192.0.2.1:27015")
	case census.KindChallenge:
		r.Unchallenged ^= scanner.AskInfo
	case census.KindFarm:
		like := n.usual(0, true)
		r.Rules, in.Name, in.Players = like.Rules, []byte("Best server of the world"), clonePlayers
	case census.KindPlayers:
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
		if kind == census.KindNew && !later || kind == census.KindNotAsked && later {
			continue
		}
		list = fmt.Appendln(list, n.address(i, false))
		if kind == census.KindMoved && later {
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
			census.KindMods: {census.KindRules}, census.KindFarm: {census.KindRenamed, census.KindRules},
		}
		for _, k := range append(also[kind], kind) {
			if k != "" {
				want[change(k, n.address(i, true).String())] = true
			}
		}
		if kind == census.KindFarm && n.usual(i, true).Info.Players != clonePlayers {
			want[change(census.KindPlayers, n.address(i, true).String())] = true
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
