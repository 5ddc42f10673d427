package main

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// checkShown checks that what is shown to a person is fit to be shown.
func checkShown(t *testing.T, out string, width int) {
	t.Helper()
	lines := strings.Split(out, "\n")
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
