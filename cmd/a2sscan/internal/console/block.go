package console

import (
	"fmt"
	"strings"
)

// Block is a report of several aligned lines. Only the first line begins with the
// program's name.
type Block struct {
	t    *Terminal
	rows [][2]string // label and text
}

// NewBlock returns an empty block.
func (t *Terminal) NewBlock() *Block { return &Block{t: t} }

// Say adds a line. The text before the first colon is its label.
func (b *Block) Say(format string, args ...any) {
	label, text, _ := strings.Cut(fmt.Sprintf(format, args...), ": ")
	b.rows = append(b.rows, [2]string{label, text})
}

// Hint adds a line that suggests a remedy.
func (b *Block) Hint(format string, args ...any) { b.Say("hint: "+format, args...) }

// TextWidth returns how many columns a line has for its text if the labels are
// short.
func (b *Block) TextWidth() int { return b.t.Width() - len(speaker) - leastLabel - 2 }

// These are the minimum and maximum width of the label column: enough for the usual
// labels, but not so wide that the text lacks room.
const (
	leastLabel = 7
	mostLabel  = 14
)

// Print prints the block. On a terminal it wraps the lines.
func (b *Block) Print() {
	width := leastLabel
	for _, row := range b.rows {
		width = min(max(width, len(row[0])), mostLabel)
	}
	b.t.mu.Lock()
	defer b.t.mu.Unlock()
	b.t.wipe()
	b.t.shown = ""
	head := speaker
	for _, row := range b.rows {
		line := Plain(fmt.Sprintf("%s%-*s  %s", head, width, row[0], row[1]), MaxLine)
		lines := []string{line}
		if b.t.Interactive {
			lines = Wrap(line, b.t.Width(), len(speaker)+width+2)
		}
		fmt.Fprintln(b.t.err, strings.Join(lines, "\n"))
		head = strings.Repeat(" ", len(speaker))
	}
}
