package flagfile

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// Line is a flag in the file that Write writes.
type Line struct {
	Flag    Flag
	Texts   []string // all values that the flag was given
	Source  string   // where the values come from
	Comment bool     // write the line as a comment
}

// Write writes a file with the table of one command. Each line ends with a comment
// that names the source of the value.
func Write(w io.Writer, command string, lines []Line) error {
	rows := make([]string, len(lines))
	width := 0
	for i, l := range lines {
		value, err := l.value()
		if err != nil {
			return console.Fail(console.ExitUsage, "--%s: %w", l.Flag.Name, err)
		}
		if rows[i] = l.Flag.Name + " = " + value; l.Comment {
			rows[i] = "# " + rows[i]
		}
		if n := utf8.RuneCountInString(rows[i]); n <= 40 {
			width = max(width, n)
		}
	}
	fmt.Fprintf(w, "# The effective configuration of a2sscan %s, with sources. --config reads it.\n\n[%s]\n", command, command)
	for i, l := range lines {
		pad := max(0, width-utf8.RuneCountInString(rows[i]))
		fmt.Fprintf(w, "%s%*s  # %s\n", rows[i], pad, "", l.Source)
	}
	return nil
}

// value formats the values of a line in TOML.
func (l Line) value() (string, error) {
	switch {
	case l.Flag.Name == TargetsKey:
		return list(l.Texts)
	case len(l.Texts) == 1:
		return l.Flag.toml(l.Texts[0])
	case !l.Flag.List:
		return list(l.Texts)
	}
	var lists []string
	for _, text := range l.Texts {
		one, err := list([]string{text})
		if err != nil {
			return "", err
		}
		lists = append(lists, one)
	}
	return "[" + strings.Join(lists, ", ") + "]", nil
}

func list(texts []string) (string, error) {
	var words []string
	for _, text := range texts {
		word, err := quoted(text)
		if err != nil {
			return "", err
		}
		words = append(words, word)
	}
	return "[" + strings.Join(words, ", ") + "]", nil
}

// plainNumber matches numbers that are written the same in TOML and on the command
// line.
var plainNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?$`)

// toml formats a single value in TOML. Booleans and numbers get no quotes.
func (f Flag) toml(text string) (string, error) {
	switch {
	case f.Bool:
		on, _ := strconv.ParseBool(text) // "" means that the flag was not given
		return strconv.FormatBool(on), nil
	case f.Number && plainNumber.MatchString(text):
		return text, nil
	}
	return quoted(text)
}

// quoted formats a string in quotes and escapes quotes, backslashes and invisible
// characters.
func quoted(s string) (string, error) {
	if !utf8.ValidString(s) {
		return "", fmt.Errorf("%s is not UTF-8, which TOML requires", console.Quoted(s, 100))
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r <= 0xFFFF:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			fmt.Fprintf(&b, `\U%08X`, r)
		}
	}
	b.WriteByte('"')
	return b.String(), nil
}
