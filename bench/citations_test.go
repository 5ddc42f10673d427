package bench_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
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

// TestCitations checks that docs defines what the tree cites, and that the tree has
// what docs names.
func TestCitations(t *testing.T) {
	tree := ours(t)
	for _, fault := range tree.citations() {
		t.Error(fault)
	}
	for _, fault := range tree.names() {
		t.Error(fault)
	}
	if n := len(tree.files); n < 500 {
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
		{"a/b.go", "// EC-3 and EC-0", "a/b.go: EC-3 is no fact|a/b.go: EC-0 is no fact"},
		{"a/testdata/x.txtar", "# EC-1 to EC-9", "a/testdata/x.txtar: EC-9 is no fact"},
		{"a/b.go", "// EC-2 to EC-1", "a/b.go: EC-2 to EC-1 is no range"},
		{"x.sh", "# document 002", "x.sh: document 002 is not defined"},
		{"README.md", "Documents 000 to 003", "README.md: document 003 is not defined"},
		{"a/b.go", "// document 000, line 12", "a/b.go: document 000, line: cite a section"},
		{"a/b.json", `{"source": "document 001, A2S_INFO"}`, "a/b.json: document 001 has no section A2S_INFO"},
		{"a/b.go", "// document 000, \"the\n// footer\"", "a/b.go: document 000 has no section \"the footer\""},
		{"a/b.go", "// QUIRKS.md has it", "a/b.go: there is no QUIRKS.md"},
		{"a/b.go", "// docs/nothing.md", "a/b.go: there is no docs/nothing.md"},
		{"a/b.go", "// packaging/PROTOCOL.md", "a/b.go: there is no packaging/PROTOCOL.md"},
		{"a/b.go", "// PROTOCOL.md, section 4.2", "a/b.go: docs/PROTOCOL.md has no section 4.2"},
		{"a/b.go", "// PROTOCOL.md, sections 3 and 5", "a/b.go: docs/PROTOCOL.md has no section 5"},
		{"a/b.go", "// (PROTOCOL 3.7)", "a/b.go: PROTOCOL 3.7: write docs/PROTOCOL.md, section 3.7"},
		{"a/b.go", "// docs/PROTOCOL.md, \"Lies\"", "a/b.go: docs/PROTOCOL.md has no heading \"Lies\""},
		{"docs/x.md", "`a`, `a/a_test.go`, `a/*.go`, `a.Do`, `a.Thing.Method`, `a.Thing.Field`, `a_test.go`, `TestA`, `a/a_test.go:TestA`, " +
			"`fmt.Println`, `client.go:12`, `pkg/x.go`, `a.thing`, `a/a_test.go in words` [x](PROTOCOL.md#31-more-facts)", ""},
		{"docs/x.md", "```\n`a/none.go`\n```\n`Do` and `Thing.Method` in `a/a.go`", ""},
		{"docs/x.md", "`Do` and `Thing.Lie` of `a/a.go`", "docs/x.md: a/a.go has no Thing.Lie"},
		{"docs/x.md", "`a/none.go`", "docs/x.md: there is no a/none.go"},
		{"docs/x.md", "`a/none_*.go`", "docs/x.md: there is no a/none_*.go"},
		{"docs/x.md", "`none.go`", "docs/x.md: there is no none.go"},
		{"docs/x.md", "`a.None`", "docs/x.md: there is no a.None"},
		{"a/README.md", "`a.Thing.Lost` [x](a.go)", "a/README.md: there is no a.Thing.Lost"},
		{"docs/x.md", "`a.Thing.None`", "docs/x.md: there is no a.Thing.None"},
		{"docs/x.md", "`b.Do`", "docs/x.md: there is no package b"},
		{"docs/x.md", "`TestNone`", "docs/x.md: there is no TestNone"},
		{"docs/x.md", "`a/a_test.go:TestB`", "docs/x.md: a/a_test.go has no TestB"},
		{"docs/x.md", "`a/a_test.go:12`", "docs/x.md: a/a_test.go:12: name a function, lines move"},
		{"docs/x.md", "[x](none.md)", "docs/x.md: there is no docs/none.md"},
		{"docs/x.md", "[x](PROTOCOL.md#lies)", "docs/x.md: docs/PROTOCOL.md has no heading #lies"},
	} {
		tree := mustRead(t, fstest.MapFS{
			"docs/PROTOCOL.md": {Data: []byte(protocol)},
			"a/a.go":           {Data: []byte("package a\n\nimport \"fmt\"\n\ntype Thing struct{ Field int }\n\nfunc (Thing) Method() {}\n\nfunc Do() { fmt.Println() }\n")},
			"a/a_test.go":      {Data: []byte("package a\n\n// TestA is of EC-1.\nfunc TestA(t *testing.T) {}\n")},
			test.file:          {Data: []byte(test.text)},
		})
		if got := strings.Join(append(tree.citations(), tree.names()...), "|"); got != test.want {
			t.Errorf("%s: %s\ngot  %q\nwant %q", test.file, test.text, got, test.want)
		}
	}
}

