package main

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/output"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/store"
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
		"write records to `PATH`: .ndjson, .csv or .tsv, compressed if .zst or .gz follows; -: standard output")
	fs.BoolVar(&f.append, "append", false, "add to an existing output")
	fs.BoolVar(&f.force, "force", false, "replace an existing output")
}

// toFile reports whether the records go to a file, not to standard output.
func (f *outFlags) toFile() bool { return f.output != "-" && f.output != "" }

// nameHint returns a hint if the name of the output suggests another format than the
// lines of JSON that it gets without --format.
func (f *outFlags) nameHint() string {
	name := strings.TrimSuffix(strings.TrimSuffix(f.output, ".zst"), ".gz")
	switch strings.ToLower(filepath.Ext(name)) {
	case ".json":
		return "each line of " + f.output + " is a JSON object: the usual name is .ndjson, and jq -s . makes one array"
	case ".txt":
		return "each line of " + f.output + " is a JSON object: the usual name is .ndjson, and scan --format text writes a table"
	}
	return ""
}

// choice converts the flags for package output.
func (f *outFlags) choice() output.Choice {
	return output.Choice{Path: f.output, Append: f.append, Force: f.force}
}

// check returns an error for an output in an object store, and if flags contradict each
// other.
func (f *outFlags) check() error {
	if store.IsURL(f.output) {
		return console.Fail(console.ExitUsage, "this command does not write into a store").
			WithHint("scan, merge, export, report, stats and diff do")
	}
	c := f.choice()
	return c.Check()
}

// plan returns the output that the flags choose, without creating a file. It
// returns the error that creating the file would return.
func (f *outFlags) plan() (*sink.Output, error) {
	c := f.choice()
	if err := c.CheckFormat(); err != nil {
		return nil, err
	}
	o := sink.New(c.Path, c.Options())
	return o, output.Failure(o.Check())
}
