package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// TestCatalogs: the formula and the manifest name the archives and their checksums,
// and are written only if all archives exist.
func TestCatalogs(t *testing.T) {
	out := t.TempDir()
	r := &release{version: "v1.2.3", time: when}
	if err := r.writeCatalogs(out); err != nil {
		t.Fatal(err)
	}
	if all, _ := os.ReadDir(out); len(all) != 0 {
		t.Errorf("without archives: %v", all)
	}
	for _, s := range systems {
		suffix := ".tar.gz"
		if s.os == "windows" {
			suffix = ".zip"
		}
		if err := os.WriteFile(filepath.Join(out, r.archiveName(s)+suffix), []byte(s.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.writeCatalogs(out); err != nil {
		t.Fatal(err)
	}
	formula, err := os.ReadFile(filepath.Join(out, "homebrew", "a2sscan.rb"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`version "1.2.3"`, `license "MIT"`, "on_macos do\n    on_arm do\n      url \"" + downloads + "v1.2.3/a2sscan-1.2.3-darwin-arm64.tar.gz\"",
		"sha256 \"2b42ce3bed293705",
	} {
		if !bytes.Contains(formula, []byte(want)) {
			t.Errorf("no %s in\n%s", want, formula)
		}
	}
	text, err := os.ReadFile(filepath.Join(out, "scoop", "a2sscan.json"))
	var m struct {
		Architecture map[string]struct{ URL, Hash string }
	}
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if a := m.Architecture["64bit"]; err != nil || !strings.HasSuffix(a.URL, "windows-amd64.zip") || len(a.Hash) != 64 {
		t.Errorf("%v: %s", err, text)
	}
}

// TestBOM: every module of the program is a component with its checksum, and the same
// build makes the same bytes.
func TestBOM(t *testing.T) {
	info := &debug.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Path: "example.org/p"}, Deps: []*debug.Module{
		{Path: "example.org/a", Version: "v1.0.0", Sum: "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="},
		{Path: "example.org/b", Version: "v1.0.0", Replace: &debug.Module{Path: "example.org/c", Version: "v2.0.0"}},
	}}
	r := &release{version: "v1.2.3", time: when}
	var one, two bytes.Buffer
	for _, b := range []*bytes.Buffer{&one, &two} {
		if err := cdx.NewBOMEncoder(b, cdx.BOMFileFormatJSON).Encode(r.bom(info)); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(one.Bytes(), two.Bytes()) {
		t.Error("two builds differ")
	}
	for _, want := range []string{
		`"pkg:golang/example.org/a@v1.0.0"`, `"h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="`,
		`"pkg:golang/example.org/c@v2.0.0"`, `"pkg:golang/std@1.26.8"`, `"2026-11-20T03:00:00Z"`, `"MIT"`,
	} {
		if !bytes.Contains(one.Bytes(), []byte(want)) {
			t.Errorf("no %s in\n%s", want, one.Bytes())
		}
	}
}
