// Package manual writes man pages. Text that the help of a command lacks is in the
// folder text, in Markdown.
package manual

import (
	"embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	// spf13/cobra/doc uses this renderer too, but it knows no groups of flags.
	"github.com/cpuguy83/go-md2man/v2/md2man"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// texts has a file for each command. A line such as "EXIT 0 1" stands for these exit
// codes with their usual meaning.
//
//go:embed text/*.md
var texts embed.FS

// date is when the files in texts were last changed.
const date = "2026-11-23"

// Command describes a command for its man page.
type Command struct {
	Path      string // such as "a2sscan scan"
	Short     string // one line, without a full stop
	Arguments string // as in the usage line
	Long      string
	Groups    []Group // groups of flags, in the order of the help
	Commands  []Item  // subcommands; only the root has any
	Example   string
}

// Group is a titled group of flags.
type Group struct {
	Title string
	Flags []Item
}

// Item is an entry of a list: a flag or a command.
type Item struct {
	Tag  string // in Markdown
	Text string // plain
}

// Page returns the man page of a command. pages has the names of all pages.
func Page(c *Command, pages []string) string {
	name := PageName(c.Path)
	text, err := texts.ReadFile("text/" + c.Path[strings.LastIndexByte(c.Path, ' ')+1:] + ".md")
	if err != nil {
		text = []byte("# EXIT STATUS\n\nEXIT 0 1 3 141\n")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%% %q %q %q %q %q\n\n", strings.ToUpper(name), "1", date, "a2sscan", "Game server scanner")
	fmt.Fprintf(&b, "# NAME\n\n%s - %s\n\n", name, strings.ToLower(c.Short[:1])+c.Short[1:])
	fmt.Fprintf(&b, "# SYNOPSIS\n\n**%s**", c.Path)
	if len(c.Groups) > 0 {
		b.WriteString(` \[*FLAG…*\]`)
	}
	fmt.Fprintf(&b, " %s\n\n# DESCRIPTION\n\n%s\n\n", escape(c.Arguments), prose(c.Long))
	if len(c.Commands) > 0 {
		b.WriteString("# COMMANDS\n\n")
		writeItems(&b, c.Commands)
		b.WriteString("Each command has a page of its own, and --help.\n\n")
	}
	for i, g := range c.Groups {
		if i == 0 {
			b.WriteString("# OPTIONS\n\n")
		}
		if len(c.Groups) > 1 {
			fmt.Fprintf(&b, "### %s\n\n", g.Title)
		}
		writeItems(&b, g.Flags)
	}
	b.WriteString(exitLine.ReplaceAllStringFunc(string(text), usualExits))
	fmt.Fprintf(&b, "\n# EXAMPLES\n\n%s\n\n# SEE ALSO\n\n", code(c.Example))
	others := slices.DeleteFunc(slices.Clone(pages), func(other string) bool { return other == name })
	fmt.Fprintf(&b, "**%s**(1)\n", strings.Join(others, "**(1),\n**"))
	return typeable(string(md2man.Render([]byte(b.String()))))
}

// PageName returns the name of the man page of a command.
func PageName(path string) string { return strings.ReplaceAll(path, " ", "-") }

func writeItems(b *strings.Builder, all []Item) {
	for _, item := range all {
		fmt.Fprintf(b, "%s\n: %s\n\n", item.Tag, escape(item.Text))
	}
}

var exitLine = regexp.MustCompile(`(?m)^EXIT [ \d]+$`)

// usualExits returns the list of the exit codes in a line such as "EXIT 0 1".
func usualExits(line string) string {
	var b strings.Builder
	for _, e := range console.Exits {
		if slices.Contains(strings.Fields(line), fmt.Sprint(e.Code)) {
			fmt.Fprintf(&b, "**%d**\n: %s\n\n", e.Code, escape(e.When))
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// prose converts a plain text to Markdown. Lines that begin with spaces keep their
// layout.
func prose(s string) string {
	paragraphs := strings.Split(s, "\n\n")
	for i, p := range paragraphs {
		if strings.HasPrefix(p, " ") {
			paragraphs[i] = code(p)
		} else {
			paragraphs[i] = escape(p)
		}
	}
	return strings.Join(paragraphs, "\n\n")
}

func code(s string) string { return "    " + strings.ReplaceAll(s, "\n", "\n    ") }

// special matches the characters that have a meaning in Markdown.
var special = regexp.MustCompile("[\\\\`*_{}\\[\\]<>#|]")

func escape(s string) string { return special.ReplaceAllString(s, `\$0`) }

var (
	untypeable = regexp.MustCompile("[-'`^~]|[^\x00-\x7f]")
	roffNames  = map[string]string{"-": `\-`, "'": `\(aq`, "`": `\(ga`, "^": `\(ha`, "~": `\(ti`}
	flag       = regexp.MustCompile(`(^|[\s(])(--?[a-z][a-z-]*)`)
)

// typeable keeps roff from replacing characters with typographic ones, so that text
// copied from a page can be typed. It also prints flags in bold, except in code.
func typeable(page string) string {
	lines, isCode := strings.Split(strings.ReplaceAll(page, `\-`, "-"), "\n"), false
	for i, line := range lines {
		if strings.HasPrefix(line, ".") {
			isCode = line == ".EX" || isCode && line != ".EE"
			continue
		}
		if !isCode {
			line = flag.ReplaceAllString(line, `$1\fB$2\fP`)
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
