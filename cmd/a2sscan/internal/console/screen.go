package console

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// Beside returns a writer to w, a terminal that the messages may go to as well. The
// status line is wiped before results are written, and shown again below them.
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

// WidthOf returns the columns of the screen w, 80 if it is none.
func WidthOf(w any) int {
	if f, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width >= 2 {
			return width
		}
	}
	return 80
}

// Colors are the words of --color.
var Colors = []string{"auto", "always", "never"}

// UseColor reports whether what is written to w has colours. With auto that is so on
// a terminal, unless the environment says NO_COLOR.
func UseColor(when string, w any) bool {
	if when != "auto" && when != "" {
		return when == "always"
	}
	return IsTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}
