package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// legal is a pattern for the names of files that must accompany the code.
var legal = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([-.].*)?$`)

// notices returns the licences of all code that is linked into the program for a system.
// These licences demand that copies of the program include them.
func notices(s system) ([]byte, error) {
	list, err := output(s.env(), "go", "list", "-deps", "-f",
		"{{with .Module}}{{if not .Main}}{{$.Dir}}\t{{.Dir}}\t{{.Path}} {{.Version}}{{end}}{{end}}", "./cmd/a2sscan")
	if err != nil {
		return nil, err
	}
	goRoot, err := output(nil, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	files := map[string]string{
		"Go": filepath.Join(goRoot, "LICENSE"),
		"uPlot 1.6.32, for the charts in reports": "cmd/a2sscan/internal/report/uplot/LICENSE",
	}
	for line := range strings.Lines(list) {
		dirs := strings.SplitN(strings.TrimSpace(line), "\t", 3)
		if len(dirs) == 3 && licences(files, dirs[0], dirs[1], dirs[2]) == 0 {
			return nil, fmt.Errorf("%s has no licence file to include", dirs[2])
		}
	}
	var b bytes.Buffer
	fmt.Fprintln(&b, "a2sscan contains code from other projects, under the licences below.")
	for _, name := range slices.Sorted(maps.Keys(files)) {
		text, err := os.ReadFile(files[name])
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s\n", bytes.Repeat([]byte("="), 78), name, bytes.TrimSpace(text))
	}
	return b.Bytes(), nil
}

// licences looks for licence files in dir, the folder of a package, and in the folders
// above it, up to root, the folder of the module. It adds them to its first argument, and
// returns how many it added.
func licences(files map[string]string, dir, root, module string) (n int) {
	for ; len(dir) >= len(root); dir = filepath.Dir(dir) {
		entries, _ := os.ReadDir(dir) // a folder that can't be read has no licence
		for _, e := range entries {
			if !e.IsDir() && legal.MatchString(e.Name()) {
				path := filepath.Join(dir, e.Name())
				files[module+": "+strings.TrimPrefix(filepath.ToSlash(path[len(root):]), "/")] = path
				n++
			}
		}
	}
	return n
}
