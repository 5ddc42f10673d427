// Package export writes a census as a Parquet or CSV table, sorted by address. A
// table has all keys of the record, or is flat.
package export

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/output"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/census"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/linesort"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/store"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/record"
)

// Options choose the input, the output and the form of the table.
type Options struct {
	Files     []string
	Output    string
	Force     bool     // replace existing files
	Flat      bool     // one column per value, without lists and maps
	Partition []string // date, app_id: make a folder for each value
	Creator   string   // program and version, for the metadata of a Parquet file
}

// These are the keys by which records may be divided into folders.
const (
	byDate  = "date"
	byAppID = "app_id"
)

// Export writes the records of the files to the table.
func Export(t *console.Terminal, o Options) error {
	if err := o.check(); err != nil {
		return err
	}
	var err error
	if o.Files, err = census.Files(o.Files); err != nil {
		return err
	}
	stage, err := output.NewStage(o.Output, o.Force)
	if err != nil {
		return err
	}
	defer stage.Drop()
	o.Output = stage.Path()
	e := &exporter{term: t, options: o}
	if err := e.run(); err != nil {
		return failure(err)
	}
	if err := stage.Finish(); err != nil {
		return err
	}
	t.Say("written: %s in %s", console.Plural(e.records, "record"), console.Plural(uint64(e.files), "file"))
	return nil
}

// memoryLimit is the soft memory limit of the Go runtime during an export, in bytes.
// The metadata of all row groups stays in memory, because it is written last: 30 MB for
// ten million records.
const memoryLimit = 190 << 20

// run reads and sorts the records, and writes the tables.
func (e *exporter) run() error {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(memoryLimit))
	if err := e.start(); err != nil {
		return err
	}
	defer e.drop()
	s := linesort.New(workers())
	defer s.Close()
	for i, file := range e.options.Files {
		if err := e.read(s, i, file); err != nil {
			return err
		}
	}
	if err := s.Each(e.add); err != nil {
		return err
	}
	return e.finish()
}

// read adds the records of a file to the sorter.
func (e *exporter) read(s *linesort.Sorter, number int, file string) error {
	reading, err := store.Source().EachBlock(file, workers(), func(w int, block []byte) error {
		return e.block(s, w, number, block)
	})
	switch {
	case err != nil:
		return readFailure(err)
	case reading.Damage.Found():
		return census.DamageFailure(file, reading.Damage)
	}
	census.ReportTail(e.term, file, reading.Truncated)
	return nil
}

// block adds the non-empty lines of a block to the sorter: as packed rows for Parquet,
// unchanged for CSV.
func (e *exporter) block(s *linesort.Sorter, worker, file int, block []byte) (err error) {
	for line := range bytes.Lines(block) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if err := record.CheckSchema(line); err != nil {
			return err
		}
		k := e.key(line)
		k.Origin = file
		if !e.csv {
			if line, err = e.by.packers[worker].pack(line); err != nil {
				return failure(err)
			}
		}
		if err := s.Adder(worker).Add(k, line); err != nil {
			return err
		}
	}
	return nil
}

// readFailure gives an error from reading a census its exit code.
func readFailure(err error) error {
	var f *console.Failure
	if errors.As(err, &f) {
		return err
	}
	return census.Failure(err)
}

// failure gives an error from writing the table its exit code.
func failure(err error) error {
	var f *console.Failure
	if errors.As(err, &f) {
		return err
	}
	if errors.Is(err, errNoRecord) {
		return console.Fail(console.ExitNumbers, "a record can't be read: %w", err)
	}
	return console.Fail(console.ExitOutput, "can't write the table: %w", err)
}

// check returns an error if an option is invalid or contradicts another. It removes a
// trailing "=" from the partition keys.
func (o *Options) check() error {
	for i, by := range o.Partition {
		o.Partition[i] = strings.TrimSuffix(by, "=")
		if by = o.Partition[i]; by != byDate && by != byAppID {
			return console.Fail(console.ExitUsage, "can't partition by %s", console.Quoted(by, 40)).
				WithHint("--partition date,app_id divides by the day and the game")
		}
	}
	ext := filepath.Ext(strings.TrimSuffix(o.Output, "/"))
	return console.FirstBroken(
		console.Rule{Broken: o.Output == "" || o.Output == "-", Err: "export needs a file to write to",
			Hint: "-o census.parquet or -o census.csv; with --partition a folder"},
		console.Rule{Broken: len(o.Partition) == 0 && ext != ".parquet" && ext != ".csv", Err: "export writes .parquet and .csv",
			Hint: "-o census.parquet; a2sscan cat writes other formats"},
		console.Rule{Broken: len(o.Partition) > 0 && ext != "", Err: "--partition writes a folder of Parquet files",
			Hint: "name a folder: -o census"},
	)
}

// exporter writes the tables, one file at a time.
type exporter struct {
	term    *console.Terminal
	options Options

	by      *converter // of Parquet files
	csv     bool
	group   uint64 // partition of the open file
	path    string // final path of the open file
	file    *os.File
	table   table
	records uint64
	files   int
}

