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
	packages, err := listImported(s)
	if err != nil {
		return nil, err
	}
	texts := map[string][]byte{} // by module and file
	for _, p := range packages {
		if err := p.licences(texts); err != nil {
			return nil, err
		}
	}
	if err := goLicence(texts); err != nil {
		return nil, err
	}
	if err := mapLicence(texts); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	fmt.Fprintln(&b, "a2sscan contains code of others, under these licences.")
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s\n", bytes.Repeat([]byte("="), 78), name, bytes.TrimSpace(texts[name]))
	}
	return b.Bytes(), nil
}

// listImported returns the packages in the program for a system.
func listImported(s system) (packages []imported, err error) {
	out, err := command(s.env(), "go", "list", "-deps", "-json=Dir,Module", "./cmd/a2sscan").Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", withStderr(err))
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p imported
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		packages = append(packages, p)
	}
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
	for dir := p.Dir; ; dir = filepath.Dir(dir) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e.IsDir() || !legal.MatchString(e.Name()) {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return err
			}
			below, err := filepath.Rel(m.Dir, filepath.Join(dir, e.Name()))
			if err != nil {
				return err
			}
			texts[m.Path+" "+m.Version+": "+filepath.ToSlash(below)] = text
			found = true
		}
		if dir == m.Dir {
			break
		}
	}
	if !found {
		return fmt.Errorf("%s %s has no licence to hand on", m.Path, m.Version)
	}
	return nil
}

// goLicence adds the licence of Go's runtime and standard library.
func goLicence(texts map[string][]byte) error {
	root, err := command(nil, "go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env: %w", withStderr(err))
	}
	text, err := os.ReadFile(filepath.Join(string(bytes.TrimSpace(root)), "LICENSE"))
	if err != nil {
		return fmt.Errorf("the licence of Go: %w", err)
	}
	texts["Go"] = text
	return nil
}

// mapLicence adds the licence of the map that reports contain.
func mapLicence(texts map[string][]byte) error {
	text, err := os.ReadFile(filepath.FromSlash("cmd/a2sscan/internal/report/chart/LICENSE-world-atlas"))
	if err != nil {
		return fmt.Errorf("the licence of the map: %w", err)
	}
	texts["world-atlas 2.0.2: borders of Natural Earth"] = text
	return nil
}
