package list

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Invalid is a line that does not name a target, or is no exclusion.
type Invalid struct {
	File string // as named; "standard input" for "-"
	Line int    // line, item or argument number, from 1
	Text string // the line, or its beginning; made printable
	Err  error  // what is wrong; for a host name, why its lookup failed
}

// Error returns the file, line, fault and text in one line.
func (v Invalid) Error() string {
	return fmt.Sprintf("%s:%d: %v: %q", v.File, v.Line, v.Err, v.Text)
}

// unquote undoes what strconv.Quote does to printable characters.
var unquote = strings.NewReplacer(`\"`, `"`, `\\`, `\`)

// maxShown is the maximum number of bytes of a text that show returns.
const maxShown = 100

// show makes text printable for a terminal or a log: a character that is not, such as
// a control character, is escaped as in Go.
func show(text []byte) string {
	end := min(len(text), maxShown)
	for end > 0 && end < len(text) && !utf8.RuneStart(text[end]) {
		end--
	}
	s := string(text[:end])
	notPrintable := func(r rune) bool { return !strconv.IsPrint(r) }
	if !utf8.ValidString(s) || strings.ContainsFunc(s, notPrintable) {
		s = strconv.Quote(s)
		s = unquote.Replace(s[1 : len(s)-1])
	}
	if end < len(text) {
		s += "…"
	}
	return s
}
