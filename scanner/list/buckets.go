package list

import (
	"context"
	"slices"
	"sort"
)

// buckets collects numbers of 48 bits, sorts them and removes duplicates. The upper
// 16 bits of a number choose a bucket, which stores the lower 32: 4 bytes per
// number.
//
// While numbers are being collected, a bucket is a chain of chunks, which may lie
// anywhere in memory. The first bucket.sorted numbers of a bucket are sorted and
// distinct; the others are in order of arrival. merge sorts the others into the
// first part, removes duplicates and frees the chunks that are no longer needed. So
// the memory depends on the number of distinct numbers, however often each of them
// is added. pack moves the chunks together, in place. No step copies everything to
// a larger array, so there is no garbage.
type buckets struct {
	slabs [][]chunk
	next  []uint32 // for each chunk, the next chunk in its bucket or in the free chain
	used  uint32   // number of chunks taken from the slabs
	free  chain    // chunks that merge freed

	all   []bucket
	added uint64 // numbers added since the last merge
	limit uint64 // merge when added reaches it
	floor uint64 // minimum of limit: minMerge

	starts []uint64 // after pack: the index of each bucket's first number, and the end
}

// bucket is one chain of chunks.
type bucket struct {
	chain
	count  uint32 // number of numbers in the bucket
	sorted uint32 // how many of them, at the beginning, are sorted and distinct
}

// chain is a linked list of chunks. buckets.next holds the links.
type chain struct{ first, last, chunks uint32 }

// chunk is the unit of memory by which a bucket grows.
type chunk [chunkLen]uint32

const (
	chunkLen   = 16      // 64 bytes: a cache line
	slabLen    = 1 << 12 // chunks: 256 KiB
	numBuckets = 1 << 16

	// bucketStep is the number of buckets that a worker processes at a time.
	bucketStep = numBuckets / noteParts

	// minMerge is the minimum number of additions between merges: 4 MiB of memory.
	minMerge = 1 << 20
)

func newBuckets() *buckets {
	return &buckets{all: make([]bucket, numBuckets), limit: minMerge, floor: minMerge}
}

// add adds k and returns how many numbers were in its bucket before.
func (b *buckets) add(k uint64) (before uint32) {
	to := &b.all[k>>slotBits]
	before = to.count
	if before == to.chunks*chunkLen {
		b.link(&to.chain, b.newChunk())
	}
	to.count++
	b.added++
	b.chunk(to.last)[before%chunkLen] = uint32(k)
	return before
}

// full reports whether it is time to merge: the numbers added since the last merge,
// which may all be duplicates, take at least as much memory as the distinct numbers
// did then.
func (b *buckets) full() bool { return b.added >= b.limit }

// newChunk returns the index of an unused chunk.
func (b *buckets) newChunk() (i uint32) {
	if b.free.chunks > 0 {
		i = b.free.first
		b.free.first = b.next[i]
		b.free.chunks--
		return i
	}
	if b.used%slabLen == 0 {
		b.slabs = append(b.slabs, make([]chunk, slabLen))
	}
	b.next = append(b.next, 0)
	b.used++
	return b.used - 1
}

// link appends chunk i to a chain.
func (b *buckets) link(c *chain, i uint32) {
	if c.chunks == 0 {
		c.first = i
	} else {
		b.next[c.last] = i
	}
	c.last = i
	c.chunks++
}

func (b *buckets) chunk(i uint32) *chunk { return &b.slabs[i/slabLen][i%slabLen] }

// at returns the lower 32 bits of number i, where i counts the numbers of
// consecutive chunks. After pack, these are all numbers, in ascending order.
func (b *buckets) at(i uint64) uint32 { return b.chunk(uint32(i / chunkLen))[i%chunkLen] }

// len returns the number of numbers. It may be called only after pack.
func (b *buckets) len() uint64 {
	if b.starts == nil {
		return 0
	}
	return b.starts[numBuckets]
}

// bucketOf returns the bucket of the i-th number. It may be called only after pack.
func (b *buckets) bucketOf(i uint64) int {
	return sort.Search(numBuckets, func(k int) bool { return b.starts[k+1] > i })
}

// bytes returns the size of the memory that b holds, in bytes.
func (b *buckets) bytes() int {
	const perBucket = 5 * 4
	return len(b.slabs)*slabLen*chunkLen*4 + 4*cap(b.next) + perBucket*cap(b.all) + 8*cap(b.starts)
}

// A visitor is called for each bucket before it is merged: known holds the bucket's
// numbers from earlier merges, sorted; came holds the numbers added since, in order
// of arrival. It may be called for several buckets at the same time.
type visitor func(bucket int, known, came []uint32)

// merge sorts the added numbers into the others and removes duplicates. It calls
// visit, if that is not nil, for each bucket with added numbers. If ctx ends, merge
// returns early and b must no longer be used.
func (b *buckets) merge(ctx context.Context, visit visitor) error {
	freed := make([]chain, numBuckets/bucketStep)
	err := inParallel(ctx, len(freed), func() func(int) {
		m := merger{buckets: b, visit: visit}
		return func(step int) {
			for k := step * bucketStep; k < (step+1)*bucketStep; k++ {
				m.merge(k, &freed[step])
			}
		}
	})
	for _, c := range freed {
		b.splice(c)
	}
	distinct := uint64(0)
	for k := range b.all {
		distinct += uint64(b.all[k].count)
	}
	b.added, b.limit = 0, max(b.floor, distinct)
	return err
}

// splice adds the chunks of chain c to the free chunks.
func (b *buckets) splice(c chain) {
	switch {
	case c.chunks == 0:
	case b.free.chunks == 0:
		b.free = c
	default:
		b.next[c.last] = b.free.first
		b.free.first = c.first
		b.free.chunks += c.chunks
	}
}

