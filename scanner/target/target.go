// Package target holds the type of what a scan asks. Lists of targets come from
// package list, or from any iterator.
package target

import "net/netip"

// Target is a server to ask.
type Target struct {
	Addr   netip.AddrPort // IPv4, and a port other than 0
	Tag    string         // what followed the address in its input line; hostile text
	Master string         // what a master server reported about it, a JSON object; empty: nothing

	// Place is the target's index in the order, from 0, before shards,
	// exclusions and limits take anything out.
	Place uint64
}
