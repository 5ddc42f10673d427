// Package captures reads recorded replies of real servers, for the tests of several
// packages. The recordings are not part of the project. They belong beside it, in
// ../shared/captures. Each server has two files: NAME.hex has its datagrams in
// hexadecimal, one per line, and NAME.json has what another program decoded from them.
package captures

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Files returns the paths of all NAME.hex files. It skips the test if there are
// none.
func Files(t testing.TB) []string {
	t.Helper()
	root := "." // tests run in the directory of their package
	for range 10 {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		root = filepath.Join(root, "..")
	}
	dir := filepath.Join(root, "..", "shared", "captures")
	files, err := filepath.Glob(filepath.Join(dir, "*.hex"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skipf("SKIPPED, NOTHING WAS COMPARED WITH REAL SERVERS: there are no recordings in %s; "+
			"the project does not publish its recordings; to compare, put NAME.hex and NAME.json into this folder", dir)
	}
	return files
}

// Meaning returns the path of the file NAME.json that belongs to the file NAME.hex.
func Meaning(file string) string { return strings.TrimSuffix(file, ".hex") + ".json" }

// Name returns NAME for the path of a file NAME.hex.
func Name(file string) string { return strings.TrimSuffix(filepath.Base(file), ".hex") }

// Datagrams returns the datagrams in a file NAME.hex, in order of arrival.
func Datagrams(t testing.TB, file string) (all [][]byte) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		b, err := hex.DecodeString(strings.ReplaceAll(strings.TrimSpace(line), " ", ""))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if len(b) > 0 {
			all = append(all, b)
		}
	}
	return all
}
