package list

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// maxShown bounds text that is shown, in characters.
const maxShown = 100

// show makes text fit for a terminal or a log: what isn't printable (control
// characters, those that change the direction of writing, bytes that aren't
// UTF-8) becomes an escape sequence of Go, and what is too long is cut.
func show(text []byte) string {
	var b []byte
	for n := 0; len(text) > 0; n++ {
		if n == maxShown {
			return string(b) + "…"
		}
		r, size := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && size == 1:
			b = fmt.Appendf(b, `\x%02x`, text[0])
		case strconv.IsPrint(r):
			b = append(b, text[:size]...)
		case r < utf8.RuneSelf:
			b = fmt.Appendf(b, `\x%02x`, r)
		default:
			b = fmt.Appendf(b, `\u%04x`, r)
		}
		text = text[size:]
	}
	return string(b)
}