// ours returns the tree of this repository, which is read once.
func ours(t *testing.T) *tree {
	t.Helper()
	readOurs.Do(func() { ourTree = mustRead(t, os.DirFS("..")) })
	return ourTree
}

var (
	readOurs sync.Once
	ourTree  *tree
)

// tree is the text of a repository.
type tree struct {
	files    map[string]string          // by path
	dirs     map[string]bool            // that contain files
	bases    map[string]bool            // base names of files
	declared map[string]map[string]bool // identifiers by package name, and by path of a file
	imported map[string]bool            // last elements of import paths
	docs     map[string]*page           // pages of docs by name
	facts    map[int]*fact
	sources  map[string]map[string]bool // sections by number of a source document, such as 000
}

// page holds the headings of a page.
type page struct {
	sections map[string]bool // numbers
	titles   map[string]bool // in lower case
	anchors  map[string]bool
}

// fact is a row of docs/PROTOCOL.md.
type fact struct {
	rows  int
	cells []string // without the number
}

var (
	unread      = regexp.MustCompile(`\.(png|ico|zst|gz|hex|golden|min\.js|css|sum|pcapng)$`)
	docSource   = regexp.MustCompile(`(?m)^\| document (00\d) \| (.*?) \|`)
	docFact     = regexp.MustCompile(`(?m)^\| EC-(\d+) \| (.*) \|$`)
	docHeading  = regexp.MustCompile(`(?m)^#+ (?:(\d+(?:\.\d+)*) )?(.*)$`)
	docFence    = regexp.MustCompile("(?ms)^```.*?^```$")
	notInAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

func mustRead(t *testing.T, fsys fs.FS) *tree {
	t.Helper()
	tr := &tree{
		files: map[string]string{}, dirs: map[string]bool{}, bases: map[string]bool{},
		declared: map[string]map[string]bool{}, imported: map[string]bool{},
		docs: map[string]*page{}, facts: map[int]*fact{}, sources: map[string]map[string]bool{},
	}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		hidden := name != "." && strings.HasPrefix(d.Name(), ".") && d.Name() != ".ci"
		switch {
		case err != nil:
			return err
		case d.IsDir() && hidden:
			return fs.SkipDir
		case d.IsDir() || hidden:
			return nil
		}
		tr.bases[d.Name()] = true
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			tr.dirs[dir] = true
		}
		text := ""
		if !unread.MatchString(name) {
			b, err := fs.ReadFile(fsys, name)
			if err != nil {
				return err
			}
			text = string(b)
		}
		tr.files[name] = text
		if strings.HasSuffix(name, ".go") {
			tr.declare(name, text)
		}
		if dir, file := path.Split(name); dir == "docs/" && strings.HasSuffix(file, ".md") {
			tr.docs[file] = readPage(docFence.ReplaceAllString(text, ""))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	protocol := tr.files["docs/PROTOCOL.md"]
	for _, m := range docSource.FindAllStringSubmatch(protocol, -1) {
		if tr.sources[m[1]] == nil {
			tr.sources[m[1]] = map[string]bool{}
		}
		tr.sources[m[1]][m[2]] = true
	}
	for _, m := range docFact.FindAllStringSubmatch(protocol, -1) {
		n, _ := strconv.Atoi(m[1])
		f := tr.facts[n]
		if f == nil {
			f = new(fact)
			tr.facts[n] = f
		}
		f.rows++
		f.cells = strings.Split(m[2], " | ")
	}
	return tr
}

func readPage(text string) *page {
	p := &page{map[string]bool{}, map[string]bool{}, map[string]bool{}}
	for _, m := range docHeading.FindAllStringSubmatch(text, -1) {
		p.sections[m[1]] = true
		p.titles[strings.ToLower(m[2])] = true
		anchor := notInAnchor.ReplaceAllString(strings.ToLower(strings.TrimSpace(m[1]+" "+m[2])), "")
		p.anchors[strings.ReplaceAll(anchor, " ", "-")] = true
	}
	return p
}

// declare notes the identifiers that a file declares at its top level, the methods
// and fields of its types, and what it imports.
func (tr *tree) declare(name, text string) {
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
	if err != nil {
		return // such as a file for an example, which the compiler never sees
	}
	pkg := strings.TrimSuffix(file.Name.Name, "_test")
	tr.declared[name] = map[string]bool{}
	if tr.declared[pkg] == nil {
		tr.declared[pkg] = map[string]bool{}
	}
	add := func(id string) { tr.declared[pkg][id], tr.declared[name][id] = true, true }
	for _, spec := range file.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value)
		tr.imported[path.Base(imported)] = true
	}
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			id := decl.Name.Name
			if decl.Recv != nil {
				tr.declared[name][id] = true
				id = typeName(decl.Recv.List[0].Type) + "." + id
			}
			add(id)
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.ValueSpec:
					for _, id := range spec.Names {
						add(id.Name)
					}
				case *ast.TypeSpec:
					add(spec.Name.Name)
					if s, ok := spec.Type.(*ast.StructType); ok {
						for _, f := range s.Fields.List {
							for _, id := range f.Names {
								add(spec.Name.Name + "." + id.Name)
							}
						}
					}
				}
			}
		}
	}
}

