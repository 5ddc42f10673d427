// This file describes every key of the record. To add a key, see schemaKeys.

package record

import (
	"math/bits"
	"slices"
	"strings"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/wire"
)

// A valueType is the type of a key's values. It never changes.
type valueType uint8

const (
	typeText    valueType = iota // from strangers: KEY_hex may follow
	typeWord                     // a word that the schema defines
	typeHex                      // bytes in lower-case hex
	typeBase64                   // bytes
	typeID                       // 64 bits, decimal, a string
	typeTime                     // UTC with milliseconds
	typeSeconds                  // UTC
	typeMillis                   // milliseconds with up to three decimals
	typeFloat32                  // a number, or null
	typeBool
	typeUint8
	typeUint16
	typeUint32
	typeUint64
	typeInt32
	typeObject // of fields
	typeMap    // string to string
	typeJSON   // an object whose keys the schema does not define

	numTypes = iota
)

// A field is a key of the record.
type field struct {
	name   string
	is     valueType
	lists  int    // nesting of lists: 1 is a list of values, 2 a list of lists
	always bool   // it is never absent
	about  string // one line: its meaning, and when it is present

	fields  []field  // of typeObject
	words   []string // of typeWord: all words
	pattern string   // of text and words

	// The value in a Result: a pointer to it, or to the last element of a list. Nil:
	// the Reader only checks it.
	at   func(*result) any
	has  func(*result) *bool // the Result has the value; nil: it is not told
	info wire.Fields         // likewise, in Info.Has
	game game.Keys           // likewise, in Game.Has
}

type result = scanner.Result

