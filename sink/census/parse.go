package census

import (
	"bytes"
	"net/netip"
	"strconv"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/sink/record"
	"github.com/a2sscan/a2sscan/wire"
)

// parser reads records. It serves one goroutine.
type parser struct {
	c      record.Cursor
	texts  []byte // unescaped strings of the current record
	words  []string
	ids    map[string]string // IDs of games, kept from record to record
	others map[uint32]string // likewise, IDs of applications that no table knows
	game   game.Game
	info   wire.Info

	list   uint64 // hash of the players' list that the record gives
	counts counts
	own    game.Game // the game's own numbers of people
}

// counts are INFO's numbers of people, and what they depend on.
type counts struct {
	players, capacity uint32
	bots              uint8
	serverType        byte
	hasCapacity       bool
}

// parse fills s from the record in line. The byte slices of s may alias line, and
// are valid until the next call.
func (p *parser) parse(line []byte, s *Server) error {
	*s = Server{}
	p.texts, p.words, p.list, p.counts, p.own = p.texts[:0], p.words[:0], 0, counts{}, game.Game{}
	if err := record.CheckSchema(line); err != nil {
		return err
	}
	var ip netip.Addr
	var port uint64
	c := &p.c
	c.Reset(line)
	for c.Next() {
		switch string(c.Key()) {
		case "ip":
			ip = parseIP(c.Quoted())
		case "port":
			port = c.Uint()
		default:
			p.member(s, c.Key())
		}
	}
	if err := c.Err(); err != nil {
		return err
	}
	if ip.IsValid() {
		s.Addr = netip.AddrPortFrom(ip, uint16(port))
	}
	p.finish(s)
	return nil
}

// member reads the value of one key of the record.
func (p *parser) member(s *Server, key []byte) {
	c := &p.c
	switch string(key) {
	case "scan":
		s.Scan = p.text()
	case "addr":
		s.has |= hasMeaning
	case "time":
		s.at = parseTime(c.Quoted())
	case "status":
		s.status = parseStatus(c.Quoted())
	case "errors":
		p.errors(s)
	case "rtt_ms":
		s.RTT = parseMillis(c.Raw())
	case "unchallenged":
		for c.Enter(); c.Next(); {
			s.open |= 1 << questionOf(c.Quoted())
		}
	case "hashes":
		p.hashes()
	case "info":
		s.HasInfo = true
		p.infoObject(s)
	case "players":
		p.players(s)
	case "rules":
		p.rules(s)
	case "game":
		p.gameObject(s)
	case "flags":
		p.flags(s)
	case "geo":
		p.geo(s)
	}
}

// text returns the current value, unescaped.
func (p *parser) text() []byte {
	quoted := p.c.Quoted()
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted
	}
	start := len(p.texts)
	p.texts = record.AppendUnescaped(p.texts, quoted)
	return p.texts[start:len(p.texts):len(p.texts)]
}

func (p *parser) errors(s *Server) {
	for p.c.Enter(); p.c.Next(); {
		q := questionOf(p.c.Key())
		if q < numQuestions {
			s.errors[q] = errorCode(p.c.Quoted())
		}
	}
}

func (p *parser) hashes() {
	for p.c.Enter(); p.c.Next(); {
		if string(p.c.Key()) == "players" {
			p.list, _ = strconv.ParseUint(string(p.c.Quoted()), 16, 64)
		}
	}
}

func (p *parser) players(s *Server) {
	s.has |= answeredPlayers
	raw := p.c.Raw()
	switch {
	case len(raw) < len(`[{}]`):
	case p.list != 0:
		s.players = p.list
	default: // a record of an earlier version
		s.players = xxhash.Sum64(raw)
	}
}

// rules hashes the rules that are not volatile. Their order does not matter.
func (p *parser) rules(s *Server) {
	s.has |= hasRules
	for p.c.Enter(); p.c.Next(); {
		if name := p.c.Key(); !isVolatile(name) {
			s.rules += mix(xxhash.Sum64(name), xxhash.Sum64(p.c.Quoted()))
		}
	}
}

