package console

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// Beside returns a writer to w, which may be the same terminal that messages go to.
// It wipes the status line before results are written, and shows it again below
// them.
func (t *Terminal) Beside(w io.Writer) io.Writer { return &beside{t, w} }

type beside struct {
	t *Terminal
	w io.Writer
}

func (b *beside) Write(p []byte) (int, error) {
	b.t.mu.Lock()
	defer b.t.mu.Unlock()
	again := b.t.status
	b.t.wipe()
	n, err := b.w.Write(p)
	if again && err == nil && n > 0 && p[n-1] == '\n' {
		fmt.Fprint(b.t.err, Plain(b.t.line, b.t.StatusWidth()))
		b.t.status = true
	}
	return n, err
}

// IsTerminal reports whether r is a terminal.
func IsTerminal(r any) bool {
	f, ok := r.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// WidthOf returns the number of columns of the screen w, or 80 if w is not a
// screen.
func WidthOf(w any) int {
	if f, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width >= 2 {
			return width
		}
	}
	return 80
}

// Colors are the values of --color.
var Colors = []string{"auto", "always", "never"}

// UseColor reports whether output to w has colours. With auto, it has colours on a
// terminal, unless the environment has NO_COLOR or TERM=dumb.
func UseColor(when string, w any) bool {
	if when != "auto" && when != "" {
		return when == "always"
	}
	return IsTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}
