package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/wire"
)

// appendRoundTrips appends the round trip of each question that has one.
func appendRoundTrips(dst []byte, r *scanner.Result) []byte {
	const key = `"rtts_ms":{`
	start := len(dst)
	dst = append(dst, key...)
	for q, key := range [wire.NumQuestions]string{`"info":`, `"players":`, `"rules":`} {
		if r.RTTs[q] > 0 {
			dst = appendMillis(dst, key, r.RTTs[q])
		}
	}
	if len(dst) == start+len(key) {
		return dst[:start]
	}
	return end(dst, '}')
}

// appendHashes appends the hash of each answer.
func (e *Encoder) appendHashes(dst []byte, r *scanner.Result) []byte {
	if r.Hashes == [wire.NumQuestions]uint64{} {
		return dst
	}
	dst = append(dst, `"hashes":{`...)
	for q, key := range [wire.NumQuestions]string{`"info":"`, `"players":"`, `"rules":"`} {
		h := r.Hashes[q]
		if wire.Question(q) == wire.QuestionPlayers {
			h = e.playersHash(h)
		}
		if h != 0 {
			dst = appendHash(append(dst, key...), h)
			dst = append(dst, '"', ',')
		}
	}
	return end(dst, '}')
}

// appendFlags appends the words for what is suspicious.
func appendFlags(dst []byte, flags game.Flags) []byte {
	if flags == 0 {
		return dst
	}
	dst = append(dst, `"flags":[`...)
	for i := range game.NumFlags {
		if flags&(1<<i) != 0 {
			dst = appendWord(dst, "", game.FlagWord(i))
		}
	}
	return end(dst, ']')
}

// appendGame appends what the answers mean for their game: the common keys in
// their order, then what only some games have.
func appendGame(dst []byte, g *game.Game) []byte {
	dst = append(dst, `"game":{`...)
	if isGameID(g.ID) {
		dst = appendWord(dst, `"id":`, g.ID)
		dst = appendText(dst, `"name":`, g.Name)
	}
	dst = appendPlaces(dst, g)
	dst = appendPlay(dst, g)
	dst = appendTruths(dst, g)
	dst = appendWorld(dst, g)
	if len(g.Mods) > 0 {
		dst = appendMods(dst, g.Mods)
	}
	if g.Has.Has(game.KeyDescription) {
		dst = appendText(dst, `"description":`, g.Description)
	}
	if len(g.Attributes) > 0 {
		dst = appendAttributes(dst, g.Attributes)
	}
	dst = appendSources(dst, g)
	return end(appendGameNotes(dst, g.Notes), '}')
}

// appendPlaces appends how many play, wait, and could play.
func appendPlaces(dst []byte, g *game.Game) []byte {
	if g.Has.Has(game.KeyPlayers) {
		dst = appendCount(dst, `"players":`, g.Players)
	}
	if g.Has.Has(game.KeyMaxPlayers) {
		dst = appendCount(dst, `"max_players":`, g.MaxPlayers)
	}
	if g.Has.Has(game.KeyQueue) {
		dst = appendCount(dst, `"queue":`, g.Queue)
	}
	if g.Has.Has(game.KeyBots) {
		dst = appendCount(dst, `"bots":`, g.Bots)
	}
	return dst
}

// appendCount appends a number that the decoder keeps within 32 bits.
func appendCount(dst []byte, key string, n int) []byte {
	return appendUint(dst, key, uint64(uint32(max(n, 0))))
}

// appendPlay appends what is played, and where the server says it stands.
func appendPlay(dst []byte, g *game.Game) []byte {
	if g.Has.Has(game.KeyVersion) {
		dst = appendText(dst, `"version":`, g.Version)
	}
	if g.Has.Has(game.KeyMap) {
		dst = appendText(dst, `"map":`, g.Map)
	}
	if g.Has.Has(game.KeyMode) {
		dst = appendText(dst, `"mode":`, g.Mode)
	}
	if g.Has.Has(game.KeyRegion) {
		dst = appendText(dst, `"region":`, g.Region)
	}
	return dst
}

