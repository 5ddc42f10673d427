package main

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/masterlist"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/redact"
)

// configLine is a line of what --print-config prints.
type configLine struct{ text, whence string }

// print writes what holds as a configuration file.
func (c *configuration) print(w io.Writer) error {
	name := strings.TrimPrefix(c.cmd.CommandPath(), c.cmd.Root().Name()+" ")
	fmt.Fprintf(w, "# What holds for %s, and whence. --config reads it again.\n\n[%s]\n",
		c.cmd.CommandPath(), strings.ReplaceAll(name, " ", "."))
	lines, err := c.lines()
	if err != nil {
		return err
	}
	width := 0
	for _, l := range lines {
		if n := utf8.RuneCountInString(l.text); n <= 40 {
			width = max(width, n)
		}
	}
	for _, l := range lines {
		pad := max(0, width-utf8.RuneCountInString(l.text))
		fmt.Fprintf(w, "%s%*s  # %s\n", l.text, pad, "", l.whence)
	}
	return nil
}

// lines are those of the command's table.
func (c *configuration) lines() (lines []configLine, err error) {
	if takesTargets(c.cmd) {
		l := configLine{"# " + targetsKey + " = []", "default: standard input"}
		if len(c.args) > 0 {
			l.whence = c.argsBy
			l.text, err = tomlList(c.args)
			l.text = targetsKey + " = " + l.text
		}
		lines = append(lines, l)
	}
	c.cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if err == nil && (onlyTyped[flag.Name] == "" || flag.Name == "fresh") {
			var l configLine
			l, err = c.line(flag)
			lines = append(lines, l)
		}
	})
	return lines, err
}

// line says what a flag is. A default stands in a comment, since some flags say
// more than their value by being given; so does what may not stand in a file.
func (c *configuration) line(flag *pflag.Flag) (configLine, error) {
	s := c.set[flag.Name]
	isDefault := s == nil
	if isDefault {
		s = &setting{[]string{flag.DefValue}, []string{defaultOf(flag)}}
		if v, ok := flag.Value.(pflag.SliceValue); ok {
			s.texts = v.GetSlice()
		}
	}
	if slices.Contains(besideKeys, flag.Name) && slices.ContainsFunc(s.texts, redact.LooksLikeKey) {
		return configLine{}, masterlist.KeyShown(flag.Name)
	}
	text, err := tomlValue(flag, s.texts)
	if err != nil {
		return configLine{}, console.Fail(console.ExitUsage, "--%s: %w", flag.Name, err)
	}
	l := configLine{flag.Name + " = " + text, strings.Join(s.whence, ", ")}
	switch {
	case isDefault:
		l.text = "# " + l.text
	case onlyTyped[flag.Name] != "":
		l = configLine{"# " + l.text, l.whence + ", and only there"}
	}
	return l, nil
}

// besideKeys are the flags that people give the key by mistake.
var besideKeys = []string{"key-file", "master", "udp", "url"}

// saidDefault is a default that the help has in words.
var saidDefault = regexp.MustCompile(`\((default[^()]*)\)$`)

// defaultOf says what a flag is without being given.
func defaultOf(flag *pflag.Flag) string {
	if said := saidDefault.FindStringSubmatch(flag.Usage); said != nil && (flag.DefValue == "" || flag.DefValue == "0s") {
		return said[1]
	}
	return "default"
}

// tomlValue writes what a flag was given.
func tomlValue(flag *pflag.Flag, texts []string) (string, error) {
	switch {
	case len(texts) == 1:
		return tomlScalar(flag, texts[0])
	case !isList(flag):
		return tomlList(texts)
	}
	var lists []string
	for _, text := range texts {
		list, err := tomlList([]string{text})
		if err != nil {
			return "", err
		}
		lists = append(lists, list)
	}
	return "[" + strings.Join(lists, ", ") + "]", nil
}

func tomlList(texts []string) (string, error) {
	var words []string
	for _, text := range texts {
		word, err := tomlString(text)
		if err != nil {
			return "", err
		}
		words = append(words, word)
	}
	return "[" + strings.Join(words, ", ") + "]", nil
}

// plainNumber is how a number is written in TOML and on a command line alike.
var plainNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?$`)

// tomlScalar writes a single value: truths and numbers without quotes.
func tomlScalar(flag *pflag.Flag, text string) (string, error) {
	switch kind := flag.Value.Type(); {
	case kind == "bool":
		on, _ := strconv.ParseBool(text) // "": it is not given
		return strconv.FormatBool(on), nil
	case (strings.HasPrefix(kind, "int") || strings.HasPrefix(kind, "uint") ||
		strings.HasPrefix(kind, "float")) && plainNumber.MatchString(text):
		return text, nil
	}
	return tomlString(text)
}

// tomlString writes a text. What can't be seen is escaped.
func tomlString(s string) (string, error) {
	if !utf8.ValidString(s) {
		return "", fmt.Errorf("%s is not UTF-8, and can't stand in TOML", console.Quoted(s, 100))
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
