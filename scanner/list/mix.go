package list

import "math/bits"

// keyStream makes keys of a seed: the generator SplitMix64.
type keyStream uint64

func (s *keyStream) next() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// rounds is how often a number is multiplied and folded. After three, whether
// two neighbours differ in a bit is as good as tossed.
const rounds = 3

// perm is a permutation of the numbers below size, which is at most 1<<32. The
// numbers below the next power of two are permuted by steps that can be
// reversed: odd factors, sums, and a shift by half the width. What comes out
// too large goes in again, until it doesn't (on average at most twice).
type perm struct {
	size  uint64
	mask  uint64
	shift int
	mul   [rounds]uint64
	add   [rounds]uint64
}

func newPerm(size uint64, keys *keyStream) perm {
	width := bits.Len64(max(size, 1) - 1)
	p := perm{size: size, mask: 1<<width - 1, shift: (width + 1) / 2}
	for i := range rounds {
		p.mul[i] = keys.next() | 1
		p.add[i] = keys.next()
	}
	return p
}

// at returns what x, which is below size, is mapped to.
func (p *perm) at(x uint64) uint64 {
	for {
		for i := range rounds {
			x = (x*p.mul[i] + p.add[i]) & p.mask
			x ^= x >> p.shift
		}
		if x < p.size {
			return x
		}
	}
}

// scatterer maps targets to numbers of 48 bits, each to another, in whose order
// a list is given out. It is chosen by the seed alone.
//
// The upper 32 bits are those of the address, permuted, and for each port
// farther by a step that divides the circle of the numbers in the golden ratio:
// any two of n neighbouring ports of an address are then more than a third of
// an n-th of the list apart. The lower 16 bits are the port.
type scatterer struct {
	mul, add, inverse [rounds]uint32
}

// goldenStep is 2^32 divided by the golden ratio, and odd.
const goldenStep = 0x9e3779b9

func newScatterer(keys *keyStream) scatterer {
	var s scatterer
	for i := range rounds {
		s.mul[i] = uint32(keys.next()) | 1
		s.add[i] = uint32(keys.next())
		s.inverse[i] = inverse(s.mul[i])
	}
	return s
}

// inverse is that of an odd number modulo 2^32, by Newton's method: each step
// doubles the bits that are right, and a number is its own inverse modulo 8.
func inverse(odd uint32) uint32 {
	x := odd
	for range 4 {
		x *= 2 - odd*x
	}
	return x
}

func (s *scatterer) scatter(ip uint32, port uint16) uint64 {
	return uint64(s.hash(ip)+uint32(port)*goldenStep)<<16 | uint64(port)
}

// gather is the reverse of scatter.
func (s *scatterer) gather(k uint64) (ip uint32, port uint16) {
	port = uint16(k)
	ip = uint32(k>>16) - uint32(port)*goldenStep
	for i := rounds - 1; i >= 0; i-- {
		ip ^= ip >> 16
		ip = (ip - s.add[i]) * s.inverse[i]
	}
	return ip, port
}

// hash permutes addresses.
func (s *scatterer) hash(ip uint32) uint32 {
	for i := range rounds {
		ip = ip*s.mul[i] + s.add[i]
		ip ^= ip >> 16
	}
	return ip
}
