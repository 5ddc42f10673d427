package session

import (
	"math/bits"

	"github.com/a2sscan/a2sscan/wire"
)

// Memory lends memory for answers within a byte budget, in buffers whose sizes are
// powers of two. It reuses returned buffers, and leaves them to the garbage collector when
// the budget is needed for buffers of other sizes. Only one goroutine uses it.
type Memory struct {
	scratch wire.Info // space for decoding
	Used    int64     // bytes lent now
	Peak    int64     // the maximum of Used so far

	budget int64
	spare  int64   // total size of the buffers in m.free
	usual  float64 // mean size of the last answers

	free    [poolClasses][][]byte
	answers []*Answer
}

const (
	minClass    = 10 // 1 KiB: the replies of an ordinary server
	maxClass    = 23 // 8 MiB: with Raw, everything that a server sent
	poolClasses = maxClass - minClass + 1
	firstAnswer = 2 << 10 // mean size of the answers, assumed until the first answer is finished
)

// NewMemory returns a Memory that lends at most budget bytes.
func NewMemory(budget int64) *Memory { return &Memory{budget: budget, usual: firstAnswer} }

// grow makes room for n more bytes in *b. If the budget has no room, or *b would
// exceed the largest buffer size, grow returns false and leaves *b unchanged.
func (m *Memory) grow(b *[]byte, n int) bool {
	need := len(*b) + n
	if need <= cap(*b) {
		return true
	}
	class := max(bits.Len(uint(need-1)), minClass)
	size := int64(1) << class
	if class > maxClass || m.Used+size > m.budget {
		return false
	}
	m.Used += size
	m.Peak = max(m.Peak, m.Used)
	var bigger []byte
	if list := &m.free[class-minClass]; len(*list) > 0 {
		bigger = pop(list)
		m.spare -= size
	} else {
		// Lent and spare buffers together must fit into the budget: free the largest spare
		// buffers first.
		for i := poolClasses - 1; i >= 0; i-- {
			for len(m.free[i]) > 0 && m.Used+m.spare > m.budget {
				m.spare -= int64(cap(pop(&m.free[i])))
			}
		}
		bigger = make([]byte, 0, size)
	}
	bigger = append(bigger, *b...)
	m.put(*b)
	*b = bigger
	return true
}

func pop[T any](list *[]T) T {
	last := len(*list) - 1
	x := (*list)[last]
	clear((*list)[last:])
	*list = (*list)[:last]
	return x
}

func (m *Memory) put(b []byte) {
	if cap(b) == 0 {
		return
	}
	size := int64(cap(b))
	m.Used -= size
	m.spare += size
	list := &m.free[bits.Len(uint(size-1))-minClass]
	*list = append(*list, b[:0])
}

// Learn updates the mean size of the answers when an answer is finished. nil stands for an
// empty answer.
func (m *Memory) Learn(a *Answer) {
	size := 0
	if a != nil {
		size = cap(a.raw)
		for _, c := range a.chunks {
			size += cap(c)
		}
	}
	m.usual += (float64(size) - m.usual) / 64
}

// RoomFor reports whether the budget has room for one more answer of the mean size from
// each open target. Its argument is the number of open targets.
func (m *Memory) RoomFor(open int) bool {
	return float64(m.Used)+float64(open)*m.usual <= float64(m.budget)
}

// Answer returns an empty answer.
func (m *Memory) Answer() *Answer {
	if len(m.answers) > 0 {
		return pop(&m.answers)
	}
	return new(Answer)
}

// Recycle takes an answer back, with its buffers.
func (m *Memory) Recycle(a *Answer) {
	for _, chunk := range a.chunks {
		m.put(chunk)
	}
	m.put(a.raw)
	*a = Answer{}
	m.answers = append(m.answers, a)
}
