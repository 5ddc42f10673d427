package record

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// The classes of bytes. A byte with a short escape, such as \n, has another class: the
// letter of the escape, with the top bit set.
const (
	plain = 0    // copied unchanged
	long  = 0x80 // escaped as \u00XX, or not a character by itself
)

var class = func() (t [256]uint8) {
	for c := range t {
		if c < ' ' || c >= 0x7F {
			t[c] = long
		}
	}
	for i, c := range []byte("\"\\\b\t\n\f\r") {
		t[c] = long | "\"\\btnfr"[i]
	}
	return t
}()

const hexDigits = "0123456789abcdef"

// appendString appends s as a JSON string and reports whether s is valid UTF-8. If not,
// each maximal ill-formed subsequence becomes one U+FFFD.
//
// Most strings need no escapes. So appendString first copies s, eight bytes at a time. The
// last eight bytes may overlap bytes that are already copied, so that strings of similar
// length take the same branches. It copies short strings by four bytes or by single bytes.
func appendString(dst []byte, s []byte) (_ []byte, valid bool) {
	old, n := len(dst), len(s)
	dst = slices.Grow(dst, n+2)[:old+n+2]
	dst[old], dst[old+1+n] = '"', '"'
	d := dst[old+1 : old+1+n]
	seen := uint64(0)
	switch {
	case n > 16:
		for i := 0; i < n-8; i += 8 {
			x := binary.LittleEndian.Uint64(s[i:])
			binary.LittleEndian.PutUint64(d[i:], x)
			seen |= marks(x)
		}
		x := binary.LittleEndian.Uint64(s[n-8:])
		binary.LittleEndian.PutUint64(d[n-8:], x)
		seen |= marks(x)
	case n >= 8:
		x, y := binary.LittleEndian.Uint64(s), binary.LittleEndian.Uint64(s[n-8:])
		binary.LittleEndian.PutUint64(d, x)
		binary.LittleEndian.PutUint64(d[n-8:], y)
		seen = marks(x) | marks(y)
	case n >= 4:
		x, y := binary.LittleEndian.Uint32(s), binary.LittleEndian.Uint32(s[n-4:])
		binary.LittleEndian.PutUint32(d, x)
		binary.LittleEndian.PutUint32(d[n-4:], y)
		seen = marks(uint64(x) | uint64(y)<<32)
	case n > 0:
		x, y, z := s[0], s[n/2], s[n-1]
		d[0], d[n/2], d[n-1] = x, y, z
		seen = uint64(class[x]|class[y]|class[z]) << 56
	}
	if seen&tops == 0 {
		return dst, true
	}
	if as := clean(s); as < n {
		return appendEscaped(dst[:old+1+as], s, as)
	}
	return dst, true
}

const tops = 0x8080808080808080

// marks returns a number in which the top bit of each byte is set if the byte of x is not
// plain. A byte beyond ASCII already has that bit; the arithmetic sets it for control
// characters, quotes, backslashes and DEL. A byte that is not plain may borrow from the
// byte above, or carry into the byte above, and so mark that byte wrongly. The lowest mark
// is always right.
func marks(x uint64) uint64 {
	const each = 0x0101010101010101
	below := x - each*' '
	quote := (x ^ each*'"') - each
	backslash := (x ^ each*'\\') - each
	del := x + each
	return x | below | quote | backslash | del
}

// clean returns the number of bytes at the beginning of s that can be copied into a
// JSON string unchanged. It stops before a character that is escaped or replaced.
func clean(s []byte) (n int) {
	for n < len(s) {
		if len(s)-n >= 8 {
			m := marks(binary.LittleEndian.Uint64(s[n:])) & tops
			if m == 0 {
				n += 8
				continue
			}
			n += bits.TrailingZeros64(m) / 8 // only the lowest mark is certain
		}
		if s[n] >= 0x80 {
			r, size := decode(s[n:])
			if risky(r) {
				return n
			}
			n += size
			continue
		}
		if class[s[n]] != plain {
			return n
		}
		n++
	}
	return n
}

// appendEscaped appends s[i:] with escapes, and the closing quote. The character at s[i] must
// be escaped or replaced. appendEscaped reports whether s[i:] is valid UTF-8.
//
// JSON itself demands escapes only below U+0020. DEL, the C1 controls, the line
// separators and the bidirectional controls are escaped as well, because they would
// change what a terminal shows.
func appendEscaped(dst []byte, s []byte, i int) (_ []byte, valid bool) {
	valid = true
	for i < len(s) {
		r, n := rune(s[i]), 1
		if r >= 0x80 {
			r, n = decode(s[i:])
			valid = valid && r != illFormed
		}
		switch {
		case r == illFormed:
			dst = append(dst, "\uFFFD"...)
		case r < 0x80 && class[r] != long:
			dst = append(dst, '\\', class[r]&^long)
		default:
			dst = append(dst, '\\', 'u',
				hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
		}
		i += n
		run := clean(s[i:])
		dst = append(dst, s[i:i+run]...)
		i += run
	}
	return append(dst, '"'), valid
}

// risky reports whether a character beyond ASCII is escaped or replaced.
func risky(r rune) bool {
	switch {
	case r < 0xA0: // the C1 controls, and illFormed
		return true
	case r < 0x2000:
		return r == 0x061C // Arabic letter mark
	case r > 0x2069:
		return false
	}
	return r == 0x200E || r == 0x200F || // left-to-right and right-to-left mark
		r >= 0x2028 && r <= 0x202E || // line separators, embeddings and overrides
		r >= 0x2066 // isolates
}

const illFormed rune = -1

// decode returns the first character of s and its length. If s does not begin with
// a character, it returns illFormed and the length of the maximal ill-formed
// subsequence: the longest prefix of a character, or one byte (Unicode 3.9, table
// 3-7, and the practice that WHATWG prescribes). utf8.DecodeRune always returns a
// length of one for an error.
func decode(s []byte) (r rune, n int) {
	short := s[:min(len(s), utf8.UTFMax)]
	if r, n = utf8.DecodeRune(short); r != utf8.RuneError || n > 1 {
		return r, n
	}
	for n < len(short) && !utf8.FullRune(short[:n+1]) {
		n++
	}
	return illFormed, n
}

func appendHex(dst []byte, s []byte) []byte {
	dst = append(dst, '"')
	for i := range len(s) {
		dst = append(dst, hexDigits[s[i]>>4], hexDigits[s[i]&15])
	}
	return append(dst, '"')
}
