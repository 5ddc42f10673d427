package census

import (
	"cmp"
	"encoding/binary"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/wire"
)

// Server is what a census keeps of a record. Texts are cut to 1024 bytes.
type Server struct {
	Status   scanner.Status
	HasInfo  bool       // INFO was answered, at least in part
	Game     string     // Group.ID of the game; "" if nothing is known
	GameName string     // the proper name of a known game, else what INFO says
	Name     string     // as the server sent it: bytes that need not be UTF-8
	Map      string     // the game's own or else INFO's; likewise Version
	Version  string     // of the game
	Mode     string     // the game's own
	Country  string     // two letters
	Flags    game.Flags // what is suspicious about the answers

	People, Bots, MaxPlayers uint32
	RTT                      time.Duration // round trip of the first question; 0: unknown

	key        uint64 // see keyOf
	asn        uint32
	at         int64 // Unix time in milliseconds; 0: unknown
	steam      uint64
	players    uint64 // hash of the list of players; 0: none, or empty
	list       uint64 // another hash of the list; 0: two servers may have it by chance
	rules      uint64 // hash of the rules that are not volatile
	rulesBytes uint32 // size of all rules
	mods       uint64 // hash
	has        facts
	open       scanner.Questions // answered, in part at least, without a challenge
	errors     [wire.QuestionRules + 1]wire.Error
	system     byte  // INFO's environment
	farm       int32 // index in Census.farms, plus 1; 0: none
	other      bool  // Options leave it out
}

// facts is a set of bits: what is known about a server, and where it came from.
type facts uint32

const (
	hasName facts = 1 << iota
	hasMap
	hasVersion
	hasCapacity
	hasMode
	hasPVP
	hasMods // a list
	hasGame // the record has an object game
	hasSystem
	hasPeople
	answeredInfo // completely
	answeredPlayers
	answeredRules
	hasMeaning // the record is of a version that has game and flags
	ownMap     // the game's own, not INFO's
	ownVersion
	ownCapacity
	ownPeople
	isPVP
	modsInRules // which reply lists the mods
	modsInKeywords
)

// NewServer returns what a census keeps of the record of r. It shares no memory with r.
func NewServer(r *scanner.Result) Server { return newServer(r, &common{}) }

// common is what the servers of a census share; it serves one goroutine.
type common struct {
	words words
	game  game.Game // for identify
}

// newServer does what NewServer does.
func newServer(r *scanner.Result, c *common) Server {
	in := &r.Info
	s := Server{
		Status: r.Status, HasInfo: r.HasInfo, Flags: r.Flags, RTT: r.RTT,
		key: keyOf(r.Addr), at: millis(r.Time), asn: r.Geo.ASN, steam: in.SteamID, open: r.Unchallenged & scanner.AskAll, system: in.Environment, has: hasMeaning,
	}
	if len(r.Geo.Country) == 2 {
		s.Country = r.Geo.Country
	}
	copy(s.errors[:], r.Err[:])
	for q, known := range [...]struct {
		answered bool
		fact     facts
	}{{r.HasInfo, answeredInfo}, {r.HasPlayers, answeredPlayers}, {r.HasRules, answeredRules}} {
		if known.answered && s.errors[q] == 0 {
			s.has |= known.fact
		}
	}
	for _, f := range []struct {
		sent wire.Fields
		fact facts
	}{
		{wire.HasName, hasName}, {wire.HasMap, hasMap}, {wire.HasVersion, hasVersion}, {wire.HasMaxPlayers, hasCapacity},
		{wire.HasEnvironment, hasSystem}, {wire.HasPlayers, hasPeople},
	} {
		if in.Has&f.sent != 0 {
			s.has |= f.fact
		}
	}
	s.Name, s.Map, s.Version = string(cut(in.Name, maxText)), c.words.of(in.Map), c.words.of(in.Version)
	who := r.Population()
	s.People, s.Bots, s.MaxPlayers = uint32(who.People), uint32(who.Bots), uint32(who.Places)
	if r.Game != nil {
		s.addGame(r.Game, c.words)
	}
	s.identify(in, c)
	if s.has&answeredPlayers != 0 && len(r.Players) > 0 {
		hash, distinct := digest(r.Players)
		s.players = cmp.Or(r.Hashes[wire.QuestionPlayers], hash) // earlier versions did not hash the reply
		if distinct {
			s.list = hash
		}
	}
	for _, rule := range r.Rules {
		s.rulesBytes += uint32(len(rule.Name) + len(rule.Value))
		if !isVolatile(rule.Name) {
			s.rules += mix(xxhash.Sum64(rule.Name), xxhash.Sum64(rule.Value))
		}
	}
	return s
}

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

// addGame sets what the game says about itself. It takes precedence over INFO.
func (s *Server) addGame(g *game.Game, w words) {
	s.has |= hasGame
	s.Game, s.GameName = w.of([]byte(g.ID)), w.of([]byte(g.Name))
	if g.Has.Has(game.KeyMap) {
		s.Map, s.has = w.of(g.Map), s.has|hasMap|ownMap
	}
	if g.Has.Has(game.KeyVersion) {
		s.Version, s.has = w.of(g.Version), s.has|hasVersion|ownVersion
	}
	if g.Has.Has(game.KeyMode) {
		s.Mode, s.has = w.of(g.Mode), s.has|hasMode
	}
	if g.Has.Has(game.KeyPlayers) {
		s.has |= hasPeople
	}
	if g.Corrects(game.KeyPlayers) {
		s.has |= ownPeople
	}
	if g.Has.Has(game.KeyMaxPlayers) {
		s.has |= hasCapacity | ownCapacity
	}
	if g.Has.Has(game.KeyPVP) {
		s.has |= hasPVP
		if g.PVP {
			s.has |= isPVP
		}
	}
	if !g.Has.Has(game.KeyMods) {
		return
	}
	s.has |= hasMods | modsInKeywords
	if strings.HasPrefix(g.Sources[game.KeyMods], "rules") {
		s.has ^= modsInKeywords | modsInRules
		if s.errors[wire.QuestionRules] != 0 {
			s.has &^= hasMods
		}
	}
	for _, mod := range g.Mods {
		s.mods += mix(mix(xxhash.Sum64(mod.ID), xxhash.Sum64(mod.Name)), xxhash.Sum64(mod.Hash))
	}
}

