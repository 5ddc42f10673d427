package main

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// writeSBOM writes the list of the modules in the program as a CycloneDX document
// in JSON. It reads the list from the executable itself.
func (r *release) writeSBOM(s system, program []byte, out string) error {
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		return fmt.Errorf("the modules of the program for %s: %w", s, err)
	}
	var b bytes.Buffer
	e := cdx.NewBOMEncoder(&b, cdx.BOMFileFormatJSON).SetPretty(true)
	if err := e.Encode(r.bom(info)); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, r.archiveName(s)+".cdx.json"), b.Bytes(), 0o644)
}

// bom lists the modules in the program and the standard library. It has no serial
// number, because the same build must produce the same bytes.
func (r *release) bom(info *debug.BuildInfo) *cdx.BOM {
	bom := cdx.NewBOM()
	bom.SerialNumber = ""
	program := module(info.Main.Path, r.version, "")
	program.Type = cdx.ComponentTypeApplication
	program.Licenses = &cdx.Licenses{{License: &cdx.License{ID: license}}}
	bom.Metadata = &cdx.Metadata{Timestamp: r.time.UTC().Format(time.RFC3339), Component: &program}
	all := []cdx.Component{module("std", strings.TrimPrefix(info.GoVersion, "go"), "")}
	refs := []string{all[0].BOMRef}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		c := module(m.Path, m.Version, m.Sum)
		all, refs = append(all, c), append(refs, c.BOMRef)
	}
	bom.Components = &all
	bom.Dependencies = &[]cdx.Dependency{{Ref: program.BOMRef, Dependencies: &refs}}
	return bom
}

// module describes a Go module as a component. If sum is a checksum in the format
// of go.sum, it becomes a property of the component.
func module(path, version, sum string) cdx.Component {
	url := "pkg:golang/" + path + "@" + version
	c := cdx.Component{
		BOMRef: url, Type: cdx.ComponentTypeLibrary, Name: path, Version: version, PackageURL: url,
	}
	if sum != "" {
		c.Properties = &[]cdx.Property{{Name: "go.sum", Value: sum}}
	}
	return c
}
