// Package flags has the types of flag values, and reads configuration files.
//
// The files are TOML. The keys are names of flags, and a table has the name of a command.
// The package does not check these names.
package flags

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// MaxFileSize is the maximum size of a file in bytes. Without this limit, ReadFile would never
// end on a device such as /dev/zero.
const MaxFileSize = 1 << 20

// File has the keys of a configuration file.
type File struct {
	Path   string
	SHA256 string
	Keys   []Key
}

// Key is a key in a file, with the key's value, or a table.
type Key struct {
	Table  string   // the table that has the key; "": none
	Name   string   // "": this is a table
	Values []string // as a user types them on a command line
	List   bool     // the value is a list, and Values has its elements
	Bool   bool     // the value is true or false
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

func (f *File) parse(text []byte) error {
	var all map[string]any
	if err := toml.Unmarshal(text, &all); err != nil {
		line := 0
		if at, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, _ = at.Position()
		}
		return console.Fail(console.ExitUsage, "%s:%d: %s", console.Plain(f.Path, 200), line, strings.TrimPrefix(err.Error(), "toml: ")).
			WithHint(`write TOML, such as rate = "20k" or exclude = ["198.51.100.0/24"]`)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		table, ok := all[name].(map[string]any)
		if !ok {
			table = map[string]any{name: all[name]}
			name = ""
		} else {
			f.Keys = append(f.Keys, Key{Table: name})
		}
		for _, key := range slices.Sorted(maps.Keys(table)) {
			values, list := table[key].([]any)
			if !list {
				values = []any{table[key]}
			}
			k := Key{Table: name, Name: key, List: list}
			_, k.Bool = table[key].(bool)
			for _, value := range values {
				if _, table := value.(map[string]any); table {
					return f.Fail("%s: the value of a flag can't be a table", console.Plain(key, 60))
				}
				k.Values = append(k.Values, typed(value))
			}
			f.Keys = append(f.Keys, k)
		}
	}
	return nil
}

// typed returns a value as a user types it on a command line. A list becomes one string,
// with commas.
func typed(value any) string {
	switch value := value.(type) {
	case []any:
		var all []string
		for _, v := range value {
			all = append(all, typed(v))
		}
		return strings.Join(all, ",")
	case time.Time:
		return value.Format(time.RFC3339)
	}
	return fmt.Sprint(value)
}

// Fail returns an error about the file.
func (f *File) Fail(format string, args ...any) *console.Failure {
	return console.Fail(console.ExitUsage, "%s: %s", console.Plain(f.Path, 200), fmt.Sprintf(format, args...))
}
