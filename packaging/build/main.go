// Command build makes the files of a release: archives for Linux, macOS and Windows,
// deb and rpm packages, the OCI image, and checksums. The same commit and the same version
// of Go make the same bytes.
//
//	go run -C packaging/build . [-o DIR] [-for linux/amd64,…] [VERSION]
//
// packaging/README.md describes the files and how to install them. The command is a
// module of its own, so that its dependencies are not dependencies of the program.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

type system struct{ os, arch string }

func (s system) String() string { return s.os + "/" + s.arch }

// systems are all systems that releases are built for.
var systems = []system{
	{"linux", "amd64"}, {"linux", "arm64"},
	{"darwin", "amd64"}, {"darwin", "arm64"},
	{"windows", "amd64"},
}

func run(args []string) error {
	flags := flag.NewFlagSet("build", flag.ContinueOnError)
	out := flags.String("o", "dist", "`DIR` to write to, relative to the project's folder")
	which := flags.String("for", "", "`SYSTEMS` to build for, such as linux/amd64,windows/amd64 (default all)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 1 {
		return fmt.Errorf("give at most one VERSION, not %q", flags.Args())
	}
	chosen := systems
	if *which != "" {
		chosen = nil
		for name := range strings.SplitSeq(*which, ",") {
			i := slices.IndexFunc(systems, func(s system) bool { return s.String() == name })
			if i < 0 {
				return fmt.Errorf("-for: the system %q is not one of %v", name, systems)
			}
			chosen = append(chosen, systems[i])
		}
	}
	mod, err := output(nil, "go", "env", "GOMOD")
	if err != nil {
		return err
	}
	// All paths are relative to the project's folder.
	if err := os.Chdir(filepath.Join(filepath.Dir(mod), "../..")); err != nil {
		return err
	}
	r, err := newRelease(flags.Arg(0))
	if err != nil {
		return err
	}
	return r.build(chosen, *out)
}
