// Package record turns the result of a scan into one line of JSON, and reads
// such a line back.
//
// # Use
//
// [Append] appends the record of a Result; a loop owns an [Encoder]. [Read]
// returns the Result of a record, [Locate] writes a place into it. [JSONSchema],
// [DuckDB] and [ClickHouse] describe a record to other programs.
//
// # The record
//
// A line is a JSON object. Its keys stand in the order of this list; a key
// that does not apply is absent, and each has one type for ever.
//
//	schema            1; it rises when the meaning of a key changes
//	scan              name of the scan
//	ip, port          the server; absent from a capture that names no sender
//	addr              ip and port as one text, to join censuses by
//	tag               what followed the address in its line of the list
//	time              RFC 3339 in UTC with milliseconds: when the first reply
//	                  came, or when the server was given up
//	status            ok, partial, error, no_reply or unreachable
//	errors            object: info, players, rules, each one word, where that
//	                  question has no whole answer
//	notes             list of words: oddities of answers that are complete,
//	                  what the end of a truncated one leaves uncertain, and what
//	                  was left out of this record (see below)
//	message           text of a reply that refuses: banned, too many requests;
//	                  or of one that names another server
//	rtt_ms            round trip of the first question that was asked once
//	rtts_ms           object: info, players, rules: the round trip of each
//	                  question that was asked once and answered
//	took_ms           first datagram to last; all of them in milliseconds, cut
//	                  to microseconds
//	sent, received    datagrams
//	sent_bytes, received_bytes
//	unchallenged      list: questions answered, in part at least, to a request
//	                  without a challenge
//	ping              object: payload, the text of the answer, and rtt_ms, its
//	                  round trip, which a capture lacks; if a ping was answered
//	hashes            object: info, players, rules: 64-bit xxHash, in hex, of
//	                  the bytes of the answer as they came, reassembled and
//	                  unpacked; absent where fragments are missing. Different
//	                  hashes mean different bytes; equal ones almost surely the
//	                  same
//	info              object, see below; {} if the answer was empty
//	players           list; [] if the answer listed none
//	  index, name, score
//	  duration        seconds, the shortest decimal of the float32; null if it
//	                  is not a finite number
//	  deaths, money   The Ship
//	players_announced the count that the answer bore, where it is another
//	rules             object, name to value, both text; {} if there were none;
//	                  of a name that occurs twice the first
//	rules_announced   as players_announced
//	rules_raw         list of [name, value], each in hex: all rules in their
//	                  order, where the object can't say it exactly
//	game              object, see below: what the answers mean for their game,
//	                  if more is known than info says
//	flags             list of words: what is suspicious about the answers, each
//	                  by a rule of game.FlagRules; evidence, and no verdict
//	raw               list of datagrams in base64
//	geo               object: where the address is and whose, as databases say,
//	                  if any were asked
//	  continent, country
//	                  two capital letters: AF AN AS EU NA OC SA; ISO 3166-1
//	  region, city    text
//	  asn, org        number of the autonomous system, and to whom it belongs
//	master            object: what the master server said of the server; its
//	                  keys are the master's, and may be any
//
// sent, sent_bytes and took_ms are absent where nobody knows what was sent,
// which is to say from a capture: nothing was sent, as far as the Result goes,
// and yet a reply is there, or no time. Of a server that nothing could be sent
// to they are 0.
//
// The object info holds the fields that were read whole:
//
//	format            source (the I reply) or goldsource (the m reply)
//	protocol, name, map, folder, game
//	app_id            the low 24 bits of game_id if they are not 0, else the
//	                  short one
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
//	address           what the server believes its address to be
//	mod               object: url, download_url, version, size,
//	                  multiplayer_only, custom_dll
//
// The object game holds what package game decoded. A key is there if the game sent
// its value, which takes precedence over what info says of the same:
//
//	id, name          of the game; id is a stable word
//	players, max_players, queue
//	                  people in the game, places, people who wait for one
//	bots              players that are programs
//	version, map, mode, region
//	pvp, password, modded, anticheat
//	                  true or false
//	started           RFC 3339 in UTC: when the world began
//	time_of_day, day  in the world of the game
//	mods              list, in the order of the server
//	  id, name, hash  text; what the game does not tell is absent
//	  creator_dlc     true: a Creator DLC of Arma 3, and id its application
//	description       text for people
//	attributes        object, name to value, both text: what only some games have
//	sources           object: key of the above to where its value came from:
//	                  info, keywords or rules, a full stop, and which of them
//	notes             list of words: what could not be understood
//
// # Text
//
// Names, rules and messages are what strangers sent, and hostile. A record is
// valid UTF-8 and valid JSON whatever they are. In bytes that are not UTF-8
// each maximal ill-formed subsequence becomes one U+FFFD, as Python and
// browsers have it, and right after a KEY where that happened stands KEY_hex,
// the exact bytes in lower-case hex: name, name_hex. Rules have rules_raw for
// that; of attributes, the rules and keywords they come from. Besides what JSON demands, DEL, the C1 controls U+0080 to U+009F, the
// line separators U+2028 and U+2029 and the bidirectional controls are
// escaped, so that a census can be shown on a terminal. No other character is,
// and none is changed or trimmed.
//
// # Length
//
// A record is at most [MaxSize] bytes. Of one that would be longer whole parts
// are left out, the longest first, until it fits: raw (always, if it is too
// long by itself), rules_raw, rules, players, info, game with flags, message, tag,
// geo, master. The
// word raw.dropped, rules_raw.dropped and so on among the notes says so. Counts
// (players_announced, rules_announced) go with their list.
package record
