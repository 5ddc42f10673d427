// Package fleet is a simulated fleet of game servers on loopback, which the tests,
// the demo and the benchmarks scan.
//
// The fleet is one process with one socket per port. Each address of a network inside
// 127.0.0.0/8 may have a server at each port. The fleet reads the destination address of a
// query from the control message of the datagram (IP_PKTINFO), and sends the reply from
// that address.
//
// # Nature and truth
//
// The nature of a server depends only on the Config, the address and the port
// ([Config.Nature]), so nothing has to be stored for a server. The result of a perfect
// scan ([Config.Truth]) follows from the nature, never from decoding packets. Package
// judge compares a census with this result.
//
// # Odd servers
//
// Most servers look like real servers. Odd names, values and replies are more frequent than
// in the real world, in fixed proportions, so that even a small fleet has all sorts of them:
// of 100 server names, at least 5 are not UTF-8, 5 have control characters, 2 are empty, and
// 2 are longer than 200 bytes; each of the quirks in model.go affects one in 24 of the
// servers that may have it.
//
// Servers of the kind [Games] imitate real games, and the fleet knows what their answers
// mean: see gameServer. A fleet has such servers if Config.Kinds names this kind.
// Config.Fakes adds fakers, whose servers send false answers.
//
// To add a kind of server, honest or hostile, begin at [Kind].
//
// # The wall
//
// If a fleet could be reached from outside, attackers could use it as an amplifier. So the
// fleet's sockets are bound to the device lo; without this device, New returns an error.
// The fleet drops any datagram from or to an address outside 127.0.0.0/8, and does not
// decode it. The fleet needs Linux; on other systems, New returns an error.
package fleet
