package bench_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
)

// tree is the text of a repository, with what its pages and programs define.
type tree struct {
	files    map[string]string          // by path
	dirs     map[string]bool            // that contain files
	words    map[string]map[string]bool // of Go by package name, and by path of a file; of other files none
	imported map[string]bool            // last elements of import paths
	titles   map[string]map[string]bool // of a page in docs: section numbers, titles in lower case, and anchors with #
	facts    map[int][][]string         // rows of docs/PROTOCOL.md by number: the other cells
	sources  map[string]map[string]bool // sections by number of a source document, such as 000
}

var (
	unread      = regexp.MustCompile(`\.(png|ico|zst|gz|hex|golden|min\.js|css|sum|pcapng)$`)
	goPackage   = regexp.MustCompile(`(?m)^package (\w+?)(?:_test)?$`)
	goImport    = regexp.MustCompile(`(?m)^(?:import)?\s+"(?:[^"]+/)?(\w+)"$`)
	goWord      = regexp.MustCompile(`\w+`)
	docSource   = regexp.MustCompile(`(?m)^\| document (00\d) \| (.*?) \|`)
	docFact     = regexp.MustCompile(`(?m)^\| EC-(\d+) \| (.*) \|$`)
	docHeading  = regexp.MustCompile(`(?m)^#+ (?:(\d+(?:\.\d+)*) )?(.*)$`)
	docFence    = regexp.MustCompile("(?ms)^```.*?^```$")
	notInAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// ours is the tree of this repository.
var ours = sync.OnceValue(func() *tree { return newTree(os.DirFS("..")) })

// put adds a value to a set that may not be there yet.
func put(sets map[string]map[string]bool, name, value string) {
	if sets[name] == nil {
		sets[name] = map[string]bool{}
	}
	sets[name][value] = true
}

func newTree(fsys fs.FS) *tree {
	tr := &tree{
		files: map[string]string{}, dirs: map[string]bool{}, words: map[string]map[string]bool{}, imported: map[string]bool{},
		titles: map[string]map[string]bool{}, facts: map[int][][]string{}, sources: map[string]map[string]bool{},
	}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		hidden := name != "." && strings.HasPrefix(d.Name(), ".") && d.Name() != ".ci"
		if hidden && d.IsDir() {
			return fs.SkipDir
		}
		if err != nil || d.IsDir() || hidden {
			return err
		}
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			tr.dirs[dir] = true
		}
		tr.files[name] = ""
		if !unread.MatchString(name) {
			text, err := fs.ReadFile(fsys, name)
			tr.files[name] = string(text)
			return err
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		panic(err)
	}
	for name, text := range tr.files {
		if pkg := goPackage.FindStringSubmatch(text); pkg != nil && path.Ext(name) == ".go" {
			for _, word := range goWord.FindAllString(text, -1) {
				put(tr.words, pkg[1], word)
				put(tr.words, name, word)
			}
			for _, m := range goImport.FindAllStringSubmatch(text, -1) {
				tr.imported[m[1]] = true
			}
		}
		if dir, file := path.Split(name); dir == "docs/" {
			for _, m := range docHeading.FindAllStringSubmatch(docFence.ReplaceAllString(text, ""), -1) {
				anchor := notInAnchor.ReplaceAllString(strings.ToLower(strings.TrimSpace(m[1]+" "+m[2])), "")
				put(tr.titles, file, m[1])
				put(tr.titles, file, strings.ToLower(m[2]))
				put(tr.titles, file, "#"+strings.ReplaceAll(anchor, " ", "-"))
			}
		}
	}
	protocol := tr.files["docs/PROTOCOL.md"]
	for _, m := range docSource.FindAllStringSubmatch(protocol, -1) {
		put(tr.sources, m[1], m[2])
	}
	for _, m := range docFact.FindAllStringSubmatch(protocol, -1) {
		n, _ := strconv.Atoi(m[1])
		tr.facts[n] = append(tr.facts[n], strings.Split(m[2], " | "))
	}
	return tr
}

