package record

import (
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/wire"
)

// questionKeys are the keys of objects that have a value for each question.
var questionKeys = [wire.NumQuestions]string{`"info":`, `"players":`, `"rules":`}

// appendRoundTrips appends the round trip of each question that has one.
func appendRoundTrips(dst []byte, r *scanner.Result) []byte {
	const key = `"rtts_ms":{`
	start := len(dst)
	dst = append(dst, key...)
	for q, d := range r.RTTs {
		if d > 0 {
			dst = appendMillis(dst, questionKeys[q], d)
		}
	}
	if len(dst) == start+len(key) {
		return dst[:start]
	}
	return end(dst, '}')
}

// appendHashes appends the hash of each answer that has one.
func (e *Encoder) appendHashes(dst []byte, r *scanner.Result) []byte {
	players := r.Hashes[wire.QuestionPlayers]
	if r.Hashes[wire.QuestionInfo]|r.Hashes[wire.QuestionRules] == 0 { // as usual
		if players == 0 {
			return dst
		}
		dst = appendHash(append(dst, `"hashes":{"players":"`...), e.playersHash(players))
		return append(dst, `"},`...)
	}
	dst = append(dst, `"hashes":{`...)
	for q, h := range r.Hashes {
		if wire.Question(q) == wire.QuestionPlayers {
			h = e.playersHash(h)
		}
		if h != 0 {
			dst = append(append(dst, questionKeys[q]...), '"')
			dst = append(appendHash(dst, h), '"', ',')
		}
	}
	return end(dst, '}')
}

// appendFlags appends the words of the flags, if there are any.
func appendFlags(dst []byte, flags game.Flags) []byte {
	return appendWords(dst, `"flags":[`, uint32(flags)&(1<<game.NumFlags-1), game.FlagWord)
}

// appendWords appends a list with the word of each bit in set, or nothing if set is
// empty.
func appendWords(dst []byte, key string, set uint32, word func(int) string) []byte {
	if set == 0 {
		return dst
	}
	dst = append(dst, key...)
	for ; set != 0; set &= set - 1 {
		dst = appendWord(dst, "", word(bits.TrailingZeros32(set)))
	}
	return end(dst, ']')
}

// appendGame appends what the answers mean for their game: the common keys, then
// attributes, sources and notes.
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
	if g.Has.Has(game.KeyMods) || len(g.Mods) > 0 { // an empty list says that there are none
		dst = appendMods(dst, g.Mods)
	}
	if g.Has.Has(game.KeyDescription) {
		dst = appendText(dst, `"description":`, g.Description)
	}
	if len(g.Attributes) > 0 {
		dst = appendAttributes(dst, g.Attributes)
	}
	dst = appendSources(dst, g)
	return end(appendWords(dst, `"notes":[`, uint32(g.Notes)&(1<<game.NumNotes-1), game.NoteWord), '}')
}

