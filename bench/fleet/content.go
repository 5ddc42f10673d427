package fleet

import (
	"bytes"
	"fmt"

	"github.com/a2sscan/a2sscan/bench/fleet/internal/random"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// content is the true data of a server, from which the fleet makes the server's replies.
// The fleet reuses a content for one server after the other. The slices are valid until
// the next call of fill.
type content struct {
	info     wire.Info
	trailing []byte // bytes after the last field of info
	// For a server of kind Both: its INFO reply in the GoldSource format.
	gold wire.Info

	players          []wire.Player
	playersAnnounced int

	rules          []wire.Rule // the complete rules
	rulesAnnounced int
	cut            []byte // the truncated rule that follows the complete rules
	rulesNotes     wire.Notes
	oddRules       bool // some rules have odd values

	text []byte // buffer to which grow appends

	server  gameServer // for servers of kind Games and of fakers
	meaning game.Game  // the meaning of that server's replies
}

// Each constant selects a stream of random numbers. Properties that can be generated
// independently of each other have separate streams.
const (
	streamInfo = iota + 1
	streamPlayers
	streamRules
	streamPacked
	streamJunk
	streamFaker
	streamNight
	streamLife
	streamMaster
	streamLasting
	streamTonight
	streamRoster
	streamPresent
)

func (c *content) fill(n *nature, qs wire.Questions) {
	if n.title != nil { // a server of kind Games or of a faker
		s := &c.server
		s.fill(n)
		c.info, c.trailing = s.Info, nil
		c.players = append(c.players[:0], s.Players...)
		c.playersAnnounced = int(uint8(len(s.Players)))
		c.rules = append(c.rules[:0], s.Rules...)
		c.rulesAnnounced, c.cut, c.rulesNotes = len(s.Rules), nil, 0
		return
	}
	c.text = c.text[:0]
	if qs.Has(wire.QuestionInfo) {
		c.fillInfo(n)
	}
	if qs.Has(wire.QuestionPlayers) {
		c.fillPlayers(n)
	}
	if qs.Has(wire.QuestionRules) {
		c.fillRules(n)
	}
}

// grow calls add, which appends to the text buffer, and returns what add appended.
// Slices that grow returned earlier stay valid when the buffer moves.
func (c *content) grow(add func(dst []byte) []byte) []byte {
	start := len(c.text)
	c.text = add(c.text)
	return c.text[start:len(c.text):len(c.text)]
}

// disguised returns s, with escape sequences around it if the server is of kind Escapes.
func (c *content) disguised(n *nature, r *random.Stream, s []byte) []byte {
	if n.kind != Escapes {
		return s
	}
	return c.grow(func(dst []byte) []byte {
		dst = append(append(dst, random.Pick(r, escapes)...), s...)
		return append(dst, random.Pick(r, escapes)...)
	})
}

func (c *content) fillInfo(n *nature) {
	stream := random.Stream(random.Hash(n.hash, streamInfo))
	r, in := &stream, &c.info
	c.trailing = nil
	*in = wire.Info{Has: commonFields, Format: wire.FormatSource, Protocol: n.game.protocol}
	name := c.grow(func(dst []byte) []byte { return appendName(dst, r) })
	in.Name = c.disguised(n, r, name)
	in.Map = c.disguised(n, r, random.Pick(r, n.game.maps))
	in.Folder = c.disguised(n, r, n.game.folder)
	in.Game = c.disguised(n, r, n.game.name)
	in.Players = uint32(uint8(n.players))
	slots := max(n.players, 200) // some server types send more than 127 slots (EC-37)
	for _, usual := range []int{12, 16, 24, 32, 64, 100, 128} {
		if n.players <= usual && (usual >= 24 || r.OneIn(3)) {
			slots = usual
			break
		}
	}
	in.MaxPlayers = uint32(uint8(slots))
	in.Bots = uint8(r.Below(min(n.players, 4) + 1))
	in.ServerType = random.Pick(r, []byte("dddddddddlp"))
	in.Environment = random.Pick(r, []byte("llllllwwwwmo"))
	in.Password = uint8(r.Below(8) / 7)
	in.VAC = uint8(min(r.Below(5), 1))
	if n.quirks&quirkMiscounted != 0 {
		in.Players = uint32(r.Below(256))
	}
	if n.quirks&quirkOddBoolean != 0 {
		in.Password, in.VAC = uint8(r.Between(2, 255)), uint8(r.Below(256))
		in.Notes |= wire.NoteInfoOddBoolean
	}
	switch n.kind {
	case GoldSourceOld, GoldSourceMod:
		c.goldFrom(n, r, in)
	case Both:
		c.sourceFields(n, r)
		c.gold = *in
		c.goldFrom(n, r, &c.gold)
	default:
		c.sourceFields(n, r)
	}
}

func (c *content) sourceFields(n *nature, r *random.Stream) {
	in := &c.info
	in.Has |= wire.HasAppID | wire.HasVersion
	if n.game.app <= 0xFFFF {
		in.ShortAppID = uint16(n.game.app) // a larger ID is sent as 0 (EC-25)
	}
	in.Version = c.disguised(n, r, n.game.version)
	if n.quirks&quirkOddType != 0 {
		in.ServerType, in.Environment = 0, 0
	}
	if n.kind == Ship {
		in.Has |= wire.HasShip
		in.Ship.Mode = uint8(r.Below(6))
		in.Ship.Witnesses = uint8(r.Below(5))
		in.Ship.Duration = uint8(r.Below(10))
		return // INFO has no extra data after the version (EC-27)
	}
	if n.quirks&quirkNoEDF != 0 {
		return
	}
	// Choose one of the 32 combinations of extra data.
	in.Has |= wire.HasEDF
	in.EDF = uint8(r.Next()) & (edfGamePort | edfSteamID | edfSourceTV | edfKeywords | edfGameID)
	if n.kind == Flood64K {
		in.EDF |= edfKeywords
	}
	if in.EDF&edfGamePort != 0 {
		in.Has |= wire.HasGamePort
		in.GamePort = uint16(n.addr) - uint16(r.Below(2))
	}
	if in.EDF&edfSteamID != 0 {
		in.Has |= wire.HasSteamID
		in.SteamID = 0x0140000000000000 | r.Next()>>8 // a float64 can't represent such an ID exactly
	}
	if in.EDF&edfSourceTV != 0 {
		in.Has |= wire.HasSourceTV
		in.SourceTV.Port = uint16(r.Between(27020, 27039))
		in.SourceTV.Name = c.disguised(n, r, sourceTV)
	}
	if in.EDF&edfKeywords != 0 {
		in.Has |= wire.HasKeywords
		in.Keywords = c.disguised(n, r, n.game.tags)
		if n.kind == Flood64K {
			in.Keywords = c.long(floodInfo)
		}
	}
	if in.EDF&edfGameID != 0 {
		in.Has |= wire.HasGameID
		in.GameID = uint64(n.game.app)
		if n.quirks&quirkModGame != 0 {
			in.GameID |= r.Next() << 24
		}
	}
	if n.quirks&quirkTrailing != 0 {
		c.trailing = leftover[:r.Between(1, len(leftover))]
		in.Notes |= wire.NoteInfoTrailing
	}
}

// goldFrom turns *in into an INFO reply of the GoldSource format ('m'). It keeps only the
// fields that both formats have. It adds an address and, for servers of kind
// GoldSourceMod, a mod block.
func (c *content) goldFrom(n *nature, r *random.Stream, in *wire.Info) {
	*in = wire.Info{
		Has: commonFields | wire.HasAddress, Format: wire.FormatGoldSource,
		Notes: in.Notes & wire.NoteInfoOddBoolean, Protocol: n.game.protocol,
		Name: in.Name, Map: in.Map, Folder: in.Folder, Game: in.Game,
		Players: in.Players, MaxPlayers: in.MaxPlayers, Bots: in.Bots,
		ServerType: in.ServerType, Environment: in.Environment,
		Password: in.Password, VAC: in.VAC,
	}
	// Half of the servers send these letters in upper case, as in the tables of document
	// 000. The examples of the document have lower case (EC-69).
	if r.OneIn(2) {
		in.ServerType &^= 'a' - 'A'
		in.Environment = random.Pick(r, []byte("LW"))
	}
	in.Address = c.grow(udp.Unpack(n.addr).AppendTo)
	if n.kind == GoldSourceMod {
		in.Has |= wire.HasMod
		in.Mod = wire.Mod{
			URL:         c.disguised(n, r, random.Pick(r, modURLs)),
			DownloadURL: c.disguised(n, r, random.Pick(r, modDownloads)),
			Version:     uint32(r.Below(9)), Size: uint32(r.Below(1 << 30)),
			Type: uint8(r.Below(2)), DLL: uint8(r.Below(2)),
		}
	}
}

func (c *content) fillPlayers(n *nature) {
	stream := random.Stream(random.Hash(n.hash, streamPlayers))
	r := &stream
	c.players = c.players[:0]
	for i := range n.players {
		p := wire.Player{Score: int32(r.Below(60)), Duration: float32(r.Below(1<<20)) / 64}
		switch n.kind {
		case GoldSource, GoldSourceOld, GoldSourceMod, Both, SplitGoldSource:
			p.Index = uint8(i + 1) // GoldSource counts from 1 (EC-78); the Steam SDK sends 0 for all players (EC-77)
		case Ship:
			p.Index = uint8(i)
		}
		switch at := r.Below(100); {
		case at < 4:
			p.Score = -p.Score * 25 // teamkillers (EC-87)
		case at < 6:
			p.Duration = -1 // a bot (EC-76)
		case at < 7:
			p.Duration = 2150878.25 // a ghost (EC-88)
		case at < 8:
			p.Score = int32(r.Next())
		}
		switch {
		case n.quirks&quirkNameless != 0:
		case n.kind == Flood64K:
			p.Name = c.long(floodName)
		default:
			p.Name = c.disguised(n, r, c.grow(func(dst []byte) []byte { return appendPlayerName(dst, r) }))
		}
		if n.kind == Ship {
			p.Ship, p.Deaths, p.Money = true, int32(r.Below(9)), int32(r.Between(-500, 25000))
		}
		c.players = append(c.players, p)
	}
	c.playersAnnounced = n.players
	if n.kind == Ghosts {
		c.playersAnnounced = 255
	}
	if n.quirks&quirkPlayersCount != 0 {
		c.playersAnnounced += r.Between(1, 20)
	}
}

// packedSets is the number of lists of rules that the servers with compressed rules share.
// Compressing takes a thousand times longer than answering, so the fleet compresses each
// list only once.
const packedSets = 48

func packedSet(n *nature) int { return int(n.hash>>40) % packedSets }

func (c *content) fillRules(n *nature) {
	seed, count := random.Hash(n.hash, streamRules), n.rules
	switch n.kind {
	case Packed, DeclaresTwoGiB, WrongChecksum: // these servers compress their rules
		set := packedSet(n)
		r := random.Stream(random.Hash(streamPacked, uint64(set)))
		seed, count = r.Next(), 0
		if set%8 == 0 {
			count = r.Between(250, 400) // long enough for several fragments even when compressed
		} else {
			count = r.Between(8, 140)
		}
	}
	stream := random.Stream(seed)
	r := &stream
	c.rules, c.cut, c.rulesNotes = c.rules[:0], nil, 0
	c.oddRules = seed>>32%oneInOdd == 0
	for first := r.Below(len(cvars)); len(c.rules) < count; {
		c.rules = append(c.rules, c.rule(n, r, first, len(c.rules)))
	}
	last := len(c.rules) - 1
	switch {
	case count <= 1:
	case n.quirks&quirkRulesTwice != 0:
		c.rules[last].Name = c.rules[r.Below(last)].Name
		c.rulesNotes |= wire.NoteRulesDuplicate
	case n.quirks&quirkRulesUnnamed != 0:
		c.rules[r.Below(last)].Name = nil
		c.rulesNotes |= wire.NoteRulesEmptyName
	}
	c.rulesAnnounced = count
	if n.quirks&quirkRulesCount != 0 {
		c.rulesAnnounced = max(0, count+r.Between(-count, 30))
		if c.rulesAnnounced != count {
			c.rulesNotes |= wire.NoteRulesCount
		}
	}
	switch n.kind {
	case TruncatedRules:
		c.cutRules(r)
	case EndlessRules:
		c.rulesAnnounced, c.cut = 1000, c.long(endlessRules)
	}
}

// rule returns rule i of a server whose list begins with cvars[first]. Different i
// give different names.
func (c *content) rule(n *nature, r *random.Stream, first, i int) (rule wire.Rule) {
	values := pluginVersions
	if i < len(cvars) {
		usual := &cvars[(first+i)%len(cvars)]
		rule.Name, values = usual.name, usual.values
	} else {
		rule.Name = c.grow(func(dst []byte) []byte { return fmt.Appendf(dst, "sm_plugin_%d_version", i) })
	}
	rule.Name = c.disguised(n, r, rule.Name)
	if c.oddRules && r.OneIn(4) {
		values = oddValues
	}
	rule.Value = c.disguised(n, r, random.Pick(r, values))
	if n.kind == Flood64K {
		rule.Value = c.long(floodValue)
	}
	return rule
}

// With these sizes, each of the three answers of a server of kind Flood64K is about 64 KiB
// long. The list of rules of EndlessRules has 60 KiB and no NUL.
const (
	floodInfo    = 62_000 // length of the keywords; leaves room for the longest names
	floodPlayers = 255
	floodName    = 230 // length of a player's name
	floodRules   = 240
	floodValue   = 230 // length of a rule's value
	endlessRules = 60 << 10
)

func (c *content) long(n int) []byte {
	return c.grow(func(dst []byte) []byte { return append(dst, bytes.Repeat([]byte("A"), n)...) })
}

// cutRules cuts the list inside a name, inside a value or between the two, after at
// least one complete rule (EC-92).
func (c *content) cutRules(r *random.Stream) {
	keep := r.Between(1, len(c.rules)-1)
	name, value := c.rules[keep].Name, c.rules[keep].Value
	c.rules = c.rules[:keep]
	c.cut = c.grow(func(dst []byte) []byte {
		where := r.Below(3)
		if where == 0 {
			return append(dst, name[:r.Between(1, len(name))]...)
		}
		dst = append(append(dst, name...), 0)
		if where == 2 {
			dst = append(dst, value[:r.Below(len(value)+1)]...)
		}
		return dst
	})
}