// start prepares the conversion of records.
func (e *exporter) start() (err error) {
	e.csv = len(e.options.Partition) == 0 && filepath.Ext(e.options.Output) == ".csv"
	if e.csv {
		return nil
	}
	if e.by, err = newConverter(e.options.Flat, usual); err != nil {
		return err
	}
	e.by.empty.CreatedBy = e.options.Creator
	return nil
}

// key returns the key by which a record is sorted: first its partition, then its
// address.
func (e *exporter) key(line []byte) (k linesort.Key) {
	day, app := uint64(0), uint64(0)
	byDay, byApp := slices.Contains(e.options.Partition, byDate), slices.Contains(e.options.Partition, byAppID)
	var c record.Cursor
	c.Reset(line)
	for found := false; !found && c.Next(); {
		switch string(c.Key()) {
		case "addr":
			k.Place = place(c.Quoted())
			found = !byDay && !byApp
		case "time":
			day = dayOf(c.Quoted())
			found = !byApp
		case "info":
			app = appOf(c.Raw())
			found = true
		}
	}
	if byDay {
		k.Group = day << 32
	}
	if byApp {
		k.Group |= app
	}
	return k
}

// place returns an IPv4 address and port as a number. Numbers sort as the addresses do.
func place(addr []byte) (n uint64) {
	host, port, _ := bytes.Cut(addr, []byte(":"))
	for part := range bytes.SplitSeq(host, []byte(".")) {
		v, _ := strconv.ParseUint(string(part), 10, 8)
		n = n<<8 | v
	}
	v, _ := strconv.ParseUint(string(port), 10, 16)
	return n<<16 | v
}

// dayOf returns the number of days since 1970, plus 1. It returns 0 if the text is
// not a time.
func dayOf(text []byte) uint64 {
	at, err := time.Parse(time.RFC3339Nano, string(text))
	if err != nil || at.Unix() < 0 {
		return 0
	}
	return uint64(at.Unix()/86400) + 1
}

// appOf returns the application ID in an info object, plus 1. It returns 0 if there
// is none.
func appOf(info []byte) uint64 {
	var c record.Cursor
	for c.Reset(info); c.Next(); {
		if string(c.Key()) != "app_id" {
			continue
		}
		if n, err := strconv.ParseUint(string(c.Raw()), 10, 32); err == nil {
			return n + 1
		}
	}
	return 0
}

// nowhere stands in folder names for the value that a record lacks, as in Hive.
const nowhere = "__HIVE_DEFAULT_PARTITION__"

// pathOf returns the path of a partition's file.
func (e *exporter) pathOf(group uint64) string {
	o := &e.options
	if len(o.Partition) == 0 {
		return o.Output
	}
	path := o.Output
	for _, by := range o.Partition {
		value := nowhere
		if day := group >> 32; by == byDate && day > 0 {
			value = time.Unix(int64(day-1)*86400, 0).UTC().Format(time.DateOnly)
		}
		if app := group & (1<<32 - 1); by == byAppID && app > 0 {
			value = strconv.FormatUint(app-1, 10)
		}
		path = filepath.Join(path, by+"="+value)
	}
	name, _, _ := strings.Cut(filepath.Base(o.Files[0]), ".")
	return filepath.Join(path, name+".parquet")
}

// add writes a record to the file of its partition.
func (e *exporter) add(entry linesort.Entry) error {
	if e.table == nil || entry.Key.Group != e.group {
		if err := e.end(); err != nil {
			return err
		}
		e.group = entry.Key.Group
		if err := e.begin(e.pathOf(e.group)); err != nil {
			return err
		}
	}
	e.records++
	return e.table.add(entry.Line)
}

// begin creates the temporary file of the table at path. Without Force, it returns an
// error if path exists.
func (e *exporter) begin(path string) (err error) {
	if _, err := os.Lstat(path); err == nil && !e.options.Force {
		return console.Fail(console.ExitOutput, "can't create %s: %w", console.Plain(path, 200), fs.ErrExist).
			WithHint("another -o, or --force to replace it")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	e.path = path
	if e.file, err = os.Create(path + sink.PartSuffix); err != nil {
		return err
	}
	e.table, err = e.newTable(e.file)
	return err
}

func (e *exporter) newTable(out io.Writer) (table, error) {
	if e.csv {
		return newCSV(out)
	}
	return newParquet(out, e.by)
}

// end completes the open file, if there is one, and gives it its final name.
func (e *exporter) end() error {
	if e.table == nil {
		return nil
	}
	if err := e.table.close(); err != nil {
		return err
	}
	if err := errors.Join(e.file.Sync(), e.file.Close()); err != nil {
		return err
	}
	e.table, e.file = nil, nil
	e.files++
	return os.Rename(e.path+sink.PartSuffix, e.path)
}

// finish completes the last file. If the census has no records, it writes an empty
// table, unless the table is partitioned.
func (e *exporter) finish() error {
	if e.records == 0 && len(e.options.Partition) == 0 {
		if err := e.begin(e.options.Output); err != nil {
			return err
		}
	}
	return e.end()
}

// drop ends the conversion, and removes a file that is still incomplete.
func (e *exporter) drop() {
	if e.by != nil {
		e.by.close()
	}
	if e.file != nil {
		e.file.Close()
		os.Remove(e.path + sink.PartSuffix)
	}
}