// merger merges buckets one after the other and reuses its scratch memory.
type merger struct {
	*buckets
	visit           visitor
	numbers, merged []uint32
}

// merge merges bucket k and adds the chunks that are no longer needed to freed.
func (m *merger) merge(k int, freed *chain) {
	b := &m.all[k]
	if b.count == b.sorted {
		return
	}
	m.numbers = m.read(slices.Grow(m.numbers[:0], int(b.count)), b)
	known, came := m.numbers[:b.sorted], m.numbers[b.sorted:]
	if m.visit != nil {
		m.visit(k, known, came)
	}
	slices.Sort(came)
	m.merged = union(m.merged[:0], known, came)
	m.write(b, m.merged, freed)
}

// union appends the distinct numbers of a and b to dst. Both a and b must be
// sorted.
func union(dst, a, b []uint32) []uint32 {
	for len(a) > 0 && len(b) > 0 {
		v := min(a[0], b[0])
		dst = append(dst, v)
		a, b = behind(a, v), behind(b, v)
	}
	rest := a
	if len(a) == 0 {
		rest = b
	}
	for len(rest) > 0 {
		v := rest[0]
		dst = append(dst, v)
		rest = behind(rest, v)
	}
	return dst
}

// behind returns s without the leading numbers that are equal to v.
func behind(s []uint32, v uint32) []uint32 {
	for len(s) > 0 && s[0] == v {
		s = s[1:]
	}
	return s
}

// read appends the numbers of the bucket from to dst.
func (b *buckets) read(dst []uint32, from *bucket) []uint32 {
	left := from.count
	for i := from.first; left > 0; i = b.next[i] {
		n := min(chunkLen, left)
		dst = append(dst, b.chunk(i)[:n]...)
		left -= n
	}
	return dst
}

// write replaces the numbers of a bucket with the given ones, which must not be
// more than the bucket has now. It adds the chunks that are no longer needed to
// freed.
func (b *buckets) write(to *bucket, numbers []uint32, freed *chain) {
	old := to.chain
	to.chain = chain{}
	to.count, to.sorted = uint32(len(numbers)), uint32(len(numbers))
	i := old.first
	for range old.chunks {
		next := b.next[i]
		if len(numbers) > 0 {
			n := copy(b.chunk(i)[:], numbers)
			numbers = numbers[n:]
			b.link(&to.chain, i)
		} else {
			b.link(freed, i)
		}
		i = next
	}
}

// A filter returns the numbers of a bucket to keep; the result may share their
// memory. It may be called for several buckets at the same time.
type filter func(bucket int, numbers []uint32) []uint32

// pack moves all numbers together, so that at, len and bucketOf can be used. It
// must be called after the last merge. If keep is not nil, pack drops the numbers
// that keep does not return. If ctx ends, pack returns early and b must no longer
// be used.
func (b *buckets) pack(ctx context.Context, keep filter) error {
	chunks := b.gather()
	if keep != nil {
		err := inParallel(ctx, numBuckets/bucketStep, func() func(int) {
			var numbers []uint32
			return func(step int) {
				for k := step * bucketStep; k < (step+1)*bucketStep; k++ {
					numbers = b.filter(k, chunks[k], numbers, keep)
				}
			}
		})
		if err != nil {
			return err
		}
	}
	b.compact(chunks)
	return ctx.Err()
}

// gather moves the chunks of each bucket together, and returns the new index of
// each bucket's first chunk.
func (b *buckets) gather() (starts []uint32) {
	starts = make([]uint32, numBuckets)
	to := b.next // each link is read before it is overwritten
	at := uint32(0)
	for k := range b.all {
		starts[k] = at
		at = relocate(to, b.all[k].chain, at)
	}
	relocate(to, b.free, at)
	for i := range to {
		for j := to[i]; j != uint32(i); j = to[i] {
			*b.chunk(uint32(i)), *b.chunk(j) = *b.chunk(j), *b.chunk(uint32(i))
			to[i], to[j] = to[j], j
		}
	}
	b.next = nil
	return starts
}

// relocate replaces the link of each chunk of c with the chunk's new index: at for
// the first chunk, at+1 for the second, and so on. It returns the index after the
// last one.
func relocate(links []uint32, c chain, at uint32) (end uint32) {
	i := c.first
	for range c.chunks {
		next := links[i]
		links[i] = at
		i = next
		at++
	}
	return at
}

// filter drops the numbers of bucket k that keep does not return; start is the
// index of the bucket's first chunk. It returns scratch, which may have grown, for
// reuse.
func (b *buckets) filter(k int, start uint32, scratch []uint32, keep filter) []uint32 {
	n := uint64(b.all[k].count)
	scratch = scratch[:0]
	for i := range n {
		scratch = append(scratch, b.at(uint64(start)*chunkLen+i))
	}
	kept := keep(k, scratch)
	for i, v := range kept {
		b.chunk(start + uint32(i/chunkLen))[i%chunkLen] = v
	}
	b.all[k].count = uint32(len(kept))
	return scratch
}

// compact closes the gaps between the buckets and frees the slabs that are then
// unused. chunks holds the index of each bucket's first chunk.
func (b *buckets) compact(chunks []uint32) {
	b.starts = make([]uint64, numBuckets+1)
	at := uint64(0)
	for k := range b.all {
		b.starts[k] = at
		from := uint64(chunks[k]) * chunkLen
		for i := range uint64(b.all[k].count) {
			b.chunk(uint32(at / chunkLen))[at%chunkLen] = b.at(from + i)
			at++
		}
	}
	b.starts[numBuckets] = at
	b.all = nil
	used := (at + slabLen*chunkLen - 1) / (slabLen * chunkLen)
	clear(b.slabs[used:])
	b.slabs = b.slabs[:used]
}
