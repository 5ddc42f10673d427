package record

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/wire"
)

// Read returns the Result of a record, and the name of its scan. If Append wrote
// the record and dropped nothing to shorten it, Append makes the same record again
// from that Result, byte for byte.
//
// A record does not hold everything. Read chooses lower case for letters, 1 for
// true (2 if the notes have info.odd_boolean), NaN for a duration that is null, and
// ShortAppID for an application ID that fits in 16 bits. It ignores unknown keys.
// The Result shares no memory with line.
func Read(line []byte) (scan string, r *scanner.Result, err error) {
	scan, r, err = Parse(line)
	if err != nil && err != ErrNoRaw {
		return "", nil, err
	}
	var v values
	err = json.Unmarshal(line, &v)
	r.PlayersAnnounced, r.RulesAnnounced = -1, -1
	v.status(r, &err)
	v.notes(r, &err)
	if v["message"] != nil {
		r.Message = []byte(v.text("message", &err))
	}
	if r.HasPing = v["ping"] != nil; r.HasPing {
		r.Ping = []byte(v.inner("ping", &err).text("payload", &err))
	}
	if r.HasInfo = v["info"] != nil; r.HasInfo {
		v.info(r, &err)
	}
	if r.HasPlayers = v["players"] != nil; r.HasPlayers {
		v.players(r, &err)
	}
	if r.HasRules = v["rules"] != nil; r.HasRules {
		v.rules(r, &err)
	}
	v.hashes(r, &err)
	if v["game"] != nil {
		r.Game = v.inner("game", &err).game(&err)
	}
	return scan, r, err
}

func (v values) status(r *scanner.Result, err *error) {
	var word string
	v.get("status", &word, err)
	for s := range scanner.Status(scanner.NumStatuses) {
		if s.String() == word {
			r.Status = s
		}
	}
}

func (v values) notes(r *scanner.Result, err *error) {
	var words []string
	v.get("notes", &words, err)
	for i := range wire.NumNotes {
		if slices.Contains(words, wire.NoteWord(i)) {
			r.Notes |= 1 << i
		}
	}
}

// infoFlags holds the bit of wire.Info.Has for each key of info.
var infoFlags = [...]struct {
	key string
	has wire.Fields
}{
	{"protocol", wire.HasProtocol}, {"name", wire.HasName}, {"map", wire.HasMap},
	{"folder", wire.HasFolder}, {"game", wire.HasGame}, {"app_id", wire.HasAppID},
	{"players", wire.HasPlayers}, {"max_players", wire.HasMaxPlayers}, {"bots", wire.HasBots},
	{"server_type", wire.HasServerType}, {"environment", wire.HasEnvironment},
	{"password", wire.HasPassword}, {"vac", wire.HasVAC}, {"ship", wire.HasShip},
	{"version", wire.HasVersion}, {"edf", wire.HasEDF}, {"game_port", wire.HasGamePort},
	{"steam_id", wire.HasSteamID}, {"sourcetv", wire.HasSourceTV},
	{"keywords", wire.HasKeywords}, {"game_id", wire.HasGameID},
	{"address", wire.HasAddress}, {"mod", wire.HasMod},
}

func (v values) info(r *scanner.Result, err *error) {
	in, o := &r.Info, v.inner("info", err)
	for _, k := range infoFlags {
		if o[k.key] != nil {
			in.Has |= k.has
		}
	}
	in.Notes = r.Notes & (wire.NoteInfoTrailing | wire.NoteInfoOddBoolean | wire.NoteInfoNoModBlock | wire.NoteInfoShortAppID)
	in.Format = map[string]wire.Format{
		"source": wire.FormatSource, "goldsource": wire.FormatGoldSource,
	}[o.text("format", err)]
	o.names(in, err)
	o.numbers(in, err)
	o.letters(in, err)
	if in.Has&wire.HasMod != 0 {
		in.Mod = o.inner("mod", err).mod(err)
	}
}

func (v values) names(in *wire.Info, err *error) {
	for key, to := range map[string]*[]byte{
		"name": &in.Name, "map": &in.Map, "folder": &in.Folder, "game": &in.Game,
		"version": &in.Version, "keywords": &in.Keywords, "address": &in.Address,
	} {
		if v[key] != nil {
			*to = []byte(v.text(key, err))
		}
	}
}

func (v values) numbers(in *wire.Info, err *error) {
	v.get("protocol", &in.Protocol, err)
	v.get("players", &in.Players, err)
	v.get("max_players", &in.MaxPlayers, err)
	v.get("bots", &in.Bots, err)
	v.get("edf", &in.EDF, err)
	v.get("game_port", &in.GamePort, err)
	in.SteamID, in.GameID = v.id("steam_id", err), v.id("game_id", err)
	var app uint32
	v.get("app_id", &app, err)
	if app <= math.MaxUint16 {
		in.ShortAppID = uint16(app)
	}
	if in.Has&wire.HasShip != 0 {
		o := v.inner("ship", err)
		o.get("mode", &in.Ship.Mode, err)
		o.get("witnesses", &in.Ship.Witnesses, err)
		o.get("duration", &in.Ship.Duration, err)
	}
	if in.Has&wire.HasSourceTV != 0 {
		o := v.inner("sourcetv", err)
		o.get("port", &in.SourceTV.Port, err)
		in.SourceTV.Name = []byte(o.text("name", err))
	}
}

