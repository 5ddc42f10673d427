package tally

import (
	"encoding/json"
	"net/netip"
)

// topAddresses finds the addresses with the most servers.
type topAddresses struct{ spaceSaving[netip.Addr] }

// AddressCount is an address with its number of servers.
type AddressCount struct {
	Addr    netip.Addr `json:"address"`
	Servers uint64     `json:"servers"`
	Over    uint64     `json:"over,omitempty"` // maximum by which Servers may be too high
}

// Top returns the n addresses with the most servers.
func (b *topAddresses) Top(n int) []AddressCount {
	all := []AddressCount{}
	for _, c := range b.spaceSaving.top(n, netip.Addr.Compare) {
		all = append(all, AddressCount{c.Key, c.Servers, c.Over})
	}
	return all
}

func (b *topAddresses) clone() topAddresses { return topAddresses{b.spaceSaving.clone()} }

// busyKept is the maximum number of addresses in a checkpoint. Addresses with few
// servers are not worth writing every second.
const busyKept = 512

// MarshalJSON encodes the addresses with the most servers, up to busyKept of them.
func (b topAddresses) MarshalJSON() ([]byte, error) { return json.Marshal(b.Top(busyKept)) }

// UnmarshalJSON decodes what MarshalJSON returned.
func (b *topAddresses) UnmarshalJSON(text []byte) error {
	var list []AddressCount
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	all := make([]counted[netip.Addr], len(list))
	for i, one := range list {
		all[i] = counted[netip.Addr]{Key: one.Addr, Servers: one.Servers, Over: one.Over}
	}
	b.spaceSaving = frequentOf(all)
	return nil
}