// mix combines two hashes. Their order matters.
func mix(a, b uint64) uint64 {
	const odd = 0x9E3779B97F4A7C15
	x := a*odd + b
	x ^= x >> 32
	x *= odd
	return x ^ x>>29
}

func (p *parser) flags(s *Server) {
	for p.c.Enter(); p.c.Next(); {
		word := p.c.Quoted()
		for i := range game.NumFlags {
			if string(word) == game.FlagWord(i) {
				s.flags |= 1 << i
				p.words = append(p.words, game.FlagWord(i))
			}
		}
	}
	s.Flags = p.words
}

func (p *parser) geo(s *Server) {
	for p.c.Enter(); p.c.Next(); {
		switch string(p.c.Key()) {
		case "country":
			s.Country = p.text()
		case "asn":
			s.ASN = uint32(p.c.Uint())
		case "org":
			s.Org = p.text()
		}
	}
}

// infoObject reads INFO. The object game, which follows it, takes precedence.
func (p *parser) infoObject(s *Server) {
	for p.c.Enter(); p.c.Next(); {
		if !p.infoText(s, p.c.Key()) {
			p.infoNumber(s, p.c.Key())
		}
	}
}

func (p *parser) infoText(s *Server, key []byte) bool {
	switch string(key) {
	case "format":
		s.goldsource = string(p.c.Quoted()) == "goldsource"
	case "name":
		s.Name, s.has = p.text(), s.has|hasName
	case "name_hex":
		s.nameHex = p.c.Quoted()
	case "map":
		s.Map, s.has = p.text(), s.has|hasMap
	case "folder":
		s.folder = p.text()
	case "game":
		s.gameText = p.text()
	case "server_type":
		if string(p.c.Quoted()) == wire.ServerType('p') {
			p.counts.serverType = 'p'
		}
	case "environment":
		s.System, s.has = p.c.Quoted(), s.has|hasSystem
	case "version":
		s.Version, s.has = p.text(), s.has|hasVersion
	default:
		return false
	}
	return true
}

func (p *parser) infoNumber(s *Server, key []byte) {
	n := &p.counts
	switch string(key) {
	case "app_id":
		s.app = uint32(p.c.Uint())
	case "players":
		n.players, s.has = uint32(p.c.Uint()), s.has|hasPeople
	case "bots":
		n.bots = uint8(p.c.Uint())
	case "max_players":
		n.capacity, n.hasCapacity = uint32(p.c.Uint()), true
	case "password":
		s.Password = p.c.Bool()
	case "steam_id":
		s.SteamID, _ = strconv.ParseUint(string(p.c.Quoted()), 10, 64)
	}
}

// gameObject reads the record's object game: what the answers mean for their game.
func (p *parser) gameObject(s *Server) {
	s.has |= hasGame
	for p.c.Enter(); p.c.Next(); {
		if !p.gameText(s, p.c.Key()) {
			p.gameNumber(s, p.c.Key())
		}
	}
}

func (p *parser) gameText(s *Server, key []byte) bool {
	switch string(key) {
	case "id":
		s.Game = p.gameID(p.c.Quoted())
	case "name":
		s.GameName = p.text()
	case "version":
		s.Version, s.has = p.text(), s.has|hasVersion|ownVersion
	case "map":
		s.Map, s.has = p.text(), s.has|hasMap|ownMap
	case "mode":
		s.Mode, s.has = p.text(), s.has|hasMode
	default:
		return false
	}
	return true
}

