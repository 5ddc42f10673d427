// Package target holds the type of a scan's targets. Package list makes lists of
// them; any other iterator will do, too.
package target

import "net/netip"

// Target is a server to query.
type Target struct {
	Addr   netip.AddrPort // IPv4, and a port other than 0
	Tag    string         // the text after the address in its input line; untrusted
	Master string         // the master server's data about it, a JSON object; empty: none

	// Place is the target's index in the order of the list, from 0, before shards,
	// exclusions and limits remove anything.
	Place uint64
}
