package list

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/gaissmai/bart"
)

// blocks holds networks and ranges as they were named: consecutive addresses with
// one or more ports each. Its memory depends on the number of blocks, not on how
// many targets they have.
type blocks struct {
	sets   []portSet
	known  map[string]int
	recent *Ports // the ports of the block that was added last
	set    int    // the index in sets of recent
	n      int    // number of blocks added, including those that take no memory
	texts  textStore
}

// portSet is a set of ports, and the blocks that have these ports.
type portSet struct {
	ports Ports
	spans []span
	nets  bart.Table[blockAt] // maps each network to the first block that contains it
}

// blockAt identifies a block and its labels.
type blockAt struct {
	index int
	text  uint64 // the number of its labels in texts
}

// add adds a block. A block whose targets are all in earlier blocks takes no
// memory.
func (bs *blocks) add(s span, ports *Ports, text labels) {
	bs.n++
	if bs.covers(s, ports) {
		return
	}
	set := &bs.sets[bs.setOf(ports)]
	set.spans = append(set.spans, s)
	at := blockAt{bs.n, bs.texts.add(text)}
	for p := range s.prefixes() {
		if _, inside := set.nets.LookupPrefix(p); !inside {
			set.nets.Insert(p, at)
		}
	}
}

// maxCovering is the maximum number of port sets that coversAt searches.
const maxCovering = 16

// covers reports whether all targets of a block are in earlier blocks. The search
// is limited, so it may report false although they are.
func (bs *blocks) covers(s span, ports *Ports) bool {
	if bs.recent == ports {
		return bs.sets[bs.set].covers(s)
	}
	for _, port := range ports.list {
		if !bs.coversAt(s, port) {
			return false
		}
	}
	return true
}

func (bs *blocks) coversAt(s span, port uint16) bool {
	for i := range bs.sets[:min(maxCovering, len(bs.sets))] {
		set := &bs.sets[i]
		if set.ports.Contains(port) && set.covers(s) {
			return true
		}
	}
	return false
}

// covers reports whether all addresses of s are in blocks of the set.
func (set *portSet) covers(s span) bool {
	for p := range s.prefixes() {
		if _, inside := set.nets.LookupPrefix(p); !inside {
			return false
		}
	}
	return true
}

// setOf returns the index of the set with the ports in p, regardless of their
// order. If there is none, it adds one.
func (bs *blocks) setOf(p *Ports) int {
	if p == bs.recent {
		return bs.set
	}
	list := slices.Clone(p.list)
	slices.Sort(list)
	key := listKey(list)
	i, ok := bs.known[key]
	if !ok {
		if bs.known == nil {
			bs.known = map[string]int{}
		}
		i = len(bs.sets)
		bs.known[key] = i
		bs.sets = append(bs.sets, portSet{ports: Ports{list: list, has: p.has}})
	}
	bs.recent, bs.set = p, i
	return i
}

func listKey[T uint16 | int](list []T) string {
	b := make([]byte, 0, 4*len(list))
	for _, v := range list {
		b = binary.BigEndian.AppendUint32(b, uint32(v))
	}
	return string(b)
}

// find returns the first block that contains a target.
func (bs *blocks) find(ip uint32, port uint16) (at blockAt, found bool) {
	for i := range bs.sets {
		set := &bs.sets[i]
		if !set.ports.Contains(port) {
			continue
		}
		if b, ok := set.nets.Lookup(addrOf(ip)); ok && (!found || b.index < at.index) {
			at, found = b, true
		}
	}
	return at, found
}

// labels returns the labels of the first block that contains a target, or empty
// labels if no block does.
func (bs *blocks) labels(ip uint32, port uint16) labels {
	if bs.texts.size == 0 {
		return labels{}
	}
	at, _ := bs.find(ip, port)
	return bs.texts.get(at.text)
}

// has reports whether a block contains a target.
func (bs *blocks) has(ip uint32, port uint16) bool {
	_, found := bs.find(ip, port)
	return found
}

