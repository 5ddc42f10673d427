// Package flags has the types of flag values, and reads configuration files.
//
// The files are TOML. The keys are names of flags, and a table has the name of a command.
// The package does not check these names. It returns each key with its line number, so
// that the caller's errors can name the line.
package flags

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable" // the only part of the library that knows the line of a key

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// MaxFileSize is the maximum size of a file in bytes. Without this limit, ReadFile would never
// end on a device such as /dev/zero.
const MaxFileSize = 1 << 20

// File has the keys of a configuration file.
type File struct {
	Path   string
	SHA256 string
	Keys   []Key // in the order of the file
}

// Key is a key in a file, with the key's value, or the header of a table.
type Key struct {
	Table  string // empty: the key is before the first table
	Name   string // empty: this Key is the header of Table
	Line   int    // counted from 1
	Values []string
	List   bool // the value is a list, and Values has its elements
	Bool   bool // the value is true or false
}

// ReadFile reads a file. It reports syntax errors, but does not check the keys.
func ReadFile(path string) (*File, error) {
	shown := console.Plain(path, 200)
	file, err := os.Open(path)
	if err != nil {
		return nil, console.Fail(console.ExitInput, "--config %s: %v", shown, console.WithoutPath(err)).
			WithHint("name a TOML file; a path is relative to the working directory")
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, MaxFileSize+1))
	switch {
	case err != nil:
		return nil, console.Fail(console.ExitInput, "--config %s: %v", shown, console.WithoutPath(err))
	case len(text) > MaxFileSize:
		return nil, console.Fail(console.ExitInput, "--config %s is longer than %s", shown, console.Bytes(MaxFileSize)).
			WithHint("put lists of targets and exclusions into separate files")
	}
	sum := sha256.Sum256(text)
	f := &File{Path: path, SHA256: hex.EncodeToString(sum[:])}
	return f, f.parse(text)
}

// parse reads the keys from the syntax tree. First toml.Unmarshal checks the file, because
// the parser of the syntax tree accepts keys that occur twice.
func (f *File) parse(text []byte) error {
	if err := toml.Unmarshal(text, new(map[string]any)); err != nil {
		line := 0
		if at, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, _ = at.Position()
		}
		return f.Fail(line, "%s", strings.TrimPrefix(err.Error(), "toml: ")).
			WithHint(`write TOML, such as rate = "20k" or exclude = ["198.51.100.0/24"]`)
	}
	var table []string
	var p unstable.Parser
	p.Reset(text)
	for p.NextExpression() {
		e := p.Expression()
		var names []string // the parts of a key such as scan.rate
		line := 0
		for parts := e.Key(); parts.Next(); names = append(names, string(parts.Node().Data)) {
			if line == 0 {
				line = p.Shape(parts.Node().Raw).Start.Line
			}
		}
		switch e.Kind {
		case unstable.Table:
			table = names
			f.Keys = append(f.Keys, Key{Table: strings.Join(table, "."), Line: line})
		case unstable.ArrayTable:
			name := console.Plain(strings.Join(names, "."), 60)
			return f.Fail(line, "[[%s]]: a command can have only one table", name).WithHint("write [%s]", name)
		case unstable.KeyValue:
			if err := f.add(slices.Concat(table, names), e.Value(), line); err != nil {
				return err
			}
		}
	}
	return nil
}

// add adds a key. The last element of names is the key, and the others are the name of its
// table. If the value is an inline table, add adds the keys in that table.
func (f *File) add(names []string, value *unstable.Node, line int) error {
	last := len(names) - 1
	k := Key{Table: strings.Join(names[:last], "."), Name: names[last], Line: line}
	switch value.Kind {
	case unstable.InlineTable:
		f.Keys = append(f.Keys, Key{Table: strings.Join(names, "."), Line: line})
		for in := value.Children(); in.Next(); {
			inside := slices.Clone(names)
			for parts := in.Node().Key(); parts.Next(); {
				inside = append(inside, string(parts.Node().Data))
			}
			if err := f.add(inside, in.Node().Value(), line); err != nil {
				return err
			}
		}
		return nil
	case unstable.Array:
		k.List = true
		for in := value.Children(); in.Next(); {
			k.Values = append(k.Values, text(in.Node()))
			if in.Node().Kind == unstable.InlineTable {
				return f.Fail(line, "%s: the value of a flag can't be a table", console.Plain(k.Name, 60))
			}
		}
	default:
		k.Values, k.Bool = []string{text(value)}, value.Kind == unstable.Bool
	}
	f.Keys = append(f.Keys, k)
	return nil
}

// text returns a value as a user types it on a command line. A list becomes one string,
// with commas.
func text(value *unstable.Node) string {
	switch value.Kind {
	case unstable.Array:
		var all []string
		for in := value.Children(); in.Next(); {
			all = append(all, text(in.Node()))
		}
		return strings.Join(all, ",")
	case unstable.Integer, unstable.Float:
		return strings.ReplaceAll(string(value.Data), "_", "")
	}
	return string(value.Data)
}

// Fail returns an error for a line of the file.
func (f *File) Fail(line int, format string, args ...any) *console.Failure {
	return console.Fail(console.ExitUsage, "%s:%d: %s", console.Plain(f.Path, 200), line, fmt.Sprintf(format, args...))
}
