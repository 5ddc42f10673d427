// This file is the table of the keys of a record. The Encoder, the Reader and the schemas
// are derived from it.

package record

import (
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/wire"
)

// valueType is the type of the values of a key. A key never changes its type.
type valueType uint8

const (
	typeText    valueType = iota // text; if it is not UTF-8, the key KEY_hex has its bytes
	typeID                       // a number of 64 bits, as a decimal string
	typeMillis                   // a time in UTC, to the millisecond
	typeSeconds                  // a time in UTC, to the second
	typeFloat64                  // milliseconds with up to three decimals
	typeFloat32                  // a number, or null
	typeBool
	typeUint8
	typeUint16
	typeUint32
	typeUint64
	typeInt32
	typeObject // an object whose keys are in field.fields
	typeMap    // an object whose values are strings
	typeJSON   // an object whose keys the table does not define

	typeWord    // one of field.words, or text that matches field.pattern
	typeHex     // bytes in lower-case hex
	typeBase64  // bytes in base64
	typeHash    // 64 bits in hex
	typeAddress // an IP address

	numTypes = iota
)

// Paths returns the paths of all keys that a record can have, such as "info.map". Its
// second result has prefixes such as "rules.": the path of each list, and of each object
// whose keys the table does not define, with a dot. A record may have more paths with such
// a prefix.
func Paths() (all, open []string) { return pathsOf(schemaKeys, "") }

func pathsOf(fields []field, within string) (all, open []string) {
	for i := range fields {
		f := &fields[i]
		path := within + f.name
		all = append(all, path)
		if f.lists > 0 || f.is == typeMap || f.is == typeJSON {
			open = append(open, path+".")
			continue
		}
		inner, innerOpen := pathsOf(f.fields, path+".")
		all, open = append(all, inner...), append(open, innerOpen...)
	}
	return all, open
}

// A field is a key of the record: a row of the table.
type field struct {
	name    string
	key     string // the name with quotes and colon, as Append writes it
	is      valueType
	lists   int // nesting of lists: 1 is a list of values, 2 a list of lists
	present presence
	about   string // one line: the meaning of the key, and when it is present

	fields []field // the keys of a typeObject
	// For typeWord: the word of each value, or "" if the value has no word. If
	// lists is 1, the word of each bit.
	words   []string
	pattern string // regular expression for text and words

	// at(r) is the value in the Result r. If the objects of a list have this field, it is
	// the value in the last object. For a typeObject that is not a list, at is nil.
	at func(*result) value

	beside bool              // the value of another row writes this key, too
	letter func(byte) string // returns the word for a letter of the protocol
	long   bool              // the Encoder may drop the key from a long record
	with   string            // the Encoder drops the key together with this other key
}

type result = scanner.Result

