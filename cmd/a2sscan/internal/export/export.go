// Package export writes a census as a Parquet table, sorted by address.
package export

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/censusfile"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/sink/census"
	"github.com/a2sscan/a2sscan/sink/disk"
	"github.com/a2sscan/a2sscan/sink/record"
)

// Options choose the input and the output.
type Options struct {
	Files   []string
	Output  string   // a file or an object that ends in .parquet
	Force   bool     // replace an existing file
	Games   []string // leave out servers of other games; nil: all
	Version string   // of the program, for the metadata of the file
	Build   string
}

// Export writes the records of the files to the table.
func Export(t *console.Terminal, o Options) error {
	if filepath.Ext(o.Output) != ".parquet" {
		return console.Fail(console.ExitUsage, "export writes Parquet, to a file that ends in .parquet").
			WithHint("-o census.parquet; a2sscan cat --format csv writes CSV")
	}
	if !o.Force {
		if _, err := os.Lstat(o.Output); err == nil {
			return console.Fail(console.ExitOutput, "can't create %s: %w", console.Plain(o.Output, 200), fs.ErrExist).
				WithHint("another -o, or --force to replace it")
		}
	}
	s := &sorter{reader: record.NewReader("addr", "info", "game")}
	var err error
	if s.chosen, err = (&census.Options{Games: o.Games}).Filter(); err != nil {
		return failure(err)
	}
	if s.file, err = os.CreateTemp(filepath.Dir(o.Output), ".export-*"+disk.PartSuffix); err != nil {
		return failure(err)
	}
	defer os.Remove(s.file.Name())
	defer s.file.Close()
	s.out = bufio.NewWriterSize(s.file, 1<<20)
	var read []census.Reading
	for _, file := range o.Files {
		one, err := censusfile.EachOf(file, s.add)
		if err != nil {
			return err
		}
		if one.Records, one.Bad, one.Why = one.Records-s.bad, s.bad, s.why; one.Records == 0 && s.bad > 0 {
			return console.Fail(console.ExitInput, "%s has no whole record: a line %w", console.Plain(file, 200), s.why)
		}
		read, s.bad = append(read, one), 0
	}
	lost := censusfile.Lost(t, read, true)
	if err := s.writeTable(&o); err != nil {
		return err
	}
	t.Say("written: %s", console.Plural(uint64(len(s.records)), "record"))
	return lost
}

// failure gives an error from writing the table its exit code. It returns nil for nil.
func failure(err error) error {
	if err == nil {
		return nil
	}
	return console.Fail(console.ExitOutput, "can't write the table: %w", err)
}

// sorter holds the records of a census in a temporary file, beside the output, because
// they may not fit into memory.
type sorter struct {
	file    *os.File
	out     *bufio.Writer // to file
	size    int64         // of file
	reader  *record.Reader
	chosen  func(*census.Server) bool
	records []place
	bad     uint64 // lines of the last file that are no records
	why     error  // what was wrong with the last of them
}

// place is where a record is in the temporary file.
type place struct {
	addr   netip.AddrPort
	offset int64
	length int
}

// add appends record n of a census.
func (s *sorter) add(n int, line []byte) error {
	r, err := s.reader.Read(line)
	switch {
	case errors.As(err, new(record.SchemaError)):
		return console.Fail(console.ExitInput, "record %d: %w", n, err).WithHint("a newer version reads it")
	case err != nil:
		s.bad, s.why = s.bad+1, err
		return nil
	}
	if one := census.NewServer(&r.Result); !s.chosen(&one) {
		return nil
	}
	line = bytes.TrimSpace(line)
	s.records = append(s.records, place{r.Addr, s.size, len(line)})
	s.size += int64(len(line))
	_, err = s.out.Write(line)
	return failure(err)
}

// rowGroup is the maximum number of records in a row group, which the writer holds in
// memory.
const rowGroup = 20_000