// inStretch reports whether one of the stretches in all, which must be in order,
// contains a target.
func inStretch(all []stretch, ip uint32, port uint16) bool {
	i, found := slices.BinarySearchFunc(all, ip, func(s stretch, ip uint32) int {
		return cmp.Compare(s.last, ip)
	})
	if !found && (i == len(all) || all[i].first > ip) {
		return false
	}
	_, found = slices.BinarySearch(all[i].ports, port)
	return found
}

// with appends to sets the indexes of the port sets that contain port.
func (bs *blocks) with(sets []int, port uint16) []int {
	for i := range bs.sets {
		if bs.sets[i].ports.Contains(port) {
			sets = append(sets, i)
		}
	}
	return sets
}

// holes returns the parts of s that are in blocks of the given port sets, sorted
// and without overlaps.
func (bs *blocks) holes(sets []int, s span) (holes []span) {
	for _, i := range sets {
		nets := &bs.sets[i].nets
		for p := range s.prefixes() {
			if _, inside := nets.LookupPrefix(p); inside {
				holes = append(holes, spanOf(p))
				continue
			}
			for q := range nets.Subnets(p) {
				holes = append(holes, spanOf(q))
			}
		}
	}
	return joined(holes)
}

// joined sorts spans and merges those that overlap or touch.
func joined(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.first, b.first) })
	out := spans[:0]
	for _, s := range spans {
		if n := len(out); n > 0 && uint64(s.first) <= uint64(out[n-1].last)+1 {
			out[n-1].last = max(out[n-1].last, s.last)
		} else {
			out = append(out, s)
		}
	}
	return out
}

// without appends to out the parts of s outside the holes. The holes must be sorted
// and must not overlap (see joined).
func without(out []span, s span, holes []span) []span {
	for _, h := range holes {
		if h.first > s.first {
			out = append(out, span{s.first, h.first - 1})
		}
		if h.last >= s.last {
			return out
		}
		s.first = h.last + 1
	}
	return append(out, s)
}

// stretch is a span of addresses that have the same ports.
type stretch struct {
	span
	ports []uint16 // in ascending order
}

// edge is the first address of a block, or the address after its last one.
type edge struct {
	at  uint64
	set int
}

// stretches returns all addresses of the blocks, in ascending order, with all ports
// that an address has in any block. The result depends only on the targets, not on
// how they were divided into blocks.
func (bs *blocks) stretches() (out []stretch) {
	edges := bs.edges()
	unions := map[string][]uint16{}
	var open []int // indexes of the sets that contain e.at, in ascending order
	for i, e := range edges {
		at, there := slices.BinarySearch(open, e.set)
		if there {
			open = slices.Delete(open, at, at+1)
		} else {
			open = slices.Insert(open, at, e.set)
		}
		if len(open) == 0 || edges[i+1].at == e.at {
			continue
		}
		key := listKey(open)
		if _, ok := unions[key]; !ok {
			unions[key] = bs.union(open)
		}
		s := span{uint32(e.at), uint32(edges[i+1].at - 1)}
		out = append(out, stretch{s, unions[key]})
	}
	return out
}

// edges returns the edges of the blocks of all sets, in ascending order. It merges
// overlapping blocks of a set first.
func (bs *blocks) edges() (edges []edge) {
	for i := range bs.sets {
		set := &bs.sets[i]
		set.spans = joined(set.spans)
		for _, s := range set.spans {
			edges = append(edges, edge{uint64(s.first), i}, edge{uint64(s.last) + 1, i})
		}
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
	return edges
}

// union returns the ports of several sets, in ascending order and without
// duplicates.
func (bs *blocks) union(sets []int) (ports []uint16) {
	for _, i := range sets {
		ports = append(ports, bs.sets[i].ports.list...)
	}
	slices.Sort(ports)
	return slices.Compact(ports)
}