func appendTruths(dst []byte, g *game.Game) []byte {
	if g.Has.Has(game.KeyPVP) {
		dst = appendBool(dst, `"pvp":`, g.PVP)
	}
	if g.Has.Has(game.KeyPassword) {
		dst = appendBool(dst, `"password":`, g.Password)
	}
	if g.Has.Has(game.KeyModded) {
		dst = appendBool(dst, `"modded":`, g.Modded)
	}
	if g.Has.Has(game.KeyAnticheat) {
		dst = appendBool(dst, `"anticheat":`, g.Anticheat)
	}
	return dst
}

// startedLayout is how the beginning of a world is written.
const startedLayout = "2006-01-02T15:04:05Z"

// appendWorld appends the times of the game's world. A year outside of 0 to 9999
// has no form, and its key is absent.
func appendWorld(dst []byte, g *game.Game) []byte {
	if g.Has.Has(game.KeyStarted) {
		if t := time.Unix(g.Started, 0).UTC(); t.Year() >= 0 && t.Year() <= 9999 {
			dst = append(dst, `"started":"`...)
			dst = t.AppendFormat(dst, startedLayout)
			dst = append(dst, '"', ',')
		}
	}
	if g.Has.Has(game.KeyTimeOfDay) {
		dst = appendText(dst, `"time_of_day":`, g.TimeOfDay)
	}
	if g.Has.Has(game.KeyDay) {
		dst = appendCount(dst, `"day":`, g.Day)
	}
	return dst
}

// appendMods appends mods. What the game does not tell of one is absent.
func appendMods(dst []byte, mods []game.Mod) []byte {
	dst = append(dst, `"mods":[`...)
	for i := range mods {
		m := &mods[i]
		dst = append(dst, '{')
		if len(m.ID) > 0 {
			dst = appendText(dst, `"id":`, m.ID)
		}
		if len(m.Name) > 0 {
			dst = appendText(dst, `"name":`, m.Name)
		}
		if len(m.Hash) > 0 {
			dst = appendText(dst, `"hash":`, m.Hash)
		}
		if m.CreatorDLC {
			dst = appendBool(dst, `"creator_dlc":`, true)
		}
		dst = end(dst, '}')
	}
	return end(dst, ']')
}

// appendAttributes appends the values that not every game has. The exact bytes of
// those that are not UTF-8 are in the answer.
func appendAttributes(dst []byte, all []game.Attribute) []byte {
	dst = append(dst, `"attributes":{`...)
	for i := range all {
		dst, _ = appendString(dst, all[i].Name)
		dst = append(dst, ':')
		dst, _ = appendString(dst, all[i].Value)
		dst = append(dst, ',')
	}
	return end(dst, '}')
}

// appendSources appends where each value came from.
func appendSources(dst []byte, g *game.Game) []byte {
	const key = `"sources":{`
	start := len(dst)
	dst = append(dst, key...)
	for k := game.Key(0); k < game.NumKeys; k++ {
		if from := g.Source(k); from != "" && g.Has.Has(k) {
			dst = append(dst, '"')
			dst = append(dst, k.String()...)
			dst = append(dst, '"', ':')
			dst, _ = appendString(dst, from)
			dst = append(dst, ',')
		}
	}
	if len(dst) == start+len(key) {
		return dst[:start]
	}
	return end(dst, '}')
}

// appendGameNotes appends what could not be understood.
func appendGameNotes(dst []byte, notes game.Notes) []byte {
	if notes == 0 {
		return dst
	}
	dst = append(dst, `"notes":[`...)
	for i := range game.NumNotes {
		if notes&(1<<i) != 0 {
			dst = appendWord(dst, "", game.NoteWord(i))
		}
	}
	return end(dst, ']')
}