// exists reports whether a path, which may be a pattern or a base name, is a file or a
// folder.
func (tr *tree) exists(name string) bool {
	name = strings.TrimSuffix(name, "/")
	if _, ok := tr.files[name]; ok || tr.dirs[name] {
		return true
	}
	for file := range tr.files {
		whole, _ := path.Match(name, file)
		if whole || !strings.Contains(name, "/") && path.Base(file) == name {
			return true
		}
	}
	return false
}

// TestCitations checks that docs defines what the tree cites, and that the tree has
// what docs names.
func TestCitations(t *testing.T) {
	for _, fault := range ours().faults() {
		t.Error(fault)
	}
	if n := len(ours().files); n < 500 {
		t.Errorf("only %d files were read", n)
	}
}

// TestCitationFaults: each kind of fault is found, and what is right is not a fault.
func TestCitationFaults(t *testing.T) {
	const protocol = "# Protocol\n\n| document 000 | Queries |\n| document 001 | Les serveurs |\n" +
		"| document 000 | \"the header\" | x |\n| document 000 | A2S_INFO | x |\n\n" +
		"## 3 Facts\n\n### 3.1 More facts\n\n| EC-1 | b | w | r | s | `a/a_test.go:TestA` |\n| EC-2 | b | w | r | s | none: x |\n"
	for _, test := range []struct{ file, text, want string }{
		{"a/b.go", "// EC-1, EC-1 to EC-2, documents 000 and 001, PROTOCOL.md, section 3.1", ""},
		{"a/b.go", "// (document 000, \"the\n// header\"), document 000, A2S_INFO, docs/PROTOCOL.md, \"Facts\"", ""},
		{"a/testdata/x.txtar", "# EC-1 to EC-9", "a/testdata/x.txtar: EC-9 is no fact"},
		{"a/b.go", "// EC-2 to EC-1", "a/b.go: EC-2 to EC-1 is no range"},
		{"README.md", "Documents 000 to 003", "README.md: document 003 is not defined"},
		{"a/b.go", "// document 000, line 12", "a/b.go: document 000, line: cite a section"},
		{"a/b.go", "// document 000, \"the\n// footer\"", "a/b.go: document 000 has no section \"the footer\""},
		{"a/b.go", "// QUIRKS.md has it", "a/b.go: there is no QUIRKS.md"},
		{"a/b.go", "// packaging/PROTOCOL.md", "a/b.go: there is no packaging/PROTOCOL.md"},
		{"a/b.go", "// PROTOCOL.md, sections 3 and 5", "a/b.go: docs/PROTOCOL.md has no 5"},
		{"a/b.go", "// (PROTOCOL 3.7)", "a/b.go: PROTOCOL 3.7: write docs/PROTOCOL.md, section 3.7"},
		{"a/b.go", "// docs/PROTOCOL.md, \"Lies\"", "a/b.go: docs/PROTOCOL.md has no lies"},
		{"docs/x.md", "`a`, `a/a_test.go`, `a/*.go`, `a.Do`, `a.Thing.Method`, `a.Thing.Field`, `a_test.go`, `TestA`, `a/a_test.go:TestA`, " +
			"`fmt.Println`, `client.go:12`, `pkg/x.go`, `a.thing`, `a/a_test.go in words` [x](PROTOCOL.md#31-more-facts)", ""},
		{"docs/x.md", "```\n`a/none.go`\n```\n`Do` and `Thing.Method` in `a/a.go`", ""},
		{"docs/x.md", "`Do` and `Thing.Lie` of `a/a.go`", "docs/x.md: a/a.go has no Thing.Lie"},
		{"docs/x.md", "`a/none_*.go`", "docs/x.md: there is no a/none_*.go"},
		{"docs/x.md", "`none.go`", "docs/x.md: there is no none.go"},
		{"a/README.md", "`a.Thing.Lost` [x](a.go)", "a/README.md: there is no a.Thing.Lost"},
		{"docs/x.md", "`b.Do`", "docs/x.md: there is no package b"},
		{"docs/x.md", "`TestNone`", "docs/x.md: there is no TestNone"},
		{"docs/x.md", "`a/a_test.go:TestB`", "docs/x.md: a/a_test.go has no TestB"},
		{"docs/x.md", "`a/a_test.go:12`", "docs/x.md: a/a_test.go:12: name a function, lines move"},
		{"docs/x.md", "[x](none.md)", "docs/x.md: there is no docs/none.md"},
		{"docs/x.md", "[x](PROTOCOL.md#lies)", "docs/x.md: docs/PROTOCOL.md has no #lies"},
	} {
		tr := newTree(fstest.MapFS{
			"docs/PROTOCOL.md": {Data: []byte(protocol)},
			"a/a.go":           {Data: []byte("package a\n\nimport \"fmt\"\n\ntype Thing struct{ Field int }\n\nfunc (Thing) Method() {}\n\nfunc Do() { fmt.Println() }\n")},
			"a/a_test.go":      {Data: []byte("package a\n\n// TestA is of EC-1.\nfunc TestA(t *testing.T) {}\n")},
			test.file:          {Data: []byte(test.text)},
		})
		if got := strings.Join(tr.faults(), "|"); got != test.want {
			t.Errorf("%s: %s\ngot  %q\nwant %q", test.file, test.text, got, test.want)
		}
	}
}

