package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/bits"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Cursor reads through a record, and decodes only what its caller asks for.
//
//	c := record.NewCursor(line)
//	for c.Next() {
//		switch string(c.Key()) {
//		case "port":
//			port = c.Uint()
//		case "info":
//			for c.Enter(); c.Next(); {
//				…
//			}
//		}
//	}
//	err := c.Err()
//
// Next goes to the next member or element of the object or list that was entered
// last. At the end it returns false, and the Cursor is in the enclosing object or list
// again. Next skips a value that was not read. A loop over an object or list
// must run to its end if the Cursor is used after it.
//
// A Cursor accepts every record, and never panics. It detects misplaced brackets,
// commas and keys, but does not check the values that it skips.
type Cursor struct {
	line  []byte
	at    int
	key   []byte
	kinds [maxDepth]byte // closing bracket of each object and list that was entered
	depth int
	first bool // Next has not been called in the innermost object or list
	value bool // a value begins at index at
	bad   bool
}

// maxDepth is the maximum number of nested objects and lists that a Cursor can
// enter.
const maxDepth = 8

var errNoRecord = errors.New("not a record")

// NewCursor returns a Cursor in the object that line holds. It does not copy line.
func NewCursor(line []byte) *Cursor {
	c := new(Cursor)
	c.Reset(line)
	return c
}

// Reset makes the Cursor start at the beginning of another line, like NewCursor but
// without an allocation.
func (c *Cursor) Reset(line []byte) {
	c.line, c.at, c.key, c.depth, c.bad = line, 0, nil, 0, false
	c.value = true
	if c.space(); c.peek() != '{' || !c.Enter() {
		c.fail()
	}
}

// Err returns an error if the line is not a record. Call it when Next has returned false
// for the outermost object.
func (c *Cursor) Err() error {
	if c.bad || c.depth > 0 {
		return errNoRecord
	}
	return nil
}

func (c *Cursor) fail() { c.bad, c.depth, c.value = true, 0, false }

// peek returns the byte at the cursor, or 0 at the end.
func (c *Cursor) peek() byte {
	if c.at < len(c.line) {
		return c.line[c.at]
	}
	return 0
}

func (c *Cursor) space() {
	for c.at < len(c.line) && c.line[c.at] <= ' ' {
		c.at++
	}
}

// Next goes to the next member or element. It returns false if there are no more.
func (c *Cursor) Next() bool {
	if c.value {
		c.skip()
	}
	if c.depth == 0 {
		return false
	}
	if c.peek() <= ' ' {
		c.space()
	}
	closing := c.kinds[c.depth-1]
	if c.peek() == closing {
		return c.leave()
	}
	if !c.first && !c.take(',') {
		return false
	}
	c.first = false
	if closing == '}' && !c.name() {
		return false
	}
	if c.peek() <= ' ' {
		c.space()
	}
	c.value = true
	return true
}

// NextIs goes to the next member and returns true if its key is name, which the
// caller passes with quotes and colon. Otherwise, and if the current value has not
// been read, it returns false and the Cursor does not move, so that Next finds the
// member.
func (c *Cursor) NextIs(name string) bool {
	at := c.at
	if c.value || c.depth == 0 {
		return false
	}
	if !c.first {
		if c.peek() != ',' {
			return false
		}
		at++
	}
	value := at + len(name)
	if value >= len(c.line) || string(c.line[at:value]) != name || c.kinds[c.depth-1] != '}' || c.line[value] <= ' ' {
		return false
	}
	c.at, c.key = value, c.line[at+1:value-len(`":`)]
	c.first, c.value = false, true
	return true
}

// Between is the text between the key and the value of a pair that NextPair
// returns.
const Between = `":"`

