// Package wire encodes and decodes the messages of Valve's A2S protocol: the
// questions to a game server, its answers, and the fragments of long answers. It
// does no I/O, reads no clock, keeps no state between calls, and imports only the
// standard library.
//
// # Use
//
// [AppendRequest] builds a request; send exactly those bytes in one UDP datagram.
// [IsSplit] reports whether a reply is a fragment; [KindOf] returns the kind of any
// other reply. Pass a message, whether it came in one datagram or was reassembled from
// fragments, to the decoder for its kind:
//
//	KindInfo, KindGoldSource                 (*Info).Decode
//	KindPlayers                              (*Players).Reset, then Next and Player
//	KindRules                                (*Rules).Reset, then Next and Rule
//	KindChallenge                            DecodeChallenge; repeat the request with the challenge
//	KindPing, KindBanned, KindLimited, KindRedirect    DecodeText
//
// Pass a fragment to [SplitID] and [ShowLayout]. Once one fragment has shown the layout of
// its reply, pass all fragments of that reply to [Fragment.Decode]. Package reasm holds
// fragments until a reply is complete, decompresses it and checks its CRC-32. [Explain] and
// [ExplainFragment] show a person which bytes belong to which field.
//
// Everything that can be decoded can also be encoded, which helps to write a server
// or a test. Decoding the encoded bytes gives the same values again. The only exception is
// bytes after the last field: Info and Players note that there are such bytes, but do not
// store them.
//
// # Buffers
//
// Decoded values alias the bytes passed to the decoder, and are valid until the caller
// reuses these bytes. A caller that keeps values must copy them. This package never
// writes to the bytes it decodes, and appending to a returned slice does not
// overwrite the bytes that follow it. The Append functions append to dst and return
// it as append does; they keep neither dst nor their arguments.
//
// Decoding never allocates, whatever the bytes are. Encoding allocates only if dst
// lacks the capacity. Several goroutines may decode at the same time if each uses its
// own Info, Players, Rules or Fragment.
//
// # Errors and notes
//
// Every error is an [Error]: a code that can be compared and used as an index.
// After [ErrTruncated] the values before the cut are valid: Info.Has names the complete
// fields, and Players and Rules have returned the complete items. Oddities of answers are
// [Notes], not errors: a wrong count, a flag that is neither 0 nor 1, bytes left over.
//
// Strings are the server's bytes: often UTF-8, sometimes in another encoding or cut
// inside a character, sometimes hostile. This package does not check them.
//
// # Datagrams
//
// Integers are little-endian; strings end with a NUL. A datagram begins with -1 or -2:
//
//	message                          GoldSource fragment
//	+-------------+------+----···+   +-------------+----+-----+----···+
//	| FF FF FF FF | type | fields|   | FE FF FF FF | ID | n:t |payload|
//	+-------------+------+----···+   +-------------+----+-----+----···+
//	       4          1                     4         4    1
//
//	Source fragment
//	+-------------+----+-------+--------+------+----···+
//	| FE FF FF FF | ID | total | number | size |payload|
//	+-------------+----+-------+--------+------+----···+
//	       4         4     1        1       2
//
//	Source fragment without size
//	+-------------+----+-------+--------+----···+
//	| FE FF FF FF | ID | total | number |payload|
//	+-------------+----+-------+--------+----···+
//	       4         4     1        1
//
//	n:t    number in the high four bits, total in the low four
//	ID     the same in all fragments of a reply; its highest bit may say that
//	       the reply is compressed with bzip2, but not in GoldSource fragments
//	number from 0 to total-1
//	size   maximum payload of a fragment in bytes, usually 1248
//
// The payloads together form a message, including FF FF FF FF. For a compressed
// reply they form the size and CRC-32 of the decompressed message, and bzip2 data:
//
//	+------+--------+-----------···+
//	| size | CRC-32 | "BZh" …      |
//	+------+--------+-----------···+
//	    4       4
//
// # Requests
//
//	INFO         +-----+-------------------------+-----------+
//	             | 'T' | "Source Engine Query" 0 | challenge |
//	             +-----+-------------------------+-----------+
//	                1               20             0 or 4
//	PLAYER       +-----+-----------+
//	             | 'U' | challenge |         -1 asks for a challenge
//	             +-----+-----------+
//	RULES        +-----+-----------+
//	             | 'V' | challenge |         -1 asks for a challenge
//	             +-----+-----------+
//	                1        4
//	ping 'i' and GETCHALLENGE 'W' are one byte.
//
// # Replies
//
// s is a string; the digits are lengths in bytes.
//
//	challenge    +-----+-----------+    ping      +-----+---------+
//	             | 'A' | challenge |              | 'j' | text: s |
//	             +-----+-----------+              +-----+---------+
//	                1        4                       1
//	banned       +-----+---------+      limited   +-----+---------+
//	             | 'l' | text: s |                | 'X' | text: s |
//	             +-----+---------+                +-----+---------+
//
//	INFO, Source
//	+-----+----------+------+-----+--------+------+--------+
//	| 'I' | protocol | name | map | folder | game | app ID |
//	+-----+----------+------+-----+--------+------+--------+
//	   1       1         s     s      s       s       2
//	+---------+-----+------+------+-----+----------+-----+------+---------+
//	| players | max | bots | type | env | password | VAC | ship | version |
//	+---------+-----+------+------+-----+----------+-----+------+---------+
//	     1       1     1      1      1       1        1   0 or 3     s
//	+-----+------+----------+---------------+----------+---------+
//	| EDF | port | Steam ID | SourceTV      | keywords | game ID |
//	+-----+------+----------+---------------+----------+---------+
//	0 or 1   2        8       port 2, name s      s         8
//
//	ship   The Ship only (IsShip): mode, witnesses, duration
//	EDF    extra data flag: 80 port, 10 Steam ID, 40 SourceTV, 20 keywords,
//	       01 game ID; if a bit is not set, its field is absent
//
//	INFO, GoldSource
//	+-----+---------+------+-----+--------+------+---------+-----+----------+
//	| 'm' | address | name | map | folder | game | players | max | protocol |
//	+-----+---------+------+-----+--------+------+---------+-----+----------+
//	   1       s        s     s      s       s        1       1       1
//	+------+-----+----------+--------+-----------+-----+------+
//	| type | env | password | is mod | mod block | VAC | bots |
//	+------+-----+----------+--------+-----------+-----+------+
//	    1     1       1         1     if is mod     1      1
//
//	mod block
//	+-----+--------------+---+---------+------+------+-----+
//	| URL | download URL | 0 | version | size | type | DLL |
//	+-----+--------------+---+---------+------+------+-----+
//	   s         s         1      4       4      1      1
//
//	PLAYER
//	+-----+-------+   +-------+------+-------+----------+   +--------+-------+
//	| 'D' | count |   | index | name | score | duration |   | deaths | money |
//	+-----+-------+   +-------+------+-------+----------+   +--------+-------+
//	   1      1           1       s      4        4              4       4
//	                    for each player                     then, on The Ship,
//	                                                        for each player
//
//	RULES
//	+-----+-------+   +------+-------+
//	| 'E' | count |   | name | value |       for each rule
//	+-----+-------+   +------+-------+
//	   1      2           s      s
//
// # Sources
//
// Comments cite documents 000 to 004, which describe the protocol, and numbered facts such
// as EC-25, which these documents lack. docs/PROTOCOL.md lists the documents and the
// facts.
package wire
