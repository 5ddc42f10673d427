package record

import (
	"slices"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/wire"
)

// A valueType is what stands behind a key: for ever, while schema is 1.
type valueType uint8

const (
	typeText    valueType = iota // of strangers: KEY_hex may follow
	typeWord                     // of ours
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
	typeMap    // text to text
	typeJSON   // an object whose keys are not ours

	numTypes = iota
)

// A field is a key of the record.
type field struct {
	name   string
	is     valueType
	lists  int    // how many lists it is in: 1 is a list of such values
	always bool   // in every object that can have it; other keys may be absent
	about  string // one line: what it means, and when it is there

	fields  []field  // of typeObject
	words   []string // of typeWord: there are no others
	pattern string   // of text and words: how they are written
}

// record is the schema of a census: every key that a record can have, in the
// order in which Append writes them. What a command prints of the schema, and
// what the tests hold every record against, comes from here.
var record = withHex([]field{
	{name: "schema", is: typeUint8, always: true, about: "1; rises when the meaning of a key changes"},
	{name: "scan", is: typeText, about: "name of the scan, if it has one"},
	{name: "ip", is: typeWord, pattern: `^[0-9a-f:.]+$`,
		about: "address of the server; absent from a capture that names no sender"},
	{name: "port", is: typeUint16, about: "port of the server, with ip"},
	{name: "addr", is: typeWord, pattern: `^([0-9.]+|\[[0-9a-f:.]+\]):[0-9]+$`,
		about: "ip and port as one text, to join censuses by"},
	{name: "tag", is: typeText, about: "what followed the address in its line of the list"},
	{name: "time", is: typeTime,
		about: "when the first reply came, or the server was given up; absent from a capture"},
	{name: "status", is: typeWord, words: statusWords(), about: "how much of what was asked was answered"},
	{name: "errors", is: typeObject, fields: errorFields,
		about: "questions without a whole answer, and why"},
	{name: "notes", is: typeWord, lists: 1, pattern: `^[a-z0-9_]+\.[a-z0-9_]+$`,
		about: "oddities of answers, and parts left out of this record"},
	{name: "message", is: typeText, about: "text of a reply that refuses"},
	{name: "rtt_ms", is: typeMillis,
		about: "round trip of the first question that was asked once and answered"},
	{name: "rtts_ms", is: typeObject, about: "round trip of each question that was asked once and answered",
		fields: []field{
			{name: "info", is: typeMillis, about: "of info"},
			{name: "players", is: typeMillis, about: "of players"},
			{name: "rules", is: typeMillis, about: "of rules"},
		}},
	{name: "took_ms", is: typeMillis, about: "first datagram to last; absent from a capture"},
	{name: "sent", is: typeUint32, about: "datagrams sent; absent from a capture"},
	{name: "received", is: typeUint32, about: "datagrams received"},
	{name: "sent_bytes", is: typeUint64, about: "UDP payload of sent; absent from a capture"},
	{name: "received_bytes", is: typeUint64, about: "UDP payload of received"},
	{name: "unchallenged", is: typeWord, lists: 1, words: questionWords(),
		about: "questions answered, in part at least, to a request without a challenge"},
	{name: "ping", is: typeObject, about: "the answer to a ping, if one was asked for", fields: withHex([]field{
		{name: "payload", is: typeText, always: true, about: "its text, mostly empty or fourteen zeros"},
		{name: "rtt_ms", is: typeMillis, about: "round trip of the ping; absent from a capture"},
	})},
	{name: "hashes", is: typeObject, about: "64-bit xxHash of the bytes of each answer that came whole",
		fields: []field{
			{name: "info", is: typeWord, pattern: hash64, about: "of info"},
			{name: "players", is: typeWord, pattern: hash64, about: "of players"},
			{name: "rules", is: typeWord, pattern: hash64, about: "of rules"},
		}},
	{name: "info", is: typeObject, fields: infoFields,
		about: "the fields that were read whole, if info was answered"},
	{name: "players", is: typeObject, lists: 1, fields: playerFields,
		about: "the players, if they were answered; [] if there were none"},
	{name: "players_announced", is: typeUint8,
		about: "the count that the answer bore, where it is another"},
	{name: "rules", is: typeMap,
		about: "name to value, if they were answered; of a name that occurs twice the first"},
	{name: "rules_announced", is: typeUint16,
		about: "the count that the answer bore, where it is another"},
	{name: "rules_raw", is: typeHex, lists: 2,
		about: "all rules in order, [name, value], where rules can't say them exactly"},
	{name: "game", is: typeObject, fields: gameFields,
		about: "what the answers mean for the game, if more is known than info says"},
	{name: "flags", is: typeWord, lists: 1, words: flagWords(),
		about: "what is suspicious about the answers; evidence, no verdict"},
	{name: "raw", is: typeBase64, lists: 1, about: "the datagrams in order of arrival, if they were kept"},
	{name: "geo", is: typeObject, fields: geoFields,
		about: "what databases of places and networks said of the address, if any were asked"},
	{name: "master", is: typeJSON, about: "what the master server said of the server, if that was kept"},
})

