package list

import (
	"math/rand/v2"
)

// addrSet is a set of packed addresses and ports, of 48 bits each. The zero value
// is an empty set.
//
// A reversible function scatters each element. The upper 16 bits of the result
// choose one of many small tables, which stores the lower 32. A table that has
// grown is between half and three quarters full, so an element takes 5 to 8 bytes;
// the first element allocates 2 MiB. A Go map takes 22 to 30 bytes per element and
// is no faster. Each table grows on its own, by half, so that no step takes long
// and only one table at a time exists twice.
type addrSet struct {
	tables         []table // 1 << 16 tables; nil in an empty set
	n              int
	key, mul, mul2 uint64 // random, so that no list can fill a single table
}

const (
	keyBits  = 48
	keyMask  = 1<<keyBits - 1
	slotBits = 32
	minSlots = 8
)

// add adds k and reports whether it is new.
func (s *addrSet) add(k uint64) bool {
	if s.tables == nil {
		s.init()
	}
	k = s.scatter(k)
	if !s.tables[k>>slotBits].add(uint32(k)) {
		return false
	}
	s.n++
	return true
}

// has reports whether k is in the set.
func (s *addrSet) has(k uint64) bool {
	if s.tables == nil {
		return false
	}
	k = s.scatter(k)
	t := &s.tables[k>>slotBits]
	if uint32(k) == 0 {
		return t.zero
	}
	return len(t.slots) > 0 && t.slots[t.find(uint32(k))] != 0
}

func (s *addrSet) init() {
	s.tables = make([]table, 1<<(keyBits-slotBits))
	s.key = rand.Uint64()
	s.mul = rand.Uint64() | 1
	s.mul2 = rand.Uint64() | 1
}

// scatter is a permutation of the 48-bit numbers: every step is reversible (odd
// factors modulo 2^48, shifts by half the width).
func (s *addrSet) scatter(k uint64) uint64 {
	k = (k ^ s.key) * s.mul & keyMask
	k ^= k >> (keyBits / 2)
	k = k * s.mul2 & keyMask
	return k ^ k>>(keyBits/2)
}

// table is a set of numbers with open addressing; 0 marks an empty slot.
type table struct {
	slots []uint32
	used  uint32
	zero  bool // 0 itself is in the set
}

func (t *table) add(v uint32) bool {
	if v == 0 {
		isNew := !t.zero
		t.zero = true
		return isNew
	}
	if int(t.used)*4 >= len(t.slots)*3 {
		t.grow()
	}
	i := t.find(v)
	if t.slots[i] == v {
		return false
	}
	t.slots[i] = v
	t.used++
	return true
}

// find returns the slot of v, or the empty slot where v belongs. There always is an
// empty slot.
func (t *table) find(v uint32) int {
	i := int(uint64(v) * uint64(len(t.slots)) >> slotBits)
	for t.slots[i] != 0 && t.slots[i] != v {
		if i++; i == len(t.slots) {
			i = 0
		}
	}
	return i
}

func (t *table) grow() {
	old := t.slots
	t.slots = make([]uint32, max(minSlots, len(old)+len(old)/2))
	for _, v := range old {
		if v != 0 {
			t.slots[t.find(v)] = v
		}
	}
}
