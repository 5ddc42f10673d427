package record

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// text is the content of a JSON string.
type text interface{ string | []byte }

// Classes of bytes. Any other value is the letter of a short escape.
const (
	plain = 0 // copied unchanged
	long  = 1 // escaped as \u00XX, or not a character by itself
)

var class = func() (t [256]uint8) {
	for c := range t {
		if c < ' ' || c >= 0x7F {
			t[c] = long
		}
	}
	t['"'], t['\\'] = '"', '\\'
	t['\b'], t['\t'], t['\n'], t['\f'], t['\r'] = 'b', 't', 'n', 'f', 'r'
	return t
}()

// trails has, for each first byte of a UTF-8 sequence, the continuation bytes that
// make it a character that needs no escaping. The zero trail leaves the character
// to decode.
var trails = func() (t [256]trail) {
	for c := range t {
		switch size, lo, hi := sequence(byte(c)); {
		case size < 2 || c == 0xD8: // U+061C is escaped
		case c == 0xC2:
			t[c] = trail{1, 0xA0, hi} // the C1 controls are before it
		case c == 0xE2:
			t[c] = trail{2, 0x82, hi} // U+2000 to 207F are before it
		default:
			t[c] = trail{uint8(size - 1), lo, hi}
		}
	}
	return t
}()

// trail describes n continuation bytes, the first of which is from lo to hi.
type trail struct{ n, lo, hi uint8 }

const hexDigits = "0123456789abcdef"

// appendString appends s as a JSON string and reports whether it was valid
// UTF-8. If not, each maximal ill-formed subsequence became one U+FFFD.
func appendString[T text](dst []byte, s T) (_ []byte, valid bool) {
	old, n := len(dst), len(s)
	dst = slices.Grow(dst, n+2)[:old+n+2]
	dst[old], dst[old+1+n] = '"', '"'
	if copyPlain(dst[old+1:old+1+n], s) {
		return dst, true
	}
	if as := clean(s); as < n {
		return appendEscaped(dst[:old+1+as], s, as)
	}
	return dst, true
}

// copyPlain copies s to d, which has the same length, and reports whether all bytes
// are plain. It copies eight bytes at a time, and the last eight may overlap those
// before, so that strings of similar length take the same branches. It copies
// shorter strings by four bytes, or by single bytes, in the same way.
func copyPlain[T text](d []byte, s T) bool {
	n := len(s)
	switch {
	case n > 16:
		seen := uint64(0)
		for i := 0; i < n-8; i += 8 {
			x := load8(s, i)
			binary.LittleEndian.PutUint64(d[i:], x)
			seen |= marks(x)
		}
		x := load8(s, n-8)
		binary.LittleEndian.PutUint64(d[n-8:], x)
		return (seen|marks(x))&tops == 0
	case n >= 8:
		x, y := load8(s, 0), load8(s, n-8)
		binary.LittleEndian.PutUint64(d, x)
		binary.LittleEndian.PutUint64(d[n-8:], y)
		return (marks(x)|marks(y))&tops == 0
	case n >= 4:
		x, y := load4(s, 0), load4(s, n-4)
		binary.LittleEndian.PutUint32(d, x)
		binary.LittleEndian.PutUint32(d[n-4:], y)
		return !special(uint64(x) | uint64(y)<<32)
	case n > 0:
		x, y, z := s[0], s[n/2], s[n-1]
		d[0], d[n/2], d[n-1] = x, y, z
		return class[x]|class[y]|class[z] == plain
	}
	return true
}

// special reports whether one of the eight bytes of x is not plain.
func special(x uint64) bool { return marks(x)&tops != 0 }

// tops are the top bits of eight bytes.
const tops = 0x8080808080808080

// marks sets the top bit of every byte of x that is not plain. A byte beyond ASCII
// has that bit already; the arithmetic sets it for control characters, quotes,
// backslashes and DEL. A byte that is not plain may borrow from the byte above it,
// or carry into it, and so mark it wrongly. The lowest mark is always right.
func marks(x uint64) uint64 {
	const each = 0x0101010101010101
	below := x - each*' '
	quote := (x ^ each*'"') - each
	backslash := (x ^ each*'\\') - each
	del := x + each
	return x | below | quote | backslash | del
}

// load8 returns s[i:i+8] as a little-endian number.
func load8[T text](s T, i int) uint64 {
	_ = s[i+7]
	return uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
		uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
}

// load4 returns s[i:i+4] as a little-endian number.
func load4[T text](s T, i int) uint32 {
	_ = s[i+3]
	return uint32(s[i]) | uint32(s[i+1])<<8 | uint32(s[i+2])<<16 | uint32(s[i+3])<<24
}

