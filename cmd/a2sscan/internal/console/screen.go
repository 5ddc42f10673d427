package console

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// Beside returns a writer that writes results to w. If the messages go to the same
// terminal, it wipes the status line before results are written and shows it again
// below them.
func (t *Terminal) Beside(w io.Writer) io.Writer {
	if !t.Interactive || !sameFile(t.err, w) {
		return w // so that messages never wait for a write to w
	}
	return &beside{t, w}
}

// sameFile reports whether a and b may be the same file. It returns false only if
// both are an *os.File and they differ.
func sameFile(a, b any) bool {
	x, isFile := a.(*os.File)
	y, isFileToo := b.(*os.File)
	if !isFile || !isFileToo {
		return true
	}
	first, err1 := x.Stat()
	second, err2 := y.Stat()
	return err1 != nil || err2 != nil || os.SameFile(first, second)
}

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

// WidthOf returns the number of columns of the terminal w, or 80 if w is not a
// terminal.
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

// UseColor reports whether output to w has colours. With auto, it has colours if w
// is a terminal, unless the environment has NO_COLOR or TERM=dumb.
func UseColor(when string, w any) bool {
	if when != "auto" && when != "" {
		return when == "always"
	}
	return IsTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}
