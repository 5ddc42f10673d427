package bench_test

import (
	"bufio"
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

// TestEveryQuirk checks that each fact about servers in the wild is accounted for:
// either the name of a test begins with its number, EC-1 to EC-145, or
// testdata/quirks.txt says why there is no test.
func TestEveryQuirk(t *testing.T) {
	root := ".."
	covered, err := quirksInTests(root)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(root, "testdata", "quirks.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	elsewhere, err := quirksElsewhere(bufio.NewScanner(f))
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range unaccounted(covered, elsewhere) {
		t.Error(fault)
	}
	t.Logf("%d of %d rows covered, %d elsewhere", len(covered), numQuirks, len(elsewhere))
}

// TestQuirkRows compares numQuirks with the table of facts in QUIRKS.md, if it is
// available, so that a new row is noticed.
func TestQuirkRows(t *testing.T) {
	rows, err := os.ReadFile(filepath.Join("..", "..", "shared", "protocol", "QUIRKS.md"))
	if err != nil {
		t.Skip("SKIPPED, NO ROW OF QUIRKS.md WAS COUNTED: ../shared is not there:", err)
	}
	seen := map[int]bool{}
	for _, m := range quirkRow.FindAllSubmatch(rows, -1) {
		n, _ := strconv.Atoi(string(m[1]))
		if seen[n] {
			t.Errorf("EC-%d has two rows", n)
		}
		seen[n] = true
	}
	for n := range numQuirks {
		if !seen[n+1] {
			t.Errorf("EC-%d has no row", n+1)
		}
	}
	if len(seen) != numQuirks {
		t.Errorf("%d rows, want %d", len(seen), numQuirks)
	}
}

var quirkRow = regexp.MustCompile(`(?m)^\| EC-(\d+) \|`)

// unaccounted returns a message for each fact with neither a test nor a reason, or
// with both, and for each number without a fact. It adds a message if there are too
// many reasons.
func unaccounted(covered map[int]string, elsewhere map[int]bool) (faults []string) {
	for n := 1; n <= numQuirks; n++ {
		switch file := covered[n]; {
		case file == "" && !elsewhere[n]:
			faults = append(faults, fmt.Sprintf("EC-%d: no test names it, and testdata/quirks.txt has no reason", n))
		case file != "" && elsewhere[n]:
			faults = append(faults, fmt.Sprintf("EC-%d: %s tests it, but testdata/quirks.txt says that no test does", n, file))
		}
	}
	for n := range covered {
		if n < 1 || n > numQuirks {
			faults = append(faults, fmt.Sprintf("EC-%d: %s names it, but there is no such fact", n, covered[n]))
		}
	}
	if len(elsewhere) > mostElsewhere {
		faults = append(faults, fmt.Sprintf("%d are elsewhere, more than %d", len(elsewhere), mostElsewhere))
	}
	return faults
}

var elsewhereLine = regexp.MustCompile(`^EC-(\d+) elsewhere: (game meaning|master|server side) — \S.*$`)

// quirksElsewhere reads the lines of testdata/quirks.txt, and returns the facts
// that are outside the scope of this program.
func quirksElsewhere(lines *bufio.Scanner) (map[int]bool, error) {
	found := map[int]bool{}
	for lines.Scan() {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		m := elsewhereLine.FindStringSubmatch(line)
		if m == nil {
			return nil, fmt.Errorf("quirks.txt: %q is not \"EC-n elsewhere: game meaning, master or server side — why\"", line)
		}
		n, _ := strconv.Atoi(m[1])
		if found[n] || n < 1 || n > numQuirks {
			return nil, fmt.Errorf("quirks.txt: EC-%d twice, or no such row", n)
		}
		found[n] = true
	}
	return found, lines.Err()
}

// quirksInTests returns the facts that the names of tests mention, each with a file
// that has such a test. A name is a Go string that begins with the numbers, such as
// the name of a subtest or of a row, or the first line of a conversation in
// testdata/session.
func quirksInTests(root string) (map[int]string, error) {
	found := map[int]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case strings.HasSuffix(path, "_test.go"):
			return addGoNames(found, path)
		case strings.HasSuffix(filepath.Dir(path), filepath.Join("testdata", "session")):
			return addHeading(found, path)
		}
		return nil
	})
	return found, err
}

// addGoNames adds the numbers with which strings of a test file begin.
func addGoNames(found map[int]string, path string) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if s, err := strconv.Unquote(lit.Value); err == nil {
				addNumbers(found, path, s)
			}
		}
		return true
	})
	return nil
}

// addHeading adds the numbers with which the first line of a conversation begins.
func addHeading(found map[int]string, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	addNumbers(found, path, strings.TrimPrefix(line, "# "))
	return nil
}

var quirkNames = regexp.MustCompile(`^EC-\d+(,? EC-\d+)*`)

func addNumbers(found map[int]string, path, s string) {
	for name := range strings.FieldsFuncSeq(quirkNames.FindString(s), func(r rune) bool { return r == ' ' || r == ',' }) {
		n, _ := strconv.Atoi(strings.TrimPrefix(name, "EC-"))
		found[n] = path
	}
}
