package record

import (
	"strconv"
	"unicode/utf16"
)

// maxMasterDepth is how deep objects and lists in what a master said may be in
// each other: some readers of JSON stop at a thousand.
const maxMasterDepth = 32

// appendMaster appends what a master said of the server, a JSON object that is
// not ours. What is no such object is left out, and ok is false.
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

// rewriter copies JSON, and writes it as a record is written: on one line, no
// space, valid UTF-8, characters escaped that a terminal would obey. Its methods
// report whether what they read was JSON; what some readers do not take, such
// as numbers beyond a double and lists in lists without end, is none.
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

// is copies c if it comes next.
func (w *rewriter) is(c byte) bool {
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

// group reads an object or a list, by its bracket. (With the function that
// reads a member as an argument, w would be on the heap.)
func (w *rewriter) group(bracket byte) bool {
	if w.depth == maxMasterDepth {
		return false
	}
	w.depth++
	w.copy(1)
	w.space()
	for ended := w.is(bracket); !ended; ended = w.is(bracket) {
		if last := w.dst[len(w.dst)-1]; last != '{' && last != '[' && !w.is(',') {
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

// key reads a key and the colon behind it.
func (w *rewriter) key() bool {
	w.space()
	if !w.text() {
		return false
	}
	w.space()
	return w.is(':')
}

func (w *rewriter) word(word string) bool {
	if len(w.in) < len(word) || w.in[:len(word)] != word {
		return false
	}
	w.copy(len(word))
	return true
}

// number reads a number that a double can hold, more or less.
func (w *rewriter) number() bool {
	n := 0
	digits := func() bool {
		start := n
		for n < len(w.in) && '0' <= w.in[n] && w.in[n] <= '9' {
			n++
		}
		return n > start
	}
	next := func(chars string) bool {
		for i := range len(chars) {
			if n < len(w.in) && w.in[n] == chars[i] {
				n++
				return true
			}
		}
		return false
	}
	next("-")
	if !next("0") && !digits() || next(".") && !digits() {
		return false
	}
	if next("eE") {
		if next("+-"); !digits() {
			return false
		}
	}
	if _, err := strconv.ParseFloat(w.in[:n], 64); err != nil {
		return false
	}
	w.copy(n)
	return true
}

// text reads a string.
func (w *rewriter) text() bool {
	if !w.is('"') {
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

// character copies one beyond ASCII, or what stands for it, or for DEL.
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

// escape copies what follows a backslash. Half of a surrogate pair is no
// character: it becomes U+FFFD.
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

// unit reads \uXXXX.
func unit(s string) (rune, bool) {
	if len(s) < 6 || s[:2] != `\u` {
		return 0, false
	}
	v, err := strconv.ParseUint(s[2:6], 16, 16)
	return rune(v), err == nil
}