// schemaKeys are all keys that a record can have, in the order in which Append
// writes them. The printed schemas and Check are derived from this list.
//
// To add a key: add its value to scanner.Result, and to Result.Clone if it is text
// or a list. Add a row here. Encoder.record in record.go writes it; a value whose
// length the server chooses is written by appendPart in parts.go, so that it can be
// dropped from a record that is too long. Parse and Read read it back. Describe it
// in doc.go. The tests of this package compare all of these with each other.
//
// A key of an object has its row in that object's fields instead. For info, the
// field is in wire.Info, with a flag in wire.Fields; wire/info.go decodes and
// appends it, info.go writes it, and read.go reads it (infoFlags). For game, see
// gameFields in game.go.
var schemaKeys = withHex([]field{
	{name: "schema", is: typeUint8, always: true, about: "1; rises when the meaning of a key changes"},
	{name: "scan", is: typeText, about: "name of the scan, if it has one"},
	{name: "ip", is: typeWord, pattern: `^[0-9a-f:.]+$`,
		at: func(r *result) any { return &r.Addr }, about: "address of the server; absent from a capture without addresses"},
	{name: "port", is: typeUint16, at: func(r *result) any { return &r.Addr }, about: "port of the server, with ip"},
	{name: "addr", is: typeWord, pattern: `^([0-9.]+|\[[0-9a-f:.]+\]):[0-9]+$`,
		about: "ip and port as one text, to join censuses by"},
	{name: "tag", is: typeText, at: func(r *result) any { return &r.Tag }, about: "the rest of the server's line in the list"},
	{name: "time", is: typeTime,
		at: func(r *result) any { return &r.Time }, about: "when the first reply arrived, or the scan gave up; absent from a capture"},
	{name: "status", is: typeWord, words: statusWords(), at: func(r *result) any { return &r.Status }, about: "ok: all questions were answered; partial: some; error: none, with a reply; else no reply"},
	{name: "errors", is: typeObject, fields: errorFields,
		about: "questions without a complete answer, and why"},
	{name: "notes", is: typeWord, lists: 1, pattern: `^[a-z0-9_]+\.[a-z0-9_]+$`,
		at: func(r *result) any { return &r.Notes }, about: "oddities of answers, and parts dropped from this record"},
	{name: "message", is: typeText, at: func(r *result) any { return &r.Message }, about: "text of a reply that refuses: banned, too many requests"},
	{name: "rtt_ms", is: typeMillis,
		at: func(r *result) any { return &r.RTT }, about: "round trip of the first question that was sent once and answered"},
	{name: "rtts_ms", is: typeObject, about: "round trip of each question that was sent once and answered",
		fields: []field{
			{name: "info", is: typeMillis, at: func(r *result) any { return &r.RTTs[wire.QuestionInfo] }, about: "of info"},
			{name: "players", is: typeMillis, at: func(r *result) any { return &r.RTTs[wire.QuestionPlayers] }, about: "of players"},
			{name: "rules", is: typeMillis, at: func(r *result) any { return &r.RTTs[wire.QuestionRules] }, about: "of rules"},
		}},
	{name: "took_ms", is: typeMillis, at: func(r *result) any { return &r.Took }, about: "first datagram to last; absent from a capture"},
	{name: "sent", is: typeUint32, at: func(r *result) any { return &r.Sent }, about: "datagrams sent; absent from a capture"},
	{name: "received", is: typeUint32, at: func(r *result) any { return &r.Received }, about: "datagrams received"},
	{name: "sent_bytes", is: typeUint64, at: func(r *result) any { return &r.SentBytes }, about: "UDP payload of sent; absent from a capture"},
	{name: "received_bytes", is: typeUint64, at: func(r *result) any { return &r.RecvBytes }, about: "UDP payload of received"},
	{name: "unchallenged", is: typeWord, lists: 1, words: questionWords(),
		at: func(r *result) any { return &r.Unchallenged }, about: "questions answered, in part at least, without a challenge"},
	{name: "disputed", is: typeWord, lists: 1, words: fieldKeys[:], at: func(r *result) any { return &r.Disputed },
		about: "fields of info in which another reply contradicts this one; one of the two may be forged"},
	{name: "ping", is: typeObject, has: func(r *result) *bool { return &r.HasPing }, about: "the answer to a ping, if one was sent", fields: withHex([]field{
		{name: "payload", is: typeText, always: true, at: func(r *result) any { return &r.Ping }, about: "its text, mostly empty or fourteen zeros"},
		{name: "rtt_ms", is: typeMillis, at: func(r *result) any { return &r.PingRTT }, about: "round trip of the ping; absent from a capture"},
	})},
	{name: "hashes", is: typeObject, about: "64-bit xxHash of the bytes of each answer that came whole",
		fields: []field{
			{name: "info", is: typeWord, pattern: hash64, at: func(r *result) any { return &r.Hashes[wire.QuestionInfo] }, about: "of info"},
			{name: "players", is: typeWord, pattern: hash64, at: func(r *result) any { return &r.Hashes[wire.QuestionPlayers] }, about: "of players; keyed where the players have a name_hash"},
			{name: "rules", is: typeWord, pattern: hash64, at: func(r *result) any { return &r.Hashes[wire.QuestionRules] }, about: "of rules"},
		}},
	{name: "info", is: typeObject, fields: infoFields, has: func(r *result) *bool { return &r.HasInfo },
		about: "the fields that were read completely, if info was answered"},
	{name: "players", is: typeObject, lists: 1, fields: playerFields, has: func(r *result) *bool { return &r.HasPlayers },
		at:    func(r *result) any { return &r.Players },
		about: "the players, if that question was answered; [] if there were none"},
	{name: "players_announced", is: typeUint8,
		at: func(r *result) any { return &r.PlayersAnnounced }, about: "the count in the answer, if it differs from the list"},
	{name: "rules", is: typeMap, has: func(r *result) *bool { return &r.HasRules }, at: func(r *result) any { return &r.Rules },
		about: "name to value, if that question was answered; a name that occurs twice has its first value"},
	{name: "rules_announced", is: typeUint16,
		at: func(r *result) any { return &r.RulesAnnounced }, about: "the count in the answer, if it differs from the list"},
	{name: "rules_raw", is: typeHex, lists: 2,
		about: "all rules in order, [name, value], if rules does not hold them exactly"},
	{name: "game", is: typeObject, fields: gameFields,
		about: "what the answers mean for the game, if more is known than info says"},
	{name: "flags", is: typeWord, lists: 1, words: wordsOf(game.NumFlags, game.FlagWord),
		at: func(r *result) any { return &r.Flags }, about: "what is suspicious about the answers; evidence, no verdict"},
	{name: "raw", is: typeBase64, lists: 1, at: func(r *result) any { return &r.Raw }, about: "the datagrams in order of arrival, if they were kept"},
	{name: "geo", is: typeObject, fields: geoFields,
		about: "place and network of the address, from databases"},
	{name: "master", is: typeJSON, at: func(r *result) any { return &r.Master }, about: "the master server's own data about the server, if it was kept"},
	{name: "origins", is: typeObject, lists: 1, fields: originFields,
		about: "what each vantage point saw, in a census that merge --origins of an earlier version made"},
})

