package scanner

import "math/bits"

// pool lends memory for answers within the byte budget, in buffers whose sizes are
// powers of two. It belongs to the loop and needs no lock. It keeps returned buffers
// for the next answer, and leaves them to the garbage collector when the budget is
// needed for buffers of other sizes.
type pool struct {
	budget int64
	used   int64 // bytes lent
	kept   int64 // bytes in free
	peak   int64
	usual  float64 // mean size of the last answers

	free    [poolClasses][][]byte
	answers []*answer
}

const (
	minClass    = 10 // 1 KiB: the replies of an ordinary server
	maxClass    = 23 // 8 MiB: with Raw, everything that a server sent
	poolClasses = maxClass - minClass + 1
)

func newPool(budget int64) *pool { return &pool{budget: budget, usual: firstAnswer} }

// grow makes room for n more bytes in *b. If the budget has no room, or *b would
// exceed the largest buffer size, grow returns false and leaves *b unchanged. A nil
// pool has no limits.
func (p *pool) grow(b *[]byte, n int) bool {
	need := len(*b) + n
	if need <= cap(*b) {
		return true
	}
	if p == nil {
		*b = append(make([]byte, 0, max(need, 2*cap(*b))), *b...)
		return true
	}
	if need > 1<<maxClass {
		return false
	}
	class := max(bits.Len(uint(need-1)), minClass)
	bigger := p.get(class)
	if bigger == nil {
		return false
	}
	bigger = append(bigger, *b...)
	p.put(*b)
	*b = bigger
	return true
}

// get returns an empty buffer of a class, or nil if the budget has no room.
func (p *pool) get(class int) []byte {
	size := int64(1) << class
	if p.used+size > p.budget {
		return nil
	}
	p.used += size
	p.peak = max(p.peak, p.used)
	list := &p.free[class-minClass]
	if n := len(*list); n > 0 {
		b := (*list)[n-1]
		(*list)[n-1] = nil
		*list = (*list)[:n-1]
		p.kept -= size
		return b
	}
	p.makeRoom()
	return make([]byte, 0, size)
}

// put takes a buffer back.
func (p *pool) put(b []byte) {
	if cap(b) == 0 {
		return
	}
	size := int64(cap(b))
	p.used -= size
	p.kept += size
	list := &p.free[bits.Len(uint(size-1))-minClass]
	*list = append(*list, b[:0])
}

// makeRoom frees kept buffers, the largest first, until lent and kept buffers
// together fit the budget.
func (p *pool) makeRoom() {
	for i := poolClasses - 1; i >= 0 && p.used+p.kept > p.budget; i-- {
		list := &p.free[i]
		for len(*list) > 0 && p.used+p.kept > p.budget {
			n := len(*list) - 1
			p.kept -= int64(cap((*list)[n]))
			(*list)[n] = nil
			*list = (*list)[:n]
		}
	}
}

// learn includes the size of a finished answer in the mean; nil is an empty answer.
func (p *pool) learn(a *answer) {
	size := 0.0
	if a != nil {
		size = float64(a.size())
	}
	p.usual += (size - p.usual) / 64
}

// roomFor reports whether the budget has room for another answer of the mean size from
// each of the open targets.
func (p *pool) roomFor(open int) bool {
	return float64(p.used)+float64(open)*p.usual <= float64(p.budget)
}

// answer returns an empty answer.
func (p *pool) answer() *answer {
	if n := len(p.answers); n > 0 {
		a := p.answers[n-1]
		p.answers = p.answers[:n-1]
		return a
	}
	return new(answer)
}

// recycle takes an answer back, with its buffers.
func (p *pool) recycle(a *answer) {
	for _, chunk := range a.chunks {
		p.put(chunk)
	}
	p.put(a.raw)
	*a = answer{}
	p.answers = append(p.answers, a)
}
