package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// A cursor finds the keys and values of JSON. Its only error is errSyntax; Reader.explain finds
// out what is wrong. FuzzCursor compares a cursor with a jsontext.Decoder.
type cursor struct {
	b      []byte
	at     int  // offset of the next byte to read
	strict bool // check skipped values too
	plain  bool // the last key or value is a string without escapes
}

var errSyntax = errors.New("not JSON")

// peek skips white space and returns the next byte, or 0 at the end of the text.
func (c *cursor) peek() byte {
	for ; c.at < len(c.b); c.at++ {
		if b := c.b[c.at]; b > ' ' || b != ' ' && b != '\t' && b != '\r' && b != '\n' {
			return b
		}
	}
	return 0
}

// more moves to the next member of an object or array. Its first argument, n, is
// the number of members already read. If there are no more members, it returns false, and
// moves to the byte after the closing bracket.
func (c *cursor) more(n int, bracket byte) (bool, error) {
	switch b := c.peek(); {
	case b == bracket:
		c.at++
		return false, nil
	case n == 0:
		return true, nil
	case b == ',':
		c.at++
		return true, nil
	}
	return false, errSyntax
}

// usual moves over the next key and its colon if the key is one of the fields and
// is written as Append writes it. It returns the index of the field, or -1.
func (c *cursor) usual(fields []field) int {
	c.peek()
	rest := c.b[c.at:]
	for i := range fields {
		f := &fields[i]
		if n := int(f.keyed); len(rest) > n && rest[1] == f.key[1] && string(rest[:n]) == string(f.key[:n]) {
			c.at += n
			c.peek()
			return i
		}
	}
	return -1
}

func (c *cursor) key() ([]byte, error) {
	if c.peek() != '"' {
		return nil, errSyntax
	}
	return c.value()
}

func (c *cursor) colon() error {
	if c.peek() != ':' {
		return errSyntax
	}
	c.at++
	c.peek()
	return nil
}

func (c *cursor) value() ([]byte, error) {
	c.peek()
	from := c.at
	end, plain := valueEnd(c.b, from)
	if end < 0 {
		return nil, errSyntax
	}
	c.at, c.plain = end, plain
	return c.b[from:end:end], nil
}

// skip skips the next value. If the cursor is not strict, skip only finds the end of the
// value and does not check it.
func (c *cursor) skip() error {
	if c.strict {
		_, err := c.value()
		return err
	}
	c.peek()
	end := skipEnd(c.b, c.at)
	if end < 0 {
		return errSyntax
	}
	c.at = end
	return nil
}

// skipEnd returns the offset after the value that begins at b[at], or -1 if the value has no
// end. In a string, object or array it looks only at quotes and brackets.
func skipEnd(b []byte, at int) int {
	if at == len(b) {
		return -1
	}
	switch b[at] {
	case '"':
		return skipString(b, at+1)
	case '{', '[':
		return listEnd(b, at+1)
	}
	end, _ := valueEnd(b, at)
	return end
}

// listEnd returns the offset after the object or array around b[at], or -1 if it has no end.
func listEnd(b []byte, at int) int {
	for depth := 1; at < len(b); at++ {
		switch b[at] {
		case '"':
			if at = skipString(b, at+1) - 1; at < 0 {
				return -1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return at + 1
			}
		}
	}
	return -1
}

// skipString returns the offset after the string whose text begins at b[at], or -1 if
// the string has no end. It does not check the text.
func skipString(b []byte, at int) int {
	for {
		quote := quoteAt(b, at)
		if quote < 0 {
			return -1
		}
		escapes := quote
		for escapes > at && b[escapes-1] == '\\' {
			escapes--
		}
		if at = quote + 1; (quote-escapes)%2 == 0 {
			return at
		}
	}
}

// quoteAt returns the offset of the first quotation mark in b[at:], or -1. Strings are mostly
// so short that this is faster than bytes.IndexByte.
func quoteAt(b []byte, at int) int {
	const each = 0x0101010101010101
	for ; at+8 <= len(b); at += 8 {
		x := binary.LittleEndian.Uint64(b[at:]) ^ each*'"'
		if m := (x - each) &^ x & tops; m != 0 {
			return at + bits.TrailingZeros64(m)/8
		}
	}
	if n := bytes.IndexByte(b[at:], '"'); n >= 0 {
		return at + n
	}
	return -1
}

// valueEnd returns the offset after the value that begins at b[at], or -1 if the value is not
// JSON. If plain is true, the value is a string without escapes.
func valueEnd(b []byte, at int) (end int, plain bool) {
	if at == len(b) {
		return -1, false
	}
	switch b[at] {
	case '"':
		return stringEnd(b, at+1)
	case '{', '[':
		end = listEnd(b, at+1)
		if end >= 0 && !isValid(b[at:end]) {
			end = -1
		}
		return end, false
	case 't':
		return wordEnd(b, at, "true"), false
	case 'f':
		return wordEnd(b, at, "false"), false
	case 'n':
		return wordEnd(b, at, "null"), false
	}
	return numberEnd(b, at), false
}

func isValid(text jsontext.Value) bool { return text.IsValid(jsontext.AllowDuplicateNames(true)) }

func wordEnd(b []byte, at int, word string) int {
	if !bytes.HasPrefix(b[at:], []byte(word)) {
		return -1
	}
	return at + len(word)
}

