package compare

import (
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/sink/census"
)

// TestPageNumbers: the number of a kind counts the changes that are listed, and
// volatile changes are counted separately.
func TestPageNumbers(t *testing.T) {
	c := &census.Comparison{
		Changes:  map[census.Kind]uint64{"map": 162, "mode": 5, "rules": 20},
		Volatile: map[census.Kind]uint64{"map": 76, "mode": 5},
	}
	for _, test := range []struct {
		name  string
		o     Options
		lines []string
	}{
		{"usual", Options{}, []string{"map 86 and 76 more that --volatile lists", "mode 5 --volatile lists them", "rules 20"}},
		{"volatile", Options{Volatile: true}, []string{"map 162", "mode 5", "rules 20"}},
		{"one kind", Options{Kinds: []string{"map"}}, []string{"map 162", "mode 5 --volatile lists them", "rules 20"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var b strings.Builder
			writePage(&b, c, &test.o, &Important{})
			var got []string
			for line := range strings.Lines(b.String()) {
				got = append(got, strings.Join(strings.Fields(line), " "))
			}
			if all := strings.Join(got, "\n"); !strings.Contains(all, strings.Join(test.lines, "\n")+"\n") {
				t.Errorf("got\n%s\nwant\n%s", all, strings.Join(test.lines, "\n"))
			}
		})
	}
}

// TestPageLine: a line fits the screen, also with characters that take two columns,
// and what changed begins at the same column.
func TestPageLine(t *testing.T) {
	before, after := "CrystalIsles", "Ragnarok"
	for _, width := range []int{60, 80, 200} {
		at := 0
		for _, name := range []string{"a", strings.Repeat("한국 공식 서버 ", 20), strings.Repeat("x\x1b", 90)} {
			c := census.Change{Kind: "map", Addr: "127.0.0.1:27015", Name: name,
				Before: &census.Facts{Map: &before}, After: &census.Facts{Map: &after}}
			line := lineOf(&c, width)
			if n := console.Columns(line); n > width-2 {
				t.Errorf("%d columns of %d: %s", n, width, line)
			}
			begins, _, _ := strings.Cut(line, `"Cry`)
			if n := console.Columns(begins); at != 0 && n != at {
				t.Errorf("what changed begins at %d, before at %d: %s", n, at, line)
			} else {
				at = n
			}
		}
	}
}