// writeTable writes the records, in the order of their addresses. The file gets its name
// when it is complete.
func (s *sorter) writeTable(o *Options) (err error) {
	if err := s.out.Flush(); err != nil {
		return failure(err)
	}
	slices.SortStableFunc(s.records, func(a, b place) int { return a.addr.Compare(b.addr) })
	file, err := disk.Create(o.Output, 0o666)
	if err != nil {
		return failure(err)
	}
	defer func() {
		if err != nil {
			file.Discard()
		}
	}()
	row := reflect.New(rowType(record.Columns()))
	w := parquet.NewGenericWriter[any](file, parquet.SchemaOf(row.Interface()), parquet.Compression(&zstd.Codec{}),
		parquet.MaxRowsPerRowGroup(rowGroup), parquet.CreatedBy("a2sscan", o.Version, o.Build))
	var line []byte
	for i, p := range s.records {
		line = slices.Grow(line[:0], p.length)[:p.length]
		if _, err := s.file.ReadAt(line, p.offset); err != nil {
			return failure(err)
		}
		row.Elem().SetZero()
		if err := json.Unmarshal(line, row.Interface(), jsontext.AllowDuplicateNames(true)); err != nil {
			return console.Fail(console.ExitNumbers, "record %d can't be read: %w", i+1, err)
		}
		if _, err := w.Write([]any{row.Interface()}); err != nil {
			return failure(err)
		}
	}
	if err := w.Close(); err != nil {
		return failure(err)
	}
	return failure(file.Commit())
}

// rowType returns a struct type for an object with these keys. Its tags tell package
// json the keys and package parquet the columns. Absent keys are nil, and null in the
// table.
func rowType(columns []record.Column) reflect.Type {
	fields := make([]reflect.StructField, len(columns))
	for i, c := range columns {
		typ, options, inner := goType(&c)
		name := c.Name
		if c.Type == record.ColumnID {
			name += ",string" // a decimal string in the record, a number in the table
		}
		fields[i] = reflect.StructField{
			Name: fmt.Sprint("Field", i), Type: typ,
			Tag: reflect.StructTag(fmt.Sprintf(`json:"%s" parquet:"%s%s" %s`, name, c.Name, options, inner)),
		}
	}
	return reflect.StructOf(fields)
}

// types are the types of the columns that are neither objects nor texts, which are
// pointers to strings.
var types = map[record.ColumnType]reflect.Type{
	record.ColumnMap:     reflect.TypeFor[map[string]string](),
	record.ColumnID:      reflect.TypeFor[*uint64](),
	record.ColumnUint64:  reflect.TypeFor[*uint64](),
	record.ColumnMillis:  reflect.TypeFor[*time.Time](),
	record.ColumnSeconds: reflect.TypeFor[*time.Time](),
	record.ColumnFloat64: reflect.TypeFor[*float64](),
	record.ColumnFloat32: reflect.TypeFor[*float32](),
	record.ColumnBool:    reflect.TypeFor[*bool](),
	record.ColumnUint8:   reflect.TypeFor[*uint8](),
	record.ColumnUint16:  reflect.TypeFor[*uint16](),
	record.ColumnUint32:  reflect.TypeFor[*uint32](),
	record.ColumnInt32:   reflect.TypeFor[*int32](),
	record.ColumnJSON:    reflect.TypeFor[jsontext.Value](),
}

// goType returns the type of a field, and the options of its parquet tag and of those
// for the elements of lists and maps. Texts get dictionaries, because most of them
// repeat.
func goType(c *record.Column) (typ reflect.Type, options, inner string) {
	typ, options = types[c.Type], ",optional"
	switch c.Type {
	case record.ColumnObject:
		typ = reflect.PointerTo(rowType(c.Fields))
	case record.ColumnMap:
		inner = `parquet-key:",dict" parquet-value:",dict"`
	case record.ColumnMillis, record.ColumnSeconds:
		options = ",optional,timestamp(millisecond)"
	case record.ColumnJSON:
		options = ",optional,json"
	case record.ColumnText:
		typ, options = reflect.TypeFor[*string](), ",optional,dict"
	}
	if c.Lists > 0 {
		typ, options = typ.Elem(), ",optional,list"
		for range c.Lists {
			typ = reflect.SliceOf(typ)
		}
		if c.Type == record.ColumnText && c.Lists == 1 {
			inner = `parquet-element:",dict"`
		}
	}
	return typ, options, inner
}