// schemaKeys are all keys that a record can have, in the order in which Append writes
// them.
//
// To add a key, add its value to scanner.Result, and to Result.Clone if it is text or a
// list. Then add a row here, or to the fields of the object that has the key. For a key of
// info, add the field to wire.Info and a bit to wire.Fields, and read and write the field in
// wire/info.go. For a key that follows from other keys, use a value type with an empty
// method called set, and no bit of wire.Fields. Finally update the records in testdata and
// in cmd/a2sscan/testdata.
var schemaKeys = withHex([]field{
	{name: "schema", is: typeUint8, present: always, about: "version of the schema, now 1; rises when the meaning of a key changes",
		at: func(*result) value { return schemaValue{} }},
	{name: "scan", is: typeText, about: "name of the scan, if it has one",
		at: func(*result) value { return scanValue{} }},
	{name: "ip", is: typeAddress, about: "address of the server; absent if the record was made from a capture without addresses",
		at: func(r *result) value { return (*addressValue)(&r.Addr) }},
	{name: "port", is: typeUint16, beside: true, about: "port of the server, if the record has ip",
		at: func(r *result) value { return (*addressValue)(&r.Addr) }},
	{name: "addr", is: typeWord, pattern: `^([0-9.]+|\[[0-9a-f:.]+\]):[0-9]+$`, beside: true, about: "ip and port as one string, to join censuses on",
		at: func(r *result) value { return (*addressValue)(&r.Addr) }},
	{name: "tag", is: typeText, about: "text after the address on the server's line of the list",
		at: func(r *result) value { return (*stringValue)(&r.Tag) }, long: true},
	{name: "time", is: typeMillis, about: "when the first reply arrived, or the scan gave up; absent if the record was made from a capture",
		at: func(r *result) value { return (*timeValue)(&r.Time) }},
	{name: "status", is: typeWord, words: statusWords, about: "ok: all questions answered; partial: some answered; error: replies but no answer, or this machine could not send; other words: no reply",
		at: func(r *result) value { return (*wordValue)(&r.Status) }},
	{name: "errors", is: typeObject, present: hasErrors | nonzero, about: "questions without a complete answer, and why",
		fields: perQuestion(field{is: typeWord, words: errorWords, about: "why there is no complete answer to "}, func(r *result, q int) value { return (*wordValue)(&r.Err[q]) })},
	{name: "notes", is: typeWord, lists: 1, pattern: `^[a-z0-9_]+\.[a-z0-9_]+$`, about: "oddities of answers, and parts dropped from this record",
		at: func(r *result) value { return (*notesValue)(&r.Notes) }},
	{name: "message", is: typeText, about: "text with which the server refused to answer, or with which it redirects players to another server",
		at: func(r *result) value { return (*bytesValue)(&r.Message) }, long: true},
	{name: "rtt_ms", is: typeFloat64, about: "round trip of the first question that was sent once and answered",
		at: func(r *result) value { return (*millisValue)(&r.RTT) }},
	{name: "rtts_ms", is: typeObject, present: hasRTTs | nonzero, about: "round trip of each question that was sent once and answered",
		fields: perQuestion(field{is: typeFloat64, about: "round trip of "}, func(r *result, q int) value { return (*millisValue)(&r.RTTs[q]) })},
	{name: "took_ms", is: typeFloat64, about: "time from the first datagram to the last; absent if the record was made from a capture",
		at: func(r *result) value { return (*millisValue)(&r.Took) }, present: known},
	{name: "sent", is: typeUint32, about: "datagrams sent; absent if the record was made from a capture",
		at: func(r *result) value { return number(&r.Sent) }, present: known},
	{name: "received", is: typeUint32, about: "datagrams received",
		at: func(r *result) value { return number(&r.Received) }, present: known},
	{name: "sent_bytes", is: typeUint64, about: "UDP payload of the datagrams sent; absent if the record was made from a capture",
		at: func(r *result) value { return number(&r.SentBytes) }, present: known},
	{name: "received_bytes", is: typeUint64, about: "UDP payload of the datagrams received",
		at: func(r *result) value { return number(&r.RecvBytes) }, present: known},
	{name: "unchallenged", is: typeWord, lists: 1, words: questionWords, about: "questions answered without a challenge, at least in part",
		at: func(r *result) value { return set((*uint8)(&r.Unchallenged)) }},
	{name: "ping", is: typeObject, about: "the answer to a ping, if the scan sent pings",
		present: hasPing, fields: withHex([]field{
			{name: "payload", is: typeText, present: always, about: "text of the answer, usually empty or fourteen zeros",
				at: func(r *result) value { return (*bytesValue)(&r.Ping) }},
			{name: "rtt_ms", is: typeFloat64, about: "round trip of the ping; absent if the record was made from a capture",
				at: func(r *result) value { return (*millisValue)(&r.PingRTT) }},
		})},
	{name: "hashes", is: typeObject, present: hasHashes | nonzero, about: "64-bit xxHash of the bytes of a complete answer",
		fields: withHex([]field{{name: "players", is: typeHash, about: "hash of the answer that lists the players; absent for an empty list; keyed if the record has name_hash",
			at: func(r *result) value { return (*hashValue)(&r.PlayersHash) }}})},
	{name: "info", is: typeObject, fields: infoFields, long: true, about: "the fields that were read completely, if the info question was answered",
		present: hasInfo},
	{name: "players", is: typeObject, lists: 1, fields: playerFields, long: true, about: "the players, if the players question was answered; [] for an empty list",
		at: func(r *result) value { return (*playersValue)(r) }, present: hasPlayers},
	{name: "players_announced", is: typeUint8, beside: true, about: "the number of players that the answer announces, if the list has another length",
		at: func(r *result) value { return (*countValue)(&r.PlayersAnnounced) }},
	{name: "rules", is: typeMap, long: true, about: "the value of each rule by its name, if the rules question was answered; a name that occurs twice has its first value",
		at: func(r *result) value { return (*rulesValue)(r) }, present: hasRules},
	{name: "rules_announced", is: typeUint16, beside: true, about: "the number of rules that the answer announces, if the list has another length",
		at: func(r *result) value { return (*countValue)(&r.RulesAnnounced) }},
	{name: "rules_raw", is: typeHex, lists: 2, long: true, about: "every rule in order, as [name, value]; present if the object \"rules\" can't hold them exactly",
		at: func(r *result) value { return (*rawRulesValue)(r) }},
	{name: "game", is: typeObject, fields: gameFields, long: true, about: "what the answers mean in this game; absent if info already says everything known",
		present: hasGame},
	{name: "flags", is: typeWord, lists: 1, with: "game", words: wordsOf(len(game.FlagRules), func(i int) string { return game.FlagRules[i].Word }), about: flagsAbout(),
		at: func(r *result) value { return set((*uint16)(&r.Flags)) }},
	{name: "raw", is: typeBase64, lists: 1, long: true, about: "the datagrams in order of arrival, if the scan saved them",
		at: func(r *result) value { return (*rawValue)(&r.Raw) }},
	{name: "geo", is: typeObject, present: hasGeo | nonzero, fields: geoFields, long: true, about: "place and network of the address, from databases"},
	{name: "master", is: typeJSON, long: true, about: "the master server's own data about the server, if the scan saved it",
		at: func(r *result) value { return (*masterValue)(&r.Master) }},
})

