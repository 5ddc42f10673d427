// Package master fetches lists of game servers from master servers, over Valve's UDP
// protocol, and from the Steam Web API. It also reads such lists from files.
//
// [FetchUDP] and [FetchWeb] call a function for each [Server] as soon as it
// arrives. They keep to the masters' limits, so a long list takes its time. Package
// scanner asks the servers themselves.
//
// # Over UDP
//
// A request is one datagram:
//
//	+------+--------+----------------------+----+---------------------+----+
//	| 0x31 | region | "203.0.113.7:27015"  | 00 | "\appid\440\empty\1"| 00 |
//	+------+--------+----------------------+----+---------------------+----+
//	 type   Region   seed: the last address      Filter, may be empty
//	                 of the previous page
//
// and so is the reply, a page:
//
//	+-------------------+---------+------+----   ----+---------+------+
//	| FF FF FF FF 66 0A | address | port |    ...    | 0.0.0.0 |   0  |
//	+-------------------+---------+------+----   ----+---------+------+
//	 header              4 bytes   2      big-endian   terminator: the end of
//	                                                  the list, not of the page
//
// [FetchUDP] asks page by page. Masters punish haste with a minute of silence, so it
// keeps to [UDPLimits]: the first 15 pages of up to 231 addresses come at once,
// then 60 in five minutes. A list of 100,000 servers takes about 36 minutes.
//
// # Over the Web API
//
// [FetchWeb] asks GetServerList, which knows more about each server. An answer has
// at most 10,000 servers. FetchWeb divides a larger list by players, operating
// system, map or the first letters of names, whichever divides the known servers
// best. A list ten times as large as the cap takes about 15 answers. Stats.Capped
// has the questions that could not be divided.
//
// The key is sent over https only, except to loopback, never follows a redirection,
// and is in no error, log or text: see [Key].
//
// # Filters
//
// A [Filter] is a list of conditions, which masters read in order. There are no
// escapes, so a value must not contain a backslash. A group begins with the number
// of conditions that follow; a group inside a group counts as one:
//
//	master.Filter{
//		master.App(440),
//		master.Nor(master.Map("a"), master.Nand(master.Empty(), master.Linux())),
//	}
//	\appid\440\nor\2\map\a\nand\2\noplayers\1\linux\1
//
// # Endings
//
// The servers before an error were handed out: each server is handed out as soon as
// it arrives, once. Stats.End has the way the list ended. Repeated pages,
// unrequested pages, an empty page instead of a terminator, pages with nothing new,
// a master that begins again, and answers that are truncated or endless are all
// distinguished.
//
// Addresses that can't be asked (Steam's relays, 0.0.0.0, port 0) are handed out
// like all others: [Server.Unscannable] has the reason.
//
// # Lists in files
//
// A [Reader] reads a list in the forms that masters write: pages, answers of the Web
// API and of ISteamApps/GetServersAtAddress, the array of servers in one of these,
// and its elements one per line. Package list reads text and other NDJSON.
package master