// NextPair reads the next member if its key and its value are strings without
// escapes. It returns them as they are written, from the first byte of the key to
// the last byte of the value, and the length of the key. Otherwise it returns nil
// and the Cursor does not move, so that Next finds the member.
func (c *Cursor) NextPair() (pair []byte, key int) {
	from := c.at + 1
	if c.value || c.depth == 0 || c.kinds[c.depth-1] != '}' {
		return nil, 0
	}
	if !c.first {
		if c.peek() != ',' {
			return nil, 0
		}
		from++
	}
	if from >= len(c.line) || c.line[from-1] != '"' {
		return nil, 0
	}
	colon := plainEnd(c.line, from)
	if colon < 0 || !bytes.HasPrefix(c.line[colon:], []byte(Between)) {
		return nil, 0
	}
	end := plainEnd(c.line, colon+len(Between))
	if end < 0 {
		return nil, 0
	}
	c.at, c.first = end+1, false
	return c.line[from:end], colon - from
}

// plainEnd returns the index of the quote that ends a string, or -1 if the string
// has a backslash or no end. i is the index after the quote that begins the string.
func plainEnd(b []byte, i int) int {
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		if m := zeros(x^eachQuote) | zeros(x^eachBackslash); m != 0 {
			if i += bits.TrailingZeros64(m) / 8; b[i] == '"' {
				return i
			}
			return -1
		}
	}
	for ; i < len(b) && b[i] != '\\'; i++ {
		if b[i] == '"' {
			return i
		}
	}
	return -1
}

// leave moves past the innermost object or list. It always returns false, for Next.
func (c *Cursor) leave() bool {
	c.at++
	c.depth--
	c.first = false
	if c.depth == 0 {
		if c.space(); c.at < len(c.line) {
			c.fail()
		}
	}
	return false
}

// take moves past the wanted byte and any space before it. If another byte comes
// next, the line is not a record.
func (c *Cursor) take(want byte) bool {
	if c.peek() <= ' ' {
		c.space()
	}
	if c.peek() != want {
		c.fail()
		return false
	}
	c.at++
	return true
}

// name reads a key and its colon.
func (c *Cursor) name() bool {
	if !c.take('"') {
		return false
	}
	end := stringEnd(c.line, c.at)
	if end < 0 {
		c.fail()
		return false
	}
	c.key = c.line[c.at : end-1]
	c.at = end
	if c.peek() == ':' {
		c.at++
		return true
	}
	return c.take(':')
}

// Key returns the key of the current member as it is written, without its quotes. Keys
// of records have no escapes. The key aliases the line.
func (c *Cursor) Key() []byte { return c.key }

// Enter goes into the current value, which must be an object or a list and must not
// be nested too deeply: otherwise the line is not a record. It returns false if it
// can't enter, or if the value has been read.
func (c *Cursor) Enter() bool {
	if !c.value {
		return false
	}
	closing := c.peek() + 2 // '{' and '}', '[' and ']' are two apart
	if closing != '}' && closing != ']' || c.depth == maxDepth {
		c.fail()
		return false
	}
	c.kinds[c.depth] = closing
	c.depth++
	c.at++
	c.first, c.value = true, false
	return true
}

// skip moves past the current value.
func (c *Cursor) skip() {
	c.value = false
	end := c.listEnd()
	if end < 0 {
		end = valueEnd(c.line, c.at)
	}
	if end < 0 {
		c.fail()
		return
	}
	c.at = end
}

// The ends of the two long lists of a record, with the comma and quote that follow
// them.
var (
	playersEnd  = []byte(`}],"`)
	rulesRawEnd = []byte(`]],"`)
)

// listEnd returns the index after the current value if it is a long list and
// another key follows it, else -1. Many records consist mostly of players, and
// listEnd is five times as fast as valueEnd. It relies on how Append writes:
// without spaces, and without a list inside a player.
//
// Text inside a string can't look like the end: a quote inside a string has a
// backslash before it, and no letter follows the quote that ends a string.
func (c *Cursor) listEnd() int {
	if c.depth != 1 || c.peek() != '[' || c.at+1 == len(c.line) {
		return -1
	}
	var mark []byte
	switch string(c.key) {
	case "players":
		mark = playersEnd
	case "rules_raw":
		mark = rulesRawEnd
	default:
		return -1
	}
	if opening := c.line[c.at+1]; opening != mark[0]-2 { // an empty list
		return -1
	}
	for i := c.at; ; {
		n := bytes.Index(c.line[i:], mark)
		if n < 0 {
			return -1
		}
		i += n + len(mark)
		if i < len(c.line) && isLetter(c.line[i]) {
			return i - len(`,"`)
		}
	}
}