var infoFields = withHex([]field{
	{name: "format", is: typeWord, words: []string{"", "source", "goldsource"}, about: "source: the I reply; goldsource: the m reply",
		at: func(r *result) value { return (*wordValue)(&r.Info.Format) }},
	{name: "protocol", is: typeUint8, present: info(wire.HasProtocol), about: "version of the protocol",
		at: func(r *result) value { return number(&r.Info.Protocol) }},
	{name: "name", is: typeText, present: info(wire.HasName), about: "name of the server",
		at: func(r *result) value { return (*bytesValue)(&r.Info.Name) }},
	{name: "map", is: typeText, present: info(wire.HasMap), about: "current map",
		at: func(r *result) value { return (*bytesValue)(&r.Info.Map) }},
	{name: "folder", is: typeText, present: info(wire.HasFolder), about: "folder of the game",
		at: func(r *result) value { return (*bytesValue)(&r.Info.Folder) }},
	{name: "game", is: typeText, present: info(wire.HasGame), about: "name of the game",
		at: func(r *result) value { return (*bytesValue)(&r.Info.Game) }},
	{name: "app_id", is: typeUint32, present: info(wire.HasAppID), about: "the low 24 bits of game_id if they are not 0, else the 16-bit ID",
		at: func(r *result) value { return (*appIDValue)(&r.Info) }},
	{name: "players", is: typeUint32, present: info(wire.HasPlayers), about: "number of players, as the server counts them; on a proxy, the number of spectators",
		at: func(r *result) value { return number(&r.Info.Players) }},
	{name: "max_players", is: typeUint32, present: info(wire.HasMaxPlayers), about: "player slots",
		at: func(r *result) value { return number(&r.Info.MaxPlayers) }},
	{name: "bots", is: typeUint8, present: info(wire.HasBots), about: "number of bots",
		at: func(r *result) value { return number(&r.Info.Bots) }},
	{name: "server_type", is: typeWord, pattern: `^(dedicated|listen|proxy|0x[0-9a-f]{2})$`, present: info(wire.HasServerType), about: "dedicated, listen or proxy; for other types, the byte in the answer",
		at: func(r *result) value { return (*letterValue)(&r.Info.ServerType) }, letter: wire.ServerType},
	{name: "environment", is: typeWord, pattern: `^(linux|windows|mac|0x[0-9a-f]{2})$`, present: info(wire.HasEnvironment), about: "linux, windows or mac; for other systems, the byte in the answer",
		at: func(r *result) value { return (*letterValue)(&r.Info.Environment) }, letter: wire.Environment},
	{name: "password", is: typeBool, present: info(wire.HasPassword), about: "players need a password",
		at: func(r *result) value { return (*byteBoolValue)(&r.Info.Password) }},
	{name: "vac", is: typeBool, present: info(wire.HasVAC), about: "secured by VAC",
		at: func(r *result) value { return (*byteBoolValue)(&r.Info.VAC) }},
	{name: "ship", is: typeObject, present: info(wire.HasShip), about: "The Ship only", fields: withHex([]field{
		{name: "mode", is: typeUint8, present: always, about: "game mode",
			at: func(r *result) value { return number(&r.Info.Ship.Mode) }},
		{name: "witnesses", is: typeUint8, present: always, about: "witnesses needed for an arrest",
			at: func(r *result) value { return number(&r.Info.Ship.Witnesses) }},
		{name: "duration", is: typeUint8, present: always, about: "seconds until an arrest",
			at: func(r *result) value { return number(&r.Info.Ship.Duration) }},
	})},
	{name: "version", is: typeText, present: info(wire.HasVersion), about: "version of the game",
		at: func(r *result) value { return (*bytesValue)(&r.Info.Version) }},
	{name: "edf", is: typeUint8, present: info(wire.HasEDF), about: "extra data flag",
		at: func(r *result) value { return number(&r.Info.EDF) }},
	{name: "game_port", is: typeUint16, present: info(wire.HasGamePort), about: "port of the game",
		at: func(r *result) value { return number(&r.Info.GamePort) }},
	{name: "steam_id", is: typeID, present: info(wire.HasSteamID), about: "Steam ID of the server",
		at: func(r *result) value { return (*idValue)(&r.Info.SteamID) }},
	{name: "sourcetv", is: typeObject, present: info(wire.HasSourceTV), about: "the spectator relay", fields: withHex([]field{
		{name: "port", is: typeUint16, present: always, about: "port of the relay",
			at: func(r *result) value { return number(&r.Info.SourceTV.Port) }},
		{name: "name", is: typeText, present: always, about: "name of the relay",
			at: func(r *result) value { return (*bytesValue)(&r.Info.SourceTV.Name) }},
	})},
	{name: "keywords", is: typeText, present: info(wire.HasKeywords), about: "keywords of the game",
		at: func(r *result) value { return (*bytesValue)(&r.Info.Keywords) }},
	{name: "game_id", is: typeID, present: info(wire.HasGameID), about: "64-bit game ID",
		at: func(r *result) value { return (*idValue)(&r.Info.GameID) }},
	{name: "address", is: typeText, present: info(wire.HasAddress), about: "the server's address as the server sees it",
		at: func(r *result) value { return (*bytesValue)(&r.Info.Address) }},
	{name: "mod", is: typeObject, present: info(wire.HasMod), about: "mod of a GoldSource server", fields: withHex([]field{
		{name: "url", is: typeText, present: always, about: "web site of the mod",
			at: func(r *result) value { return (*bytesValue)(&r.Info.Mod.URL) }},
		{name: "download_url", is: typeText, present: always, about: "where to download the mod",
			at: func(r *result) value { return (*bytesValue)(&r.Info.Mod.DownloadURL) }},
		{name: "version", is: typeUint32, present: always, about: "version of the mod",
			at: func(r *result) value { return number(&r.Info.Mod.Version) }},
		{name: "size", is: typeUint32, present: always, about: "size of the mod in bytes",
			at: func(r *result) value { return number(&r.Info.Mod.Size) }},
		{name: "multiplayer_only", is: typeBool, present: always, about: "the mod is for multiplayer games only",
			at: func(r *result) value { return (*byteBoolValue)(&r.Info.Mod.Type) }},
		{name: "custom_dll", is: typeBool, present: always, about: "the mod has its own DLL",
			at: func(r *result) value { return (*byteBoolValue)(&r.Info.Mod.DLL) }},
	})},
})

