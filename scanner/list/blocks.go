package list

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/gaissmai/bart"
)

// blocks holds the networks and ranges that the user named. A block is a sequence of
// consecutive addresses with one or more ports each.
type blocks struct {
	sets     []portSet
	known    map[string]int  // maps the ports of a set, 2 bytes each, to the index of the set in blocks.sets
	recent   map[*uint16]int // maps the address of the first element of a slice of ports to the index of their set
	n        int             // number of blocks added
	labelled bool            // at least one block has labels
}

// portSet is a set of ports, and the blocks that have these ports.
type portSet struct {
	ports []uint16               // in ascending order
	nets  bart.Table[firstBlock] // maps each network to the first block that contains it
}

// firstBlock identifies a block and its labels.
type firstBlock struct {
	index  int
	labels *labels
}

// add adds a block. A network takes no memory if it is inside a network that was added
// before with the same ports.
func (bs *blocks) add(s span, ports []uint16, text *labels) {
	bs.n++
	bs.labelled = bs.labelled || text != nil
	set := &bs.sets[bs.index(ports)]
	for p := range s.prefixes() {
		if _, inside := set.nets.LookupPrefix(p); !inside {
			set.nets.Insert(p, firstBlock{bs.n, text})
		}
	}
}

// index returns the index in bs.sets of the set with these ports. It adds the set if
// there is none. Most blocks share a slice of ports, whose set is in bs.recent.
func (bs *blocks) index(ports []uint16) int {
	if i, ok := bs.recent[&ports[0]]; ok {
		return i
	}
	sorted := slices.Clone(ports)
	slices.Sort(sorted)
	bytes := make([]byte, 0, 2*len(sorted))
	for _, port := range sorted {
		bytes = binary.NativeEndian.AppendUint16(bytes, port)
	}
	key := string(bytes)
	i, ok := bs.known[key]
	if bs.known == nil {
		bs.known, bs.recent = map[string]int{}, map[*uint16]int{}
	}
	if !ok {
		i = len(bs.sets)
		bs.known[key] = i
		bs.sets = append(bs.sets, portSet{ports: sorted})
	}
	if len(bs.recent) >= maxPortLists {
		clear(bs.recent)
	}
	bs.recent[&ports[0]] = i
	return i
}

// find returns the first block that contains a target.
func (bs *blocks) find(ip uint32, port uint16) (first firstBlock, found bool) {
	for i := range bs.sets {
		set := &bs.sets[i]
		if _, there := slices.BinarySearch(set.ports, port); !there {
			continue
		}
		if b, ok := set.nets.Lookup(addrOf(ip)); ok && (!found || b.index < first.index) {
			first, found = b, true
		}
	}
	return first, found
}

// stretch is a span of addresses that have the same ports.
type stretch struct {
	span
	ports []uint16 // in ascending order
}

// stretches returns the addresses of all blocks in ascending order. If several blocks
// contain an address, the address has the ports of all of them.
func (bs *blocks) stretches() (out []stretch) {
	// edge marks the first address of a network, or the address after its last one.
	type edge struct {
		at  uint64
		set int
		by  int // 1 for the first address, -1 for the address after the last one
	}
	var edges []edge
	for i := range bs.sets {
		for p := range bs.sets[i].nets.All() {
			s := spanOf(p)
			edges = append(edges, edge{uint64(s.first), i, 1}, edge{uint64(s.last) + 1, i, -1})
		}
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
	unions := map[string][]uint16{}
	open := map[int]int{} // for each set, how many of its networks contain the address of the edge
	for i, e := range edges {
		if open[e.set] += e.by; open[e.set] == 0 {
			delete(open, e.set)
		}
		if len(open) == 0 || edges[i+1].at == e.at {
			continue
		}
		sets := slices.Sorted(maps.Keys(open))
		key := fmt.Sprint(sets)
		if unions[key] == nil {
			var ports []uint16
			for _, i := range sets {
				ports = append(ports, bs.sets[i].ports...)
			}
			slices.Sort(ports)
			unions[key] = slices.Compact(ports)
		}
		out = append(out, stretch{span{uint32(e.at), uint32(edges[i+1].at - 1)}, unions[key]})
	}
	return out
}