// faults returns what is cited or named in the tree and does not exist.
func (tr *tree) faults() (faults []string) {
	for _, name := range slices.Sorted(maps.Keys(tr.files)) {
		if name == "bench/documents_test.go" {
			continue // it has faults on purpose
		}
		fault := func(format string, args ...any) {
			faults = append(faults, name+": "+fmt.Sprintf(format, args...))
		}
		if text := tr.files[name]; signs.MatchString(text) {
			tr.cited(oneLine(text), fault)
		}
		if path.Ext(name) == ".md" {
			tr.named(name, docFence.ReplaceAllString(tr.files[name], ""), fault)
		}
	}
	return faults
}

var (
	signs      = regexp.MustCompile(`EC-|ocuments? 00|\.md|[A-Z]{4} \d`) // one of them is in every citation
	citedFact  = regexp.MustCompile(`EC-(\d+)(?: to EC-(\d+))?`)
	citedText  = regexp.MustCompile(`ocuments? 00\d(?:(?:,| and|, and| to) 00\d)*(?:, (?:"[^"]+"|A2\w+|line\b))?`)
	citedPage  = regexp.MustCompile(`\b((?:(?:docs|packaging|bench|cmd)/[\w./-]+|[A-Z]{4,})\.md)(?:, (?:sections? (\d+(?:\.\d+)*)(?: (?:and|to) (\d+(?:\.\d+)*))?|"([^"]+)"))?`)
	citedShort = regexp.MustCompile(`\b(GAMES|FORMATS|PROTOCOL|ARCHITECTURE|QUIRKS|DESIGN)(?:\.md)? (\d+(?:\.\d+)*)\b`)
	document   = regexp.MustCompile(`00\d`)
)

// oneLine joins the lines of a text, without the marks of its comments.
func oneLine(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		line = strings.TrimPrefix(strings.TrimPrefix(line, "//"), "#")
		b.WriteString(strings.TrimLeft(line, " \t") + " ")
	}
	return strings.ReplaceAll(b.String(), `\"`, `"`)
}

// cited reports the citations in a text that docs does not define.
func (tr *tree) cited(text string, fault func(format string, args ...any)) {
	for _, m := range citedFact.FindAllStringSubmatch(text, -1) {
		from, _ := strconv.Atoi(m[1])
		to, _ := strconv.Atoi(m[2])
		if m[2] == "" {
			to = from
		}
		switch {
		case from > to:
			fault("%s is no range", m[0])
		case tr.facts[from] == nil:
			fault("EC-%d is no fact", from)
		case tr.facts[to] == nil:
			fault("EC-%d is no fact", to)
		}
	}
	for _, m := range citedText.FindAllString(text, -1) {
		numbers := document.FindAllString(m, -1)
		for _, n := range numbers {
			if tr.sources[n] == nil {
				fault("document %s is not defined", n)
			}
		}
		n := numbers[len(numbers)-1]
		switch _, section, _ := strings.Cut(m[strings.LastIndex(m, n):], ", "); {
		case section == "line":
			fault("d%s: cite a section", m)
		case section != "" && tr.sources[n] != nil && !tr.sources[n][section]:
			fault("document %s has no section %s", n, section)
		}
	}
	for _, m := range citedPage.FindAllStringSubmatch(text, -1) {
		dir, file := path.Split(m[1])
		titles := tr.titles[file]
		if titles == nil || dir != "" && dir != "docs/" {
			if !tr.exists(m[1]) {
				fault("there is no %s", m[1])
			}
			continue
		}
		for _, title := range m[2:] {
			if title = strings.ToLower(title); title != "" && !titles[title] {
				fault("docs/%s has no %s", file, title)
			}
		}
	}
	for _, m := range citedShort.FindAllStringSubmatch(text, -1) {
		fault("%s: write docs/%s.md, section %s", m[0], m[1], m[2])
	}
}

