package census

import (
	"encoding/binary"
	"sync"
)

// texts assigns numbers to strings: a string has the same number in both censuses
// of a comparison. Number 0 is the empty string. Several goroutines may use it at
// once.
type texts struct {
	mu  sync.Mutex
	ids map[string]uint32
	all []string
}

func newTexts() *texts {
	return &texts{ids: map[string]uint32{"": 0}, all: []string{""}}
}

// id returns the number of s, and s as a string.
func (t *texts) id(s []byte) (uint32, string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if id, ok := t.ids[string(s)]; ok {
		return id, t.all[id]
	}
	id, text := uint32(len(t.all)), string(s)
	t.ids[text], t.all = id, append(t.all, text)
	return id, text
}

// maxCached is the maximum number of entries in a worker's cache. A full cache is
// emptied; frequent strings soon return.
const maxCached = 1 << 15

// cachedTexts caches the numbers of strings for one goroutine.
type cachedTexts struct {
	shared *texts
	ids    map[string]uint32
}

// id returns the number of s, cut to maxText bytes.
func (c *cachedTexts) id(s []byte) uint32 {
	s = cut(s, maxText)
	if id, ok := c.ids[string(s)]; ok {
		return id
	}
	id, text := c.shared.id(s)
	if c.ids == nil || len(c.ids) >= maxCached {
		c.ids = map[string]uint32{}
	}
	c.ids[text] = id
	return id
}

// maxText is the maximum length of a string in bytes; the rest is cut off. Real
// strings are shorter.
const maxText = 1024

// cut shortens s to most bytes or less, without splitting a character.
func cut(s []byte, most int) []byte {
	if len(s) <= most {
		return s
	}
	for most > 0 && s[most]&0xC0 == 0x80 {
		most--
	}
	return s[:most]
}

// names holds the names of a census's servers. They are not shared between
// censuses, because most of them differ. The number of a name is the offset of its
// length, which is stored before it.
type names struct {
	mu     sync.Mutex
	chunks [][]byte
}

// nameChunk is the number of bytes that are allocated at a time.
const nameChunk = 1 << 20

// nameWriter adds names; it serves one goroutine.
type nameWriter struct {
	to    *names
	chunk []byte
	base  uint32
}

// add stores a name, cut to maxText bytes, and returns its number.
func (w *nameWriter) add(name []byte) uint32 {
	name = cut(name, maxText)
	if cap(w.chunk)-len(w.chunk) < len(name)+binary.MaxVarintLen16 {
		w.grow()
	}
	at := w.base + uint32(len(w.chunk))
	w.chunk = binary.AppendUvarint(w.chunk, uint64(len(name)))
	w.chunk = append(w.chunk, name...)
	return at
}

func (w *nameWriter) grow() {
	w.chunk = make([]byte, 0, nameChunk)
	w.to.mu.Lock()
	defer w.to.mu.Unlock()
	w.base = uint32(len(w.to.chunks)) * nameChunk
	w.to.chunks = append(w.to.chunks, w.chunk[:nameChunk])
}

// get returns the name with the number at. The caller must not change it.
func (n *names) get(at uint32) []byte {
	b := n.chunks[at/nameChunk][at%nameChunk:]
	length, skip := binary.Uvarint(b)
	return b[skip : skip+int(length)]
}