// typeName returns the name of a receiver's type.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

var (
	citedFact  = regexp.MustCompile(`EC-(\d+)(?: to EC-(\d+))?`)
	citedText  = regexp.MustCompile(`ocuments? 00\d(?:(?:,| and|, and| to) 00\d)*(?:, (?:"[^"]+"|A2\w+|line\b))?`)
	citedPage  = regexp.MustCompile(`\b((?:(?:docs|packaging|bench|cmd)/[\w./-]+|[A-Z]{4,})\.md)(?:, (?:sections? (\d+(?:\.\d+)*)(?: (?:and|to) (\d+(?:\.\d+)*))?|"([^"]+)"))?`)
	citedShort = regexp.MustCompile(`\b(GAMES|FORMATS|PROTOCOL|ARCHITECTURE|QUIRKS|DESIGN)(?:\.md)? (\d+(?:\.\d+)*)\b`)
	document   = regexp.MustCompile(`00\d`)
)

// signs are in every text that has a citation.
var signs = []string{"EC-", "ocument 00", "ocuments 00", ".md", "GAMES ", "FORMATS ", "PROTOCOL ", "ARCHITECTURE ", "QUIRKS ", "DESIGN "}

// oneLine joins the lines of a text, without the marks of its comments.
func oneLine(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		line = strings.TrimPrefix(strings.TrimPrefix(line, "//"), "#")
		b.WriteString(strings.TrimLeft(line, " \t"))
		b.WriteByte(' ')
	}
	return strings.ReplaceAll(b.String(), `\"`, `"`)
}

// citations returns the citations that docs does not define.
func (tr *tree) citations() (faults []string) {
	for _, name := range slices.Sorted(maps.Keys(tr.files)) {
		if name == "bench/citations_test.go" {
			continue // it has faults on purpose
		}
		fault := func(format string, args ...any) {
			faults = append(faults, name+": "+fmt.Sprintf(format, args...))
		}
		text := tr.files[name]
		if !slices.ContainsFunc(signs, func(sign string) bool { return strings.Contains(text, sign) }) {
			continue
		}
		text = oneLine(text)
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
			cited, section, _ := strings.Cut(m, ", ")
			for _, n := range document.FindAllString(m, -1) {
				if tr.sources[n] == nil {
					fault("document %s is not defined", n)
				}
			}
			n := document.FindString(cited)
			switch {
			case section == "line":
				fault("d%s: cite a section", m)
			case section != "" && section[0] != '0' && tr.sources[n] != nil && !tr.sources[n][section]:
				fault("document %s has no section %s", n, section)
			}
		}
		for _, m := range citedPage.FindAllStringSubmatch(text, -1) {
			file := path.Base(m[1])
			p := tr.docs[file]
			if dir := path.Dir(m[1]); dir != "." && dir != "docs" {
				p = nil
			}
			if p == nil {
				if !tr.bases[file] || strings.Contains(m[1], "/") && !tr.exists(m[1]) {
					fault("there is no %s", m[1])
				}
				continue
			}
			for _, section := range m[2:4] {
				if section != "" && !p.sections[section] {
					fault("docs/%s has no section %s", file, section)
				}
			}
			if m[4] != "" && !p.titles[strings.ToLower(m[4])] {
				fault("docs/%s has no heading %q", file, m[4])
			}
		}
		for _, m := range citedShort.FindAllStringSubmatch(text, -1) {
			fault("%s: write docs/%s.md, section %s", m[0], m[1], m[2])
		}
	}
	return faults
}