func (p *parser) gameNumber(s *Server, key []byte) {
	c := &p.c
	switch string(key) {
	case "players":
		p.own.Players, p.own.Has = int(c.Uint()), p.own.Has|1<<game.KeyPlayers
	case "bots":
		p.own.Bots, p.own.Has = int(c.Uint()), p.own.Has|1<<game.KeyBots
	case "max_players":
		p.own.MaxPlayers, p.own.Has = int(c.Uint()), p.own.Has|1<<game.KeyMaxPlayers
	case "pvp":
		s.pvp, s.has = c.Bool(), s.has|hasPVP
	case "mods":
		s.has |= hasMods
		for c.Enter(); c.Next(); {
			s.mods += mix(1, xxhash.Sum64(c.Raw()))
		}
	case "sources":
		for c.Enter(); c.Next(); {
			switch string(c.Key()) {
			case "mods":
				s.source = sourceOf(c.Quoted())
			case "players":
				if string(c.Quoted()) == "info.players" || string(c.Quoted()) == "info.players+list" {
					p.own.SetSource(game.KeyPlayers, "info.players")
				}
			}
		}
	}
}

func sourceOf(s []byte) modSource {
	if bytes.HasPrefix(s, []byte("rules")) {
		return modsInRules
	}
	return modsInKeywords
}

// finish sets the fields that depend on several keys.
func (p *parser) finish(s *Server) {
	own := &p.own
	r := scanner.Result{Game: own}
	r.Info.Players, r.Info.Bots, r.Info.MaxPlayers, r.Info.ServerType = p.counts.players, p.counts.bots, p.counts.capacity, p.counts.serverType
	who := r.Population()
	s.People, s.Bots, s.MaxPlayers = uint32(who.People), uint32(who.Bots), uint32(who.Places)
	if own.Has.Has(game.KeyPlayers) {
		s.has |= hasPeople
	}
	if own.Corrects(game.KeyPlayers) {
		s.has |= ownPeople
	}
	if own.Has.Has(game.KeyMaxPlayers) {
		s.has |= hasCapacity | ownCapacity
	}
	if p.counts.hasCapacity {
		s.has |= hasCapacity
	}
	if s.HasInfo {
		s.has |= hasInfo
	}
	if s.Password {
		s.has |= hasPassword
	}
	if s.HasInfo && s.errors[questionInfo] == 0 {
		s.has |= answeredInfo
	}
	if s.errors[questionRules] != 0 {
		s.has &^= hasRules
		if s.source == modsInRules {
			s.has &^= hasMods
		}
	}
	if s.errors[questionPlayers] != 0 {
		s.has &^= answeredPlayers
		s.players = 0
	}
	s.Status = statusWords[s.status]
	if s.at != 0 {
		s.Time = time.UnixMilli(s.at).UTC()
	}
	p.identify(s)
}

// identify sets the game, even if the record does not name one.
func (p *parser) identify(s *Server) {
	if s.Game == "" && s.HasInfo {
		p.info = wire.Info{
			Format: wire.FormatSource, Has: wire.HasGameID | wire.HasFolder | wire.HasVersion,
			GameID: uint64(s.app), Folder: s.folder, Version: s.Version,
		}
		if s.goldsource {
			p.info.Format = wire.FormatGoldSource
		}
		game.Decode(&p.game, game.Reply{Info: &p.info})
		s.Game, s.GameName = p.game.ID, []byte(p.game.Name)
	}
	if s.Game != "" {
		return
	}
	s.GameName = s.gameText
	switch {
	case s.app != 0:
		s.Game = p.application(s.app)
	case len(s.folder) > 0:
		s.Game = "folder:" + string(cut(s.folder, MaxNameBytes))
	}
}

// application returns the game ID of an application that package game does not
// know, such as "app:440".
func (p *parser) application(app uint32) string {
	word := p.others[app]
	if word == "" {
		if p.others == nil || len(p.others) > maxCached {
			p.others = map[uint32]string{}
		}
		word = "app:" + strconv.FormatUint(uint64(app), 10)
		p.others[app] = word
	}
	return word
}

// gameID returns a word as a string that outlives the record.
func (p *parser) gameID(word []byte) string {
	id, ok := p.ids[string(word)]
	if !ok {
		if p.ids == nil || len(p.ids) > maxCached {
			p.ids = map[string]string{}
		}
		id = string(cut(word, MaxNameBytes))
		p.ids[string(word)] = id
	}
	return id
}
