// Package flagfile reads and writes configuration files that set the flags of
// commands.
//
// The files are TOML. The keys are the names of flags. A command may have a table
// with its name. Keys before the first table apply to every command that has such a
// flag; keys in the table of a command override them.
package flagfile

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// TargetsKey is the key for the arguments of a command whose arguments are targets.
const TargetsKey = "targets"

// MaxSize is the maximum size of a file in bytes. It limits how much Read reads of
// a file that is no configuration, or of an endless device.
const MaxSize = 1 << 20

// File is a configuration file.
type File struct {
	Path   string
	SHA256 string

	commands []Command
	entries  []Entry
}

// Entry is a key of a file with its value.
type Entry struct {
	Key   string
	Line  int // line number of the key, from 1
	Value any

	table  string // name of the command whose table has the key; empty: the key is before the first table
	header bool   // the line is the header of a table, not a key
	column int
}

// Read reads a file for a program with these commands. It reports syntax errors,
// but does not check the keys.
func Read(path string, commands []Command) (*File, error) {
	text, err := readText(path)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	f := &File{Path: path, SHA256: hex.EncodeToString(sum[:]), commands: commands}
	return f, f.parse(text)
}

func readText(path string) ([]byte, error) {
	shown := console.Plain(path, 200)
	file, err := os.Open(path)
	if err != nil {
		return nil, console.Fail(console.ExitInput, "--config %s: %v", shown, console.WithoutPath(err)).
			WithHint("it names a TOML file; a path is relative to the working directory")
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, MaxSize+1))
	switch {
	case err != nil:
		return nil, console.Fail(console.ExitInput, "--config %s: %v", shown, console.WithoutPath(err))
	case len(text) > MaxSize:
		return nil, console.Fail(console.ExitInput, "--config %s: longer than %s", shown, console.Bytes(MaxSize)).
			WithHint("lists of targets and of exclusions are files of their own")
	}
	return text, nil
}

// parse collects the entries in the order of the file. The TOML library reports no
// positions of values, but its strict mode reports the position of each key that a
// struct lacks. So parse decodes the file twice more: into a struct without fields,
// and into a struct with an empty struct for each table.
func (f *File) parse(text []byte) error {
	var values map[string]any
	if err := toml.Unmarshal(text, &values); err != nil {
		return f.syntaxError(err)
	}
	var tables []reflect.StructField
	for i, c := range f.commands {
		if _, isTable := values[c.Name].(map[string]any); isTable {
			tables = append(tables, reflect.StructField{
				Name: fmt.Sprintf("F%d", i), Type: reflect.TypeFor[struct{}](),
				Tag: reflect.StructTag(fmt.Sprintf("toml:%q", c.Name)),
			})
		}
	}
	places := append(unknownKeys(text, new(struct{})), unknownKeys(text, reflect.New(reflect.StructOf(tables)).Interface())...)
	f.addEntries("", values, places)
	slices.SortStableFunc(f.entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.column, b.column))
	})
	return nil
}

// unknownKeys returns, for each key in text that v lacks, an error with its
// position.
func unknownKeys(text []byte, v any) []toml.DecodeError {
	d := toml.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if strict, ok := errors.AsType[*toml.StrictMissingError](d.Decode(v)); ok {
		return strict.Errors
	}
	return nil
}

// addEntries adds the keys of a table. The table "" stands for the keys before the
// first table.
func (f *File) addEntries(table string, values map[string]any, places []toml.DecodeError) {
	for key, value := range values {
		e := Entry{Key: key, Value: value, table: table}
		e.Line, e.column = placeOf(table, key, places)
		if below, isTable := value.(map[string]any); isTable {
			e.table, e.header = strings.TrimPrefix(table+"."+key, "."), true
			f.addEntries(e.table, below, places)
		}
		f.entries = append(f.entries, e)
	}
}

// placeOf returns the line and the column of a key. For an inline table, places has
// the keys without the name of the table.
func placeOf(table, key string, places []toml.DecodeError) (line, column int) {
	for i := range places {
		path := strings.Join(places[i].Key(), ".")
		switch {
		case path == strings.TrimPrefix(table+"."+key, "."), table != "" && path == table && line == 0:
			line, column = places[i].Position()
			if path != table {
				return line, column
			}
		case table != "" && path == key:
			line, column = places[i].Position()
		}
	}
	return line, column
}

// syntaxError returns the error for a file that is not valid TOML.
func (f *File) syntaxError(err error) error {
	line := 0
	if at, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, _ = at.Position()
	}
	return f.Fail(line, "%s", strings.TrimPrefix(err.Error(), "toml: ")).
		WithHint(`it is read as TOML: rate = "20k", exclude = ["198.51.100.0/24"]`)
}

// Fail returns an error for a line of the file.
func (f *File) Fail(line int, format string, args ...any) *console.Failure {
	return console.Fail(console.ExitUsage, "%s: %s", f.At(line), fmt.Sprintf(format, args...))
}

// At formats the position of a line as PATH:LINE.
func (f *File) At(line int) string { return fmt.Sprintf("%s:%d", console.Plain(f.Path, 200), line) }