var (
	quoted     = regexp.MustCompile("`([^`\n]+)`")
	isIn       = regexp.MustCompile("((?:`[\\w.]+`(?:, | and )?)+) (?:in|of) `([\\w./-]+\\.go)`")
	link       = regexp.MustCompile(`\]\(([^)#\s:]*)(#[^)]*)?\)`)
	identifier = regexp.MustCompile(`^([a-z]\w*)\.([A-Z]\w*(?:\.\w+)?)$`)
	testName   = regexp.MustCompile(`^(?:Test|Benchmark|Fuzz|Example)[A-Z]\w*$`)
	sourceFile = regexp.MustCompile(`^[\w.-]+\.go$`)
	inFile     = regexp.MustCompile(`^([\w./-]+\.\w+):(\S+)$`)
	plainPath  = regexp.MustCompile(`^[\w.*/-]+$`)
)

// named reports the files, identifiers and headings that a page names and that do not
// exist.
func (tr *tree) named(page, text string, fault func(format string, args ...any)) {
	for _, m := range quoted.FindAllStringSubmatch(text, -1) {
		if f := tr.missing(m[1]); f != "" {
			fault("%s", f)
		}
	}
	for _, m := range isIn.FindAllStringSubmatch(text, -1) {
		for _, id := range quoted.FindAllStringSubmatch(m[1], -1) {
			if words := tr.words[m[2]]; words != nil && !has(words, id[1]) {
				fault("%s has no %s", m[2], id[1])
			}
		}
	}
	for _, m := range link.FindAllStringSubmatch(text, -1) {
		target := path.Join(path.Dir(page), m[1])
		if m[1] == "" {
			target = page
		}
		titles := tr.titles[path.Base(target)]
		switch {
		case !tr.exists(target):
			fault("there is no %s", target)
		case m[2] != "" && path.Dir(target) == "docs" && titles != nil && !titles[m[2]]:
			fault("%s has no %s", target, m[2])
		}
	}
}

// has reports whether all parts of an identifier, such as Type.Method, are among words.
func has(words map[string]bool, id string) bool {
	for part := range strings.SplitSeq(id, ".") {
		if !words[part] {
			return false
		}
	}
	return true
}

// missing returns what is wrong with a name, or "".
func (tr *tree) missing(name string) string {
	if m := inFile.FindStringSubmatch(name); m != nil && tr.files[m[1]] != "" {
		switch {
		case m[2][0] >= '0' && m[2][0] <= '9':
			return name + ": name a function, lines move"
		case !has(tr.words[m[1]], m[2]):
			return m[1] + " has no " + m[2]
		}
		return ""
	}
	file, _, _ := strings.Cut(name, ":")
	first, _, isPath := strings.Cut(file, "/")
	m := identifier.FindStringSubmatch(name)
	there := true
	switch {
	case isPath && tr.dirs[first] && plainPath.MatchString(file):
		there = tr.exists(file)
		name = file
	case sourceFile.MatchString(name):
		there = tr.exists(name)
	case testName.MatchString(name):
		there = slices.ContainsFunc(slices.Collect(maps.Values(tr.files)), func(text string) bool {
			return strings.Contains(text, "\nfunc "+name+"(")
		})
	case m != nil && tr.words[m[1]] == nil && !tr.imported[m[1]]:
		return "there is no package " + m[1]
	case m != nil && tr.words[m[1]] != nil:
		there = has(tr.words[m[1]], m[2])
	}
	if !there {
		return "there is no " + name
	}
	return ""
}

