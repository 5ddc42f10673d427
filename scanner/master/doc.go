// Package master fetches lists of game servers from those who keep them:
// master servers, over Valve's UDP protocol, and the Steam Web API. It reads
// such lists from files too.
//
// [FetchUDP] and [FetchWeb] call a function for each [Server] as soon as it is
// known, and keep to what masters bear: leave them time. What the servers say of
// themselves, package scanner asks them.
//
// # Over UDP
//
// A request is one datagram:
//
//	+------+--------+----------------------+----+---------------------+----+
//	| 0x31 | region | "203.0.113.7:27015"  | 00 | "\appid\440\empty\1"| 00 |
//	+------+--------+----------------------+----+---------------------+----+
//	 type   Region   seed: the last address      Filter, may be empty
//	                 of the page before
//
// and so is the reply, a page:
//
//	+-------------------+---------+------+----   ----+---------+------+
//	| FF FF FF FF 66 0A | address | port |    ...    | 0.0.0.0 |   0  |
//	+-------------------+---------+------+----   ----+---------+------+
//	 header              4 bytes   2      big-endian   terminator: the end of
//	                                                  the list, not of the page
//
// [FetchUDP] asks page by page. Masters punish haste with a minute of silence,
// so it keeps [UDPLimits]: the first 15 pages, of up to 231 addresses each, come
// at once, and then 60 in five minutes; a list of 100,000 takes some 36 minutes.
//
// # Over the Web API
//
// [FetchWeb] asks GetServerList, which knows more of each server. An answer has
// 10,000 servers at most, so what is larger is divided: by whether anybody
// plays, by system, by map, by the first letters of names, whichever tells the
// servers apart best as far as they are known. A list ten times as large as the
// cap takes about 15 answers. What can't be told apart is said in Stats.Capped.
//
// The key is sent over https only (but to loopback), to nobody to whom the
// master redirects, and is in no error, log or text: see [Key].
//
// # Filters
//
// A [Filter] is a list of conditions, which masters read in their order. There
// is no escaping, so a value must not hold a backslash. A group says how many
// conditions follow, and a group in a group is one of them:
//
//	master.Filter{
//		master.App(440),
//		master.Nor(master.Map("a"), master.Nand(master.Empty(), master.Linux())),
//	}
//	\appid\440\nor\2\map\a\nand\2\noplayers\1\linux\1
//
// # Endings
//
// A list that ends with an error was handed out as far as it came: each server
// is given to the caller as soon as it is there, once. Stats says how it ended.
// Pages that come twice, pages of nobody's asking, an empty page instead of a
// terminator, a page that brings nothing new, a master that begins again, and
// answers that are cut off or never end are all told apart.
//
// Addresses at which nobody can be asked (Steam's relays, 0.0.0.0, port 0) are
// handed out like all others: [Server.Unscannable] says why.
//
// # Lists in files
//
// A [Reader] takes a list in whatever form it comes: pages, answers of the Web
// API, of ISteamApps/GetServersAtAddress, the array of servers out of one of
// those, NDJSON. Text it leaves to others.
package master
