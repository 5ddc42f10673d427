package main

import (
	"bytes"
	"runtime/debug"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

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