// The keys that no Result holds.
var scanKey, scanHexKey = &schemaKeys[1], &schemaKeys[2]

// hash64 matches a hash in hex.
const hash64 = `^[0-9a-f]{16}$`

var errorFields = []field{
	{name: "info", is: typeWord, words: errorWords(), at: func(r *result) any { return &r.Err[wire.QuestionInfo] }, about: "why info has no complete answer"},
	{name: "players", is: typeWord, words: errorWords(), at: func(r *result) any { return &r.Err[wire.QuestionPlayers] }, about: "why players has no complete answer"},
	{name: "rules", is: typeWord, words: errorWords(), at: func(r *result) any { return &r.Err[wire.QuestionRules] }, about: "why rules has no complete answer"},
}

// fieldKeys are the keys of info in the order of their bits in wire.Fields.
var fieldKeys = func() (keys [23]string) {
	for i := range infoFields {
		if f := &infoFields[i]; f.info != 0 && !strings.HasSuffix(f.name, "_hex") {
			keys[bits.TrailingZeros32(uint32(f.info))] = f.name
		}
	}
	return keys
}()

func fieldKey(i int) string { return fieldKeys[i] }

var infoFields = withHex([]field{
	{name: "format", is: typeWord, words: []string{"source", "goldsource"},
		at: func(r *result) any { return &r.Info.Format }, about: "source: the I reply; goldsource: the m reply"},
	{name: "protocol", is: typeUint8, at: func(r *result) any { return &r.Info.Protocol }, info: wire.HasProtocol, about: "version of the protocol"},
	{name: "name", is: typeText, at: func(r *result) any { return &r.Info.Name }, info: wire.HasName, about: "name of the server"},
	{name: "map", is: typeText, at: func(r *result) any { return &r.Info.Map }, info: wire.HasMap, about: "current map"},
	{name: "folder", is: typeText, at: func(r *result) any { return &r.Info.Folder }, info: wire.HasFolder, about: "folder of the game"},
	{name: "game", is: typeText, at: func(r *result) any { return &r.Info.Game }, info: wire.HasGame, about: "name of the game"},
	{name: "app_id", is: typeUint32,
		at: func(r *result) any { return &r.Info.ShortAppID }, info: wire.HasAppID, about: "the low 24 bits of game_id if they are not 0, else the short one"},
	{name: "players", is: typeUint32, at: func(r *result) any { return &r.Info.Players }, info: wire.HasPlayers, about: "number of players, as the server counts; of a proxy: spectators"},
	{name: "max_players", is: typeUint32, at: func(r *result) any { return &r.Info.MaxPlayers }, info: wire.HasMaxPlayers, about: "most players at a time"},
	{name: "bots", is: typeUint8, at: func(r *result) any { return &r.Info.Bots }, info: wire.HasBots, about: "number of bots"},
	{name: "server_type", is: typeWord, pattern: `^(dedicated|listen|proxy|0x[0-9a-f]{2})$`,
		at: func(r *result) any { return &r.Info.ServerType }, info: wire.HasServerType, about: "dedicated, listen, proxy, or the byte"},
	{name: "environment", is: typeWord, pattern: `^(linux|windows|mac|0x[0-9a-f]{2})$`,
		at: func(r *result) any { return &r.Info.Environment }, info: wire.HasEnvironment, about: "linux, windows, mac, or the byte"},
	{name: "password", is: typeBool, at: func(r *result) any { return &r.Info.Password }, info: wire.HasPassword, about: "players need a password"},
	{name: "vac", is: typeBool, at: func(r *result) any { return &r.Info.VAC }, info: wire.HasVAC, about: "secured by VAC"},
	{name: "ship", is: typeObject, info: wire.HasShip, about: "The Ship only", fields: []field{
		{name: "mode", is: typeUint8, always: true, at: func(r *result) any { return &r.Info.Ship.Mode }, about: "game mode"},
		{name: "witnesses", is: typeUint8, always: true, at: func(r *result) any { return &r.Info.Ship.Witnesses }, about: "witnesses needed for an arrest"},
		{name: "duration", is: typeUint8, always: true, at: func(r *result) any { return &r.Info.Ship.Duration }, about: "seconds until an arrest"},
	}},
	{name: "version", is: typeText, at: func(r *result) any { return &r.Info.Version }, info: wire.HasVersion, about: "version of the game"},
	{name: "edf", is: typeUint8, at: func(r *result) any { return &r.Info.EDF }, info: wire.HasEDF, about: "extra data flag"},
	{name: "game_port", is: typeUint16, at: func(r *result) any { return &r.Info.GamePort }, info: wire.HasGamePort, about: "port of the game"},
	{name: "steam_id", is: typeID, at: func(r *result) any { return &r.Info.SteamID }, info: wire.HasSteamID, about: "Steam ID of the server"},
	{name: "sourcetv", is: typeObject, info: wire.HasSourceTV, about: "the spectators' server", fields: withHex([]field{
		{name: "port", is: typeUint16, always: true, at: func(r *result) any { return &r.Info.SourceTV.Port }, about: "its port"},
		{name: "name", is: typeText, always: true, at: func(r *result) any { return &r.Info.SourceTV.Name }, about: "its name"},
	})},
	{name: "keywords", is: typeText, at: func(r *result) any { return &r.Info.Keywords }, info: wire.HasKeywords, about: "keywords of the game"},
	{name: "game_id", is: typeID, at: func(r *result) any { return &r.Info.GameID }, info: wire.HasGameID, about: "64-bit game ID"},
	{name: "address", is: typeText, at: func(r *result) any { return &r.Info.Address }, info: wire.HasAddress, about: "the server's address as the server sees it"},
	{name: "mod", is: typeObject, info: wire.HasMod, about: "mod of a GoldSource server", fields: withHex([]field{
		{name: "url", is: typeText, always: true, at: func(r *result) any { return &r.Info.Mod.URL }, about: "its web site"},
		{name: "download_url", is: typeText, always: true, at: func(r *result) any { return &r.Info.Mod.DownloadURL }, about: "where to download it"},
		{name: "version", is: typeUint32, always: true, at: func(r *result) any { return &r.Info.Mod.Version }, about: "its version"},
		{name: "size", is: typeUint32, always: true, at: func(r *result) any { return &r.Info.Mod.Size }, about: "its size in bytes"},
		{name: "multiplayer_only", is: typeBool, always: true, at: func(r *result) any { return &r.Info.Mod.Type }, about: "it is for multiplayer games only"},
		{name: "custom_dll", is: typeBool, always: true, at: func(r *result) any { return &r.Info.Mod.DLL }, about: "it has its own DLL"},
	})},
})

