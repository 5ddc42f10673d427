package census

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/wire"
)

// Server holds the facts of a record that a census needs. Texts are cut to 1024 bytes.
type Server struct {
	Game string // Group.ID of the game, or "" if nothing is known
	// GameName is the proper name of the game if a2sscan knows the game, otherwise the
	// name in INFO.
	GameName string
	Name     string // not always UTF-8
	// Map and Version come from the game itself if it sends them, else from INFO.
	Map     string
	Version string
	Mode    string // the mode that the game itself sends
	Country string // two letters

	RTT                      time.Duration // round trip of the first question that was sent once and answered; 0 if unknown
	Flags                    game.Flags    // what is suspicious about the answers
	People, Bots, MaxPlayers uint32
	Status                   scanner.Status
	HasInfo                  bool // INFO was answered, at least in part

	// The larger fields come first, which takes the least memory.
	key    uint64 // see keyOf
	at     int64  // time of the record as Unix time in milliseconds, or 0 if unknown
	steam  uint64
	hashes struct {
		players uint64 // hash of the list of players, or 0 if it is missing or empty
		rules   uint64 // hash of the rules that are not volatile
		mods    uint64
	}
	fields wire.Fields // fields that INFO has
	own    game.Keys   // properties that the game itself sends; they take precedence over INFO
	asn    uint32
	size   uint32 // size of all rules, in bytes
	farm   int32  // index in Census.farms plus 1, or 0 if the server is in no farm

	replies struct {
		complete wire.Questions
		// open has the questions answered, at least in part, without a challenge.
		open wire.Questions
		// mods is the question whose reply lists the mods; 0 means unknown.
		mods   wire.Questions
		errors [wire.QuestionRules + 1]wire.Error
	}
	system  byte // environment byte of INFO
	hasGame bool // the record has the key game
	pvp     bool
	listed  bool // no other server has the same list of players by chance
	other   bool // Options exclude the server
	unasked bool // see unasked

	duplicate bool // another record of the server counts instead
}

// NewServer returns the Server for a result. It shares no memory with r.
func NewServer(r *scanner.Result) Server { return new(maker).server(r) }

func (m *maker) server(r *scanner.Result) Server {
	in, who := &r.Info, r.Population()
	s := Server{
		Status: r.Status, HasInfo: r.HasInfo, Flags: r.Flags, RTT: r.RTT,
		Name: string(cut(in.Name, maxText)), Map: m.of(in.Map), Version: m.of(in.Version),
		People: uint32(who.People), Bots: uint32(who.Bots), MaxPlayers: uint32(who.Places),
		key: keyOf(r.Addr), at: millis(r.Time), asn: r.Geo.ASN, steam: in.SteamID,
		fields: in.Has, system: in.Environment,
	}
	s.replies.open = r.Unchallenged & wire.AskAll
	if len(r.Geo.Country) == 2 {
		s.Country = r.Geo.Country
	}
	for q, answered := range [...]bool{r.HasInfo, r.HasPlayers, r.HasRules} {
		if s.replies.errors[q] = r.Err[q]; answered && r.Err[q] == 0 {
			s.replies.complete |= 1 << q
		}
	}
	if r.Game != nil {
		m.addGame(&s, r.Game)
	}
	if !who.HasPlaces {
		s.fields &^= wire.HasMaxPlayers
		s.own &^= 1 << game.KeyMaxPlayers
	}
	m.identify(&s, in)
	if s.replies.complete.Has(wire.QuestionPlayers) && len(r.Players) > 0 {
		s.listed = uncommon(r.Players)
		if s.hashes.players = r.PlayersHash; s.hashes.players == 0 { // another program wrote the record
			s.hashes.players = digest(r.Players)
		}
	}
	for _, rule := range r.Rules {
		s.size += uint32(len(rule.Name) + len(rule.Value))
		if !isVolatile(rule.Name) {
			s.hashes.rules += mix(xxhash.Sum64(rule.Name), xxhash.Sum64(rule.Value))
		}
	}
	return s
}

func (s *Server) knows(field wire.Fields, key game.Key) bool {
	return s.fields&field != 0 || s.own.Has(key)
}

// HasPlaces reports whether MaxPlayers is known. A relay has no places for people, because
// its spectators do not play.
func (s *Server) HasPlaces() bool { return s.knows(wire.HasMaxPlayers, game.KeyMaxPlayers) }

// Addr returns the address of the server, or the zero value if its record has no IPv4
// address.
func (s *Server) Addr() netip.AddrPort {
	if s.key == 0 {
		return netip.AddrPort{}
	}
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], uint32(s.key>>16))
	return netip.AddrPortFrom(netip.AddrFrom4(b), uint16(s.key))
}

// keyOf packs an IPv4 address and port into 48 bits, and sets bit 48. It returns 0
// for any other address.
func keyOf(a netip.AddrPort) uint64 {
	ip := a.Addr().Unmap()
	if !ip.Is4() {
		return 0
	}
	b := ip.As4()
	return 1<<48 | uint64(binary.BigEndian.Uint32(b[:]))<<16 | uint64(a.Port())
}

