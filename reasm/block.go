package reasm

import "bytes"

// A datagram is stored in a chain of blocks. All blocks have the same size, so that a
// freed block can be reused for any datagram. A block holds blockData bytes.
const (
	blockSize = 512
	blockData = blockSize - 32
)

// block is a piece of a datagram. The first block of a chain represents the datagram.
// The other blocks use only block.data and block.more.
type block struct {
	more   *block // the next piece of the same datagram
	later  *block // the next datagram of the same group, in order of arrival
	sum    uint64 // digest of the datagram
	size   int32  // bytes of the datagram
	number uint8  // fragment number, or 0 until the group's layout is known
	data   [blockData]byte
}

// head returns the beginning of the datagram, which includes all of its headers.
func (b *block) head() []byte { return b.data[:min(int(b.size), blockData)] }

// appendTo appends the datagram to dst without its first skip bytes, which must lie in the
// first block.
func (b *block) appendTo(dst []byte, skip int) []byte {
	left := int(b.size)
	for p := b; p != nil; p = p.more {
		n := min(left, blockData)
		dst = append(dst, p.data[skip:n]...)
		left -= n
		skip = 0
	}
	return dst
}

// begins reports whether the datagram is a prefix of another datagram, which must have at
// least b.size bytes.
func (b *block) begins(longer []byte) bool {
	left := longer[:b.size]
	for p := b; p != nil; p = p.more {
		n := min(len(left), blockData)
		if !bytes.Equal(p.data[:n], left[:n]) {
			return false
		}
		left = left[n:]
	}
	return true
}

// memory allocates the blocks and groups of a shard, and keeps free lists of unused ones.
// The shard's lock guards it.
type memory struct {
	used int64 // bytes in use
	idle int64 // bytes in the free lists
	// If the free lists already hold this many bytes, further freed blocks and groups go to
	// the garbage collector.
	maxIdle int64
	blocks  *block // free list
	groups  *group // free list
}

// store copies a datagram into a chain of blocks and returns the first block. Its second
// argument, sum, is the digest of the datagram.
func (m *memory) store(b []byte, sum uint64) *block {
	first := m.block()
	first.sum, first.size = sum, int32(len(b))
	n := copy(first.data[:], b)
	for last := first; n < len(b); last = last.more {
		last.more = m.block()
		n += copy(last.more.data[:], b[n:])
	}
	return first
}

func (m *memory) block() *block {
	m.used += blockSize
	b := m.blocks
	if b == nil {
		return new(block)
	}
	m.blocks = b.more
	m.idle -= blockSize
	b.more = nil
	return b
}

func (m *memory) freeBlocks(b *block) {
	for b != nil {
		next := b.more
		b.more, b.later = nil, nil
		m.used -= blockSize
		if m.idle < m.maxIdle {
			b.more = m.blocks
			m.blocks = b
			m.idle += blockSize
		}
		b = next
	}
}

func (m *memory) group() *group {
	m.used += groupCost
	g := m.groups
	if g == nil {
		return new(group)
	}
	m.groups = g.sibling
	m.idle -= groupCost
	g.sibling = nil
	return g
}

func (m *memory) freeGroup(g *group) {
	*g = group{}
	m.used -= groupCost
	if m.idle < m.maxIdle {
		g.sibling = m.groups
		m.groups = g
		m.idle += groupCost
	}
}
