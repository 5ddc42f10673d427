package fleet

// rng is a stream of pseudo-random numbers (SplitMix64). Its value is its
// whole state: two streams that begin with the same number are the same, which
// is what makes a server's nature a function of its address.
type rng uint64

// golden64 is 2^64 divided by the golden ratio, the step of SplitMix64.
const golden64 = 0x9E3779B97F4A7C15

func (r *rng) next() uint64 {
	*r += golden64
	return mix(uint64(*r))
}

// mix spreads every bit of z over all bits of the result.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// hash joins the numbers, order included, into one.
func hash(vs ...uint64) uint64 {
	h := uint64(golden64)
	for _, v := range vs {
		h = mix(h ^ mix(v+golden64))
	}
	return h
}

// below returns a number in [0, n), and 0 where n is 0 or less.
func (r *rng) below(n int) int {
	if n <= 0 {
		return 0
	}
	return int((r.next() >> 32) * uint64(n) >> 32)
}

// between returns a number in [lo, hi].
func (r *rng) between(lo, hi int) int { return lo + r.below(hi-lo+1) }

// chance reports true with the probability p.
func (r *rng) chance(p float64) bool {
	return p > 0 && float64(r.next()>>11)/(1<<53) < p
}

// oneIn reports true once in n times.
func (r *rng) oneIn(n int) bool { return r.below(n) == 0 }

// pick returns one of the entries.
func pick[T any](r *rng, from []T) T { return from[r.below(len(from))] }
