// Package target defines the targets of a scan. Package list yields targets, and so may any
// other iterator.
package target

import "net/netip"

// Target is a server to query.
type Target struct {
	Addr netip.AddrPort // IPv4, and a port other than 0
	// The text after the address in its input line; untrusted.
	Tag string
	// The master server's data about the server, a JSON object; may be empty.
	Master string

	// Challenge is a challenge that the server sent earlier, or 0 for none. The first INFO
	// request contains it, which saves a round trip if the server still accepts it
	// (EC-14).
	Challenge uint32
	InfoOnly  bool // ask only INFO, not PLAYER and RULES

	// Place is the target's index in the list, from 0. It also counts targets that shards,
	// exclusions or limits remove.
	Place uint64
}
