package bench_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// numQuirks is the number of known facts about servers in the wild. mostElsewhere
// is the maximum number of these facts that may be outside the scope of this
// program.
const (
	numQuirks     = 160
	mostElsewhere = 30
)

var (
	quirkRow      = regexp.MustCompile(`(?m)^\| EC-(\d+) \|`)
	quirkNames    = regexp.MustCompile(`^EC-\d+(,? EC-\d+)*`)
	elsewhereLine = regexp.MustCompile(`^EC-(\d+) elsewhere: (game meaning|master|server side) — \S.*$`)
)

// TestEveryQuirk checks that each fact about servers in the wild is accounted for:
// either the name of a test begins with its number, EC-1 to EC-160, or
// testdata/quirks.txt says why there is no test.
func TestEveryQuirk(t *testing.T) {
	root := ".."
	covered, err := quirksInTests(root)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, "testdata", "quirks.txt"))
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := map[int]bool{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		m := elsewhereLine.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("quirks.txt: %q is not \"EC-n elsewhere: game meaning, master or server side — why\"", line)
		}
		n, _ := strconv.Atoi(m[1])
		if elsewhere[n] || n < 1 || n > numQuirks {
			t.Errorf("quirks.txt: EC-%d twice, or no such row", n)
		}
		elsewhere[n] = true
	}
	for n := 1; n <= numQuirks; n++ {
		if (covered[n] == "") != elsewhere[n] {
			t.Errorf("EC-%d: tested in %q, and testdata/quirks.txt says that no test does: %v", n, covered[n], elsewhere[n])
		}
		delete(covered, n)
	}
	for n, file := range covered {
		t.Errorf("EC-%d: %s names it, but there is no such fact", n, file)
	}
	if len(elsewhere) > mostElsewhere {
		t.Errorf("%d are elsewhere, more than %d", len(elsewhere), mostElsewhere)
	}
}

// TestQuirkRows compares numQuirks with the table of facts in QUIRKS.md, if it is
// available, so that a new row is noticed.
func TestQuirkRows(t *testing.T) {
	rows, err := os.ReadFile(filepath.Join("..", "..", "shared", "protocol", "QUIRKS.md"))
	if err != nil {
		t.Skip("SKIPPED, NO ROW OF QUIRKS.md WAS COUNTED: ../shared is not there:", err)
	}
	found := quirkRow.FindAllSubmatch(rows, -1)
	seen := map[string]bool{}
	for _, m := range found {
		seen[string(m[1])] = true
	}
	for n := range numQuirks {
		if !seen[fmt.Sprint(n+1)] {
			t.Errorf("EC-%d has no row", n+1)
		}
	}
	if len(found) != numQuirks {
		t.Errorf("%d rows, want %d", len(found), numQuirks)
	}
}

// quirksInTests returns the facts that the names of tests mention, each with a file
// that has such a test. A name is a Go string that begins with the numbers, such as
// the name of a subtest or of a row, or the first line of a conversation in
// testdata/session.
func quirksInTests(root string) (map[int]string, error) {
	found := map[int]string{}
	add := func(path, text string) {
		for name := range strings.FieldsFuncSeq(quirkNames.FindString(text), func(r rune) bool { return r == ' ' || r == ',' }) {
			n, _ := strconv.Atoi(strings.TrimPrefix(name, "EC-"))
			found[n] = path
		}
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case strings.HasSuffix(path, "_test.go"):
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					text, _ := strconv.Unquote(lit.Value)
					add(path, text)
				}
				return true
			})
		case strings.HasSuffix(filepath.Dir(path), filepath.Join("testdata", "session")):
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			add(path, strings.TrimPrefix(string(text), "# "))
		}
		return nil
	})
	return found, err
}
