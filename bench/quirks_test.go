package bench_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mostUntested is the maximum number of facts without a test.
const mostUntested = 8

// proofs splits the last cell of a row.
var proofs = regexp.MustCompile("^`([^`]+)`(?:, |$)")

// TestFacts checks the rows of docs/PROTOCOL.md: they are numbered without a gap, none
// has an empty cell, and the last cell names tests that exist and that cite the fact,
// or says why there is none. The log names the facts that no test cites.
func TestFacts(t *testing.T) {
	tr := ours(t)
	if len(tr.facts) < 160 {
		t.Fatalf("%d facts", len(tr.facts))
	}
	var untested []int
	for n := 1; n <= len(tr.facts); n++ {
		f := tr.facts[n]
		if f == nil || f.rows > 1 {
			t.Errorf("EC-%d has no row, or more than one", n)
			continue
		}
		if len(f.cells) != 5 || slices.Contains(f.cells, "") {
			t.Errorf("EC-%d: %d cells, want 5 besides the number, none empty: %q", n, len(f.cells), f.cells)
			continue
		}
		untested = append(untested, tr.proofFaults(t, n, f.cells[4])...)
	}
	if len(untested) > mostUntested {
		t.Errorf("%d facts without a test, at most %d may be: %v", len(untested), mostUntested, untested)
	}
	t.Logf("no test cites EC-%v", untested)
}

// proofFaults checks the last cell of fact n. It returns n if that cell says that there
// is no test.
func (tr *tree) proofFaults(t *testing.T, n int, cell string) []int {
	t.Helper()
	if why, ok := strings.CutPrefix(cell, "none: "); ok && why != "" {
		return []int{n}
	}
	cites := regexp.MustCompile(`\bEC-` + strconv.Itoa(n) + `\b`)
	for rest := cell; rest != ""; {
		m := proofs.FindStringSubmatch(rest)
		if m == nil {
			t.Errorf("EC-%d: %q is neither a list of tests nor \"none: why\"", n, cell)
			return nil
		}
		rest = rest[len(m[0]):]
		file, test, hasTest := strings.Cut(m[1], ":")
		text, exists := tr.files[file]
		isTest := strings.HasSuffix(file, "_test.go") && hasTest || strings.Contains(file, "testdata/") && !hasTest
		switch {
		case !exists || hasTest && !tr.declared[file][test]:
			t.Errorf("EC-%d: there is no %s", n, m[1])
		case !isTest:
			t.Errorf("EC-%d: %s is no test", n, m[1])
		case !cites.MatchString(text):
			t.Errorf("EC-%d: %s does not cite it", n, file)
		}
	}
	return nil
}