var (
	quoted     = regexp.MustCompile("`([^`\n]+)`")
	isIn       = regexp.MustCompile("((?:`[\\w.]+`(?:, | and )?)+) (?:in|of) `([\\w./-]+\\.go)`")
	link       = regexp.MustCompile(`\]\(([^)#\s:]*)(?:#([^)]*))?\)`)
	identifier = regexp.MustCompile(`^([a-z]\w*)\.([A-Z]\w*(?:\.\w+)?)$`)
	testName   = regexp.MustCompile(`^(?:Test|Benchmark|Fuzz|Example)[A-Z]\w*$`)
	sourceFile = regexp.MustCompile(`^[\w.-]+\.go$`)
	inFile     = regexp.MustCompile(`^([\w./-]+\.\w+):(\S+)$`)
	plainPath  = regexp.MustCompile(`^[\w.*/-]+$`)
)

// names returns the files, identifiers and headings that docs and other pages name and
// that do not exist.
func (tr *tree) names() (faults []string) {
	for _, file := range slices.Sorted(maps.Keys(tr.files)) {
		if path.Ext(file) != ".md" {
			continue
		}
		fault := func(format string, args ...any) {
			faults = append(faults, file+": "+fmt.Sprintf(format, args...))
		}
		text := docFence.ReplaceAllString(tr.files[file], "")
		for _, m := range quoted.FindAllStringSubmatch(text, -1) {
			if f := tr.missing(m[1]); f != "" {
				fault("%s", f)
			}
		}
		for _, m := range isIn.FindAllStringSubmatch(text, -1) {
			for _, id := range quoted.FindAllStringSubmatch(m[1], -1) {
				if ids := tr.declared[m[2]]; ids != nil && !ids[id[1]] {
					fault("%s has no %s", m[2], id[1])
				}
			}
		}
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			target := path.Join(path.Dir(file), m[1])
			if m[1] == "" {
				target = file
			}
			switch p := tr.docs[path.Base(target)]; {
			case !tr.exists(target):
				fault("there is no %s", target)
			case m[2] != "" && path.Dir(target) == "docs" && p != nil && !p.anchors[m[2]]:
				fault("%s has no heading #%s", target, m[2])
			}
		}
	}
	return faults
}

// missing returns what is wrong with a name, or "".
func (tr *tree) missing(name string) string {
	if m := inFile.FindStringSubmatch(name); m != nil && tr.exists(m[1]) {
		switch {
		case m[2][0] >= '0' && m[2][0] <= '9':
			return name + ": name a function, lines move"
		case !tr.declared[m[1]][m[2]]:
			return m[1] + " has no " + m[2]
		}
		return ""
	}
	file, _, _ := strings.Cut(name, ":")
	first, _, isPath := strings.Cut(file, "/")
	m := identifier.FindStringSubmatch(name)
	switch {
	case isPath && tr.dirs[first] && plainPath.MatchString(file):
		if !tr.exists(file) {
			return "there is no " + file
		}
	case sourceFile.MatchString(name):
		if !tr.bases[name] {
			return "there is no " + name
		}
	case testName.MatchString(name):
		for _, ids := range tr.declared {
			if ids[name] {
				return ""
			}
		}
		return "there is no " + name
	case m != nil && tr.declared[m[1]] == nil:
		if !tr.imported[m[1]] {
			return "there is no package " + m[1]
		}
	case m != nil && !tr.declared[m[1]][m[2]]:
		return "there is no " + name
	}
	return ""
}

// exists reports whether a path, which may be a pattern, is a file or a folder.
func (tr *tree) exists(name string) bool {
	name = strings.TrimSuffix(name, "/")
	if _, ok := tr.files[name]; ok || tr.dirs[name] {
		return true
	}
	if strings.Contains(name, "*") {
		for file := range tr.files {
			if ok, _ := path.Match(name, file); ok {
				return true
			}
		}
	}
	return false
}