func isLetter(b byte) bool { return 'a' <= b && b <= 'z' }

// First returns the first byte of the current value, which shows its type, or 0 if
// there is no value or it has been read.
func (c *Cursor) First() byte {
	if !c.value {
		return 0
	}
	return c.peek()
}

// Raw returns the current value as it is written, or nil if there is none. It
// aliases the line.
func (c *Cursor) Raw() []byte {
	start := c.at
	if !c.value {
		return nil
	}
	switch first := c.peek(); { // the most frequent values
	case first == '"':
		if end := stringEnd(c.line, start+1); end >= 0 {
			c.at, c.value = end, false
			return c.line[start:end]
		}
	case first == '-' || '0' <= first && first <= '9':
		c.at, c.value = wordEnd(c.line, start+1), false
		return c.line[start:c.at]
	}
	if c.skip(); c.bad {
		return nil
	}
	return c.line[start:c.at]
}

// Uint returns the current value if it is a whole number from 0 to 1<<64 - 1, else 0.
func (c *Cursor) Uint() uint64 {
	var n uint64
	for _, b := range c.Raw() {
		d := uint64(b - '0')
		if d > 9 || n > (1<<64-1-d)/10 {
			return 0
		}
		n = n*10 + d
	}
	return n
}

// Float returns the current value if it is a number, else 0.
func (c *Cursor) Float() float64 {
	v, err := strconv.ParseFloat(string(c.Raw()), 64)
	if err != nil {
		return 0
	}
	return v
}

// Bool reports whether the value is true.
func (c *Cursor) Bool() bool { return string(c.Raw()) == "true" }

// Quoted returns the current value as it is written, without its quotes, if it is a
// string, else nil.
func (c *Cursor) Quoted() []byte {
	if raw := c.Raw(); len(raw) >= 2 && raw[0] == '"' {
		return raw[1 : len(raw)-1]
	}
	return nil
}

// Plain returns the current value without its quotes if it is a string without
// escapes. Otherwise it returns nil, and the value can still be read.
func (c *Cursor) Plain() []byte {
	if !c.value || c.peek() != '"' {
		return nil
	}
	start := c.at + 1
	end := plainEnd(c.line, start)
	if end < 0 {
		return nil
	}
	c.at, c.value = end+1, false
	return c.line[start:end]
}

// AppendText appends the current value to dst, with its escapes decoded, if it is a
// string.
func (c *Cursor) AppendText(dst []byte) []byte { return AppendUnescaped(dst, c.Quoted()) }

// AppendUnescaped appends the JSON string s, which has no quotes around it, to dst
// and decodes its escapes.
func AppendUnescaped(dst, s []byte) []byte {
	for {
		i := bytes.IndexByte(s, '\\')
		if i < 0 || i+1 >= len(s) {
			return append(dst, s...)
		}
		dst = append(dst, s[:i]...)
		dst, s = appendUnescaped(dst, s[i+1:])
	}
}

// appendUnescaped decodes the escape that s begins with, after its backslash, and
// appends the character to dst. It returns the rest of s.
func appendUnescaped(dst, s []byte) (_, rest []byte) {
	switch s[0] {
	case 'b':
		return append(dst, '\b'), s[1:]
	case 'f':
		return append(dst, '\f'), s[1:]
	case 'n':
		return append(dst, '\n'), s[1:]
	case 'r':
		return append(dst, '\r'), s[1:]
	case 't':
		return append(dst, '\t'), s[1:]
	case 'u':
		r, n := escapedRune(s)
		return utf8.AppendRune(dst, r), s[n:]
	}
	return append(dst, s[0]), s[1:]
}

