package census

import (
	"encoding/binary"
	"sync"
)

// texts gives numbers to texts: a text has the same number in both censuses of a
// comparison. Number 0 means no text. Several goroutines may use it at once.
type texts struct {
	mu  sync.Mutex
	ids map[string]uint32
	all []string
}

func newTexts() *texts {
	return &texts{ids: map[string]uint32{"": 0}, all: []string{""}}
}

// id returns the number of a text.
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

// maxCached bounds a worker's cache. A full cache is emptied; frequent texts soon return.
const maxCached = 1 << 15

// cachedTexts caches numbers of texts for one goroutine.
type cachedTexts struct {
	shared *texts
	ids    map[string]uint32
}

// id returns the number of a text, cut to maxText bytes.
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

// maxText is how many bytes of a text count. Real texts are shorter.
const maxText = 1024

// cut shortens a text to at most so many bytes, without splitting a character.
func cut(s []byte, most int) []byte {
	if len(s) <= most {
		return s
	}
	for most > 0 && s[most]&0xC0 == 0x80 {
		most--
	}
	return s[:most]
}

// names holds the names of a census's servers. They are not shared, because most of
// them differ. The number of a name is the place of its length, which comes before it.
type names struct {
	mu     sync.Mutex
	chunks [][]byte
}

// nameChunk is how much memory is reserved at a time.
const nameChunk = 1 << 20

// nameWriter adds names; it serves one goroutine.
type nameWriter struct {
	to    *names
	chunk []byte
	base  uint32
}

// add returns the number of a name.
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

// get returns the name with a number. The caller must not change it.
func (n *names) get(at uint32) []byte {
	b := n.chunks[at/nameChunk][at%nameChunk:]
	length, skip := binary.Uvarint(b)
	return b[skip : skip+int(length)]
}