// mostUntested is the maximum number of facts without a test.
const mostUntested = 8

// proofs splits the last cell of a row.
var proofs = regexp.MustCompile("^`([^`:]+)(?::([^`]+))?`(?:, |$)")

// TestFacts checks the rows of docs/PROTOCOL.md: they are numbered without a gap, none
// has an empty cell, and the last cell names tests that exist and that cite the fact,
// or says why there is none. The log names the facts that no test cites.
func TestFacts(t *testing.T) {
	tr := ours()
	if len(tr.facts) < 160 {
		t.Fatalf("%d facts", len(tr.facts))
	}
	var untested []int
	for n := 1; n <= len(tr.facts); n++ {
		rows := tr.facts[n]
		if len(rows) != 1 || len(rows[0]) != 5 || slices.Contains(rows[0], "") {
			t.Errorf("EC-%d: want one row of 5 cells besides the number, none empty: %q", n, rows)
			continue
		}
		rest := rows[0][4]
		if why, none := strings.CutPrefix(rest, "none: "); none && why != "" {
			untested = append(untested, n)
			continue
		}
		cites := regexp.MustCompile(`\bEC-` + strconv.Itoa(n) + `\b`)
		for rest != "" {
			m := proofs.FindStringSubmatch(rest)
			if m == nil {
				t.Errorf("EC-%d: %q is neither a list of tests nor \"none: why\"", n, rest)
				break
			}
			rest = rest[len(m[0]):]
			isTest := strings.HasSuffix(m[1], "_test.go") && strings.Contains(tr.files[m[1]], "\nfunc "+m[2]+"(") ||
				strings.Contains(m[1], "testdata/") && m[2] == "" && tr.files[m[1]] != ""
			if !isTest || !cites.MatchString(tr.files[m[1]]) {
				t.Errorf("EC-%d: %s is no test, or does not cite it", n, m[0])
			}
		}
	}
	if len(untested) > mostUntested {
		t.Errorf("%d facts without a test, at most %d may be: %v", len(untested), mostUntested, untested)
	}
	t.Logf("no test cites EC-%v", untested)
}

var (
	code   = regexp.MustCompile("(?ms)^```.*?^```$|`[^`]*`")
	cells  = regexp.MustCompile(`\n[\t ]*\n|\n *[-*#|]|\||\*\*`) // what divides a text into parts
	source = regexp.MustCompile(`\[[BCDIS?]\].*`)                // the cell of a source
	letter = regexp.MustCompile(`^[\p{L}'’-]+$`)
)

// runs yields each ten words in a row of a text. Bytes, numbers, keys and code are no
// words, nor is a name, which begins with a capital letter inside a sentence.
func runs(text string, yield func(run string)) {
	for _, part := range cells.Split(code.ReplaceAllString(text, ""), -1) {
		var words []string
		begins := true // a sentence
		for w := range strings.FieldsSeq(source.ReplaceAllString(part, "")) {
			plain := strings.Trim(w, `.,;:()"…`)
			if lower := strings.ToLower(plain); letter.MatchString(plain) && (begins || lower == plain) {
				words = append(words, lower)
			}
			begins = strings.HasSuffix(w, ".") || strings.HasSuffix(w, ":")
		}
		for ; len(words) >= 10; words = words[1:] {
			yield(strings.Join(words[:10], " "))
		}
	}
}

// TestOwnWords: the sentences of docs are not those of the texts from which its facts
// come, which are kept beside this repository.
func TestOwnWords(t *testing.T) {
	theirs := map[string]string{} // file by run of words
	for name, text := range newTree(os.DirFS("../../shared")).files {
		if ext := path.Ext(name); ext == ".md" || ext == ".txt" {
			runs(text, func(run string) { theirs[run] = name })
		}
	}
	for name, text := range ours().files {
		if path.Dir(name) == "docs" {
			runs(text, func(run string) {
				if from := theirs[run]; from != "" {
					t.Errorf("%s: %q is in %s, too", name, run, from)
				}
			})
		}
	}
	if len(theirs) == 0 {
		t.Skip("SKIPPED, NO WORDS WERE COMPARED: the texts are not published with the project")
	}
}
