package output

import (
	"os"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/sink"
)

// Choice says where records go.
type Choice struct {
	Path   string // - or empty: standard output
	Append bool   // add to an existing file
	Force  bool   // replace an existing file
}

// ToFile reports whether the records go elsewhere than to standard output.
func (c *Choice) ToFile() bool { return c.Path != "-" && c.Path != "" }

// Check refuses flags that contradict each other.
func (c *Choice) Check() error {
	return console.FirstBroken(
		console.Rule{Broken: c.Append && c.Force, Err: "--append and --force exclude each other",
			Hint: "--append keeps what is in the file, --force does not"},
		console.Rule{Broken: c.Append && !c.ToFile(), Err: "--append without --output",
			Hint: "name the file with -o PATH, or use the shell's >>"},
		console.Rule{Broken: c.Force && !c.ToFile(), Err: "--force without --output",
			Hint: "name the file with -o PATH, or use the shell's >"},
	)
}

// Plan returns the output for records of a scan. It creates no file and checks nothing.
func (c *Choice) Plan(scan string) *Output {
	options := sink.Options{Scan: scan, Append: c.Append, Replace: c.Force}
	if !c.ToFile() && console.IsTerminal(os.Stdout) {
		options.Shown = console.Visible
	}
	return New(c.Path, options)
}
