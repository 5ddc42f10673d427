// Package flagfile reads configuration files that set the flags of commands.
//
// The files are TOML. The keys are the names of flags, and a command may have a table
// with its name. The package knows neither commands nor flags: it returns each key
// with its line, for the errors of the caller.
package flagfile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable" // the only part of the library that knows the line of a key

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// MaxSize is the maximum size of a file in bytes. It limits how much Read reads of
// a file that is no configuration, or of an endless device.
const MaxSize = 1 << 20

// File is a configuration file.
type File struct {
	Path   string
	SHA256 string
	Keys   []Key // in the order of the file
}

// Key is a key of a file with its value, or the header of a table.
type Key struct {
	Table  string // empty: the key is before the first table
	Name   string
	Line   int // from 1
	Value  any // as toml.Unmarshal returns it
	Header bool
}

// Read reads a file. It reports syntax errors, but does not check the keys.
func Read(path string) (*File, error) {
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
	sum := sha256.Sum256(text)
	f := &File{Path: path, SHA256: hex.EncodeToString(sum[:])}
	return f, f.parse(text)
}

// parse takes the values from toml.Unmarshal, which checks the file, and their lines
// from the syntax tree.
func (f *File) parse(text []byte) error {
	var values map[string]any
	if err := toml.Unmarshal(text, &values); err != nil {
		line := 0
		if at, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, _ = at.Position()
		}
		return f.Fail(line, "%s", strings.TrimPrefix(err.Error(), "toml: ")).
			WithHint(`it is read as TOML: rate = "20k", exclude = ["198.51.100.0/24"]`)
	}
	var table []string
	var p unstable.Parser
	p.Reset(text)
	for p.NextExpression() {
		e := p.Expression()
		var names []string
		line := 0
		for parts := e.Key(); parts.Next(); names = append(names, string(parts.Node().Data)) {
			if line == 0 {
				line = p.Shape(parts.Node().Raw).Start.Line
			}
		}
		switch e.Kind {
		case unstable.Table:
			table = names
			f.Keys = append(f.Keys, Key{Table: strings.Join(table, "."), Line: line, Header: true})
		case unstable.ArrayTable:
			name := console.Plain(strings.Join(names, "."), 60)
			return f.Fail(line, "[[%s]]: a command has one table", name).WithHint("write [%s]", name)
		case unstable.KeyValue:
			names = slices.Concat(table, names)
			f.add(names, find(values, names), line)
		}
	}
	return nil
}

// find returns the value of a key. The last of names is the key, the others are the
// tables around it.
func find(values map[string]any, names []string) any {
	value := any(values)
	for _, name := range names {
		table, _ := value.(map[string]any)
		value = table[name]
	}
	return value
}

// add adds a key. If it is an inline table, add adds the keys in it.
func (f *File) add(names []string, value any, line int) {
	if inside, ok := value.(map[string]any); ok {
		f.Keys = append(f.Keys, Key{Table: strings.Join(names, "."), Line: line, Header: true})
		for _, name := range slices.Sorted(maps.Keys(inside)) {
			f.add(append(slices.Clip(names), name), inside[name], line)
		}
		return
	}
	last := len(names) - 1
	f.Keys = append(f.Keys, Key{Table: strings.Join(names[:last], "."), Name: names[last], Line: line, Value: value})
}

// Fail returns an error for a line of the file.
func (f *File) Fail(line int, format string, args ...any) *console.Failure {
	return console.Fail(console.ExitUsage, "%s:%d: %s", console.Plain(f.Path, 200), line, fmt.Sprintf(format, args...))
}

// Texts returns the value of a flag as it is typed on a command line: one string, or
// one for each element of a list. A list in a list becomes one string, with commas.
// on and off stand for true and false; they are empty if the flag takes a value.
func (k Key) Texts(on, off string) (texts []string, err error) {
	items, isList := k.Value.([]any)
	if !isList {
		items = []any{k.Value}
	}
	for _, item := range items {
		inner, nested := item.([]any)
		if !nested {
			inner = []any{item}
		}
		var words []string
		for _, v := range inner {
			word, err := scalar(v, on, off)
			if err != nil {
				return nil, err
			}
			words = append(words, word)
		}
		texts = append(texts, strings.Join(words, ","))
	}
	return texts, nil
}

// Strings returns the value of a key that takes strings; "" stands for anything else.
func (k Key) Strings() (texts []string) {
	items, isList := k.Value.([]any)
	if !isList {
		items = []any{k.Value}
	}
	for _, item := range items {
		text, _ := item.(string)
		texts = append(texts, text)
	}
	return texts
}

func scalar(v any, on, off string) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), nil
	case bool:
		switch {
		case v && on != "":
			return on, nil
		case !v && off != "":
			return off, nil
		}
		return "", fmt.Errorf("takes a value, not %t", v)
	case []any:
		return "", errors.New("a list in a list in a list")
	case map[string]any:
		return "", errors.New("a table is no value of a flag")
	}
	return "", errors.New("a date is no value of a flag: put it in quotes")
}
