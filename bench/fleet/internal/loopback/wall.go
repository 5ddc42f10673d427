// Package loopback is the network of simulated servers. It has sockets on all
// addresses of the device lo, reads and sends datagrams in batches, and can lose,
// duplicate, reorder and delay them.
//
// If such servers were reachable from outside, they would amplify attacks on
// others. So the sockets are bound to lo, without which Open returns an error, and
// a Port drops unread any datagram from or to an address outside of [Network].
package loopback

import "net/netip"

// Network contains the addresses that servers and their clients may have.
var Network = netip.MustParsePrefix("127.0.0.0/8")

// Contains reports whether all addresses of p are in Network.
func Contains(p netip.Prefix) bool {
	return p.Addr().Is4() && p.Bits() >= Network.Bits() && Network.Contains(p.Addr())
}

// Inside reports whether the packed address is in Network.
func Inside(addr uint64) bool { return addr>>40 == 127 }

// Broadcast is the only address of Network, as a number, to which nothing can be
// sent.
const Broadcast = 0x7FFFFFFF
