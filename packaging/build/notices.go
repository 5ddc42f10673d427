package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// imported is a package in the program, as go list prints it.
type imported struct {
	Dir    string
	Module *struct {
		Path, Version, Dir string
		Main               bool
	}
}

// legal matches the names of files that must accompany the code.
var legal = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([-.].*)?$`)

// notices returns the licences of all code that is linked into the program for a
// system. Their terms demand that copies of the program include them.
func notices(s system) ([]byte, error) {
	list, err := output(s.env(), "go", "list", "-deps", "-json=Dir,Module", "./cmd/a2sscan")
	if err != nil {
		return nil, err
	}
	texts := map[string][]byte{} // by module and file
	for d := json.NewDecoder(strings.NewReader(list)); ; {
		var p imported
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		if err := p.licences(texts); err != nil {
			return nil, err
		}
	}
	goRoot, err := output(nil, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	for name, path := range map[string]string{
		"Go":                              filepath.Join(goRoot, "LICENSE"),
		"uPlot 1.6.32: charts of reports": "cmd/a2sscan/internal/report/uplot/LICENSE",
	} {
		if texts[name], err = os.ReadFile(path); err != nil {
			return nil, err
		}
	}
	var b bytes.Buffer
	fmt.Fprintln(&b, "a2sscan contains code of others, under these licences.")
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s\n", bytes.Repeat([]byte("="), 78), name, bytes.TrimSpace(texts[name]))
	}
	return b.Bytes(), nil
}

// licences adds to texts the licence files in the package's folder and in the
// folders above it, up to the root of its module. It returns an error if there are
// none. It skips the standard library and the program's own module.
func (p *imported) licences(texts map[string][]byte) error {
	m := p.Module
	if m == nil || m.Main {
		return nil
	}
	found := false
	for dir := p.Dir; len(dir) >= len(m.Dir); dir = filepath.Dir(dir) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e.IsDir() || !legal.MatchString(e.Name()) {
				continue
			}
			path := filepath.Join(dir, e.Name())
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			below := strings.TrimPrefix(filepath.ToSlash(path[len(m.Dir):]), "/")
			texts[m.Path+" "+m.Version+": "+below] = text
			found = true
		}
	}
	if !found {
		return fmt.Errorf("%s %s has no licence to hand on", m.Path, m.Version)
	}
	return nil
}
