package record

import (
	"bytes"
	"errors"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// tokens are the methods of a jsontext.Decoder that a Reader needs.
type tokens interface {
	PeekKind() jsontext.Kind
	ReadToken() (jsontext.Token, error)
	ReadValue() (jsontext.Value, error)
	SkipValue() error
	InputOffset() int64
	StackDepth() int
}

// A cursor reads JSON as a jsontext.Decoder does, in about half of the time: it stores no
// names, and of a value that it skips it finds only the end. Its errors explain nothing, so
// after an error a Reader reads the line again with a jsontext.Decoder. FuzzCursor compares
// the cursor with the Decoder.
type cursor struct {
	b      []byte
	strict bool // check skipped values too

	at      int    // offset of the next token or, unless peeked is set, of the comma or colon before it
	end     int    // offset of the end of the last token
	peeked  bool   // the comma or colon before the next token was read
	depth   int    // number of objects and arrays around the next token
	objects uint64 // bit n is set if depth n is in an object, and not in an array
	last    byte   // the kind of the last token: opened, keyRead or valueRead
	plain   bool   // the last value is a string without escapes
}

// The kinds of the last token, each with what must precede the next token.
const (
	opened    byte = iota // after the beginning of an object, an array or the line: nothing
	keyRead               // after a key: a colon
	valueRead             // after a value: a comma, unless the next token ends the object or array
)

// errUnusual means that a cursor can't read a line.
var errUnusual = errors.New("not JSON, or deeply nested")

// maxDepth is the maximum number of objects and arrays that a cursor can be in.
const maxDepth = 60

func (c *cursor) reset(line []byte, strict bool) { *c = cursor{b: line, strict: strict} }

func (c *cursor) InputOffset() int64 { return int64(c.end) }
func (c *cursor) StackDepth() int    { return c.depth }

// space returns the offset of the first byte, from an offset on, that is not white space.
func (c *cursor) space(at int) int {
	for at < len(c.b) && c.b[at] <= ' ' && (c.b[at] == ' ' || c.b[at] == '\t' || c.b[at] == '\r' || c.b[at] == '\n') {
		at++
	}
	return at
}

// PeekKind returns the kind of the next token, or 0 if there is none.
func (c *cursor) PeekKind() jsontext.Kind {
	at := c.at
	if !c.peeked {
		at = c.space(at)
		if at < len(c.b) && c.depth > 0 {
			switch b := c.b[at]; {
			case c.last == keyRead && b == ':', c.last == valueRead && b == ',':
				at = c.space(at + 1)
				if at < len(c.b) && (c.b[at] == '}' || c.b[at] == ']') {
					return 0
				}
			case c.last == keyRead, c.last == valueRead && b != '}' && b != ']':
				return 0
			}
		}
		c.at, c.peeked = at, true
	}
	if at >= len(c.b) {
		return 0
	}
	b := c.b[at]
	if b == '-' || b >= '0' && b <= '9' {
		return '0'
	}
	return jsontext.Kind(b)
}

// inObject reports whether the next token is in an object.
func (c *cursor) inObject() bool { return c.objects&(1<<c.depth) != 0 }

// ReadToken reads the beginning or the end of an object or array. At the end of the line its
// error is io.EOF. It returns no Token.
func (c *cursor) ReadToken() (none jsontext.Token, err error) {
	kind := c.PeekKind()
	switch {
	case c.depth == 0 && c.last == valueRead:
		if c.at < len(c.b) {
			return none, errUnusual
		}
		return none, io.EOF
	case kind == '{' || kind == '[':
		if c.inObject() && c.last != keyRead || c.depth == maxDepth {
			return none, errUnusual
		}
		c.depth++
		c.objects &^= 1 << c.depth
		if kind == '{' {
			c.objects |= 1 << c.depth
		}
		c.last = opened
	case c.depth > 0 && c.last != keyRead && (kind == '}' && c.inObject() || kind == ']' && !c.inObject()):
		c.depth--
		c.last = valueRead
	default:
		return none, errUnusual
	}
	c.at++
	c.end, c.peeked = c.at, false
	return none, nil
}

// ReadValue reads a key or a value.
func (c *cursor) ReadValue() (jsontext.Value, error) {
	if !c.begin() {
		return nil, errUnusual
	}
	from := c.at
	c.plain = false
	if !c.finish(c.valueEnd(from)) {
		return nil, errUnusual
	}
	return c.b[from:c.end:c.end], nil
}

// SkipValue skips a key or a value. Unless the cursor is strict, it looks only for the end
// of the value: quotes and brackets.
func (c *cursor) SkipValue() error {
	if c.strict {
		_, err := c.ReadValue()
		return err
	}
	if !c.begin() || !c.finish(c.skipEnd(c.at)) {
		return errUnusual
	}
	return nil
}

// begin moves to the next key or value. It reports whether there is one.
func (c *cursor) begin() bool {
	kind := c.PeekKind()
	return kind != 0 && (kind == '"' || c.last == keyRead || !c.inObject())
}

// finish moves to end, the offset after a key or value. It returns false if end is negative,
// which stands for an invalid key or value.
func (c *cursor) finish(end int) bool {
	if end < 0 {
		return false
	}
	if c.last != keyRead && c.inObject() {
		c.last = keyRead
	} else {
		c.last = valueRead
	}
	c.at, c.end, c.peeked = end, end, false
	return true
}

// skipEnd returns the offset after the value at an offset, or -1 if the value has no end. In a
// string, object or array it looks only at quotes and brackets.
func (c *cursor) skipEnd(at int) int {
	switch c.b[at] {
	case '"':
		return skipString(c.b, at+1)
	case '{', '[':
	default:
		return c.valueEnd(at)
	}
	for depth := 0; at < len(c.b); at++ {
		switch c.b[at] {
		case '"':
			if at = skipString(c.b, at+1) - 1; at < 0 {
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

// skipString returns the offset after a string whose text begins at an offset, or -1 if
// the string has no end. It does not check the text.
func skipString(b []byte, at int) int {
	for {
		n := bytes.IndexByte(b[at:], '"')
		if n < 0 {
			return -1
		}
		quote := at + n
		escapes := quote
		for escapes > at && b[escapes-1] == '\\' {
			escapes--
		}
		if at = quote + 1; (quote-escapes)%2 == 0 {
			return at
		}
	}
}

// valueEnd returns the offset after the value at an offset, or -1 if the value is not JSON.
func (c *cursor) valueEnd(at int) int {
	switch b := c.b[at]; b {
	case '"':
		end, plain := stringEnd(c.b, at+1)
		c.plain = plain
		return end
	case '{', '[':
		// Another cursor reads and checks the members.
		inner := cursor{b: c.b, at: at, depth: 0, strict: true}
		for {
			switch kind := inner.PeekKind(); kind {
			case '{', '[', '}', ']':
				if _, err := inner.ReadToken(); err != nil {
					return -1
				}
				if inner.depth == 0 {
					return inner.end
				}
			default:
				if _, err := inner.ReadValue(); err != nil {
					return -1
				}
			}
		}
	case 't':
		return wordEnd(c.b, at, "true")
	case 'f':
		return wordEnd(c.b, at, "false")
	case 'n':
		return wordEnd(c.b, at, "null")
	default:
		return numberEnd(c.b, at)
	}
}

func wordEnd(b []byte, at int, word string) int {
	if !bytes.HasPrefix(b[at:], []byte(word)) {
		return -1
	}
	return at + len(word)
}

// isPlain is true for each ASCII byte that may be in a JSON string without an escape.
var isPlain = func() (t [256]bool) {
	for b := ' '; b < utf8.RuneSelf; b++ {
		t[b] = b != '"' && b != '\\'
	}
	return t
}()

// stringEnd returns the offset after a string whose text begins at an offset, or -1 if the
// string is invalid. plain means that the string has no escapes.
func stringEnd(b []byte, at int) (end int, plain bool) {
	plain = true
	for at < len(b) {
		switch x := b[at]; {
		case isPlain[x]:
			at++
		case x == '"':
			return at + 1, plain
		case x == '\\':
			n := escapeLength(b[at+1:])
			if n == 0 {
				return -1, false
			}
			at += 1 + n
			plain = false
		default:
			r, n := utf8.DecodeRune(b[at:])
			if x < ' ' || r == utf8.RuneError && n == 1 {
				return -1, false
			}
			at += n
		}
	}
	return -1, false
}

// escapeLength returns the length of the escape at the beginning of b, or 0 if it is invalid.
// b begins after the backslash of the escape. A pair of surrogates counts as one escape.
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

// hexEscape returns the number in an escape such as u202e, or -1 if b does not begin with
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

// numberEnd returns the offset after the number at an offset, or -1 if there is no number.
func numberEnd(b []byte, at int) int {
	if at < len(b) && b[at] == '-' {
		at++
	}
	from := at
	if at = digitsEnd(b, at); at == from || at > from+1 && b[from] == '0' {
		return -1
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

// digitsEnd returns the offset after the digits at an offset.
func digitsEnd(b []byte, at int) int {
	for at < len(b) && b[at]-'0' < 10 {
		at++
	}
	return at
}
