package console

import (
	"strings"

	"github.com/rivo/uniseg"
)

// Columns returns how many columns of a screen s takes. Wide characters take two.
func Columns(s string) int { return uniseg.StringWidth(s) }

// Pad pads s with spaces to a number of columns.
func Pad(s string, columns int) string { return s + strings.Repeat(" ", max(columns-Columns(s), 0)) }

// Shorten returns s in a form that is safe to show and takes at most this many
// columns of a screen. If it is cut, it ends with "…".
func Shorten(s string, columns int) string {
	s = Plain(s, 4*columns)
	if Columns(s) <= columns {
		return s
	}
	var b strings.Builder
	left, state := columns-1, -1
	for len(s) > 0 {
		var cluster string
		var wide int
		cluster, s, wide, state = uniseg.FirstGraphemeClusterInString(s, state)
		if wide > left {
			break
		}
		b.WriteString(cluster)
		left -= wide
	}
	return b.String() + "…"
}