var playerFields = withHex([]field{
	{name: "index", is: typeUint8, present: always, about: "the index that the server gives, usually 0",
		at: func(r *result) value { return number(&lastPlayer(r).Index) }},
	{name: "name", is: typeText, about: "name of the player",
		at: func(r *result) value { return (*bytesValue)(&lastPlayer(r).Name) }},
	{name: "name_hash", is: typeHash, about: "keyed hash that replaces the name; equal names have equal hashes",
		at: func(r *result) value { return (*bytesValue)(&lastPlayer(r).Name) }},
	{name: "score", is: typeInt32, present: always, about: "score, usually kills",
		at: func(r *result) value { return number(&lastPlayer(r).Score) }},
	{name: "duration", is: typeFloat32, present: always, about: "seconds connected; null if it is not a finite number",
		at: func(r *result) value { return (*floatValue)(&lastPlayer(r).Duration) }},
	{name: "deaths", is: typeInt32, present: hasShip, about: "The Ship only",
		at: func(r *result) value { return number(&lastPlayer(r).Deaths) }},
	{name: "money", is: typeInt32, about: "The Ship only",
		at: func(r *result) value { return number(&lastPlayer(r).Money) }},
})

var geoFields = withHex([]field{
	{name: "continent", is: typeWord, pattern: twoLetters, about: "code of the continent: AF, AN, AS, EU, NA, OC or SA",
		at: func(r *result) value { return (*codeValue)(&r.Geo.Continent) }},
	{name: "country", is: typeWord, pattern: twoLetters, about: "ISO 3166-1 code",
		at: func(r *result) value { return (*codeValue)(&r.Geo.Country) }},
	{name: "region", is: typeText, about: "state or province",
		at: func(r *result) value { return (*stringValue)(&r.Geo.Region) }},
	{name: "city", is: typeText, about: "city",
		at: func(r *result) value { return (*stringValue)(&r.Geo.City) }},
	{name: "asn", is: typeUint32, about: "number of the autonomous system",
		at: func(r *result) value { return number(&r.Geo.ASN) }},
	{name: "org", is: typeText, about: "owner of the autonomous system",
		at: func(r *result) value { return (*stringValue)(&r.Geo.Org) }},
})