// hashes reads what appendHashes wrote.
func (v values) hashes(r *scanner.Result, err *error) {
	o := v.inner("hashes", err)
	for q := range r.Hashes {
		var text string
		key := wire.Question(q).String()
		if o.get(key, &text, err); text == "" {
			continue
		}
		if b := bytesOf("hashes."+key, text, err); len(b) == 8 {
			for _, c := range b {
				r.Hashes[q] = r.Hashes[q]<<8 | uint64(c)
			}
		} else if *err == nil {
			*err = fmt.Errorf("hashes.%s: has another type", key)
		}
	}
}

// roundTrips reads what appendRoundTrips wrote.
func (v values) roundTrips(r *scanner.Result, err *error) {
	o := v.inner("rtts_ms", err)
	for q := range r.RTTs {
		r.RTTs[q] = o.millis(wire.Question(q).String(), err)
	}
}

// flags reads what appendFlags wrote.
func (v values) flags(err *error) (flags game.Flags) {
	var words []string
	v.get("flags", &words, err)
	for i := range game.NumFlags {
		if slices.Contains(words, game.FlagWord(i)) {
			flags |= 1 << i
		}
	}
	return flags
}

// game reads what appendGame wrote.
func (v values) game(err *error) *game.Game {
	g := &game.Game{ID: v.text("id", err), Name: v.text("name", err)}
	if v["id"] != nil && !isGameID(g.ID) && *err == nil {
		*err = errors.New("game.id: has another type")
	}
	for k := game.Key(0); k < game.NumKeys; k++ {
		if v[k.String()] != nil {
			g.Has |= 1 << k
		}
	}
	v.gameNumbers(g, err)
	v.gameTexts(g, err)
	v.get("pvp", &g.PVP, err)
	v.get("password", &g.Password, err)
	v.get("modded", &g.Modded, err)
	v.get("anticheat", &g.Anticheat, err)
	v.gameMods(g, err)
	if v["attributes"] != nil {
		v.gameAttributes(g, err)
	}
	v.gameSources(g, err)
	v.gameNotes(g, err)
	return g
}

