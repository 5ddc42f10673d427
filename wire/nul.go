package wire

import (
	"encoding/binary"
	"math/bits"
)

// The strings in A2S messages are short: most rules have a name of eight to twenty bytes
// and a value of one to five. For strings that short, the overhead of calling
// bytes.IndexByte dominates. Reading eight bytes at a time, and finding the NULs after
// name and value in one call, takes two thirds of the time that IndexByte takes.

// nulMask returns a mask for x: the top bit of a byte is set if this byte of x is 0. All
// other bits are 0. Adding 7F to the low seven bits of a byte sets the top bit of that
// byte if any of the seven bits is set, and never carries into the next byte.
func nulMask(x uint64) uint64 {
	const low7 = 0x7F7F7F7F7F7F7F7F
	return ^((x&low7 + low7) | x | low7)
}

func firstNUL(mask uint64) int { return bits.TrailingZeros64(mask) / 8 }

func indexNUL(b []byte) int {
	at := 0
	for ; len(b)-at >= 8; at += 8 {
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

// indexTwoNULs returns the indexes of the first and the second NUL in b, or -1 for
// each that is missing.
func indexTwoNULs(b []byte) (first, second int) {
	first = -1
	at := 0
	for ; len(b)-at >= 8; at += 8 {
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