func (v values) letters(in *wire.Info, err *error) {
	yes := uint8(1)
	if in.Notes&wire.NoteInfoOddBoolean != 0 {
		yes = 2
	}
	in.Password, in.VAC = v.yes("password", yes, err), v.yes("vac", yes, err)
	in.ServerType, in.Environment = v.letter("server_type", err), v.letter("environment", err)
}

func (v values) mod(err *error) (m wire.Mod) {
	m.URL, m.DownloadURL = []byte(v.text("url", err)), []byte(v.text("download_url", err))
	v.get("version", &m.Version, err)
	v.get("size", &m.Size, err)
	m.Type, m.DLL = v.yes("multiplayer_only", 1, err), v.yes("custom_dll", 1, err)
	return m
}

func (v values) players(r *scanner.Result, err *error) {
	var list []values
	v.get("players", &list, err)
	r.Players = make([]wire.Player, len(list))
	for i, o := range list {
		p := &r.Players[i]
		*p = wire.Player{Name: o.playerName(err), Duration: float32(math.NaN())}
		o.get("index", &p.Index, err)
		o.get("score", &p.Score, err)
		o.get("duration", &p.Duration, err) // null leaves NaN
		if p.Ship = o["deaths"] != nil; p.Ship {
			o.get("deaths", &p.Deaths, err)
			o.get("money", &p.Money, err)
		}
	}
	if v["players_announced"] != nil {
		v.get("players_announced", &r.PlayersAnnounced, err)
	}
}

// playerName returns the name of a player, or the digits of the hash that replaces it:
// equal names stay equal.
func (v values) playerName(err *error) []byte {
	if v["name_hash"] == nil {
		return []byte(v.text("name", err))
	}
	var digits string
	v.get("name_hash", &digits, err)
	return []byte(digits)
}

func (v values) rules(r *scanner.Result, err *error) {
	var exact [][2]string
	if v.get("rules_raw", &exact, err); exact == nil {
		r.Rules = pairsOf("rules", v["rules"], err)
	}
	for _, p := range exact {
		r.Rules = append(r.Rules, wire.Rule{
			Name: bytesOf("rules_raw", p[0], err), Value: bytesOf("rules_raw", p[1], err),
		})
	}
	if v["rules_announced"] != nil {
		v.get("rules_announced", &r.RulesAnnounced, err)
	}
}

// pairsOf returns the members of a JSON object of strings, in the order in which
// they are written. key names the object in an error.
func pairsOf(key string, object []byte, err *error) (rules []wire.Rule) {
	var texts map[string]string
	if bad := json.Unmarshal(object, &texts); bad != nil && *err == nil {
		*err = fmt.Errorf("%s: has another type", key)
	}
	if *err != nil {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(object))
	next := func() string {
		token, _ := d.Token() // it was found to be JSON
		text, _ := token.(string)
		return text
	}
	for next(); d.More(); {
		name := []byte(next())
		rules = append(rules, wire.Rule{Name: name, Value: []byte(next())})
	}
	return rules
}

// inner reads a value that is an object.
func (v values) inner(key string, err *error) (o values) {
	v.get(key, &o, err)
	return o
}

// id reads a 64-bit identifier, which is written as a string of digits.
func (v values) id(key string, err *error) uint64 {
	var text string
	if v.get(key, &text, err); text == "" {
		return 0
	}
	id, bad := strconv.ParseUint(text, 10, 64)
	if bad != nil && *err == nil {
		*err = fmt.Errorf("%s: has another type", key)
	}
	return id
}

// yes returns its argument one if the boolean is true, else 0.
func (v values) yes(key string, one uint8, err *error) uint8 {
	var b bool
	if v.get(key, &b, err); b {
		return one
	}
	return 0
}

// letter returns the first letter of a word, or the byte that a word such as 0x6f
// stands for. It returns 0 if the key is absent.
func (v values) letter(key string, err *error) byte {
	var word string
	if v.get(key, &word, err); word == "" {
		return 0
	}
	if exact, ok := strings.CutPrefix(word, "0x"); ok {
		if b := bytesOf(key, exact, err); len(b) == 1 {
			return b[0]
		}
		return 0
	}
	return word[0]
}

func bytesOf(key, text string, err *error) []byte {
	b, bad := hex.DecodeString(text)
	if bad != nil && *err == nil {
		*err = fmt.Errorf("%s: %w", key, bad)
	}
	return b
}
