package main

import (
	"encoding/json"
	"net/netip"
)

// busiest finds the addresses with the most servers.
type busiest struct{ frequent[netip.Addr] }

// busy is an address and its servers.
type busy struct {
	Addr    netip.Addr `json:"address"`
	Servers uint64     `json:"servers"`
	Over    uint64     `json:"over,omitempty"` // by how much Servers may be too high
}

// top returns the n addresses with the most servers.
func (b *busiest) top(n int) []busy {
	all := []busy{}
	for _, c := range b.frequent.top(n, netip.Addr.Compare) {
		all = append(all, busy{c.Key, c.Servers, c.Over})
	}
	return all
}

func (b *busiest) clone() busiest { return busiest{b.frequent.clone()} }

// busyKept is how many addresses a checkpoint remembers: small ones are not
// worth writing every second.
const busyKept = 512

// MarshalJSON writes those with the most servers.
func (b busiest) MarshalJSON() ([]byte, error) { return json.Marshal(b.top(busyKept)) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (b *busiest) UnmarshalJSON(text []byte) error {
	var list []busy
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	all := make([]counted[netip.Addr], len(list))
	for i, one := range list {
		all[i] = counted[netip.Addr]{Key: one.Addr, Servers: one.Servers, Over: one.Over}
	}
	b.frequent = frequentOf(all)
	return nil
}
