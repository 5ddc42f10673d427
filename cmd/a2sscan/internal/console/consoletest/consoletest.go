// Package consoletest checks messages in tests.
package consoletest

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// CheckVisible fails the test if text has a character that is not visible, more
// than 600 lines, or a row of a hex dump with more than width characters.
func CheckVisible(t *testing.T, text string, width int) {
	t.Helper()
	lines := strings.Split(text, "\n")
	if len(lines) > 600 {
		t.Errorf("%d lines", len(lines))
	}
	for _, line := range lines {
		for _, r := range line {
			if r == utf8.RuneError || !unicode.IsPrint(r) {
				t.Fatalf("%q shows %q", line, r)
			}
		}
		if n := utf8.RuneCountInString(line); strings.HasPrefix(line, "    0") && n > width {
			t.Errorf("%d characters in a row for %d: %s", n, width, line)
		}
	}
}
