package manual

import (
	"fmt"
	"regexp"
	"strings"
)

// roff builds a man page from macros of man(7) that both groff and mandoc support.
type roff struct{ strings.Builder }

// title writes the head of the page.
func (p *roff) title(name, section, date, manual string) {
	// Hyphenation would break flags and file names, so it is off; so is
	// justification.
	fmt.Fprintf(p, ".TH \"%s\" %s %s \"a2sscan\" \"%s\"\n.nh\n.ad l\n",
		roffText(strings.ToUpper(name)), section, date, roffText(manual))
}

func (p *roff) section(name string) { p.WriteString(".SH " + roffText(name) + "\n") }

func (p *roff) subsection(name string) { p.WriteString(".SS " + roffText(name) + "\n") }

func (p *roff) paragraph() { p.WriteString(".PP\n") }

// text writes paragraphs, which are separated by blank lines. It writes a paragraph
// that is indented as an example.
func (p *roff) text(s string) {
	for i, part := range strings.Split(strings.Trim(s, "\n"), "\n\n") {
		if i > 0 {
			p.paragraph()
		}
		if strings.HasPrefix(part, "  ") {
			p.example(part)
		} else {
			p.line(part)
		}
	}
}

// example writes lines without filling them. It removes an indentation of two
// spaces.
func (p *roff) example(s string) {
	p.WriteString(".RS 4\n.nf\n")
	for line := range strings.SplitSeq(s, "\n") {
		p.WriteString(startsLine(roffText(strings.TrimPrefix(line, "  "))) + "\n")
	}
	p.WriteString(".fi\n.RE\n")
}

// item writes an item of a list. The tag must already be roff.
func (p *roff) item(tag, text string) {
	p.WriteString(".TP\n" + startsLine(tag) + "\n")
	p.line(text)
}

// roffFlag matches the flags in a string.
var roffFlag = regexp.MustCompile(`(^|[\s(])--?[a-z][a-z-]*`)

// line writes prose, with flags in bold.
func (p *roff) line(s string) {
	for line := range strings.SplitSeq(s, "\n") {
		bold := roffFlag.ReplaceAllStringFunc(line, func(flag string) string {
			at := strings.IndexByte(flag, '-')
			return flag[:at] + "\x01" + flag[at:] + "\x02"
		})
		bold = strings.NewReplacer("\x01", `\fB`, "\x02", `\fR`).Replace(roffText(bold))
		p.WriteString(startsLine(bold) + "\n")
	}
}

// Strong and Placeholder format parts of a tag: Strong is for text that the user
// types, Placeholder for text that the user replaces.
func Strong(s string) string      { return `\fB` + roffText(s) + `\fR` }
func Placeholder(s string) string { return `\fI` + roffText(s) + `\fR` }

// startsLine keeps roff from reading the start of a line as a request.
func startsLine(s string) string {
	if strings.HasPrefix(s, ".") { // the other control character, ', is always escaped
		return `\&` + s
	}
	return s
}

// roffText escapes the characters that have a meaning in roff, or that roff would
// replace with typographic characters. So text that is copied from a page can be
// typed.
func roffText(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case roffNames[r] != "":
			b.WriteString(roffNames[r])
		case r > '~':
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

var roffNames = map[rune]string{
	'\\': `\(rs`, '-': `\-`, '\'': `\(aq`, '`': `\(ga`, '^': `\(ha`, '~': `\(ti`,
}