var gameFields = withHex([]field{
	{name: "id", is: typeWord, pattern: gameID, about: "identifier of the game; it never changes",
		at: func(r *result) value { return (*gameIDValue)(r.Game) }},
	{name: "name", is: typeText, beside: true, about: "name of the game, for people",
		at: func(r *result) value { return (*stringValue)(&r.Game.Name) }},
	{name: "players", is: typeUint32, present: key(game.KeyPlayers), about: "people in the game, as the game counts them",
		at: func(r *result) value { return (*countValue)(&r.Game.Players) }},
	{name: "max_players", is: typeUint32, present: key(game.KeyMaxPlayers), about: "player slots",
		at: func(r *result) value { return (*countValue)(&r.Game.MaxPlayers) }},
	{name: "queue", is: typeUint32, present: key(game.KeyQueue), about: "people who wait for a slot",
		at: func(r *result) value { return (*countValue)(&r.Game.Queue) }},
	{name: "bots", is: typeUint32, present: key(game.KeyBots), about: "players that are programs",
		at: func(r *result) value { return (*countValue)(&r.Game.Bots) }},
	{name: "version", is: typeText, present: key(game.KeyVersion), about: "version of the game",
		at: func(r *result) value { return (*bytesValue)(&r.Game.Version) }},
	{name: "map", is: typeText, present: key(game.KeyMap), about: "current map",
		at: func(r *result) value { return (*bytesValue)(&r.Game.Map) }},
	{name: "mode", is: typeText, present: key(game.KeyMode), about: "game mode, in the game's words",
		at: func(r *result) value { return (*bytesValue)(&r.Game.Mode) }},
	{name: "region", is: typeText, present: key(game.KeyRegion), about: "region that the server claims",
		at: func(r *result) value { return (*bytesValue)(&r.Game.Region) }},
	{name: "pvp", is: typeBool, present: key(game.KeyPVP), about: "players may fight each other",
		at: func(r *result) value { return (*boolValue)(&r.Game.PVP) }},
	{name: "password", is: typeBool, present: key(game.KeyPassword), about: "players need a password",
		at: func(r *result) value { return (*boolValue)(&r.Game.Password) }},
	{name: "modded", is: typeBool, present: key(game.KeyModded), about: "the server declares itself modded",
		at: func(r *result) value { return (*boolValue)(&r.Game.Modded) }},
	{name: "anticheat", is: typeBool, present: key(game.KeyAnticheat), about: "the anti-cheat program of the game is on",
		at: func(r *result) value { return (*boolValue)(&r.Game.Anticheat) }},
	{name: "started", is: typeSeconds, present: key(game.KeyStarted), about: "when the world began: the time of the last wipe",
		at: func(r *result) value { return (*unixValue)(&r.Game.Started) }},
	{name: "time_of_day", is: typeText, present: key(game.KeyTimeOfDay), about: "time of day in the game's world",
		at: func(r *result) value { return (*bytesValue)(&r.Game.TimeOfDay) }},
	{name: "day", is: typeUint32, present: key(game.KeyDay), about: "day in the game's calendar",
		at: func(r *result) value { return (*countValue)(&r.Game.Day) }},
	{name: "mods", is: typeObject, lists: 1, present: key(game.KeyMods), about: "mods, in the server's order",
		at: func(r *result) value { return (*modsValue)(&r.Game.Mods) }, fields: withHex([]field{
			{name: "id", is: typeText, about: "usually the number of a Steam Workshop item",
				at: func(r *result) value { return (*bytesValue)(&lastMod(r).ID) }},
			{name: "name", is: typeText, about: "name, as the server calls it",
				at: func(r *result) value { return (*bytesValue)(&lastMod(r).Name) }},
			{name: "hash", is: typeText, about: "hash, in hexadecimal digits",
				at: func(r *result) value { return (*bytesValue)(&lastMod(r).Hash) }},
			{name: "creator_dlc", is: typeBool, about: "the entry is not a mod but a Creator DLC of Arma 3, and its id is the DLC's application ID",
				at: func(r *result) value { return (*boolValue)(&lastMod(r).CreatorDLC) }},
		})},
	{name: "description", is: typeText, present: key(game.KeyDescription), about: "text for people",
		at: func(r *result) value { return (*bytesValue)(&r.Game.Description) }},
	{name: "attributes", is: typeMap, about: "other values of the game, by name",
		at: func(r *result) value { return (*attributesValue)(&r.Game.Attributes) }},
	{name: "sources", is: typeMap, about: "where each value of game comes from, by the key of the value; attributes.NAME stands for an attribute; an attribute without an entry comes from the keywords",
		at: func(r *result) value { return (*sourcesValue)(r.Game) }},
	{name: "notes", is: typeWord, lists: 1, words: wordsOf(len(game.NoteWords), func(i int) string { return game.NoteWords[i] }), about: "what a2sscan did not understand, or had no room for",
		at: func(r *result) value { return set(&r.Game.Notes) }},
})