// appendPlaces appends the counts of players, player slots, queued people and bots.
func appendPlaces(dst []byte, g *game.Game) []byte {
	const keys = 1<<game.KeyPlayers | 1<<game.KeyMaxPlayers | 1<<game.KeyQueue | 1<<game.KeyBots
	if g.Has&keys == 0 {
		return dst
	}
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

// appendCount appends a number that the decoder keeps within 32 bits. A negative
// number becomes 0.
func appendCount(dst []byte, key string, n int) []byte {
	return appendUint(dst, key, uint64(uint32(max(n, 0))))
}

// appendPlay appends the version, the map, the mode and the region.
func appendPlay(dst []byte, g *game.Game) []byte {
	const keys = 1<<game.KeyVersion | 1<<game.KeyMap | 1<<game.KeyMode | 1<<game.KeyRegion
	if g.Has&keys == 0 {
		return dst
	}
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
	const keys = 1<<game.KeyPVP | 1<<game.KeyPassword | 1<<game.KeyModded | 1<<game.KeyAnticheat
	if g.Has&keys == 0 {
		return dst
	}
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

// startedLayout is the layout of the time at which a world began.
const startedLayout = "2006-01-02T15:04:05Z"

// appendWorld appends the times of the game's world. RFC 3339 can't express a year
// outside 0 to 9999: then started is absent.
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

// appendMods appends mods. What the game does not say about a mod is absent.
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

// appendAttributes appends the values that only some games have. If a value is not
// UTF-8, its exact bytes are in the rules or keywords of the record.
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

// appendSources appends where each value came from. An attribute that came from the
// keywords, as most do, has no entry.
func appendSources(dst []byte, g *game.Game) []byte {
	const key = `"sources":{`
	start := len(dst)
	dst = append(dst, key...)
	for set := g.Has & allKeys; set != 0; set &= set - 1 {
		k := game.Key(bits.TrailingZeros32(uint32(set)))
		if from := g.Source(k); from != "" {
			dst = append(dst, '"')
			dst = append(dst, k.String()...)
			dst = append(dst, '"', ':')
			dst, _ = appendString(dst, from)
			dst = append(dst, ',')
		}
	}
	for i := range g.Attributes {
		if a := &g.Attributes[i]; !fromKeywords(a.Source) {
			dst = appendAttributeSource(dst, a)
		}
	}
	if len(dst) == start+len(key) {
		return dst[:start]
	}
	return end(dst, '}')
}

// allKeys has the bits of all common keys.
const allKeys game.Keys = 1<<game.NumKeys - 1

// The source of a value from INFO's keywords, and the prefix of an attribute's key
// in sources.
const (
	keywordsSource  = "keywords"
	attributeSource = "attributes."
)

// fromKeywords reports whether a source is INFO's keywords, or a single keyword.
func fromKeywords(source string) bool {
	tag, ok := strings.CutPrefix(source, keywordsSource)
	return ok && (tag == "" || tag[0] == '.')
}

// appendAttributeSource appends the source of an attribute.
func appendAttributeSource(dst []byte, a *game.Attribute) []byte {
	start := len(dst)
	dst, _ = appendString(dst, a.Name)
	dst = slices.Insert(dst, start+1, []byte(attributeSource)...)
	dst, _ = appendString(append(dst, ':'), a.Source)
	return append(dst, ',')
}

// gameID matches the word for a game.
const gameID = `^[a-z0-9_]+$`

func isGameID(id string) bool {
	for i := range len(id) {
		c := id[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return id != ""
}

var gameFields = withHex([]field{
	{name: "id", is: typeWord, pattern: gameID, at: func(r *result) any { return &r.Game.ID }, about: "the game, a stable word"},
	{name: "name", is: typeText, at: func(r *result) any { return &r.Game.Name }, about: "the game, for people"},
	{name: "players", is: typeUint32, game: 1 << game.KeyPlayers, at: func(r *result) any { return &r.Game.Players }, about: "people in the game, as the game counts them"},
	{name: "max_players", is: typeUint32, game: 1 << game.KeyMaxPlayers, at: func(r *result) any { return &r.Game.MaxPlayers }, about: "places for players"},
	{name: "queue", is: typeUint32, game: 1 << game.KeyQueue, at: func(r *result) any { return &r.Game.Queue }, about: "people who wait for a place"},
	{name: "bots", is: typeUint32, game: 1 << game.KeyBots, at: func(r *result) any { return &r.Game.Bots }, about: "players that are programs"},
	{name: "version", is: typeText, game: 1 << game.KeyVersion, at: func(r *result) any { return &r.Game.Version }, about: "version of the game"},
	{name: "map", is: typeText, game: 1 << game.KeyMap, at: func(r *result) any { return &r.Game.Map }, about: "map that is played"},
	{name: "mode", is: typeText, game: 1 << game.KeyMode, at: func(r *result) any { return &r.Game.Mode }, about: "kind of play, in the words of the game"},
	{name: "region", is: typeText, game: 1 << game.KeyRegion, at: func(r *result) any { return &r.Game.Region }, about: "where the server says it stands"},
	{name: "pvp", is: typeBool, game: 1 << game.KeyPVP, at: func(r *result) any { return &r.Game.PVP }, about: "players may fight each other"},
	{name: "password", is: typeBool, game: 1 << game.KeyPassword, at: func(r *result) any { return &r.Game.Password }, about: "players need a password"},
	{name: "modded", is: typeBool, game: 1 << game.KeyModded, at: func(r *result) any { return &r.Game.Modded }, about: "the server declares itself modded"},
	{name: "anticheat", is: typeBool, game: 1 << game.KeyAnticheat, at: func(r *result) any { return &r.Game.Anticheat }, about: "the anti-cheat program of the game is on"},
	{name: "started", is: typeSeconds, game: 1 << game.KeyStarted, at: func(r *result) any { return &r.Game.Started }, about: "when the world began"},
	{name: "time_of_day", is: typeText, game: 1 << game.KeyTimeOfDay, at: func(r *result) any { return &r.Game.TimeOfDay }, about: "in the world of the game"},
	{name: "day", is: typeUint32, game: 1 << game.KeyDay, at: func(r *result) any { return &r.Game.Day }, about: "day of the calendar of the game"},
	{name: "mods", is: typeObject, lists: 1, game: 1 << game.KeyMods, at: func(r *result) any { return &r.Game.Mods }, about: "mods, in the order of the server", fields: withHex([]field{
		{name: "id", is: typeText, at: func(r *result) any { return &lastMod(r).ID }, about: "mostly the number of a Steam Workshop item"},
		{name: "name", is: typeText, at: func(r *result) any { return &lastMod(r).Name }, about: "as the server calls it"},
		{name: "hash", is: typeText, at: func(r *result) any { return &lastMod(r).Hash }, about: "in hexadecimal digits"},
		{name: "creator_dlc", is: typeBool, at: func(r *result) any { return &lastMod(r).CreatorDLC }, about: "Arma 3: a Creator DLC, and id its application"},
	})},
	{name: "description", is: typeText, game: 1 << game.KeyDescription, at: func(r *result) any { return &r.Game.Description }, about: "text for people"},
	{name: "attributes", is: typeMap, at: func(r *result) any { return &r.Game.Attributes }, about: "other values of the game, name to value"},
	{name: "sources", is: typeMap, at: func(r *result) any { return r.Game }, about: "key of this object, or attributes. and the name of one, to where its value came from in the reply; an attribute without an entry came from the keywords"},
	{name: "notes", is: typeWord, lists: 1, at: func(r *result) any { return &r.Game.Notes }, words: wordsOf(game.NumNotes, game.NoteWord), about: "what could not be understood"},
})

func lastMod(r *result) *game.Mod { return &r.Game.Mods[len(r.Game.Mods)-1] }

// wordsOf returns word(0) to word(n-1).
func wordsOf(n int, word func(int) string) (words []string) {
	for i := range n {
		words = append(words, word(i))
	}
	return words
}
