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
// # The wall
//
// Such a fleet would be an amplifier. Its sockets are bound to the device lo,
// without which New refuses to start, and whatever comes from or is for an
// address outside 127.0.0.0/8 is dropped unread. It needs Linux, and returns an error
// elsewhere.
package fleet