func isGameID(id string) bool {
	return id != "" && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// gameAttributes reads the attributes in their order, the first of each name.
func (v values) gameAttributes(g *game.Game, err *error) {
	seen := map[string]bool{}
	for _, pair := range pairsOf("attributes", v["attributes"], err) {
		if name := string(pair.Name); !seen[name] {
			seen[name] = true
			g.Attributes = append(g.Attributes, game.Attribute{Name: name, Value: pair.Value})
		}
	}
}

func (v values) gameNumbers(g *game.Game, err *error) {
	for key, to := range map[string]*int{
		"players": &g.Players, "max_players": &g.MaxPlayers, "queue": &g.Queue, "bots": &g.Bots, "day": &g.Day,
	} {
		var n uint32
		v.get(key, &n, err)
		*to = int(n)
	}
	if v["started"] != nil {
		var t time.Time
		v.get("started", &t, err)
		g.Started = t.Unix()
	}
}

func (v values) gameTexts(g *game.Game, err *error) {
	for key, to := range map[string]*[]byte{
		"version": &g.Version, "map": &g.Map, "mode": &g.Mode, "region": &g.Region,
		"time_of_day": &g.TimeOfDay, "description": &g.Description,
	} {
		if v[key] != nil {
			*to = []byte(v.text(key, err))
		}
	}
}

func (v values) gameMods(g *game.Game, err *error) {
	var list []values
	v.get("mods", &list, err)
	for _, o := range list {
		var m game.Mod
		for key, to := range map[string]*[]byte{"id": &m.ID, "name": &m.Name, "hash": &m.Hash} {
			if o[key] != nil {
				*to = []byte(o.text(key, err))
			}
		}
		o.get("creator_dlc", &m.CreatorDLC, err)
		g.Mods = append(g.Mods, m)
	}
}

func (v values) gameSources(g *game.Game, err *error) {
	o := v.inner("sources", err)
	for k := game.Key(0); k < game.NumKeys; k++ {
		var from string
		if o.get(k.String(), &from, err); from != "" {
			g.SetSource(k, from)
		}
	}
}

func (v values) gameNotes(g *game.Game, err *error) {
	var words []string
	v.get("notes", &words, err)
	for i := range game.NumNotes {
		if slices.Contains(words, game.NoteWord(i)) {
			g.Notes |= 1 << i
		}
	}
}

var gameFields = withHex([]field{
	{name: "id", is: typeWord, pattern: `^[a-z0-9_]+$`, about: "the game, a stable word"},
	{name: "name", is: typeText, about: "the game, for people"},
	{name: "players", is: typeUint32, about: "people in the game, as the game counts them"},
	{name: "max_players", is: typeUint32, about: "places for players"},
	{name: "queue", is: typeUint32, about: "people who wait for a place"},
	{name: "bots", is: typeUint32, about: "players that are programs"},
	{name: "version", is: typeText, about: "version of the game"},
	{name: "map", is: typeText, about: "map that is played"},
	{name: "mode", is: typeText, about: "kind of play, in the words of the game"},
	{name: "region", is: typeText, about: "where the server says it stands"},
	{name: "pvp", is: typeBool, about: "players may fight each other"},
	{name: "password", is: typeBool, about: "players need a password"},
	{name: "modded", is: typeBool, about: "the server declares itself modded"},
	{name: "anticheat", is: typeBool, about: "the anti-cheat program of the game is on"},
	{name: "started", is: typeSeconds, about: "when the world began"},
	{name: "time_of_day", is: typeText, about: "in the world of the game"},
	{name: "day", is: typeUint32, about: "day of the calendar of the game"},
	{name: "mods", is: typeObject, lists: 1, about: "mods, in the order of the server", fields: withHex([]field{
		{name: "id", is: typeText, about: "mostly the number of a Steam Workshop item"},
		{name: "name", is: typeText, about: "as the server calls it"},
		{name: "hash", is: typeText, about: "in hexadecimal digits"},
		{name: "creator_dlc", is: typeBool, about: "Arma 3: a Creator DLC, and id its application"},
	})},
	{name: "description", is: typeText, about: "text for people"},
	{name: "attributes", is: typeMap, about: "other values of the game, name to value"},
	{name: "sources", is: typeMap, about: "key of this object to where its value came from in the reply"},
	{name: "notes", is: typeWord, lists: 1, words: gameNoteWords(), about: "what could not be understood"},
})

func gameNoteWords() (words []string) {
	for i := range game.NumNotes {
		words = append(words, game.NoteWord(i))
	}
	return words
}

func flagWords() (words []string) {
	for i := range game.NumFlags {
		words = append(words, game.FlagWord(i))
	}
	return words
}

// AddGame appends the record in line to dst, with what its answers mean for their
// game, if it says neither game nor flags. All else stays byte for byte. A record
// that would become longer than MaxSize stays as it is.
func AddGame(dst, line []byte, i *scanner.Interpreter) ([]byte, error) {
	var v values
	if err := json.Unmarshal(line, &v); err != nil {
		return dst, err
	}
	if v["game"] != nil || v["flags"] != nil || (v["info"] == nil && v["players"] == nil && v["message"] == nil) {
		return append(dst, line...), nil
	}
	_, r, err := Read(line)
	if err != nil {
		return dst, err
	}
	i.Interpret(r)
	at := endOfAnswers(line)
	start := len(dst)
	dst = append(dst, line[:at]...)
	dst = appendMeaning(append(dst, ','), r)
	dst = append(dst[:len(dst)-1], line[at:]...)
	if len(dst)-start >= MaxSize {
		dst = append(dst[:start], line...)
	}
	return dst, nil
}

// appendMeaning appends game and flags, which stand together.
func appendMeaning(dst []byte, r *scanner.Result) []byte {
	if r.Game != nil {
		dst = appendGame(dst, r.Game)
	}
	return appendFlags(dst, r.Flags)
}

// endOfAnswers returns where game and flags belong in a record: behind the last
// key that stands in front of raw, geo and master.
func endOfAnswers(line []byte) (at int) {
	eachMember(line, func(m member) bool {
		switch strings.Trim(string(m.key), `"`) {
		case "raw", "geo", "master":
			return false
		}
		at = m.end
		return true
	})
	return at
}
