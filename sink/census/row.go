package census

import (
	"bytes"
	"cmp"
	"net/netip"
	"slices"
	"sync"
)

// row is what a table keeps of a server. It has 120 bytes and no pointers, because
// there may be millions of rows.
type row struct {
	key     uint64 // see keyOf; 0: no address
	at      int64  // Unix time in milliseconds
	steam   uint64
	players uint64 // hash of the list; 0: none, or empty
	rules   uint64
	mods    uint64

	name                             uint32 // number in names
	game, gameText                   uint32 // numbers in texts
	level, version, mode, scan       uint32
	asn, people, bots, capacity, rtt uint32 // rtt in microseconds
	has                              facts
	flags                            uint16
	country                          [2]byte
	system                           byte // see systemOf
	status                           status
	open                             questions
	errors                           [numQuestions]uint8
	source                           modSource
	pvp                              bool
	old                              bool  // in the old census of a comparison
	farm                             int32 // in a comparison: number of the farm, from 1; 0: none
}

// keyOf packs an IPv4 address and port into 48 bits, and sets bit 48. It returns 0
// for any other address.
func keyOf(a netip.AddrPort) uint64 {
	ip := a.Addr().Unmap()
	if !ip.Is4() {
		return 0
	}
	b := ip.As4()
	return 1<<48 | uint64(b[0])<<40 | uint64(b[1])<<32 | uint64(b[2])<<24 | uint64(b[3])<<16 | uint64(a.Port())
}

// addrOf is the reverse of keyOf.
func addrOf(key uint64) netip.AddrPort {
	ip := netip.AddrFrom4([4]byte{byte(key >> 40), byte(key >> 32), byte(key >> 24), byte(key >> 16)})
	return netip.AddrPortFrom(ip, uint16(key))
}

// ipOf and networkOf return the IP address of a key, and its /24.
func ipOf(key uint64) uint32      { return uint32(key >> 16) }
func networkOf(key uint64) uint32 { return uint32(key>>16) &^ 0xFF }

// table is a census in memory: a row for each address, sorted by address. Rows
// without an address come first.
type table struct {
	texts *texts
	names names
	orgs  map[uint32]uint32 // by autonomous system: number of the owner's name in texts

	mu         sync.Mutex
	chunks     [][]row
	rows       []*row
	duplicates uint64
	bad        uint64 // lines that are not records
}

// rowChunk is the number of rows that are allocated at a time.
const rowChunk = 1 << 12

// rowWriter adds rows; it serves one goroutine.
type rowWriter struct {
	to    *table
	chunk []row
}

// add returns a new row to fill.
func (w *rowWriter) add() *row {
	if len(w.chunk) == cap(w.chunk) {
		w.flush()
		w.chunk = make([]row, 0, rowChunk)
	}
	w.chunk = w.chunk[:len(w.chunk)+1]
	return &w.chunk[len(w.chunk)-1]
}

// flush hands the rows over to the table.
func (w *rowWriter) flush() {
	if len(w.chunk) == 0 {
		return
	}
	w.to.mu.Lock()
	defer w.to.mu.Unlock()
	w.to.chunks = append(w.to.chunks, w.chunk)
	w.chunk = nil
}

// sort orders the rows with compare, and keeps the first row of each address.
func (t *table) sort() {
	n := 0
	for _, chunk := range t.chunks {
		n += len(chunk)
	}
	t.rows = make([]*row, 0, n)
	for _, chunk := range t.chunks {
		for i := range chunk {
			t.rows = append(t.rows, &chunk[i])
		}
	}
	slices.SortFunc(t.rows, t.compare)
	kept := t.rows[:0]
	for i, r := range t.rows {
		if r.key != 0 && i > 0 && r.key == t.rows[i-1].key {
			t.duplicates++
			continue
		}
		kept = append(kept, r)
	}
	t.rows = kept
}

// compare orders rows by address. For the same address, an answer comes before silence,
// then a later record before an earlier one. The other comparisons make the result
// independent of the order of the files.
func (t *table) compare(a, b *row) int {
	if a.key != b.key {
		return cmp.Compare(a.key, b.key)
	}
	return cmp.Or(
		-cmpBool(a.status.answered(), b.status.answered()),
		-cmp.Compare(a.at, b.at),
		-cmp.Compare(a.status, b.status),
		cmp.Compare(a.players, b.players),
		cmp.Compare(a.rules, b.rules),
		cmp.Compare(a.mods, b.mods),
		cmp.Compare(a.steam, b.steam),
		cmp.Compare(a.people, b.people),
		cmp.Compare(a.rtt, b.rtt),
		bytes.Compare(t.nameOf(a), t.nameOf(b)),
		cmp.Compare(t.text(a.level), t.text(b.level)),
		cmp.Compare(t.text(a.version), t.text(b.version)),
	)
}

func cmpBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

func (t *table) text(id uint32) string { return t.texts.all[id] }

// nameOf returns a server's name. If it is not UTF-8, a NUL and its hex form follow, so
// that different names differ.
func (t *table) nameOf(r *row) []byte {
	if r.has&hasName == 0 {
		return nil
	}
	return t.names.get(r.name)
}
