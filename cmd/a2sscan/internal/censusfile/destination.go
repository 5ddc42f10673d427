package censusfile

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/sink"
)

// Destination specifies where the records go, and in which format.
type Destination struct {
	Path   string // "-" or empty means standard output
	Append bool   // add to an existing file
	Force  bool   // replace an existing file

	// If Format is empty, the suffix of Path decides. Without a known suffix, the format
	// is text on a Screen, and JSON otherwise.
	Format Format
	// If Fields is empty, JSON has all fields, and other formats have the usual fields.
	Fields []string
	Screen *Screen // nil means that even a terminal gets JSON
}

// Screen is a terminal that may show both records and messages.
type Screen struct {
	Terminal *console.Terminal // prints the messages
	Color    bool
}

// ToFile reports whether the records go to a file, not to standard output.
func (c *Destination) ToFile() bool { return c.Path != "-" && c.Path != "" }

// Check returns an error if the flags contradict each other.
func (c *Destination) Check() error {
	return console.FirstBroken(
		console.Rule{Broken: c.Append && c.Force, Err: "--append and --force exclude each other",
			Hint: "use --append to add to the file, or --force to replace it"},
		console.Rule{Broken: c.Append && !c.ToFile(), Err: "--append without --output",
			Hint: "name the file with -o PATH, or use the shell's >>"},
		console.Rule{Broken: c.Force && !c.ToFile(), Err: "--force without --output",
			Hint: "name the file with -o PATH, or use the shell's >"},
	)
}

// notWritten has the suffixes of files that a2sscan can't write, each with what to do instead.
var notWritten = []struct{ suffixes, hint string }{
	{".parquet .arrow .duckdb", "scan into census.ndjson.zst, then convert it with DuckDB: a2sscan schema duckdb prints the SQL statement"},
	{".db .sqlite", "scan into census.csv, then import it into the database"},
	{".xlsx .xls .ods", "write a .csv file, which spreadsheets can open"},
	{".html .htm", "scan into census.ndjson.zst, then run a2sscan report"},
	{".bz2 .xz .zip .7z .lz4 .br", "for a compressed file, use a name that ends in .zst or .gz"},
}

var ofSuffix = map[string]Format{
	".csv": CSV, ".tsv": TSV,
	".json": JSON, ".jsonl": JSON, ".ndjson": JSON,
}

// suffix returns the suffix of the path in lower case. A final .gz or .zst does not count.
func (c *Destination) suffix() string {
	name := strings.TrimSuffix(strings.TrimSuffix(c.Path, ".zst"), ".gz")
	return strings.ToLower(filepath.Ext(name))
}

func (c *Destination) onScreen() bool { return !c.ToFile() && console.IsTerminal(os.Stdout) }

// CheckFormat returns an error if the format is unknown, or if the format or the
// chosen fields do not fit the output file.
func (c *Destination) CheckFormat() error {
	if slices.Contains(c.Fields, farm) {
		return console.Fail(console.ExitUsage, "--fields: the farm of a server is known only after the scan").
			WithHint("scan into a census, then run a2sscan cat -f addr,farm")
	}
	if _, err := c.table(); err != nil || !c.ToFile() {
		return err
	}
	if info, err := os.Stat(c.Path); err == nil && !info.Mode().IsRegular() {
		return nil // a pipe or a device may have any name
	}
	suffix := c.suffix()
	for _, other := range notWritten {
		if slices.Contains(strings.Fields(other.suffixes), suffix) {
			return console.Fail(console.ExitUsage, "-o %s: a2sscan does not write %s files", console.Plain(c.Path, 200), suffix).WithHint("%s", other.hint)
		}
	}
	named, known := ofSuffix[suffix]
	return console.FirstBroken(
		console.Rule{Broken: known && c.Format != "" && named != c.Format,
			Err:  fmt.Sprintf("--format %s and the suffix %s contradict each other", c.Format, suffix),
			Hint: "omit --format, or choose another name"},
		console.Rule{Broken: c.format() == JSON && len(c.Fields) > 0, Err: "--fields needs --format csv, tsv or text if the output is a file",
			Hint: "choose a name that ends in .csv, or scan into a census and choose the fields later with a2sscan cat -f"},
	)
}

func (c *Destination) format() Format {
	named := ofSuffix[c.suffix()]
	switch {
	case c.Format != "":
		return c.Format
	case c.ToFile() && named != "":
		return named
	case c.Screen != nil && c.onScreen():
		return Text
	}
	return JSON
}

// Columns returns the format and the chosen fields of an output that is not JSON.
// For JSON it returns "".
func (c *Destination) Columns() string {
	if c.format() == JSON {
		return ""
	}
	return strings.TrimSpace(string(c.format()) + " " + strings.Join(c.Fields, ","))
}

func (c *Destination) table() (*Table, error) {
	if c.ToFile() {
		return TableFor(nil, c.format(), c.Fields, false)
	}
	return TableFor(os.Stdout, c.format(), c.Fields, c.Screen != nil && c.Screen.Color)
}

// TableFor returns the table that formats records as lines for w, or nil if records are
// written unchanged. If format is empty, a terminal gets text, and anything else JSON.
func TableFor(w any, format Format, fields []string, color bool) (*Table, error) {
	screen := Display{Color: color}
	if console.IsTerminal(w) {
		screen.Width = func() int { return console.WidthOf(w) }
	}
	if format != "" && !slices.Contains(Formats, format) {
		return nil, console.Fail(console.ExitUsage, "--format: %s is not a format", console.Quoted(string(format), 40)).
			WithHint("choose json, text, csv or tsv")
	}
	if format == "" && screen.Width != nil {
		format = Text
	}
	return NewTable(format, fields, screen)
}

// Options returns the options with which package sink writes the records.
func (c *Destination) Options() sink.Options {
	o := sink.Options{Append: c.Append, Replace: c.Force}
	table, _ := c.table() // CheckFormat has already returned this error
	switch {
	case table != nil:
		o.Header = table.Header()
		o.Shown = func(line []byte) []byte {
			row, _ := table.Row(line) // can't fail: the line is a record
			return row
		}
	case c.onScreen():
		o.Shown = console.Visible
	}
	if c.Screen != nil && c.onScreen() {
		o.Screen = c.Screen.Terminal.Beside(os.Stdout)
	}
	return o
}
