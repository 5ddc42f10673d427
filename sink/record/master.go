package record

import (
	"strconv"
	"strings"
	"unicode/utf16"
)

// maxMasterDepth is the maximum nesting depth of a master's objects and lists: some
// JSON parsers give up at a depth of 1000.
const maxMasterDepth = 32

// appendMaster appends a master's data about the server, a JSON object from a
// stranger. If it is not a JSON object, nothing is appended and ok is false.
func appendMaster(dst []byte, master string) (_ []byte, ok bool) {
	w := rewriter{dst: append(dst, `"master":`...), in: master}
	w.space()
	if len(w.in) == 0 || w.in[0] != '{' || !w.value() {
		return dst, false
	}
	if w.space(); len(w.in) > 0 {
		return dst, false
	}
	return append(w.dst, ','), true
}

// rewriter copies JSON in the form of a record: on one line, without spaces, in
// valid UTF-8, with the escapes of the package documentation. Its methods return
// false if the JSON is invalid, or if some parsers would reject it: for numbers
// beyond the range of a double, and for nesting deeper than maxMasterDepth.
type rewriter struct {
	dst   []byte
	in    string // not yet read
	depth int
}

func (w *rewriter) space() {
	for len(w.in) > 0 && (w.in[0] == ' ' || '\t' <= w.in[0] && w.in[0] <= '\r' && w.in[0] != '\v' && w.in[0] != '\f') {
		w.in = w.in[1:]
	}
}

// copy copies n bytes as they are.
func (w *rewriter) copy(n int) {
	w.dst = append(w.dst, w.in[:n]...)
	w.in = w.in[n:]
}

// accept copies c if it comes next, and reports whether it did.
func (w *rewriter) accept(c byte) bool {
	if len(w.in) == 0 || w.in[0] != c {
		return false
	}
	w.copy(1)
	return true
}

func (w *rewriter) value() bool {
	w.space()
	if len(w.in) == 0 {
		return false
	}
	switch w.in[0] {
	case '{':
		return w.group('}')
	case '[':
		return w.group(']')
	case '"':
		return w.text()
	case 't':
		return w.word("true")
	case 'f':
		return w.word("false")
	case 'n':
		return w.word("null")
	}
	return w.number()
}

// group copies an object or a list that ends with the bracket. (With a callback for
// the members, w would escape to the heap.)
func (w *rewriter) group(bracket byte) bool {
	if w.depth == maxMasterDepth {
		return false
	}
	w.depth++
	w.copy(1)
	w.space()
	for ended := w.accept(bracket); !ended; ended = w.accept(bracket) {
		if last := w.dst[len(w.dst)-1]; last != '{' && last != '[' && !w.accept(',') {
			return false
		}
		if bracket == '}' && !w.key() || !w.value() {
			return false
		}
		w.space()
	}
	w.depth--
	return true
}

// key copies a key and its colon.
func (w *rewriter) key() bool {
	w.space()
	if !w.text() {
		return false
	}
	w.space()
	return w.accept(':')
}

func (w *rewriter) word(word string) bool {
	if len(w.in) < len(word) || w.in[:len(word)] != word {
		return false
	}
	w.copy(len(word))
	return true
}

// number copies a number in the range of a double.
func (w *rewriter) number() bool {
	n := numberLen(w.in)
	if n == 0 {
		return false
	}
	if _, err := strconv.ParseFloat(w.in[:n], 64); err != nil {
		return false
	}
	w.copy(n)
	return true
}

// numberLen returns the length of the number at the beginning of s, or 0 if there
// is none.
func numberLen(s string) int {
	rest := strings.TrimPrefix(s, "-")
	if after, ok := strings.CutPrefix(rest, "0"); ok {
		rest = after
	} else if !skipDigits(&rest) {
		return 0
	}
	if after, ok := strings.CutPrefix(rest, "."); ok {
		if rest = after; !skipDigits(&rest) {
			return 0
		}
	}
	if rest != "" && (rest[0] == 'e' || rest[0] == 'E') {
		rest = rest[1:]
		if rest != "" && (rest[0] == '+' || rest[0] == '-') {
			rest = rest[1:]
		}
		if !skipDigits(&rest) {
			return 0
		}
	}
	return len(s) - len(rest)
}

// skipDigits removes the digits at the beginning of s, and reports whether there
// were any.
func skipDigits(s *string) bool {
	rest := strings.TrimLeft(*s, "0123456789")
	some := len(rest) < len(*s)
	*s = rest
	return some
}

// text copies a string.
func (w *rewriter) text() bool {
	if !w.accept('"') {
		return false
	}
	for len(w.in) > 0 {
		switch c := w.in[0]; {
		case c == '"':
			w.copy(1)
			return true
		case c == '\\':
			if !w.escape() {
				return false
			}
		case c < ' ':
			return false
		case class[c] == plain:
			w.copy(1)
		default:
			w.character()
		}
	}
	return false
}

// character copies or escapes a character beyond ASCII, or DEL.
func (w *rewriter) character() {
	r, n := rune(w.in[0]), 1
	if r >= 0x80 {
		r, n = decode(w.in)
	}
	if r != 0x7F && !risky(r) {
		w.copy(n)
		return
	}
	w.dst = appendEscape(w.dst, r)
	w.in = w.in[n:]
}

// escape copies an escape. Half of a surrogate pair becomes U+FFFD.
func (w *rewriter) escape() bool {
	if len(w.in) < 2 {
		return false
	}
	switch w.in[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		w.copy(2)
		return true
	}
	r, ok := unit(w.in)
	switch {
	case !ok:
		return false
	case !utf16.IsSurrogate(r):
		w.copy(6)
		return true
	}
	if low, ok := unit(w.in[6:]); ok && utf16.DecodeRune(r, low) != '\uFFFD' {
		w.copy(12)
		return true
	}
	w.dst = appendEscape(w.dst, illFormed)
	w.in = w.in[6:]
	return true
}

// unit returns the UTF-16 code unit of the escape \uXXXX with which s begins.
func unit(s string) (rune, bool) {
	if len(s) < 6 || s[:2] != `\u` {
		return 0, false
	}
	v, err := strconv.ParseUint(s[2:6], 16, 16)
	return rune(v), err == nil
}
