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

// versionLine returns one line with the version, the commit, the version of Go and
// the system.
func versionLine() string {
	version, commit := buildVersion()
	return fmt.Sprintf("a2sscan %s (commit %s) %s %s/%s",
		version, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// The linker sets these when packages are built. In other builds they are empty.
var releaseVersion, releaseCommit string

// buildVersion returns the version of the package or, without one, what the Go
// toolchain recorded. A + after the commit means a modified working tree.
func buildVersion() (version, commit string) {
	if releaseVersion != "" {
		return releaseVersion, releaseCommit
	}
	version, commit = "devel", "unknown"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return version, commit
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		version = v
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			commit += "+"
		}
	}
	return version, commit
}

// thisBuild returns the version of this program.
func thisBuild() ledger.Build {
	version, commit := buildVersion()
	return ledger.Build{Version: version, Commit: commit}
}
