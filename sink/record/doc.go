// Package record turns the result of a scan into one line of JSON, and reads
// such a line back.
//
// # Use
//
// [Append] appends the record of a Result; a loop owns an [Encoder]. [Locate] adds the
// location of an address to its record. [JSONSchema], [DuckDB] and [ClickHouse] describe
// records to other programs. To add a key, begin at schemaKeys in schema.go.
//
// A [Reader] reads records, in any JSON spelling, into a [Record]: a scanner.Result and
// the name of the scan. It decodes only the keys that its caller names:
//
//	r := record.NewReader("addr", "status", "info", "game").Keep("rules")
//	for each line {
//		rec, err := r.Read(line) // valid until the next call; may alias line
//		…
//		rec.Addr, rec.Status, rec.HasInfo, rec.Info.Map // the decoded keys
//		rec.Has("flags")   // the record has the key, decoded or not
//		rec.Value("rules") // the kept value as it is written, or nil
//	}
//
// Presence of a field: rec.Info.Has&wire.HasMap != 0, rec.Game != nil and
// rec.Game.Has.Has(game.KeyPlayers), else rec.Has. A Reader stops after the last key
// that it needs, so Has is false for the keys after it and the rest of the line is
// not checked. Without names a Reader decodes everything, and [Reader.Strict] also
// compares it with the schema. Costs for records of 2.4 kB on one core: 7 µs for
// everything, 2.6 µs for address and info.
//
// # The record
//
// A record is a JSON object. Its keys have the order of this list. A key that
// does not apply is absent, and a key never changes its type.
//
//	schema            1; it rises when the meaning of a key changes
//	scan              name of the scan
//	ip, port          the server; absent from a capture without addresses
//	addr              ip and port as one string, to join censuses by
//	tag               the rest of the server's line in the list
//	time              RFC 3339 in UTC with milliseconds: when the first reply
//	                  arrived, or when the scan gave up
//	status            ok, partial, error, no_reply or unreachable
//	errors            object: info, players, rules, each one word, for a
//	                  question without a complete answer
//	notes             list of words: oddities of complete answers, fields that
//	                  the end of a truncated answer leaves uncertain, and parts
//	                  that were dropped from this record (see Length)
//	message           text of a reply that refuses (banned, too many requests) or
//	                  that names another server
//	rtt_ms            round trip of the first question that was sent once
//	rtts_ms           object: info, players, rules: the round trip of each
//	                  question that was sent once; from 10 ms on, in tenths
//	took_ms           time from the first datagram to the last. All times are in
//	                  milliseconds, truncated to microseconds or tenths
//	sent, received    datagrams
//	sent_bytes, received_bytes
//	unchallenged      list: questions answered, in part at least, without a
//	                  challenge
//	disputed          list: keys of info in which another reply contradicts this
//	                  one. One of the two may be forged
//	ping              object, if the server answered a ping: payload, the text of
//	                  the answer, and rtt_ms, its round trip (absent from a capture)
//	hashes            object: info, players, rules: 64-bit xxHash, in hex, of
//	                  the bytes of the answer, reassembled and decompressed.
//	                  Only players, if the list is not empty and complete;
//	                  earlier versions could hash the other answers too.
//	                  Different hashes mean different bytes, equal hashes
//	                  almost surely the same bytes. If names are replaced by
//	                  name_hash, the hash of players is keyed too
//	info              object, see below; {} if the answer was empty
//	players           list; [] if the answer listed none
//	  index, score
//	  name, or name_hash
//	                  name_hash is 64 bits, in hex: a hash of the name under a
//	                  secret key (see NameHasher); an empty name stays
//	  duration        seconds, the shortest decimal of the float32; null if it
//	                  is not a finite number
//	  deaths, money   The Ship
//	players_announced the count in the answer, if it differs from the list
//	rules             object, name to value, both strings; {} if there were none.
//	                  A name that occurs twice has its first value
//	rules_announced   like players_announced
//	rules_raw         list of [name, value], each in hex: all rules in their
//	                  order, if the object does not hold them exactly
//	game              object, see below: what the answers mean for their game,
//	                  if it is one that package game knows
//	flags             list of words: what is suspicious about the answers, each
//	                  by a rule of game.FlagRules; evidence, and no verdict
//	raw               list of datagrams in base64
//	geo               object: location and network of the address, from databases
//	  continent, country
//	                  two capital letters: AF AN AS EU NA OC SA; ISO 3166-1
//	  region, city    text
//	  asn, org        number and owner of the autonomous system
//	master            object: the master server's own data about the server, with
//	                  the master's keys
//	origins           list of objects, in a census that merge --origins of an
//	                  earlier version made: what each vantage point saw: name, time, status, rtt_ms, hashes,
//	                  players, max_players. Its census has no record of the
//	                  server if only name is there
//
// A Result comes from a capture, which does not show what was sent, if nothing was
// sent and it has a reply or no time. Its record has neither sent nor sent_bytes, and
// took_ms only if it is known. For a server to which nothing could be sent, these keys
// are 0.
//
// The object info holds the fields that were read completely:
//
//	format            source (the I reply) or goldsource (the m reply)
//	protocol, name, map, folder, game
//	app_id            the low 24 bits of game_id if they are not 0, else the
//	                  short application ID
//	players, max_players, bots
//	server_type       dedicated, listen, proxy, or the byte: "0x00"
//	environment       linux, windows, mac, or the byte
//	password, vac     true or false
//	ship              object: mode, witnesses, duration
//	version
//	edf               extra data flag
//	game_port
//	steam_id          decimal, a string
//	sourcetv          object: port, name
//	keywords
//	game_id           decimal, a string
//	address           the server's address as the server sees it
//	mod               object: url, download_url, version, size,
//	                  multiplayer_only, custom_dll
//
// The object game holds what package game decoded. A key is there if the game sent
// its value, which takes precedence over the same value in info. password is there
// only if it differs from that of info:
//
//	id, name          of the game; id is a stable word
//	players, max_players, queue
//	                  people in the game, slots, people who wait for a slot
//	bots              players that are programs
//	version, map, mode, region
//	pvp, password, modded, anticheat
//	                  true or false
//	started           RFC 3339 in UTC: when the world began
//	time_of_day, day  in the world of the game
//	mods              list, in the order of the server; [] if there are none
//	  id, name, hash  text; what the game does not tell is absent
//	  creator_dlc     true: a Creator DLC of Arma 3, and id its application
//	description       text for people
//	attributes        object, name to value, both strings: what only some games have
//	sources           object: key of the above to where its value came from:
//	                  info, keywords or rules, a full stop, and which of them.
//	                  "info.players" says that the bots are not among INFO's
//	                  players, or that nobody knows; with "+list" the list of
//	                  players shows that they are not.
//	                  The keys of attributes begin with "attributes."; an
//	                  attribute without an entry came from the keywords
//	notes             list of words: what could not be understood
//
// # Text
//
// Names, rules and messages come from strangers, and are hostile. A record is
// valid UTF-8 and valid JSON whatever they hold. In bytes that are not UTF-8
// each maximal ill-formed subsequence becomes one U+FFFD, as in Python and
// browsers, and the key is followed by KEY_hex with the exact bytes in
// lower-case hex: name, name_hex. Rules have rules_raw instead; attributes
// come from rules or keywords, which are exact. Besides what
// JSON demands, DEL, the C1 controls U+0080 to U+009F, the line separators
// U+2028 and U+2029 and the bidirectional controls are escaped, so that a census
// is safe to show on a terminal. No other character is escaped, and none is
// changed or trimmed.
//
// # Player names
//
// Names of players are personal data. With a [NameKey] the Encoder writes hashes
// in their place. What remains can still identify people: scores, money and the
// times that they are online, by which a person can be followed from one census
// to the next, as by equal hashes; and names of players in what servers write
// themselves, such as server names, rules, mods and descriptions. Whoever has the
// key, or owns a server that the scan queries, can test whether a name is there.
//
// # Length
//
// A record is at most [MaxSize] bytes long. A longer one loses parts, the
// longest first, until it fits: raw (always, if it is too long by itself),
// rules_raw, rules, players, info, game with flags, message, tag, geo, master. The
// notes name each dropped part: raw.dropped, rules_raw.dropped and so on. Append
// drops the counts players_announced and rules_announced with their lists.
package record