var playerFields = withHex([]field{
	{name: "index", is: typeUint8, always: true, at: func(r *result) any { return &lastPlayer(r).Index }, about: "the index that the server gives, mostly 0"},
	{name: "name", is: typeText, at: func(r *result) any { return &lastPlayer(r).Name }, about: "name of the player"},
	{name: "name_hash", is: typeWord, pattern: hash64, at: func(r *result) any { return &lastPlayer(r).Name }, about: "keyed hash of the name, in its place; equal names have equal hashes"},
	{name: "score", is: typeInt32, always: true, at: func(r *result) any { return &lastPlayer(r).Score }, about: "score, mostly kills"},
	{name: "duration", is: typeFloat32, always: true,
		at: func(r *result) any { return &lastPlayer(r).Duration }, about: "seconds connected; null if it is not a finite number"},
	{name: "deaths", is: typeInt32, at: func(r *result) any { return &lastPlayer(r).Deaths },
		has: func(r *result) *bool { return &lastPlayer(r).Ship }, about: "The Ship only"},
	{name: "money", is: typeInt32, at: func(r *result) any { return &lastPlayer(r).Money }, about: "The Ship only"},
})

func lastPlayer(r *result) *wire.Player { return &r.Players[len(r.Players)-1] }

const twoLetters = `^[A-Z]{2}$`

