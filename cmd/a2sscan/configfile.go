package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	// TOML. Its parser gives the line of every key and numbers as they were
	// typed, which is what errors and flags need.
	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// configEntry is a key of a configuration file with its value.
type configEntry struct {
	table string // the command's name, "a b" if it is one of a command; empty: for all
	named bool   // it is the table itself, which may be empty, and has no key
	key   string
	line  int // of the key, from 1
	value configValue
}

// configValue is a value of a configuration file.
type configValue struct {
	line  int // from 1
	kind  unstable.Kind
	text  string        // of a string, a number or a truth, as a flag would take it
	items []configValue // of an array
}

// maxConfig is how long a configuration file may be, in bytes. One of another
// kind, or a device without end, is noticed by that.
const maxConfig = 1 << 20

// readConfig reads a file.
func readConfig(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, console.Fail(console.ExitInput, "--config %s: %v", console.Plain(path, 200), console.WithoutPath(err)).
			WithHint("it names a TOML file; a path is relative to the working directory")
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	switch {
	case err != nil:
		return nil, console.Fail(console.ExitInput, "--config %s: %v", console.Plain(path, 200), console.WithoutPath(err))
	case len(text) > maxConfig:
		return nil, console.Fail(console.ExitInput, "--config %s: longer than %s", console.Plain(path, 200), console.Bytes(maxConfig)).
			WithHint("lists of targets and of exclusions are files of their own")
	}
	return text, nil
}

// parseConfig returns the entries of a file in their order. path is its name
// for errors.
func parseConfig(path string, text []byte) ([]configEntry, error) {
	// The parser below knows nothing of keys that are there twice.
	var all map[string]any
	if err := toml.Unmarshal(text, &all); err != nil {
		return nil, tomlFailure(path, err)
	}
	r := configReader{path: path}
	r.Reset(text)
	for r.NextExpression() && r.err == nil {
		r.expression(r.Expression())
	}
	if r.err != nil {
		return nil, r.err
	}
	return r.entries, nil
}

// tomlFailure is the error of a file that is no TOML.
func tomlFailure(path string, err error) error {
	line := 0
	if at, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, _ = at.Position()
	}
	why := strings.TrimPrefix(err.Error(), "toml: ")
	return configFailure(path, line, "%s", why).
		WithHint(`it is read as TOML: rate = "20k", exclude = ["198.51.100.0/24"]`)
}

// configFailure is an error in a line of a file.
func configFailure(path string, line int, format string, args ...any) *console.Failure {
	return console.Fail(console.ExitUsage, "%s:%d: %s", console.Plain(path, 200), line, fmt.Sprintf(format, args...))
}

// configReader takes a file's entries out of what the parser finds.
type configReader struct {
	unstable.Parser
	path    string
	table   []string
	entries []configEntry
	err     error
}

func (r *configReader) expression(n *unstable.Node) {
	switch n.Kind {
	case unstable.Table:
		words, line := r.keys(n.Key())
		r.table = words
		r.entries = append(r.entries, configEntry{
			table: strings.Join(words, " "), named: true, line: line,
		})
	case unstable.ArrayTable:
		words, line := r.keys(n.Key())
		name := strings.Join(words, ".")
		r.err = configFailure(r.path, line, "[[%s]]: a command has one table", console.Plain(name, 60)).
			WithHint("write [%s]", console.Plain(name, 60))
	case unstable.KeyValue:
		r.keyValue(r.table, n)
	}
}

// keyValue adds an entry, or those of an inline table.
func (r *configReader) keyValue(table []string, n *unstable.Node) {
	words, line := r.keys(n.Key())
	path := append(table[:len(table):len(table)], words...)
	if n.Value().Kind == unstable.InlineTable {
		for it := n.Value().Children(); it.Next(); {
			r.keyValue(path, it.Node())
		}
		return
	}
	last := len(path) - 1
	r.entries = append(r.entries, configEntry{
		table: strings.Join(path[:last], " "), key: path[last], line: line,
		value: r.value(n.Value(), line),
	})
}

// keys returns the words of a dotted key, and its line.
func (r *configReader) keys(it unstable.Iterator) (words []string, line int) {
	for it.Next() {
		words = append(words, string(it.Node().Data))
		line = r.Shape(it.Node().Raw).Start.Line
	}
	return words, line
}

// value reads a value. line is its key's, for what the parser has no line of.
func (r *configReader) value(n *unstable.Node, line int) configValue {
	if n.Raw.Length > 0 {
		line = r.Shape(n.Raw).Start.Line
	}
	v := configValue{line: line, kind: n.Kind, text: string(n.Data)}
	switch n.Kind {
	case unstable.Integer, unstable.Float:
		v.text = string(bytes.ReplaceAll(n.Data, []byte("_"), nil))
	case unstable.Array:
		for it := n.Children(); it.Next(); {
			v.items = append(v.items, r.value(it.Node(), line))
		}
		if len(v.items) > 0 {
			v.line = v.items[0].line
		}
	}
	return v
}
