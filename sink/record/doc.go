// Package record turns the result of a scan into one line of JSON, and reads
// such a line back.
//
// # Use
//
// [Append] appends the record of a Result. A loop is faster with one [Encoder].
// [Record.Locate] adds the location of an address to its record. [JSONSchema], [DuckDB]
// and [ClickHouse] describe records to other programs. To add a key, begin at schemaKeys
// in fields.go.
//
// A [Reader] reads records, in any JSON spelling, into a [Record]: a scanner.Result and
// the name of the scan. It decodes only the keys that its caller names, and keeps others as
// they are written.
//
// Some keys of info and game have a bit that shows whether the record has the key: test
// rec.Info.Has&wire.HasMap != 0, or rec.Game != nil and rec.Game.Has.Has(game.KeyPlayers).
// For the keys of the record itself, call rec.Has. A Reader stops after the last key that
// it needs: Has is false for all keys after this key, and the rest of the line is not
// checked. A Reader without keys decodes everything, and [Reader.Strict] also compares the
// record with the schema. Reading a record of 2.4 kB takes 7 µs on one core, or 2.6 µs for
// only address and info.
//
// # The record
//
// A record is a JSON object on one line. The table schemaKeys in fields.go has the keys of
// a record in the order in which Append writes them. It says for each key its type, its
// meaning, and when it is present. A key that does not apply is absent, and a key never
// changes its type. The value of "schema" rises when the meaning of a key changes.
//
// A capture does not show what was sent. A Result counts as from a capture if no datagram
// was sent, but one was received or the time is missing. Its record has neither sent nor
// sent_bytes, and has took_ms only if the value is not 0. If a scan could send nothing to
// a server, these keys are 0.
//
// The object "info" holds the fields that were read completely. The object "game" holds
// what package game decoded: a key is present if the game sent its value, which takes
// precedence over the same value in "info". The key "password" of "game" is present only
// if its value differs from that in "info". The object "sources" names the source of each
// value of "game": info, keywords or rules, a full stop, and the name of the field, tag
// or rule. For the key "players", the source "info.players" means that the bots are not
// among INFO's players, or that this is not known. "info.players+list" means that the list
// of players shows that the bots are not among INFO's players.
//
// # Text
//
// Names, rules and messages come from strangers, and are hostile. A record is
// valid UTF-8 and valid JSON whatever they hold. In bytes that are not UTF-8
// each maximal ill-formed subsequence becomes one U+FFFD, as in Python and browsers. Then
// another key follows, such as name_hex after name: it has the exact bytes in lower-case
// hex. Rules have rules_raw instead; attributes come from rules or keywords, which are
// exact. A record has the escapes that JSON demands. It also escapes DEL, the C1 controls
// U+0080 to U+009F, the line separators U+2028 and U+2029 and the bidirectional controls,
// so that a terminal can safely show it. No other character is escaped, and none is
// changed or trimmed.
//
// # Player names
//
// Names of players are personal data. With Encoder.Key the Encoder writes hashes
// in their place. What remains can still identify people. Scores, money, connection
// times and equal hashes let a reader follow a person from one census to the next.
// Servers may write names of players into their own texts, such as server names,
// rules, mods and descriptions. Whoever has the key, or owns a server that the scan
// queries, can test whether a name is in the census.
//
// # Length
//
// A record is at most [MaxSize] bytes long. Append drops parts of a longer record, the
// longest first, until it fits. The parts are raw, rules_raw, rules, players, info, game,
// message, tag, geo and master. The notes name each dropped part: raw.dropped,
// rules_raw.dropped and so on. Append drops the counts players_announced and
// rules_announced with their lists.
package record
