package list

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// maxShown is the maximum number of characters of a text that show returns.
const maxShown = 100

// show makes text printable for a terminal or a log. Characters that
// strconv.IsPrint rejects, such as control characters, and bytes that aren't UTF-8
// become Go escape sequences. Text longer than maxShown is truncated.
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
