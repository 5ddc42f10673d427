package censusfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/sink"
)

// ReadableRecords returns how many records can be read back from the files of an output that
// failed. If header is set, the first line of each file does not count. A pipe has no
// readable records. The records of a part that was moved away count as readable.
func ReadableRecords(parts []sink.Part, header bool) (n uint64) {
	for _, p := range parts {
		info, err := os.Stat(p.Name)
		if errors.Is(err, fs.ErrNotExist) {
			n += p.Records
		}
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		r, err := sink.Open(p.Name)
		if err != nil {
			continue
		}
		if header {
			r.KeepLines()
			_, _ = r.Next() // Next repeats an error, so that the loop ends at once
		}
		for _, err = r.Next(); err == nil; _, err = r.Next() {
			n++
		}
		r.Close()
	}
	return n
}

// FilesText names a census in a message. Of several parts, it names the first and the last.
func FilesText(name string, divided bool, parts []sink.Part) string {
	switch {
	case !divided:
		return console.Plain(name, 200)
	case len(parts) == 0:
		return "no file"
	case len(parts) == 1:
		return console.Plain(parts[0].Name, 200)
	}
	return fmt.Sprintf("%d parts, %s to %s", len(parts), console.Plain(parts[0].Name, 150),
		console.Plain(parts[len(parts)-1].Name, 150))
}

// IsFile reports whether path exists and is a regular file, not a device or a pipe.
func IsFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// WriteFailure adds an exit code to an error of writing. It keeps the hint of a
// sink.Error. But for fs.ErrExist it sets a hint that names flags of a2sscan.
func WriteFailure(err error) error {
	if err == nil {
		return nil
	}
	var s *sink.Error
	if known := (*console.Failure)(nil); errors.As(err, &known) {
		return known
	}
	if !errors.As(err, &s) {
		return console.Fail(console.ExitOutput, "%w", err)
	}
	f := console.Fail(console.ExitOutput, "%s", ErrorText(s)).WithHint("%s", s.Hint)
	f.ReaderGone = errors.Is(err, syscall.EPIPE)
	if errors.Is(err, sink.ErrChanged) {
		f.Code = console.ExitCheckpoint
	}
	if errors.Is(err, fs.ErrExist) {
		f.WithHint("name another file with -o, or use --append to add to this file, or --force to replace it")
	}
	return f
}

// ErrorText formats a sink.Error without its hint.
func ErrorText(e *sink.Error) string {
	return fmt.Sprintf("can't %s %s: %v", e.Op, console.Plain(e.Path, 200), e.Err)
}