func lastPlayer(r *result) *wire.Player { return &r.Players[len(r.Players)-1] }

func lastMod(r *result) *game.Mod { return &r.Game.Mods[len(r.Game.Mods)-1] }

func flagsAbout() string {
	about := "what is suspicious about the answers; evidence, not a verdict"
	for i := range game.FlagRules {
		r := &game.FlagRules[i]
		about += "; " + r.Word + ": " + r.Rule
	}
	return about
}

const twoLetters = `^[A-Z]{2}$`

const gameID = `^[a-z0-9_]+$`

// withHex inserts after each row of typeText a row for KEY_hex, which has the exact bytes. It
// also sets field.key in all rows.
func withHex(fields []field) (all []field) {
	for _, f := range fields {
		all = append(all, f)
		if f.is == typeText {
			all = append(all, field{name: f.name + "_hex", is: typeHex, beside: true, at: f.at,
				about: "the bytes of " + f.name + ", if it is not UTF-8"})
		}
	}
	for i := range all {
		all[i].key = `"` + all[i].name + `":`
	}
	return all
}

// perQuestion returns a row like f for each question. Its second argument, at, is a
// function that returns the value for question q.
func perQuestion(f field, at func(r *result, q int) value) (rows []field) {
	for q := range wire.NumQuestions {
		row := f
		row.name = questionWords[q]
		row.about += row.name
		row.at = func(r *result) value { return at(r, q) }
		rows = append(rows, row)
	}
	return withHex(rows)
}

var (
	questionWords = wordsOf(wire.NumQuestions, func(i int) string { return wire.Question(i).String() })
	noteWords     = wordsOf(wire.NumNotes, wire.NoteWord)
	statusWords   = wordsOf(scanner.NumStatuses, func(i int) string { return scanner.Status(i).String() })
	errorWords    = wordsOf(wire.NumErrors, func(i int) string { return wire.Error(i).String() })
)

func wordsOf(n int, word func(int) string) (words []string) {
	for i := range n {
		words = append(words, word(i))
	}
	return words
}
