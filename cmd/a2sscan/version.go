package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long:  "Prints the version and commit of the program, the Go version, and the system.",
		Example: `  a2sscan version
  a2sscan version | cut -d ' ' -f 2
  go version -m "$(command -v a2sscan)"`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(a.out, versionLine())
			return err
		},
	}
}

func versionLine() string {
	b := thisBuild()
	return fmt.Sprintf("a2sscan %s (commit %s) %s %s/%s", b.Version, b.Commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// The linker sets these variables in release builds. In other builds they are empty.
var releaseVersion, releaseCommit string

// thisBuild returns the version and commit that the linker set. If the linker set none, it
// returns what the Go toolchain recorded. A + after the commit means that the working tree
// was modified.
func thisBuild() ledger.Build {
	if releaseVersion != "" {
		return ledger.Build{Version: releaseVersion, Commit: releaseCommit}
	}
	b := ledger.Build{Version: "devel", Commit: "unknown"}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.Version = v
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			b.Commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			b.Commit += "+"
		}
	}
	return b
}
