package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/output"
	"github.com/a2sscan/a2sscan/sink"
)

// outFlags are the flags of commands that write records.
type outFlags struct {
	output string
	append bool
	force  bool
}

func (f *outFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVarP(&f.output, "output", "o", "-",
		"write records to `PATH`, compressed if it ends in .zst; -: standard output")
	fs.BoolVar(&f.append, "append", false, "add to an existing output")
	fs.BoolVar(&f.force, "force", false, "replace an existing output")
}

// toFile reports whether the records go elsewhere than to standard output.
func (f *outFlags) toFile() bool { return f.output != "-" && f.output != "" }

// check refuses what makes no sense together.
func (f *outFlags) check() error {
	switch {
	case f.append && f.force:
		return console.Fail(console.ExitUsage, "--append and --force exclude each other").
			WithHint("--append keeps what is in the file, --force does not")
	case f.append && !f.toFile():
		return console.Fail(console.ExitUsage, "--append without --output").
			WithHint("name the file with -o PATH, or use the shell's >>")
	case f.force && !f.toFile():
		return console.Fail(console.ExitUsage, "--force without --output").
			WithHint("name the file with -o PATH, or use the shell's >")
	}
	return nil
}

// plan returns the output that the flags ask for, of which nothing is made
// yet, or the error that making it would be.
func (f *outFlags) plan(scan string) (*output.Output, error) {
	o := f.planned(scan)
	return o, o.Check()
}

// planned is plan without the check.
func (f *outFlags) planned(scan string) *output.Output {
	options := sink.Options{Scan: scan, Append: f.append, Replace: f.force}
	if !f.toFile() && isTerminal(os.Stdout) {
		options.Shown = console.Visible
	}
	return output.New(f.output, options)
}
