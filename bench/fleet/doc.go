// Package fleet is a simulated fleet of game servers on loopback: what the
// tests, the demo and the benchmarks scan.
//
// One process, one socket a port; every address of a network inside
// 127.0.0.0/8 is a server of its own. The address that was asked is taken from
// the control message of the datagram (IP_PKTINFO), and the reply is sent from
// it.
//
// # Nature and truth
//
// The nature of a server follows from the seed, the address and the port alone
// ([Config.Nature]), so nothing is remembered for a server, and the record
// that a perfect scan makes of it ([Config.Truth]) is written from the same
// model, never by decoding packets. [Compare] holds a census against it.
//
// # Odd servers
//
// Most servers look like servers: names, maps, rules and values as they are usual.
// The odd ones are more frequent than in the real world, so that a small fleet has
// them all, and their share is fixed. Of the names of servers 5 in 100 are not
// UTF-8, 5 have control characters, 2 are empty, 2 are longer than 200 bytes; of
// the names of players 3 are empty and 2 have control characters. One server in 16
// has odd values among its rules. Each quirk is on one in 24 of the servers that
// may have it.
//
// Servers of the kind [Games] play real games, and what they mean is known: package
// games. A fleet has them if Config.Kinds names them. Config.Fakes plants fakers.
//
// To add a kind of server, honest or hostile, begin at [Kind].
//
// # The wall
//
// Such a fleet would be an amplifier. Its sockets are bound to the device lo,
// without which New refuses to start, and whatever comes from or is for an
// address outside 127.0.0.0/8 is dropped unread. It needs Linux, and returns an error
// elsewhere.
package fleet
