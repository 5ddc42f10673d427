// Package random generates pseudo-random numbers from a seed: the same numbers in
// every run.
package random

import "github.com/a2sscan/a2sscan/wire"

// Stream is a stream of pseudo-random numbers (SplitMix64). Its value is its complete
// state: two streams that begin with the same value yield the same numbers.
type Stream uint64

// golden64 is 2^64 divided by the golden ratio, the step of SplitMix64.
const golden64 = 0x9E3779B97F4A7C15

// Next returns the next number of the stream.
func (r *Stream) Next() uint64 {
	*r += golden64
	return mix(uint64(*r))
}

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// Hash combines numbers into one. Their order matters.
func Hash(vs ...uint64) uint64 {
	h := uint64(golden64)
	for _, v := range vs {
		h = mix(h ^ mix(v+golden64))
	}
	return h
}

// Below returns a number in [0, n), or 0 if n is 0 or less.
func (r *Stream) Below(n int) int {
	if n <= 0 {
		return 0
	}
	return int((r.Next() >> 32) * uint64(n) >> 32)
}

// Between returns a number in [lo, hi].
func (r *Stream) Between(lo, hi int) int { return lo + r.Below(hi-lo+1) }

// Chance returns true with probability p.
func (r *Stream) Chance(p float64) bool {
	return p > 0 && float64(r.Next()>>11)/(1<<53) < p
}

// OneIn returns true with probability 1/n.
func (r *Stream) OneIn(n int) bool { return r.Below(n) == 0 }

// Pick returns a random element of a slice.
func Pick[T any](r *Stream, from []T) T { return from[r.Below(len(from))] }

// Challenge turns a random number into a challenge. It never returns
// wire.NoChallenge.
func Challenge(v uint64) wire.Challenge {
	if c := wire.Challenge(v); c != wire.NoChallenge {
		return c
	}
	return 1
}
