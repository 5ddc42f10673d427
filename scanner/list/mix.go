package list

import "math/bits"

// keyStream derives keys from a seed with the SplitMix64 generator.
type keyStream uint64

func (s *keyStream) next() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// rounds is how many times a perm repeats its three steps. After three rounds, the results
// for two neighbouring numbers differ in about half of their bits.
const rounds = 3

// perm is a permutation of the numbers below size, which is at most 1<<32. It
// permutes the numbers below the next power of two in reversible steps:
// multiplication by odd factors, addition, and an exclusive or with the number
// shifted by half the width. A result that is not below size is permuted again
// until it is below size, which takes at most two permutations on average.
type perm struct {
	size    uint64
	mask    uint64
	shift   int
	mul     [rounds]uint64
	add     [rounds]uint64
	inverse [rounds]uint64 // inverses of mul, modulo 2^64
}

func newPerm(size uint64, keys *keyStream) perm {
	width := bits.Len64(max(size, 1) - 1)
	p := perm{size: size, mask: 1<<width - 1, shift: (width + 1) / 2}
	for i := range rounds {
		p.mul[i] = keys.next() | 1
		p.add[i] = keys.next()
		// Newton's method: an odd number is its own inverse modulo 8, and each step doubles
		// the number of correct bits.
		p.inverse[i] = p.mul[i]
		for range 5 {
			p.inverse[i] *= 2 - p.mul[i]*p.inverse[i]
		}
	}
	return p
}

// at returns the number that x is mapped to; x must be below size.
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

// scatterer maps each target to a different number of 48 bits. Listed targets are
// yielded in the order of these numbers. The mapping depends only on the seed.
//
// The upper 32 bits are the permuted address, plus the port times goldenStep.
// Multiples of the golden ratio are evenly spread over the circle of 32-bit
// numbers: the distance between any two of n consecutive ports of an address is
// more than 1/(3n) of the circle. The lower 16 bits are the port.
type scatterer struct{ perm } // a permutation of all addresses

// goldenStep is 2^32 divided by the golden ratio. It is odd.
const goldenStep = 0x9e3779b9

func (s *scatterer) scatter(ip uint32, port uint16) uint64 {
	return uint64(uint32(s.at(uint64(ip)))+uint32(port)*goldenStep)<<16 | uint64(port)
}

// gather is the inverse of scatter.
func (s *scatterer) gather(k uint64) (ip uint32, port uint16) {
	port = uint16(k)
	ip = uint32(k>>16) - uint32(port)*goldenStep
	for i := rounds - 1; i >= 0; i-- {
		ip ^= ip >> 16
		ip = (ip - uint32(s.add[i])) * uint32(s.inverse[i])
	}
	return ip, port
}
