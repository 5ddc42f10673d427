// Package loopback is the network of simulated servers: sockets on all addresses
// of the device lo, datagrams read and sent in batches, and a network that loses,
// doubles, reorders and delays them if it is told to.
//
// Such servers would amplify an attack on others. So the sockets are bound to
// lo, without which Open refuses, and a Port drops unread what is from or for an
// address outside of [Network].
package loopback

import "net/netip"

// Network is where servers may be, and who may ask them.
var Network = netip.MustParsePrefix("127.0.0.0/8")

// Contains reports whether all addresses of p are in Network.
func Contains(p netip.Prefix) bool {
	return p.Addr().Is4() && p.Bits() >= Network.Bits() && Network.Contains(p.Addr())
}

// Inside reports whether the packed address is in Network.
func Inside(addr uint64) bool { return addr>>40 == 127 }

// Broadcast is the one address of Network, as a number, to which nothing can be
// sent.
const Broadcast = 0x7FFFFFFF
