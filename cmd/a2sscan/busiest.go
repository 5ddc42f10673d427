package main

import (
	"cmp"
	"container/heap"
	"encoding/json"
	"net/netip"
	"slices"
)

// busiest finds the addresses with the most servers, in memory that doesn't
// grow with the scan: it counts maxBusy addresses, and a new one takes the place
// of the one with the fewest, from whose count it goes on. So a count may be too
// high, by no more than it says, and an address with more servers than one in
// maxBusy of all is never missed ("space saving": Metwally and others, 2005).
type busiest struct {
	at map[netip.Addr]*busy
	by busyHeap // the one with the fewest first
}

// maxBusy bounds the memory of busiest, to about half a MiB.
const maxBusy = 4096

// busy is an address and its servers.
type busy struct {
	Addr    netip.Addr `json:"address"`
	Servers uint64     `json:"servers"`
	Over    uint64     `json:"over,omitempty"` // by how much Servers may be too high

	at int // in the heap
}

func (b *busiest) add(addr netip.Addr) {
	if b.at == nil {
		b.at = map[netip.Addr]*busy{}
	}
	if old := b.at[addr]; old != nil {
		old.Servers++
		heap.Fix(&b.by, old.at)
		return
	}
	if len(b.by) < maxBusy {
		b.insert(&busy{Addr: addr, Servers: 1})
		return
	}
	least := b.by[0]
	delete(b.at, least.Addr)
	b.at[addr] = least
	least.Addr, least.Over = addr, least.Servers
	least.Servers++
	heap.Fix(&b.by, 0)
}

func (b *busiest) insert(one *busy) {
	b.at[one.Addr] = one
	heap.Push(&b.by, one)
}

// top returns the n addresses with the most servers.
func (b *busiest) top(n int) []busy {
	all := make([]busy, len(b.by))
	for i, one := range b.by {
		all[i] = *one
	}
	slices.SortFunc(all, func(x, y busy) int {
		return cmp.Or(cmp.Compare(y.Servers, x.Servers), x.Addr.Compare(y.Addr))
	})
	return all[:min(n, len(all))]
}

func (b *busiest) clone() busiest { return busiestOf(b.top(maxBusy)) }

func busiestOf(all []busy) busiest {
	b := busiest{at: make(map[netip.Addr]*busy, len(all))}
	for i := range all {
		b.insert(&all[i])
	}
	return b
}

// busyKept is how many addresses a checkpoint remembers: small ones are not
// worth writing every second.
const busyKept = 512

// MarshalJSON writes those with the most servers.
func (b busiest) MarshalJSON() ([]byte, error) { return json.Marshal(b.top(busyKept)) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (b *busiest) UnmarshalJSON(text []byte) error {
	var all []busy
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	*b = busiestOf(all[:min(len(all), maxBusy)])
	return nil
}

// busyHeap orders addresses by their servers.
type busyHeap []*busy

func (h busyHeap) Len() int           { return len(h) }
func (h busyHeap) Less(i, j int) bool { return h[i].Servers < h[j].Servers }
func (h busyHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].at, h[j].at = i, j
}
func (h *busyHeap) Push(x any) {
	one := x.(*busy)
	one.at = len(*h)
	*h = append(*h, one)
}
func (h *busyHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
