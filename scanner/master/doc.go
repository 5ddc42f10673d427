// Package master fetches lists of game servers from master servers, over Valve's UDP
// protocol, and from the Steam Web API. It also reads such lists from files. Package
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
// A master ignores a client for a minute if the client sends too many requests. So Fetch
// requests the first 15 pages without a pause, and at most 15 pages per minute and 60 per
// five minutes. A page has up to 231 addresses, so a list of 100,000 servers takes about
// 36 minutes. Valve's own master has been silent since October 2025 (EC-158).
//
// # Over the Web API
//
// GetServerList returns more data about each server. The API cuts an answer at 10,000
// or, for some games, 20,000 servers (EC-159). Fetch divides a longer list in two by
// players, operating system, map or the first letters of names, whichever divides the
// known servers most evenly. If the answer to a part is cut, too, Fetch divides that part
// again. A list ten times as long as the cap takes about 30 requests. Stats.Capped names
// the parts that could not be divided.
//
// # How a list ends
//
// Stats.End says how the list ended. Fetch detects repeated pages, datagrams that are
// not pages, an empty page instead of a terminator, a master that starts again from the
// beginning, and truncated or endless answers.
//
// # Lists in files
//
// [ReadAnswers] reads answers of the Web API. Package list reads text and NDJSON.
package master