// hash64 is how a hash is written.
const hash64 = `^[0-9a-f]{16}$`

var errorFields = []field{
	{name: "info", is: typeWord, words: errorWords(), about: "why info has no whole answer"},
	{name: "players", is: typeWord, words: errorWords(), about: "why players has no whole answer"},
	{name: "rules", is: typeWord, words: errorWords(), about: "why rules has no whole answer"},
}

var infoFields = withHex([]field{
	{name: "format", is: typeWord, words: []string{"source", "goldsource"},
		about: "source: the I reply; goldsource: the m reply"},
	{name: "protocol", is: typeUint8, about: "version of the protocol"},
	{name: "name", is: typeText, about: "name of the server"},
	{name: "map", is: typeText, about: "map that is played"},
	{name: "folder", is: typeText, about: "folder of the game"},
	{name: "game", is: typeText, about: "name of the game"},
	{name: "app_id", is: typeUint32,
		about: "the low 24 bits of game_id if they are not 0, else the short one"},
	{name: "players", is: typeUint8, about: "players, as the server counts"},
	{name: "max_players", is: typeUint8, about: "places for players"},
	{name: "bots", is: typeUint8, about: "bots"},
	{name: "server_type", is: typeWord, pattern: `^(dedicated|listen|proxy|0x[0-9a-f]{2})$`,
		about: "dedicated, listen, proxy, or the byte"},
	{name: "environment", is: typeWord, pattern: `^(linux|windows|mac|0x[0-9a-f]{2})$`,
		about: "linux, windows, mac, or the byte"},
	{name: "password", is: typeBool, about: "a password is needed"},
	{name: "vac", is: typeBool, about: "secured by VAC"},
	{name: "ship", is: typeObject, about: "The Ship only", fields: []field{
		{name: "mode", is: typeUint8, always: true, about: "game mode"},
		{name: "witnesses", is: typeUint8, always: true, about: "witnesses needed for an arrest"},
		{name: "duration", is: typeUint8, always: true, about: "seconds until an arrest"},
	}},
	{name: "version", is: typeText, about: "version of the game"},
	{name: "edf", is: typeUint8, about: "extra data flag"},
	{name: "game_port", is: typeUint16, about: "port of the game"},
	{name: "steam_id", is: typeID, about: "Steam ID of the server"},
	{name: "sourcetv", is: typeObject, about: "the spectators' server", fields: withHex([]field{
		{name: "port", is: typeUint16, always: true, about: "its port"},
		{name: "name", is: typeText, always: true, about: "its name"},
	})},
	{name: "keywords", is: typeText, about: "keywords of the game"},
	{name: "game_id", is: typeID, about: "64-bit game ID"},
	{name: "address", is: typeText, about: "what the server believes its address to be"},
	{name: "mod", is: typeObject, about: "mod of a GoldSource server", fields: withHex([]field{
		{name: "url", is: typeText, always: true, about: "its site"},
		{name: "download_url", is: typeText, always: true, about: "where it is to be had"},
		{name: "version", is: typeUint32, always: true, about: "its version"},
		{name: "size", is: typeUint32, always: true, about: "its size in bytes"},
		{name: "multiplayer_only", is: typeBool, always: true, about: "it has no game for one"},
		{name: "custom_dll", is: typeBool, always: true, about: "it has a library of its own"},
	})},
})

var playerFields = withHex([]field{
	{name: "index", is: typeUint8, always: true, about: "the index that the server gives, mostly 0"},
	{name: "name", is: typeText, always: true, about: "name of the player"},
	{name: "score", is: typeInt32, always: true, about: "score, mostly kills"},
	{name: "duration", is: typeFloat32, always: true,
		about: "seconds connected; null if it is not a finite number"},
	{name: "deaths", is: typeInt32, about: "The Ship only"},
	{name: "money", is: typeInt32, about: "The Ship only"},
})

const twoLetters = `^[A-Z]{2}$`

var geoFields = withHex([]field{
	{name: "continent", is: typeWord, pattern: twoLetters, about: "AF, AN, AS, EU, NA, OC or SA"},
	{name: "country", is: typeWord, pattern: twoLetters, about: "its code by ISO 3166-1"},
	{name: "region", is: typeText, about: "state or province"},
	{name: "city", is: typeText, about: "city"},
	{name: "asn", is: typeUint32, about: "number of the autonomous system"},
	{name: "org", is: typeText, about: "to whom the autonomous system belongs"},
})

// withHex puts behind each text the key of its exact bytes.
func withHex(fields []field) (all []field) {
	for _, f := range fields {
		all = append(all, f)
		if f.is == typeText {
			all = append(all, field{name: f.name + "_hex", is: typeHex,
				about: "the bytes of " + f.name + ", where they are not UTF-8"})
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
