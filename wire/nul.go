package wire

import (
	"encoding/binary"
	"math/bits"
)

// The strings of these messages are short: most rules are eight to twenty bytes
// of name and one to five of value. There bytes.IndexByte spends its time on
// being called; eight bytes at a time, both ends of a rule in one call, take
// two thirds of it.

const wordLen = 8

// nulMask returns the top bit of each byte of x that is 0. Adding 7F sets the
// top bit of every byte that has one of the seven below, and never carries.
func nulMask(x uint64) uint64 {
	const low7 = 0x7F7F7F7F7F7F7F7F
	return ^((x&low7 + low7) | x | low7)
}

// firstNUL returns which byte the lowest bit of a mask stands for.
func firstNUL(mask uint64) int { return bits.TrailingZeros64(mask) / 8 }

// indexNUL returns where the first NUL of b is, -1 if there is none.
func indexNUL(b []byte) int {
	at := 0
	for ; len(b)-at >= wordLen; at += wordLen {
		if m := nulMask(binary.LittleEndian.Uint64(b[at:])); m != 0 {
			return at + firstNUL(m)
		}
	}
	for ; at < len(b); at++ {
		if b[at] == 0 {
			return at
		}
	}
	return -1
}

// indexTwoNULs returns where the first and the second NUL of b are, -1 for
// what is not there.
func indexTwoNULs(b []byte) (first, second int) {
	first = -1
	at := 0
	for ; len(b)-at >= wordLen; at += wordLen {
		m := nulMask(binary.LittleEndian.Uint64(b[at:]))
		if m != 0 && first < 0 {
			first = at + firstNUL(m)
			m &= m - 1
		}
		if m != 0 {
			return first, at + firstNUL(m)
		}
	}
	for ; at < len(b); at++ {
		if b[at] != 0 {
			continue
		}
		if first >= 0 {
			return first, at
		}
		first = at
	}
	return first, -1
}
