package tally

import (
	"cmp"
	"container/heap"
	"maps"
	"slices"
)

// spaceSaving finds the keys with the most servers, in memory that does not grow
// with the scan. It counts at most maxFrequent keys. After that, a new key replaces
// the key with the fewest servers and continues from its count. So a count may be
// too high, by at most Over, but a key with more than one in maxFrequent of all
// servers is never missed ("space saving": Metwally and others, 2005). The zero
// value is empty.
type spaceSaving[K comparable] struct {
	at map[K]*counted[K]
	by countHeap[K] // heap; the key with the fewest servers comes first
}

// maxFrequent is the maximum number of keys. It limits the memory to about half a
// MiB for short keys.
const maxFrequent = 4096

// counted is a key with its number of servers.
type counted[K comparable] struct {
	Key     K
	Servers uint64
	Over    uint64 // maximum by which Servers may be too high

	at int // index in the heap
}

// add counts one more server of a key.
func (f *spaceSaving[K]) add(key K) {
	if f.at == nil {
		f.at = map[K]*counted[K]{}
	}
	if old := f.at[key]; old != nil {
		f.again(old)
		return
	}
	if len(f.by) < maxFrequent {
		f.insert(&counted[K]{Key: key, Servers: 1})
		return
	}
	least := f.by[0]
	delete(f.at, least.Key)
	f.at[key] = least
	least.Key, least.Over = key, least.Servers
	f.again(least)
}

// again counts one more server of a key that is already counted.
func (f *spaceSaving[K]) again(one *counted[K]) {
	one.Servers++
	heap.Fix(&f.by, one.at)
}

func (f *spaceSaving[K]) insert(one *counted[K]) {
	f.at[one.Key] = one
	heap.Push(&f.by, one)
}

// Size returns how many keys are counted.
func (f *spaceSaving[K]) Size() int { return len(f.by) }

// full reports whether there may be keys that are not counted.
func (f *spaceSaving[K]) full() bool { return len(f.by) >= maxFrequent }

// top returns the n keys with the most servers. It uses order to sort keys with
// equal numbers of servers.
func (f *spaceSaving[K]) top(n int, order func(a, b K) int) []counted[K] {
	all := make([]counted[K], len(f.by))
	for i, one := range f.by {
		all[i] = *one
	}
	slices.SortFunc(all, func(x, y counted[K]) int {
		return cmp.Or(cmp.Compare(y.Servers, x.Servers), order(x.Key, y.Key))
	})
	return all[:min(n, len(all))]
}

// clone returns an independent copy.
func (f *spaceSaving[K]) clone() spaceSaving[K] {
	c := spaceSaving[K]{at: maps.Clone(f.at), by: make(countHeap[K], len(f.by))}
	for i, one := range f.by {
		same := *one
		c.by[i], c.at[one.Key] = &same, &same
	}
	return c
}

// frequentOf returns a spaceSaving with the first maxFrequent of these counts. It
// takes ownership of all.
func frequentOf[K comparable](all []counted[K]) spaceSaving[K] {
	f := spaceSaving[K]{at: make(map[K]*counted[K], len(all))}
	for i := range all[:min(len(all), maxFrequent)] {
		if f.at[all[i].Key] == nil {
			f.insert(&all[i])
		}
	}
	return f
}

// countHeap is a heap of keys, ordered by their numbers of servers.
type countHeap[K comparable] []*counted[K]

func (h countHeap[K]) Len() int           { return len(h) }
func (h countHeap[K]) Less(i, j int) bool { return h[i].Servers < h[j].Servers }
func (h countHeap[K]) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].at, h[j].at = i, j
}

// Push appends x, which must be a *counted[K]. Package heap calls it.
func (h *countHeap[K]) Push(x any) {
	one := x.(*counted[K])
	one.at = len(*h)
	*h = append(*h, one)
}

// Pop removes and returns the last element. Package heap calls it.
func (h *countHeap[K]) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
