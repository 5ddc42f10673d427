package bench_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sameRun is the number of consecutive words that docs must not have in common with the
// texts from which its facts come.
const sameRun = 10

// TestOwnWords: the sentences of docs are our own. Bytes, keys, names and sources may
// be the same as in the texts beside this repository.
func TestOwnWords(t *testing.T) {
	texts := filepath.Join("..", "..", "shared")
	theirs := map[string]string{} // file by run of words
	filepath.WalkDir(texts, func(name string, d fs.DirEntry, err error) error {
		if ext := filepath.Ext(name); err == nil && !d.IsDir() && (ext == ".md" || ext == ".txt") {
			for run := range runs(t, name) {
				theirs[run] = name
			}
		}
		return nil
	})
	if len(theirs) == 0 {
		t.Skipf("SKIPPED, NO WORDS WERE COMPARED: there are no texts in %s; they are not published with the project", texts)
	}
	pages, _ := filepath.Glob("../docs/*.md")
	for _, page := range pages {
		own := runs(t, page)
		for _, run := range slices.Sorted(maps.Keys(own)) {
			if from, same := theirs[run]; same {
				t.Errorf("%s: %q is in %s, too", page, run, from)
			}
		}
	}
	t.Logf("%d pages, and %d runs of %d words elsewhere", len(pages), len(theirs), sameRun)
}

var (
	code   = regexp.MustCompile("(?ms)^```.*?^```$|`[^`]*`")
	cells  = regexp.MustCompile(`\n[\t ]*\n|\n *[-*#|]|\||\*\*`) // what divides a text into parts
	source = regexp.MustCompile(`\[[BCDIS?]\].*`)                // the cell of a source
	word   = regexp.MustCompile(`^[\p{L}'’-]+$`)
)

// runs returns the runs of words of a file. Words are made of letters alone, so bytes,
// numbers and keys are none, nor is code. A capital letter inside a sentence begins a
// name, which is left out too.
func runs(t *testing.T, name string) map[string]bool {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, part := range cells.Split(code.ReplaceAllString(string(b), ""), -1) {
		var words []string
		begins := true // a sentence
		for _, w := range strings.Fields(source.ReplaceAllString(part, "")) {
			plain := strings.Trim(w, `.,;:()"…`)
			lower := strings.ToLower(plain)
			if word.MatchString(plain) && (begins || lower == plain) {
				words = append(words, lower)
			}
			begins = strings.HasSuffix(w, ".") || strings.HasSuffix(w, ":")
		}
		for len(words) >= sameRun {
			found[strings.Join(words[:sameRun], " ")] = true
			words = words[1:]
		}
	}
	return found
}