// addGame sets what the game says about itself. These values take precedence over INFO.
func (m *maker) addGame(s *Server, g *game.Game) {
	s.hasGame, s.own, s.pvp = true, g.Has, g.PVP && g.Has.Has(game.KeyPVP)
	if !g.Corrects(game.KeyPlayers) {
		s.own &^= 1 << game.KeyPlayers
	}
	s.Game, s.GameName = valid(cut(g.ID, maxText)), valid(cut(g.Name, maxText))
	if g.Has.Has(game.KeyMap) {
		s.Map = m.of(g.Map)
	}
	if g.Has.Has(game.KeyVersion) {
		s.Version = m.of(g.Version)
	}
	if g.Has.Has(game.KeyMode) {
		s.Mode = m.of(g.Mode)
	}
	if !g.Has.Has(game.KeyMods) {
		return
	}
	if s.replies.mods = wire.AskInfo; strings.HasPrefix(g.Sources[game.KeyMods], "rules") {
		s.replies.mods = wire.AskRules
	}
	for _, mod := range g.Mods {
		s.hashes.mods += mix(mix(xxhash.Sum64(mod.ID), xxhash.Sum64(mod.Name)), xxhash.Sum64(mod.Hash))
	}
}

// A maker makes Servers from results. With texts, it shares the strings of earlier servers.
type maker struct {
	texts
	game game.Game // memory for maker.identify
}

// identify sets the game if the record does not name it.
func (m *maker) identify(s *Server, in *wire.Info) {
	if s.Game != "" || !s.HasInfo {
		return
	}
	// Pass only the fields of INFO that determine the game.
	known := wire.Info{
		Format: in.Format, Has: in.Has & (wire.HasAppID | wire.HasGameID | wire.HasFolder | wire.HasVersion),
		ShortAppID: in.ShortAppID, GameID: in.GameID, Folder: in.Folder, Version: in.Version,
	}
	game.Decode(&m.game, game.Reply{Info: &known})
	app, _ := in.AppID()
	switch {
	case m.game.ID != "":
		s.Game, s.GameName = m.game.ID, m.game.Name
		return
	case app != 0:
		s.Game = fmt.Sprint("app:", app)
	case len(in.Folder) > 0:
		s.Game = "folder:" + m.of(cut(in.Folder, maxNameBytes))
	}
	s.GameName = m.of(in.Game)
}

// digest returns a hash of a list of players.
func digest(players []wire.Player) (hash uint64) {
	for _, p := range players {
		var numbers [12]byte
		binary.LittleEndian.PutUint32(numbers[:], uint32(p.Score))
		binary.LittleEndian.PutUint32(numbers[4:], math.Float32bits(p.Duration))
		binary.LittleEndian.PutUint32(numbers[8:], uint32(p.Deaths))
		hash = mix(mix(hash, xxhash.Sum64(p.Name)), xxhash.Sum64(numbers[:]))
	}
	return hash | 1
}

// uncommon reports whether two servers can't have this list of players by chance.
func uncommon(players []wire.Player) bool {
	times := make([]float32, 0, leastListed)
	for _, p := range players {
		if len(p.Name) == 0 || p.Duration == 0 || p.Duration == -1 || p.Duration != p.Duration || slices.Contains(times, p.Duration) {
			continue
		}
		if times = append(times, p.Duration); len(times) == leastListed {
			return true
		}
	}
	return false
}

// mix combines two hashes. mix(a, b) differs from mix(b, a).
func mix(a, b uint64) uint64 {
	const odd = 0x9E3779B97F4A7C15
	x := a*odd + b
	x ^= x >> 32
	x *= odd
	return x ^ x>>29
}

// maxText is the maximum length of a text in bytes; the rest is cut off. Real texts are
// shorter.
const maxText = 1024

// texts maps a short text, such as the name of a map, to the string that all servers with
// this text share.
type texts map[string]string

// of returns b as a string. Servers with the same short text share the string.
func (t texts) of(b []byte) string {
	const most = 1 << 14
	b = cut(b, maxText)
	s, ok := t[string(b)]
	if ok {
		return s
	}
	if s = valid(string(b)); t != nil {
		if len(t) == most {
			clear(t)
		}
		t[string(b)] = s
	}
	return s
}

// valid replaces invalid UTF-8.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

func (s *Server) shownName() string { return shorten(valid(s.Name)) }

// cut shortens s to most bytes, without splitting a character.
func cut[T string | []byte](s T, most int) T {
	if len(s) <= most {
		return s
	}
	for most > 0 && s[most]&0xC0 == 0x80 {
		most--
	}
	return s[:most]
}

// answered reports whether s is not nil and its server sent any reply.
func (s *Server) answered() bool {
	return s != nil && s.Status >= scanner.StatusOK && s.Status <= scanner.StatusError && !s.unasked
}

// compare orders the records of a census by address. The record of an address that counts comes
// first: with an answer, then the latest. The other comparisons make the result
// independent of the order of the files.
func (s *Server) compare(t *Server) int {
	if s.key != t.key {
		return cmp.Compare(s.key, t.key)
	}
	if s.answered() != t.answered() {
		if s.answered() {
			return -1
		}
		return 1
	}
	return cmp.Or(
		cmp.Compare(t.at, s.at),
		cmp.Compare(s.Status-1, t.Status-1), // the unknown status comes last
		cmp.Compare(s.hashes.players, t.hashes.players),
		cmp.Compare(s.hashes.rules, t.hashes.rules),
		cmp.Compare(s.hashes.mods, t.hashes.mods),
		cmp.Compare(s.steam, t.steam),
		cmp.Compare(s.People, t.People),
		cmp.Compare(s.RTT, t.RTT),
		strings.Compare(s.Name, t.Name),
		strings.Compare(s.Map, t.Map),
		strings.Compare(s.Version, t.Version),
	)
}

// persistentID returns the Steam ID of a server that answered, if the ID belongs to a
// persistent game server account (type 3), or 0.
func (s *Server) persistentID() uint64 {
	if s.steam>>52&0xF != 3 || s.key == 0 || !s.answered() {
		return 0
	}
	return s.steam
}
