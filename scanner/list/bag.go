package list

import (
	"context"
	"runtime"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
)

// bag collects numbers of 48 bits and then sorts them, each once. The upper 16
// bits of a number choose a bucket, of which the lower 32 are kept: 4 bytes an
// element. While they are collected, a bucket is a number of chunks anywhere in
// memory; sort moves them together, in place. Nothing is ever copied to a larger
// array, so that there is no garbage: what is held is what was taken from the
// system, 4 bytes an element and 40 a bucket.
type bag struct {
	slabs [][]chunk
	owner []uint16 // the bucket of each chunk; those of one bucket are in order
	tail  []uint32 // the last chunk of each bucket
	count []uint32 // elements in each bucket

	starts []uint64 // after sort: where each bucket begins, and the end
}

// chunk is what a bucket grows by.
type chunk [chunkLen]uint32

const (
	chunkLen   = 8
	slabLen    = 1 << 13 // chunks: 256 KiB
	numBuckets = 1 << 16
)

func newBag() *bag {
	return &bag{tail: make([]uint32, numBuckets), count: make([]uint32, numBuckets)}
}

// add puts k in, and returns how many there were in its bucket.
func (b *bag) add(k uint64) (before uint32) {
	bucket := k >> 32
	before = b.count[bucket]
	if before%chunkLen == 0 {
		b.grow(bucket)
	}
	b.count[bucket] = before + 1
	b.chunk(b.tail[bucket])[before%chunkLen] = uint32(k)
	return before
}

func (b *bag) grow(bucket uint64) {
	if len(b.owner)%slabLen == 0 {
		b.slabs = append(b.slabs, make([]chunk, slabLen))
	}
	b.tail[bucket] = uint32(len(b.owner))
	b.owner = append(b.owner, uint16(bucket))
}

func (b *bag) chunk(i uint32) *chunk { return &b.slabs[i/slabLen][i%slabLen] }

// at returns the lower 32 bits of the i-th number of a sorted bag.
func (b *bag) at(i uint64) uint32 { return b.chunk(uint32(i / chunkLen))[i%chunkLen] }

// len returns how many numbers a sorted bag has.
func (b *bag) len() uint64 {
	if b.starts == nil {
		return 0
	}
	return b.starts[numBuckets]
}

// bucketOf returns the bucket of the i-th number of a sorted bag.
func (b *bag) bucketOf(i uint64) int {
	return sort.Search(numBuckets, func(k int) bool { return b.starts[k+1] > i })
}

// bytes is what b holds.
func (b *bag) bytes() int {
	return len(b.slabs)*slabLen*chunkLen*4 + 2*cap(b.owner) +
		4*(cap(b.tail)+cap(b.count)) + 8*cap(b.starts)
}

// A settler looks at a bucket while it is sorted: came is what was put in, in
// that order, left is that sorted, each once. It returns what to keep of left.
// Several buckets are settled at once.
type settler func(bucket int, came, left []uint32) []uint32

// sort puts all in order, each number once. The bag takes no more after that.
// It ends early, with nothing of use, when ctx is done.
func (b *bag) sort(ctx context.Context, settle settler) error {
	chunks := b.gatherChunks()
	var next atomic.Uint64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			var s sorter
			for ctx.Err() == nil {
				first := next.Add(sortStep) - sortStep
				if first >= numBuckets {
					return
				}
				for k := first; k < first+sortStep; k++ {
					b.count[k] = s.bucket(b, int(k), chunks[k], settle)
				}
			}
		})
	}
	workers.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	b.compact(chunks)
	return nil
}

// sortStep is how many buckets a worker takes at once.
const sortStep = 256

// gatherChunks moves the chunks of each bucket together, and returns where each
// bucket begins.
func (b *bag) gatherChunks() (starts []uint32) {
	starts = make([]uint32, numBuckets)
	for _, k := range b.owner {
		starts[k]++
	}
	at := uint32(0)
	for k, n := range starts {
		starts[k] = at
		at += n
	}
	to := make([]uint32, len(b.owner))
	next := slices.Clone(starts)
	for i, k := range b.owner {
		to[i] = next[k]
		next[k]++
	}
	b.owner, b.tail = nil, nil
	for i := range to {
		for j := to[i]; j != uint32(i); j = to[i] {
			*b.chunk(uint32(i)), *b.chunk(j) = *b.chunk(j), *b.chunk(uint32(i))
			to[i], to[j] = to[j], j
		}
	}
	return starts
}

// sorter has the memory for one bucket.
type sorter struct{ came, left []uint32 }

// bucket sorts one bucket and returns how many are left of it.
func (s *sorter) bucket(b *bag, k int, start uint32, settle settler) uint32 {
	n := b.count[k]
	if n == 0 {
		return 0
	}
	s.came = s.came[:0]
	for i := uint32(0); i < n; i += chunkLen {
		c := b.chunk(start + i/chunkLen)
		s.came = append(s.came, c[:min(chunkLen, n-i)]...)
	}
	s.left = append(s.left[:0], s.came...)
	slices.Sort(s.left)
	left := settle(k, s.came, slices.Compact(s.left))
	for i, v := range left {
		b.chunk(start + uint32(i/chunkLen))[i%chunkLen] = v
	}
	return uint32(len(left))
}

// compact closes the gaps between the buckets and gives back what is behind
// the last.
func (b *bag) compact(chunks []uint32) {
	b.starts = make([]uint64, numBuckets+1)
	at := uint64(0)
	for k, n := range b.count {
		b.starts[k] = at
		from := uint64(chunks[k]) * chunkLen
		for i := range uint64(n) {
			b.chunk(uint32(at / chunkLen))[at%chunkLen] = b.at(from + i)
			at++
		}
	}
	b.starts[numBuckets] = at
	b.count = nil
	used := (at + slabLen*chunkLen - 1) / (slabLen * chunkLen)
	clear(b.slabs[used:])
	b.slabs = b.slabs[:used]
}
