package inputs

import (
	"regexp"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner/list"
)

// BadLines prints and logs the lines of the input that name no target. It does so
// only for the first lines, so that a file of another kind does not flood the
// screen.
type BadLines struct {
	terminal *console.Terminal
	n        uint64
	resolves bool // host names in lists are looked up
	hosts    bool // a line begins with a host name
}

// NewBadLines returns a BadLines that has not counted any lines. resolves says that host
// names in lists are looked up.
func NewBadLines(t *console.Terminal, resolves bool) *BadLines {
	return &BadLines{terminal: t, resolves: resolves}
}

// namesHost matches lines that begin with a host name.
var namesHost = regexp.MustCompile(`^([A-Za-z0-9_-]+\.)+[A-Za-z][A-Za-z0-9-]*(:[0-9]+)?([\s,;]|$)`)

// MaxBadLines is the maximum number of bad lines that are reported one by one.
const MaxBadLines = 20

// Add counts a line, and reports it if it is one of the first MaxBadLines.
func (b *BadLines) Add(line list.Invalid) {
	b.n++
	b.hosts = b.hosts || !b.resolves && namesHost.MatchString(line.Text)
	if b.n > MaxBadLines {
		return
	}
	b.terminal.Log.Warn("no target", "file", line.File, "line", line.Line, "error", line.Err, "text", line.Text)
	b.terminal.Say("%s:%d: %v: %s", console.Plain(line.File, 100), line.Line, line.Err, console.Quoted(line.Text, 60))
}

// Close prints how many lines were counted but not reported.
func (b *BadLines) Close() {
	if b.n > MaxBadLines {
		b.terminal.Log.Warn("more lines that are no targets", "lines", b.n-MaxBadLines)
		b.terminal.Say("no target in %s", console.Plural(b.n-MaxBadLines, "more line"))
	}
	if b.hosts {
		b.terminal.Hint("host names in lists are looked up with --resolve")
	}
}
