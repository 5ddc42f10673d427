package sink

// text is what a JSON string can be made of.
type text interface{ string | []byte }

// What appendString does with a byte. Any other value is the letter of its
// short escape.
const (
	plain = 0 // copied
	long  = 1 // escaped as \u00XX, or it is no character of its own
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

const hexDigits = "0123456789abcdef"

// appendString appends s as a JSON string and reports whether it was valid
// UTF-8. If not, each maximal ill-formed subsequence became one U+FFFD.
//
// JSON itself asks only for escapes below U+0020. DEL, the C1 controls, the
// line separators and the bidirectional controls are escaped as well: a reader
// of JSON sees no difference, a terminal that is shown the file does.
func appendString[T text](dst []byte, s T) (_ []byte, valid bool) {
	dst = append(dst, '"')
	valid = true
	run := 0 // where the bytes begin that can be copied as they are
	for i := 0; ; {
		for i < len(s) && class[s[i]] == plain {
			i++
		}
		if i == len(s) {
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

// appendEscape appends what stands for a character that is not copied.
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

// illFormed is decode's answer to bytes that are no character.
const illFormed rune = -1

// decode returns the first character of s and its length. Where there is none
// it returns illFormed and the length of the maximal ill-formed subsequence:
// the longest beginning of a character, or one byte (Unicode 3.9, table 3-7
// and the practice that WHATWG prescribes). utf8.DecodeRune can't tell this:
// its length of an error is always one.
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

// sequence says how long the character is that begins with c, and between
// what its second byte must be so that it is neither overlong, nor a
// surrogate, nor beyond U+10FFFF. The size is 0 if c begins none.
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
