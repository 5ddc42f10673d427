// This file is the table of the keys of a record. The Encoder, the Reader and the schemas
// are derived from it.

package record

import (
	"cmp"
	"regexp"

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

// A field is a key of the record: a row of the table. Each Encoder and each Reader has a table
// of its own, whose rows point to its values.
//
// The first 64 bytes hold what an Encoder needs for most keys: one line of the processor's
// cache.
type field struct {
	key     [24]byte // the name in quotes, and a colon, as Append writes it
	keyed   uint8    // number of bytes of key that are used
	is      valueType
	lists   uint8    // nesting of lists: 1 is a list of values, 2 a list of lists
	beside  bool     // the value of another row writes this key, too
	long    bool     // the Encoder may drop the key from a long record
	dropped bool     // the Encoder has dropped the key from this record
	present presence // nonzero if the row does not set it
	to      value    // the value, or the value in the element of a list that is being read

	name   string
	fields []field // the keys of a typeObject
	about  string  // one line: the meaning of the key, and when it is present
	// For typeWord: the word of each value, or "" if the value has no word. If
	// lists is 1, the word of each bit.
	words   []string
	pattern string            // regular expression for text and words
	letter  func(byte) string // returns the word for a letter of the protocol

	chosen  uint64         // set of the fields that the Reader decodes, or 0 for all
	match   *regexp.Regexp // what a strict Reader compares the text with
	matched string         // the last text that matched pattern; most records have the same one as the record before
}

type result = scanner.Result

// schemaKeys is a table for those who need no values.
var schemaKeys = newTable(new(string), new(result), new(game.Game), new(wire.Player), new(game.Mod))

// newTable returns a table of all keys that a record can have, in the order in which Append
// writes them. The rows point to the values of the arguments. The last two are elements of
// lists: what is read into them is then appended to the list.
//
// To add a key, add its value to scanner.Result, and to Result.Clone if it is text or a
// list. Then add a row here, or to the fields of the object that has the key. For a key of
// info, add the field to wire.Info and a bit to wire.Fields, and read and write the field in
// wire/info.go. For a key that follows from other keys, use a value type whose method set
// keeps nothing and returns true, and no bit of wire.Fields: reading the key would set the
// bit. Finally update the records in testdata/sink and in cmd/a2sscan/testdata.
func newTable(scan *string, r *result, g *game.Game, p *wire.Player, m *game.Mod) []field {
	return withHex([]field{
		{name: "schema", is: typeUint8, to: number(&schemaVersion), present: always, about: "version of the schema, now 1; rises when the meaning of a key changes"},
		{name: "scan", is: typeText, to: (*stringValue)(scan), about: "name of the scan, if it has one"},
		{name: "ip", is: typeAddress, to: (*addressValue)(&r.Addr), about: "address of the server; absent if the record was made from a capture without addresses"},
		{name: "port", is: typeUint16, to: (*addressValue)(&r.Addr), beside: true, about: "port of the server, if the record has ip"},
		{name: "addr", is: typeWord, to: (*addressValue)(&r.Addr), pattern: `^([0-9.]+|\[[0-9a-f:.]+\]):[0-9]+$`, beside: true, about: "ip and port as one string, to join censuses on"},
		{name: "tag", is: typeText, to: (*stringValue)(&r.Tag), about: "text after the address on the server's line of the list", long: true},
		{name: "time", is: typeMillis, to: (*timeValue)(&r.Time), about: "when the first reply arrived, or the scan gave up; absent if the record was made from a capture"},
		{name: "status", is: typeWord, to: (*wordValue)(&r.Status), words: statusWords, about: "ok: all questions answered; partial: some answered; error: replies but no answer, or this machine could not send; other words: no reply"},
		{name: "errors", is: typeObject, present: hasErrors | nonzero, about: "questions without a complete answer, and why",
			fields: perQuestion(field{is: typeWord, words: errorWords, about: "why there is no complete answer to "}, func(q int) value { return (*wordValue)(&r.Err[q]) })},
		{name: "notes", is: typeWord, to: (*notesValue)(&r.Notes), lists: 1, pattern: `^[a-z0-9_]+\.[a-z0-9_]+$`, about: "oddities of answers, and parts dropped from this record"},
		{name: "message", is: typeText, to: (*bytesValue)(&r.Message), about: "text with which the server refused to answer, or with which it redirects players to another server", long: true},
		{name: "rtt_ms", is: typeFloat64, to: (*millisValue)(&r.RTT), about: "round trip of the first question that was sent once and answered"},
		{name: "rtts_ms", is: typeObject, present: hasRTTs | nonzero, about: "round trip of each question that was sent once and answered",
			fields: perQuestion(field{is: typeFloat64, about: "round trip of "}, func(q int) value { return (*millisValue)(&r.RTTs[q]) })},
		{name: "took_ms", is: typeFloat64, to: (*millisValue)(&r.Took), about: "time from the first datagram to the last; absent if the record was made from a capture", present: known},
		{name: "sent", is: typeUint32, to: number(&r.Sent), about: "datagrams sent; absent if the record was made from a capture", present: known},
		{name: "received", is: typeUint32, to: number(&r.Received), about: "datagrams received", present: known},
		{name: "sent_bytes", is: typeUint64, to: number(&r.SentBytes), about: "UDP payload of the datagrams sent; absent if the record was made from a capture", present: known},
		{name: "received_bytes", is: typeUint64, to: number(&r.RecvBytes), about: "UDP payload of the datagrams received", present: known},
		{name: "unchallenged", is: typeWord, to: set((*uint8)(&r.Unchallenged)), lists: 1, words: questionWords, about: "questions answered without a challenge, at least in part"},
		{name: "ping", is: typeObject, about: "the answer to a ping, if the scan sent pings",
			present: hasPing, fields: withHex([]field{
				{name: "payload", is: typeText, to: (*bytesValue)(&r.Ping), present: always, about: "text of the answer, usually empty or fourteen zeros"},
				{name: "rtt_ms", is: typeFloat64, to: (*millisValue)(&r.PingRTT), about: "round trip of the ping; absent if the record was made from a capture"},
			})},
		{name: "hashes", is: typeObject, present: hasHashes | nonzero, about: "64-bit xxHash of the bytes of a complete answer",
			fields: withHex([]field{{name: "players", is: typeHash, to: (*hashValue)(&r.PlayersHash), about: "hash of the answer that lists the players; absent for an empty list; keyed if the record has name_hash"}})},
		{name: "info", is: typeObject, fields: infoFields(&r.Info), long: true, about: "the fields that were read completely, if the info question was answered",
			present: hasInfo},
		{name: "players", is: typeObject, to: (*playersValue)(r), lists: 1, fields: playerFields(p), long: true, about: "the players, if the players question was answered; [] for an empty list", present: hasPlayers},
		{name: "players_announced", is: typeUint8, to: (*countValue)(&r.PlayersAnnounced), beside: true, about: "the number of players that the answer announces, if the list has another length"},
		{name: "rules", is: typeMap, to: (*rulesValue)(r), long: true, about: "the value of each rule by its name, if the rules question was answered; a name that occurs twice has its first value", present: hasRules},
		{name: "rules_announced", is: typeUint16, to: (*countValue)(&r.RulesAnnounced), beside: true, about: "the number of rules that the answer announces, if the list has another length"},
		{name: "rules_raw", is: typeHex, to: (*rawRulesValue)(r), lists: 2, long: true, about: "every rule in order, as [name, value]; present if the object \"rules\" can't hold them exactly"},
		{name: "game", is: typeObject, fields: gameFields(g, m), long: true, about: "what the answers mean in this game; absent if info already says everything known",
			present: hasGame},
		{name: "flags", is: typeWord, to: set((*uint16)(&r.Flags)), lists: 1, words: flagWords, about: flagsAbout},
		{name: "raw", is: typeBase64, to: (*rawValue)(&r.Raw), lists: 1, long: true, about: "the datagrams in order of arrival, if the scan saved them"},
		{name: "geo", is: typeObject, present: hasGeo | nonzero, fields: geoFields(&r.Geo), long: true, about: "place and network of the address, from databases"},
		{name: "master", is: typeJSON, to: (*masterValue)(&r.Master), long: true, about: "the master server's own data about the server, if the scan saved it"},
	})
}

func infoFields(in *wire.Info) []field {
	return withHex([]field{
		{name: "format", is: typeWord, to: (*wordValue)(&in.Format), words: []string{"", "source", "goldsource"}, about: "source: the I reply; goldsource: the m reply"},
		{name: "protocol", is: typeUint8, to: number(&in.Protocol), present: info(wire.HasProtocol), about: "version of the protocol"},
		{name: "name", is: typeText, to: (*bytesValue)(&in.Name), present: info(wire.HasName), about: "name of the server"},
		{name: "map", is: typeText, to: (*bytesValue)(&in.Map), present: info(wire.HasMap), about: "current map"},
		{name: "folder", is: typeText, to: (*bytesValue)(&in.Folder), present: info(wire.HasFolder), about: "folder of the game"},
		{name: "game", is: typeText, to: (*bytesValue)(&in.Game), present: info(wire.HasGame), about: "name of the game"},
		{name: "app_id", is: typeUint32, to: (*appIDValue)(in), present: info(wire.HasAppID), about: "the low 24 bits of game_id if they are not 0, else the 16-bit ID"},
		{name: "players", is: typeUint32, to: number(&in.Players), present: info(wire.HasPlayers), about: "number of players, as the server counts them; on a proxy, the number of spectators"},
		{name: "max_players", is: typeUint32, to: number(&in.MaxPlayers), present: info(wire.HasMaxPlayers), about: "player slots"},
		{name: "bots", is: typeUint8, to: number(&in.Bots), present: info(wire.HasBots), about: "number of bots"},
		{name: "server_type", is: typeWord, to: (*letterValue)(&in.ServerType), pattern: `^(dedicated|listen|proxy|0x[0-9a-f]{2})$`, present: info(wire.HasServerType), about: "dedicated, listen or proxy; for other types, the byte in the answer", letter: wire.ServerType},
		{name: "environment", is: typeWord, to: (*letterValue)(&in.Environment), pattern: `^(linux|windows|mac|0x[0-9a-f]{2})$`, present: info(wire.HasEnvironment), about: "linux, windows or mac; for other systems, the byte in the answer", letter: wire.Environment},
		{name: "password", is: typeBool, to: (*byteBoolValue)(&in.Password), present: info(wire.HasPassword), about: "players need a password"},
		{name: "vac", is: typeBool, to: (*byteBoolValue)(&in.VAC), present: info(wire.HasVAC), about: "secured by VAC"},
		{name: "ship", is: typeObject, present: info(wire.HasShip), about: "The Ship only", fields: withHex([]field{
			{name: "mode", is: typeUint8, to: number(&in.Ship.Mode), present: always, about: "game mode"},
			{name: "witnesses", is: typeUint8, to: number(&in.Ship.Witnesses), present: always, about: "witnesses needed for an arrest"},
			{name: "duration", is: typeUint8, to: number(&in.Ship.Duration), present: always, about: "seconds until an arrest"},
		})},
		{name: "version", is: typeText, to: (*bytesValue)(&in.Version), present: info(wire.HasVersion), about: "version of the game"},
		{name: "edf", is: typeUint8, to: number(&in.EDF), present: info(wire.HasEDF), about: "extra data flag"},
		{name: "game_port", is: typeUint16, to: number(&in.GamePort), present: info(wire.HasGamePort), about: "port of the game"},
		{name: "steam_id", is: typeID, to: (*idValue)(&in.SteamID), present: info(wire.HasSteamID), about: "Steam ID of the server"},
		{name: "sourcetv", is: typeObject, present: info(wire.HasSourceTV), about: "the spectator relay", fields: withHex([]field{
			{name: "port", is: typeUint16, to: number(&in.SourceTV.Port), present: always, about: "port of the relay"},
			{name: "name", is: typeText, to: (*bytesValue)(&in.SourceTV.Name), present: always, about: "name of the relay"},
		})},
		{name: "keywords", is: typeText, to: (*bytesValue)(&in.Keywords), present: info(wire.HasKeywords), about: "keywords of the game"},
		{name: "game_id", is: typeID, to: (*idValue)(&in.GameID), present: info(wire.HasGameID), about: "64-bit game ID"},
		{name: "address", is: typeText, to: (*bytesValue)(&in.Address), present: info(wire.HasAddress), about: "the server's address as the server sees it"},
		{name: "mod", is: typeObject, present: info(wire.HasMod), about: "mod of a GoldSource server", fields: withHex([]field{
			{name: "url", is: typeText, to: (*bytesValue)(&in.Mod.URL), present: always, about: "web site of the mod"},
			{name: "download_url", is: typeText, to: (*bytesValue)(&in.Mod.DownloadURL), present: always, about: "where to download the mod"},
			{name: "version", is: typeUint32, to: number(&in.Mod.Version), present: always, about: "version of the mod"},
			{name: "size", is: typeUint32, to: number(&in.Mod.Size), present: always, about: "size of the mod in bytes"},
			{name: "multiplayer_only", is: typeBool, to: (*byteBoolValue)(&in.Mod.Type), present: always, about: "the mod is for multiplayer games only"},
			{name: "custom_dll", is: typeBool, to: (*byteBoolValue)(&in.Mod.DLL), present: always, about: "the mod has its own DLL"},
		})},
	})
}

func playerFields(p *wire.Player) []field {
	return withHex([]field{
		{name: "index", is: typeUint8, to: number(&p.Index), present: always, about: "the index that the server gives, usually 0"},
		{name: "name", is: typeText, to: (*bytesValue)(&p.Name), about: "name of the player"},
		{name: "name_hash", is: typeHash, to: (*bytesValue)(&p.Name), about: "keyed hash that replaces the name; equal names have equal hashes"},
		{name: "score", is: typeInt32, to: number(&p.Score), present: always, about: "score, usually kills"},
		{name: "duration", is: typeFloat32, to: (*floatValue)(&p.Duration), present: always, about: "seconds connected; null if it is not a finite number"},
		{name: "deaths", is: typeInt32, to: number(&p.Deaths), present: hasShip, about: "The Ship only"},
		{name: "money", is: typeInt32, to: number(&p.Money), about: "The Ship only"},
	})
}

func geoFields(geo *scanner.Geo) []field {
	return withHex([]field{
		{name: "continent", is: typeWord, to: (*codeValue)(&geo.Continent), pattern: twoLetters, about: "code of the continent: AF, AN, AS, EU, NA, OC or SA"},
		{name: "country", is: typeWord, to: (*codeValue)(&geo.Country), pattern: twoLetters, about: "ISO 3166-1 code"},
		{name: "region", is: typeText, to: (*stringValue)(&geo.Region), about: "state or province"},
		{name: "city", is: typeText, to: (*stringValue)(&geo.City), about: "city"},
		{name: "asn", is: typeUint32, to: number(&geo.ASN), about: "number of the autonomous system"},
		{name: "org", is: typeText, to: (*stringValue)(&geo.Org), about: "owner of the autonomous system"},
	})
}

func gameFields(g *game.Game, m *game.Mod) []field {
	return withHex([]field{
		{name: "id", is: typeWord, to: (*gameIDValue)(g), pattern: gameID, about: "identifier of the game; it never changes"},
		{name: "name", is: typeText, to: (*stringValue)(&g.Name), beside: true, about: "name of the game, for people"},
		{name: "players", is: typeUint32, to: (*countValue)(&g.Players), present: key(game.KeyPlayers), about: "people in the game, as the game counts them"},
		{name: "max_players", is: typeUint32, to: (*countValue)(&g.MaxPlayers), present: key(game.KeyMaxPlayers), about: "player slots"},
		{name: "queue", is: typeUint32, to: (*countValue)(&g.Queue), present: key(game.KeyQueue), about: "people who wait for a slot"},
		{name: "bots", is: typeUint32, to: (*countValue)(&g.Bots), present: key(game.KeyBots), about: "players that are programs"},
		{name: "version", is: typeText, to: (*bytesValue)(&g.Version), present: key(game.KeyVersion), about: "version of the game"},
		{name: "map", is: typeText, to: (*bytesValue)(&g.Map), present: key(game.KeyMap), about: "current map"},
		{name: "mode", is: typeText, to: (*bytesValue)(&g.Mode), present: key(game.KeyMode), about: "game mode, in the game's words"},
		{name: "region", is: typeText, to: (*bytesValue)(&g.Region), present: key(game.KeyRegion), about: "region that the server claims"},
		{name: "pvp", is: typeBool, to: (*boolValue)(&g.PVP), present: key(game.KeyPVP), about: "players may fight each other"},
		{name: "password", is: typeBool, to: (*boolValue)(&g.Password), present: key(game.KeyPassword), about: "players need a password"},
		{name: "modded", is: typeBool, to: (*boolValue)(&g.Modded), present: key(game.KeyModded), about: "the server declares itself modded"},
		{name: "anticheat", is: typeBool, to: (*boolValue)(&g.Anticheat), present: key(game.KeyAnticheat), about: "the anti-cheat program of the game is on"},
		{name: "started", is: typeSeconds, to: (*unixValue)(&g.Started), present: key(game.KeyStarted), about: "when the world began: the time of the last wipe"},
		{name: "time_of_day", is: typeText, to: (*bytesValue)(&g.TimeOfDay), present: key(game.KeyTimeOfDay), about: "time of day in the game's world"},
		{name: "day", is: typeUint32, to: (*countValue)(&g.Day), present: key(game.KeyDay), about: "day in the game's calendar"},
		{name: "mods", is: typeObject, to: (*modsValue)(&g.Mods), lists: 1, present: key(game.KeyMods), about: "mods, in the server's order", fields: withHex([]field{
			{name: "id", is: typeText, to: (*bytesValue)(&m.ID), about: "usually the number of a Steam Workshop item"},
			{name: "name", is: typeText, to: (*bytesValue)(&m.Name), about: "name, as the server calls it"},
			{name: "hash", is: typeText, to: (*bytesValue)(&m.Hash), about: "hash, in hexadecimal digits"},
			{name: "creator_dlc", is: typeBool, to: (*boolValue)(&m.CreatorDLC), about: "the entry is not a mod but a Creator DLC of Arma 3, and its id is the DLC's application ID"},
		})},
		{name: "description", is: typeText, to: (*bytesValue)(&g.Description), present: key(game.KeyDescription), about: "text for people"},
		{name: "attributes", is: typeMap, to: (*attributesValue)(&g.Attributes), about: "other values of the game, by name"},
		{name: "sources", is: typeMap, to: (*sourcesValue)(g), about: "where each value of game comes from, by the key of the value; attributes.NAME stands for an attribute; an attribute without an entry comes from the keywords"},
		{name: "notes", is: typeWord, to: set(&g.Notes), lists: 1, words: game.NoteWords[:], about: "what a2sscan did not understand, or had no room for"},
	})
}

// flagsAbout is the meaning of the key "flags".
var flagsAbout = func() string {
	about := "what is suspicious about the answers; evidence, not a verdict"
	for i := range game.FlagRules {
		r := &game.FlagRules[i]
		about += "; " + r.Word + ": " + r.Rule
	}
	return about
}()

const twoLetters = `^[A-Z]{2}$`

const gameID = `^[a-z0-9_]+$`

// withHex inserts after each row of typeText a row for KEY_hex, which has the exact bytes. It
// also completes all rows.
func withHex(fields []field) (all []field) {
	all = make([]field, 0, 2*len(fields))
	for _, f := range fields {
		all = append(all, f)
		if f.is == typeText {
			all = append(all, field{name: f.name + "_hex", is: typeHex, to: f.to, beside: true,
				about: "the bytes of " + f.name + ", if it is not UTF-8"})
		}
	}
	for i := range all {
		f := &all[i]
		f.keyed = uint8(copy(f.key[:], `"`+f.name+`":`))
		f.present = cmp.Or(f.present, nonzero)
		if f.to == nil {
			f.to = objectValue{}
		}
	}
	return all
}

// perQuestion returns a row like f for each question. Its second argument, at, is a
// function that returns the value for question q.
func perQuestion(f field, at func(q int) value) (rows []field) {
	for q, word := range questionWords {
		row := f
		row.name, row.about, row.to = word, f.about+word, at(q)
		rows = append(rows, row)
	}
	return withHex(rows)
}

var (
	questionWords = wordsOf(wire.NumQuestions, func(i int) string { return wire.Question(i).String() })
	noteWords     = wordsOf(wire.NumNotes, wire.NoteWord)
	statusWords   = wordsOf(scanner.NumStatuses, func(i int) string { return scanner.Status(i).String() })
	flagWords     = wordsOf(len(game.FlagRules), func(i int) string { return game.FlagRules[i].Word })
	errorWords    = wordsOf(wire.NumErrors, func(i int) string { return wire.Error(i).String() })
)

func wordsOf(n int, word func(int) string) (words []string) {
	for i := range n {
		words = append(words, word(i))
	}
	return words
}
