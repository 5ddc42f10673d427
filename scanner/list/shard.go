package list

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// Shard is one of Count parts of all addresses, so that several machines can share
// a scan. The zero value stands for all addresses.
//
// The part to which an address belongs depends only on the address and Count, and never
// changes. For the address a.b.c.d, the calculation is modulo 2^32 and begins with
// x = a<<24 | b<<16 | c<<8 | d:
//
//	x ^= x >> 16
//	x *= 0x85ebca6b
//	x ^= x >> 13
//	x *= 0xc2b2ae35
//	x ^= x >> 16
//	index = x * Count >> 32 (calculated with 64 bits)
//
// All ports of an address are in the same part, so that limits per address hold.
type Shard struct {
	Index int // from 0
	Count int // 0 or 1: all addresses
}

const maxShards = 1 << 16

// ParseShard reads "I/N", part I of N, where I is from 0 to N-1. With "auto/N", I
// is jobIndex, the index that a batch system gives to each of its jobs (the
// environment variables JOB_COMPLETION_INDEX and SLURM_ARRAY_TASK_ID). An empty s
// stands for all addresses.
func ParseShard(s, jobIndex string) (Shard, error) {
	if s == "" {
		return Shard{}, nil
	}
	index, count, ok := strings.Cut(s, "/")
	if !ok {
		return Shard{}, fmt.Errorf("shard %q: use I/N such as 0/16, or auto/16", s)
	}
	n, err := strconv.ParseUint(count, 10, 32)
	if err != nil || n == 0 || n > maxShards {
		return Shard{}, fmt.Errorf("shard %q: the number of parts must be from 1 to %d", s, maxShards)
	}
	if index == "auto" {
		if index = jobIndex; index == "" {
			return Shard{}, errors.New("shard auto: neither JOB_COMPLETION_INDEX nor SLURM_ARRAY_TASK_ID is set")
		}
	}
	i, err := strconv.ParseUint(index, 10, 32)
	if err != nil || i >= n {
		return Shard{}, fmt.Errorf("shard %q: the part is %q, but must be a number from 0 to %d", s, index, n-1)
	}
	return Shard{Index: int(i), Count: int(n)}, nil
}

// Has reports whether addr, which must be an IPv4 address, is in the part.
func (s Shard) Has(addr netip.Addr) bool { return s.has(ipOf(addr.Unmap())) }

func (s Shard) has(x uint32) bool {
	return s.Count <= 1 || int(uint64(shardHash(x))*uint64(s.Count)>>32) == s.Index
}

func shardHash(x uint32) uint32 {
	x ^= x >> 16
	x *= 0x85ebca6b
	x ^= x >> 13
	x *= 0xc2b2ae35
	x ^= x >> 16
	return x
}

// count returns how many addresses of a span are in the part. The result is wrong if ctx
// ends. No two addresses have the same hash, so the number of hashes in the part is the
// number of addresses. If the span has more than half of all addresses, count visits the
// addresses outside it.
func (s Shard) count(ctx context.Context, r span) (n uint64) {
	if s.Count <= 1 {
		return r.len()
	}
	from := func(index int) uint64 { return (uint64(index)<<32 + uint64(s.Count) - 1) / uint64(s.Count) }
	first, size := from(s.Index), from(s.Index+1)-from(s.Index) // the hashes in the part
	outside := r.len() > 1<<31
	if outside {
		r = span{r.last + 1, r.first - 1} // modulo 2^32
	}
	for i := range uint64(r.last - r.first + 1) {
		if shardHash(r.first+uint32(i))-uint32(first) < uint32(size) {
			n++
		}
		if i%maxTried == 0 && ctx.Err() != nil {
			break
		}
	}
	if outside {
		return size - n
	}
	return n
}

// String returns the part in the form that ParseShard reads; it is "0/1" for all
// addresses.
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, max(s.Count, 1)) }
