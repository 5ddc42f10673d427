package main

import (
	"embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	// spf13/cobra/doc also uses this renderer, but can't group flags.
	"github.com/cpuguy83/go-md2man/v2/md2man"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// manualTexts has a file for each command whose man page needs more than the help. In such
// a file, the line "EXIT 0 1" stands for the exit codes 0 and 1 with their usual meanings.
//
//go:embed manual/*.md
var manualTexts embed.FS

// manualDate is the date on which the files in manualTexts were last changed.
const manualDate = "2026-11-24"

// manPage returns the man page of a command. The page refers to all other pages, whose
// names are the third argument. The page of the root also lists the commands in the last
// argument.
func manPage(c *cobra.Command, name string, others []string, below []*cobra.Command) string {
	c.InitDefaultHelpFlag()
	text, err := manualTexts.ReadFile("manual/" + c.Name() + ".md")
	if err != nil {
		text = []byte("# EXIT STATUS\n\nEXIT 0 1 3 141\n")
	}
	_, args, _ := strings.Cut(c.Use, " ")
	if !c.HasParent() {
		args = "COMMAND …"
	}
	var b strings.Builder
	item := func(tag, text string) { fmt.Fprintf(&b, "%s\n: %s\n\n", tag, escaped(text)) }
	fmt.Fprintf(&b, "%% %q %q %q %q %q\n\n", strings.ToUpper(name), "1", manualDate, "a2sscan", "Game server scanner")
	fmt.Fprintf(&b, "# NAME\n\n%s - %s\n\n# SYNOPSIS\n\n**%s**", name, strings.ToLower(c.Short[:1])+c.Short[1:], c.CommandPath())
	groups := flagGroups(c)
	if len(groups) > 0 {
		b.WriteString(` \[*FLAG…*\]`)
	}
	fmt.Fprintf(&b, " %s\n\n# DESCRIPTION\n\n", escaped(args))
	for paragraph := range strings.SplitSeq(c.Long, "\n\n") {
		if strings.HasPrefix(paragraph, " ") { // indented text retains its layout
			paragraph = code(paragraph)
		} else {
			paragraph = escaped(paragraph)
		}
		b.WriteString(paragraph + "\n\n")
	}
	if !c.HasParent() {
		b.WriteString("# COMMANDS\n\n")
		for _, c := range below {
			item("**"+c.Name()+"**", c.Short)
		}
		item("**completion bash**, **zsh**, **fish**", "Print a script that completes commands, flags and their values")
		b.WriteString("Each command has a page of its own, and --help.\n\n")
	}
	for i, g := range groups {
		if i == 0 {
			b.WriteString("# OPTIONS\n\n")
		}
		if len(groups) > 1 {
			fmt.Fprintf(&b, "### %s\n\n", g.Title)
		}
		for _, f := range g.flags {
			item(flagItem(f))
		}
	}
	b.WriteString(exitLine.ReplaceAllStringFunc(string(text), usualExits))
	fmt.Fprintf(&b, "\n# EXAMPLES\n\n%s\n\n# SEE ALSO\n\n**%s**(1)\n", code(c.Example), strings.Join(others, "**(1),\n**"))
	return typeable(string(md2man.Render([]byte(b.String()))))
}

// flagItem returns a heading for a flag in Markdown, such as **-o**, **--output** *PATH*,
// and the flag's help.
func flagItem(f *pflag.Flag) (tag, usage string) {
	value, usage := pflag.UnquoteUsage(f)
	tag = "**--" + f.Name + "**"
	if f.Shorthand != "" {
		tag = "**-" + f.Shorthand + "**, " + tag
	}
	switch {
	case value != "" && f.NoOptDefVal != "":
		tag += "[=*" + value + "*]"
	case value != "":
		tag += " *" + value + "*"
	}
	if !slices.Contains([]string{"", "0", "0s", "false", "[]"}, f.DefValue) {
		usage += " (default " + f.DefValue + ")"
	}
	return tag, usage
}

var exitLine = regexp.MustCompile(`(?m)^EXIT [ \d]+$`)

// usualExits returns the exit codes in a line such as "EXIT 0 1" with their meanings.
func usualExits(line string) string {
	var b strings.Builder
	for _, e := range console.Exits {
		if slices.Contains(strings.Fields(line), fmt.Sprint(e.Code)) {
			fmt.Fprintf(&b, "**%d**\n: %s\n\n", e.Code, escaped(e.When))
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func code(s string) string { return "    " + strings.ReplaceAll(s, "\n", "\n    ") }

// special matches the characters that have a meaning in Markdown.
var special = regexp.MustCompile("[\\\\`*_{}\\[\\]<>#|]")

func escaped(s string) string { return special.ReplaceAllString(s, `\$0`) }

var (
	untypeable = regexp.MustCompile("[-'`^~]|[^\x00-\x7f]")
	roffNames  = map[string]string{"-": `\-`, "'": `\(aq`, "`": `\(ga`, "^": `\(ha`, "~": `\(ti`}
	flagText   = regexp.MustCompile(`(^|[\s(])(--?[a-z][a-z-]*)`)
)

// typeable keeps roff from replacing characters with typographic ones, so that commands
// copied from a page work in a shell. It also prints flags in bold, except in code.
func typeable(page string) string {
	lines, isCode := strings.Split(strings.ReplaceAll(page, `\-`, "-"), "\n"), false
	for i, line := range lines {
		if strings.HasPrefix(line, ".") {
			isCode = line == ".EX" || isCode && line != ".EE"
			continue
		}
		if !isCode {
			line = flagText.ReplaceAllString(line, `$1\fB$2\fP`)
		}
		lines[i] = untypeable.ReplaceAllStringFunc(line, func(c string) string {
			if name := roffNames[c]; name != "" {
				return name
			}
			return fmt.Sprintf(`\[u%04X]`, []rune(c)[0])
		})
	}
	return strings.TrimLeft(strings.Join(lines, "\n"), "\n")
}