var geoFields = withHex([]field{
	{name: "continent", is: typeWord, pattern: twoLetters, at: func(r *result) any { return &r.Geo.Continent }, about: "AF, AN, AS, EU, NA, OC or SA"},
	{name: "country", is: typeWord, pattern: twoLetters, at: func(r *result) any { return &r.Geo.Country }, about: "its code by ISO 3166-1"},
	{name: "region", is: typeText, at: func(r *result) any { return &r.Geo.Region }, about: "state or province"},
	{name: "city", is: typeText, at: func(r *result) any { return &r.Geo.City }, about: "city"},
	{name: "asn", is: typeUint32, at: func(r *result) any { return &r.Geo.ASN }, about: "number of the autonomous system"},
	{name: "org", is: typeText, at: func(r *result) any { return &r.Geo.Org }, about: "owner of the autonomous system"},
})

var originFields = withHex([]field{
	{name: "name", is: typeText, always: true, about: "name of the vantage point"},
	{name: "time", is: typeTime, about: "when the first reply arrived there"},
	{name: "status", is: typeWord, words: statusWords(), about: "as in the record; absent: its census has no record of the server"},
	{name: "rtt_ms", is: typeMillis, about: "as in the record"},
	{name: "hashes", is: typeObject, about: "as in the record: other hashes, other answers",
		fields: []field{
			{name: "info", is: typeWord, pattern: hash64, about: "of info"},
			{name: "players", is: typeWord, pattern: hash64, about: "of players"},
			{name: "rules", is: typeWord, pattern: hash64, about: "of rules"},
		}},
	{name: "players", is: typeUint8, about: "number of players, as info says"},
	{name: "max_players", is: typeUint32, about: "most players at a time, as info says"},
})

// withHex inserts after each key of typeText its KEY_hex, the key of the exact
// bytes.
func withHex(fields []field) (all []field) {
	for _, f := range fields {
		all = append(all, f)
		if f.is == typeText {
			all = append(all, field{name: f.name + "_hex", is: typeHex, at: f.at,
				about: "the bytes of " + f.name + ", if it is not UTF-8"})
		}
	}
	return all
}

func statusWords() (words []string) {
	for s := scanner.Status(1); s < scanner.NumStatuses; s++ {
		words = append(words, s.String())
	}
	return words
}

func questionWords() (words []string) {
	for q := range wire.Question(wire.NumQuestions) {
		words = append(words, q.String())
	}
	return words
}

func errorWords() (words []string) {
	for e := wire.Error(1); e < wire.NumErrors; e++ {
		if !slices.Contains(words, e.String()) {
			words = append(words, e.String())
		}
	}
	return words
}