// clean returns the number of bytes at the beginning of s that can be copied into a
// JSON string unchanged. It may stop early, before a character that only decode can
// judge.
func clean[T text](s T) (n int) {
	for {
		for len(s)-n >= 8 {
			m := marks(load8(s, n)) & tops
			if m != 0 {
				n += bits.TrailingZeros64(m) / 8 // the lowest mark is real: nothing borrowed into it
				break
			}
			n += 8
		}
		for n < len(s) && class[s[n]] == plain {
			n++
		}
		start := n
		for n < len(s) {
			t := trails[s[n]]
			if t.n == 1 && n+1 < len(s) && s[n+1]-t.lo <= t.hi-t.lo { // most European letters beyond ASCII
				n += 2
				continue
			}
			if t.n == 0 || !follows(s[n+1:], t) {
				break
			}
			n += 1 + int(t.n)
		}
		if n == start {
			return n
		}
	}
}

// follows reports whether s begins with the continuation bytes that t describes.
func follows[T text](s T, t trail) bool {
	if len(s) < int(t.n) || s[0] < t.lo || s[0] > t.hi {
		return false
	}
	for i := 1; i < int(t.n); i++ {
		if s[i]&0xC0 != 0x80 {
			return false
		}
	}
	return true
}

// appendEscaped appends s[i:], escaped, and the closing quote. It reports whether
// s[i:] is valid UTF-8.
//
// JSON itself demands escapes only below U+0020. DEL, the C1 controls, the line
// separators and the bidirectional controls are escaped as well, because they would
// change what a terminal shows.
func appendEscaped[T text](dst []byte, s T, i int) (_ []byte, valid bool) {
	valid = true
	for run := i; ; { // the bytes from run on can be copied unchanged
		if i += clean(s[i:]); i == len(s) {
			dst = append(dst, s[run:]...)
			return append(dst, '"'), valid
		}
		r, n := rune(s[i]), 1
		if r >= 0x80 {
			if r, n = decode(s[i:]); !risky(r) {
				i += n
				continue
			}
			valid = valid && r != illFormed
		}
		dst = append(dst, s[run:i]...)
		dst = appendEscape(dst, r)
		i += n
		run = i
	}
}

// appendEscape appends the escape of r, or U+FFFD if r is illFormed.
func appendEscape(dst []byte, r rune) []byte {
	switch {
	case r == illFormed:
		return append(dst, "\uFFFD"...)
	case r < 0x80 && class[r] != long:
		return append(dst, '\\', class[r])
	}
	return append(dst, '\\', 'u',
		hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}

// risky reports whether a character beyond ASCII is escaped or replaced.
func risky(r rune) bool {
	switch {
	case r < 0xA0: // C1, and illFormed
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

// illFormed is what decode returns for bytes that are not a character.
const illFormed rune = -1

// decode returns the first character of s and its length. If s does not begin with
// a character, it returns illFormed and the length of the maximal ill-formed
// subsequence: the longest prefix of a character, or one byte (Unicode 3.9, table
// 3-7, and the practice that WHATWG prescribes). utf8.DecodeRune always returns a
// length of one for an error.
func decode[T text](s T) (r rune, n int) {
	size, lo, hi := sequence(s[0])
	if size == 0 {
		return illFormed, 1
	}
	r = rune(s[0]) & (0x7F >> size)
	for n = 1; n < size; n++ {
		if n == len(s) || s[n] < lo || s[n] > hi {
			return illFormed, n
		}
		r = r<<6 | rune(s[n]&0x3F)
		lo, hi = 0x80, 0xBF
	}
	return r, n
}

// sequence returns the length of a multi-byte character that begins with c, and the
// range of its second byte that excludes overlong forms, surrogates and characters
// beyond U+10FFFF. The size is 0 if no such character begins with c; it is 0 for
// ASCII.
func sequence(c byte) (size int, lo, hi byte) {
	switch {
	case c < 0xC2:
		return 0, 0, 0
	case c < 0xE0:
		return 2, 0x80, 0xBF
	case c == 0xE0:
		return 3, 0xA0, 0xBF
	case c == 0xED:
		return 3, 0x80, 0x9F
	case c < 0xF0:
		return 3, 0x80, 0xBF
	case c == 0xF0:
		return 4, 0x90, 0xBF
	case c < 0xF4:
		return 4, 0x80, 0xBF
	case c == 0xF4:
		return 4, 0x80, 0x8F
	}
	return 0, 0, 0
}

// appendHex appends the bytes of s as a JSON string of lower-case hex.
func appendHex[T text](dst []byte, s T) []byte {
	dst = append(dst, '"')
	for i := range len(s) {
		dst = append(dst, hexDigits[s[i]>>4], hexDigits[s[i]&15])
	}
	return append(dst, '"')
}
