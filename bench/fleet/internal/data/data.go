// Package data holds what simulated servers send: their games, names and rules.
package data

import (
	"embed"
	"strings"
)

//go:embed *.txt
var files embed.FS

// Rows calls yield with the columns of each line of a file, which tabs separate. It
// skips empty lines and comments.
func Rows(file string, yield func(cells []string)) {
	b, err := files.ReadFile(file)
	if err != nil {
		panic(err) // it is embedded
	}
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && line[0] != '#' {
			yield(strings.Split(line, "\t"))
		}
	}
}

// Words are what names and descriptions consist of.
var Words = func() map[string][]string {
	all := map[string][]string{}
	Rows("words.txt", func(cells []string) { all[cells[0]] = cells[1:] })
	return all
}()
