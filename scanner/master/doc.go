// Package master fetches lists of game servers from master servers, over Valve's UDP
// protocol, and from the Steam Web API. It also reads such lists from files.
//
// [FetchUDP] and [FetchWeb] call a function for each [Server] as soon as it
// arrives. They observe the masters' rate limits, so a long list takes a while. Package
// scanner queries the servers themselves.
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
// The reply is one datagram too, a page of the list:
//
//	+-------------------+---------+------+----   ----+---------+------+
//	| FF FF FF FF 66 0A | address | port |    ...    | 0.0.0.0 |   0  |
//	+-------------------+---------+------+----   ----+---------+------+
//	 header              4 bytes   2      big-endian   terminator: the end of
//	                                                  the list, not of the page
//
// [FetchUDP] requests page by page. Masters do not answer a client for a minute if
// it sends too many requests, so FetchUDP observes [UDPLimits]: it requests the
// first 15 pages without a pause, and at most 15 pages per minute and 60 per five
// minutes. A page has up to 231 addresses, so a list of 100,000 servers takes about
// 36 minutes.
//
// # Over the Web API
//
// [FetchWeb] calls GetServerList, which returns more data about each server. The
// API caps an answer at 10,000 servers. FetchWeb divides a larger list by players,
// operating system, map or the first letters of names, whichever divides the known
// servers best. A list ten times as large as the cap takes about 15 requests.
// Stats.Capped lists the requests that could not be divided.
//
// FetchWeb sends the key over https only, except to loopback, and follows no
// redirects. Errors and logs never contain the key: see [Key].
//
// # Filters
//
// A [Filter] is a list of conditions, which masters read in order. The protocol has no
// escapes, so a value must not contain a backslash. A group begins with the number
// of its conditions; a group inside a group counts as one condition:
//
//	master.Filter{
//		master.App(440),
//		master.Nor(master.Map("a"), master.Nand(master.Empty(), master.Linux())),
//	}
//	\appid\440\nor\2\map\a\nand\2\noplayers\1\linux\1
//
// # How a list ends
//
// The caller's function gets each server once, as soon as it arrives, so it also gets
// the servers before an error. Stats.End tells how the list ended. The fetch detects
// repeated pages, datagrams that are not pages, an empty page instead of a terminator,
// a master that starts again from the beginning, and truncated or endless answers.
//
// Addresses that can't be queried (Steam's relays, 0.0.0.0, port 0) are passed on
// like all others: [Server.Unscannable] returns the reason.
//
// # Lists in files
//
// A [Reader] reads lists in the formats of the masters: pages, answers of
// GetServerList and ISteamApps/GetServersAtAddress, only the array of servers of
// such an answer, and the elements of that array as NDJSON. Package list reads text
// and other NDJSON.
package master