// identify sets the game of a record that does not name one.
func (s *Server) identify(in *wire.Info, c *common) {
	if s.Game != "" || !s.HasInfo {
		return
	}
	// Not INFO's other fields: a record of an earlier version, or one that has lost its
	// object game, gets no number from them either.
	known := wire.Info{
		Format: in.Format, Has: in.Has & (wire.HasAppID | wire.HasGameID | wire.HasFolder | wire.HasVersion),
		ShortAppID: in.ShortAppID, GameID: in.GameID, Folder: in.Folder, Version: in.Version,
	}
	g := &c.game
	game.Decode(g, game.Reply{Info: &known})
	app, _ := in.AppID()
	switch {
	case g.ID != "":
		s.Game, s.GameName = g.ID, g.Name
		return
	case app != 0:
		s.Game = c.words.of(strconv.AppendUint([]byte("app:"), uint64(app), 10))
	case len(in.Folder) > 0:
		s.Game = c.words.of(append([]byte("folder:"), cut(in.Folder, maxNameBytes)...))
	}
	s.GameName = c.words.of(in.Game)
}

// digest returns a hash of a list of players. distinct reports whether two servers do not
// have the list by chance: at least leastListed players have a name and a time, and as
// many times are different.
func digest(players []wire.Player) (hash uint64, distinct bool) {
	named, times := 0, make([]float32, 0, leastListed)
	for _, p := range players {
		var numbers [12]byte
		binary.LittleEndian.PutUint32(numbers[:], uint32(p.Score))
		binary.LittleEndian.PutUint32(numbers[4:], math.Float32bits(p.Duration))
		binary.LittleEndian.PutUint32(numbers[8:], uint32(p.Deaths))
		hash = mix(mix(hash, xxhash.Sum64(p.Name)), xxhash.Sum64(numbers[:]))
		if len(p.Name) == 0 || p.Duration == 0 || p.Duration == -1 || p.Duration != p.Duration {
			continue
		}
		named++
		if len(times) < leastListed && !slices.Contains(times, p.Duration) {
			times = append(times, p.Duration)
		}
	}
	return hash | 1, named >= leastListed && len(times) == leastListed
}

// mix combines two hashes. Their order matters.
func mix(a, b uint64) uint64 {
	const odd = 0x9E3779B97F4A7C15
	x := a*odd + b
	x ^= x >> 32
	x *= odd
	return x ^ x>>29
}

// words holds one copy of each text that many servers have. Nil holds none.
type words map[string]string

const (
	// maxText is the maximum length of a text in bytes; the rest is cut off. Real texts
	// are shorter.
	maxText = 1024
	// maxWords is the maximum number of words. A full set is emptied; frequent words
	// soon return.
	maxWords = 1 << 15
)

// of returns a text as a string.
func (w words) of(b []byte) string {
	b = cut(b, maxText)
	if s, ok := w[string(b)]; ok {
		return s
	}
	s := valid(string(b))
	if w != nil {
		if len(w) == maxWords {
			clear(w)
		}
		w[string(b)] = s
	}
	return s
}

// valid replaces what is not UTF-8: each sequence that could begin a character becomes one
// U+FFFD, as in a record.
func valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		for r == utf8.RuneError && n < len(s) && !utf8.FullRuneInString(s[:n+1]) {
			n++
		}
		b.WriteRune(r)
		s = s[n:]
	}
	return b.String()
}

// shownName returns the first maxNameBytes of a server's name.
func (s *Server) shownName() string { return shorten(valid(s.Name)) }

// cut shortens s to most bytes or less, without splitting a character.
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
	return s != nil && s.Status >= scanner.StatusOK && s.Status <= scanner.StatusError
}

// compare orders the records of a census by address. For the same address, an answer
// comes before silence, then a later record before an earlier one. The other comparisons
// make the result independent of the order of the files.
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
		cmp.Compare(s.players, t.players),
		cmp.Compare(s.rules, t.rules),
		cmp.Compare(s.mods, t.mods),
		cmp.Compare(s.steam, t.steam),
		cmp.Compare(s.People, t.People),
		cmp.Compare(s.RTT, t.RTT),
		strings.Compare(s.Name, t.Name),
		strings.Compare(s.Map, t.Map),
		strings.Compare(s.Version, t.Version),
	)
}

// persistentID returns the Steam ID of a server that answered, if it belongs to a
// persistent game server account (type 3), else 0.
func (s *Server) persistentID() uint64 {
	if s.steam>>52&0xF != 3 || s.key == 0 || !s.answered() {
		return 0
	}
	return s.steam
}

// systemName returns the word for a byte of INFO: linux, windows, mac, or the byte in
// hex.
func systemName(b byte) string {
	if word := wire.Environment(b); word != "" {
		return word
	}
	const digits = "0123456789abcdef"
	return string([]byte{'0', 'x', digits[b>>4], digits[b&15]})
}