// stringEnd returns the offset after the string whose text begins at b[at], or -1 if the
// string is invalid. If plain is true, the string has no escapes.
func stringEnd(b []byte, at int) (end int, plain bool) {
	plain = true
	for {
		for at+8 <= len(b) {
			if m := marks(binary.LittleEndian.Uint64(b[at:])) & tops; m != 0 {
				at += bits.TrailingZeros64(m) / 8 // only the lowest mark is certain
				break
			}
			at += 8
		}
		if at == len(b) {
			return -1, false
		}
		switch x := b[at]; {
		case x == '"':
			return at + 1, plain
		case x == '\\':
			n := escapeLength(b[at+1:])
			if n == 0 {
				return -1, false
			}
			at += 1 + n
			plain = false
		case x < ' ':
			return -1, false
		case x < utf8.RuneSelf:
			at++
		default:
			r, n := utf8.DecodeRune(b[at:])
			if r == utf8.RuneError && n == 1 {
				return -1, false
			}
			at += n
		}
	}
}

// escapeLength returns the length of the rest of an escape, or 0 if the escape is invalid. b
// begins after the first backslash. A pair of surrogates counts as one escape.
func escapeLength(b []byte) int {
	if len(b) > 0 && bytes.IndexByte([]byte(`"\/bfnrt`), b[0]) >= 0 {
		return 1
	}
	first := hexEscape(b)
	switch {
	case first < 0:
		return 0
	case !utf16.IsSurrogate(first):
		return 5
	case len(b) > 6 && b[5] == '\\' && utf16.DecodeRune(first, hexEscape(b[6:])) != utf8.RuneError:
		return 11
	}
	return 0
}

// hexEscape returns the character in an escape such as u202e, or -1 if b does not begin with
// such an escape.
func hexEscape(b []byte) (r rune) {
	if len(b) < 5 || b[0] != 'u' {
		return -1
	}
	for _, digit := range b[1:5] {
		value := bytes.IndexByte([]byte("0123456789abcdef"), digit|0x20)
		if value < 0 || digit < '0' || digit > '9' && digit < 'A' {
			return -1
		}
		r = r<<4 | rune(value)
	}
	return r
}

func numberEnd(b []byte, at int) int {
	if at < len(b) && b[at] == '-' {
		at++
	}
	from := at
	if at = digitsEnd(b, at); at == from {
		return -1
	}
	if b[from] == '0' {
		at = from + 1 // no digit may follow
	}
	if at < len(b) && b[at] == '.' {
		from = at + 1
		if at = digitsEnd(b, from); at == from {
			return -1
		}
	}
	if at < len(b) && b[at]|0x20 == 'e' {
		from = at + 1
		if from < len(b) && (b[from] == '+' || b[from] == '-') {
			from++
		}
		if at = digitsEnd(b, from); at == from {
			return -1
		}
	}
	return at
}

func digitsEnd(b []byte, at int) int {
	for at < len(b) && b[at]-'0' < 10 {
		at++
	}
	return at
}

// isJoined reports whether another record may begin in text, which is a record without its
// first byte. The bytes that it searches for are otherwise only in strings and objects of others.
func isJoined(text []byte) bool {
	return bytes.Contains(text, []byte("}{")) || bytes.Contains(text, []byte(`{"schema":`))
}

// Check returns an error if text, which must be JSON, is two records on one line, or has a
// number beyond the range of a double. It is several times as fast as parsing: it compares
// eight bytes at a time, and parses only if another record may begin in it, or if a digit, the letter E and a
// large exponent follow each other, as in 1e400.
func Check(text []byte) error {
	if isJoined(text[min(1, len(text)):]) && !isValid(text) {
		return errors.New("is not JSON")
	}
	const each = 0x0101010101010101
	zeros := func(x uint64) uint64 { return ^((x&^tops + each*0x7F) | x) & tops } // marks each byte that is 0
	at := 1
	for ; at+8 <= len(text); at += 8 {
		es := zeros((binary.LittleEndian.Uint64(text[at:]) | each*0x20) ^ each*'e')
		before := binary.LittleEndian.Uint64(text[at-1:]) ^ each*'0'
		digits := ^((before&^tops + each*(0x80-10)) | before) & tops
		for m := es & digits; m != 0; m &= m - 1 {
			if isLarge(text, at+bits.TrailingZeros64(m)/8) {
				return parseNumbers(text)
			}
		}
	}
	for ; at < len(text); at++ {
		if text[at]|0x20 == 'e' && isLarge(text, at) {
			return parseNumbers(text)
		}
	}
	return nil
}

// isLarge reports whether an exponent of three or more digits follows the letter E at text[e].
func isLarge(text []byte, e int) bool {
	from := e + 1
	if from < len(text) && text[from] == '+' {
		from++
	}
	return digitsEnd(text, from)-from >= 3
}

// parseNumbers finds numbers like Check, but parses all numbers.
func parseNumbers(text []byte) error {
	for at := 0; at < len(text); {
		switch b := text[at]; {
		case b == '"':
			if at = skipString(text, at+1); at < 0 {
				return errSyntax
			}
		case b == '-' || b-'0' < 10:
			end := numberEnd(text, at)
			if end < 0 {
				return errSyntax
			}
			if _, err := strconv.ParseFloat(string(text[at:end]), 64); err != nil {
				return fmt.Errorf("the number %.60s is too large: it is beyond the range of a double", text[at:end])
			}
			at = end
		default:
			at++
		}
	}
	return nil
}