// escapedRune returns the character of the escape uXXXX, or of a surrogate pair,
// with which s begins, and the length of the escape. If the escape is invalid, the
// character is utf8.RuneError.
func escapedRune(s []byte) (rune, int) {
	const one, two = len("uXXXX"), len(`uXXXX\uXXXX`)
	r := hexRune(s)
	if r < 0 {
		return utf8.RuneError, 1
	}
	if !utf16.IsSurrogate(r) {
		return r, one
	}
	if len(s) >= two && s[one] == '\\' && s[one+1] == 'u' {
		if pair := utf16.DecodeRune(r, hexRune(s[one+1:])); pair != utf8.RuneError {
			return pair, two
		}
	}
	return utf8.RuneError, one
}

// hexRune returns the number XXXX if s begins with uXXXX, else -1.
func hexRune(s []byte) rune {
	if len(s) < len("uXXXX") {
		return -1
	}
	n, err := strconv.ParseUint(string(s[1:5]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

// Bytes repeated eight times.
const (
	eachByte      = 0x0101010101010101
	eachQuote     = eachByte * '"'
	eachBackslash = eachByte * '\\'
	eachOpen      = eachByte * '{'
	eachClose     = eachByte * '}'
	eachLetter    = eachByte * ' ' // turns a square bracket into a curly one
)

// zeros sets the top bit of every zero byte of x. It may set that of a byte above a
// zero byte, too, but the lowest set bit is always right.
func zeros(x uint64) uint64 { return (x - eachByte) &^ x & tops }

// stringEnd returns the index after the quote that ends a string, or -1 if there is
// none. i is the index after the quote that begins the string.
func stringEnd(b []byte, i int) int {
	for start := i; ; {
		q := quoteFrom(b, i)
		if q < 0 {
			return -1
		}
		if q == start || b[q-1] != '\\' || !escaped(b[start:q]) {
			return q + 1
		}
		i = q + 1
	}
}

// quoteFrom returns the index of the next quote, or -1 if there is none. It
// searches the first 32 bytes without a call of bytes.IndexByte, because most
// strings are short.
func quoteFrom(b []byte, i int) int {
	for range 4 {
		if i+8 > len(b) {
			break
		}
		if m := zeros(binary.LittleEndian.Uint64(b[i:]) ^ eachQuote); m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
		i += 8
	}
	n := bytes.IndexByte(b[i:], '"')
	if n < 0 {
		return -1
	}
	return i + n
}

// escaped reports whether the character after s is escaped. s ends in a backslash.
func escaped(s []byte) bool {
	n := len(s)
	for n > 0 && s[n-1] == '\\' {
		n--
	}
	return (len(s)-n)%2 == 1
}

// valueEnd returns the index after the value that begins at i, or -1 if there is no
// complete value.
func valueEnd(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return stringEnd(b, i+1)
	case '{', '[':
		return containerEnd(b, i+1)
	}
	end := wordEnd(b, i)
	if end == i {
		return -1
	}
	return end
}

// wordEnd returns the index after the number or word that begins at i or before it.
func wordEnd(b []byte, i int) int {
	for i < len(b) && !endsWord(b[i]) {
		i++
	}
	return i
}

// containerEnd returns the index after the bracket that closes an object or list, or -1
// if there is none. i is the index after the bracket that opens it.
func containerEnd(b []byte, i int) int {
	for depth := 1; ; {
		i = markFrom(b, i)
		if i < 0 {
			return -1
		}
		i++
		switch b[i-1] {
		case '"':
			if i = stringEnd(b, i); i < 0 {
				return -1
			}
		case '{', '[':
			depth++
		default:
			if depth--; depth == 0 {
				return i
			}
		}
	}
}

// markFrom returns the index of the next quote or bracket, or -1 if there is none.
func markFrom(b []byte, i int) int {
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		curly := x | eachLetter
		if m := zeros(x^eachQuote) | zeros(curly^eachOpen) | zeros(curly^eachClose); m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for ; i < len(b); i++ {
		switch b[i] {
		case '"', '{', '}', '[', ']':
			return i
		}
	}
	return -1
}

// endsWord reports whether c can't be part of a number or a word of JSON.
func endsWord(c byte) bool {
	switch c {
	case ',', '}', ']', ' ', '\t', '\r', '\n':
		return true
	}
	return false
}
