package sink

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestTakenAway checks that Close fails if the census no longer has its name, or if
// another program has changed it. The error names the file that holds the records.
func TestTakenAway(t *testing.T) {
	tests := []struct {
		name string
		do   func(path string) error
		want string // DIR stands for the census's directory
	}{
		{"removed", os.Remove,
			"no such file or directory; the census was removed while it was being written, and its records are lost"},
		{"renamed", func(path string) error { return os.Rename(path, path+".old") },
			"its records are in DIR/census.old"},
		{"folder renamed", func(path string) error { return os.Rename(filepath.Dir(path), filepath.Dir(path)+".old") },
			"its records are in DIR.old/census"},
		{"replaced", func(path string) error {
			return errors.Join(os.Rename(path, path+".old"), os.WriteFile(path, []byte("x"), 0o666))
		}, "another file has its name now; the census was renamed while it was being written: its records are in DIR/census.old"},
		{"emptied", func(path string) error { return os.Truncate(path, 0) },
			"another program truncated it to 0 of the "},
		{"cut", func(path string) error { return os.Truncate(path, 10) },
			"another program truncated it to 10 of the "},
		{"written to", func(path string) error {
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = f.WriteString("x\n")
			return errors.Join(err, f.Close())
		}, "another program wrote to it: it has "},
	}
	for _, tt := range tests {
		for _, more := range []int{0, 1} { // records after it
			t.Run(tt.name, func(t *testing.T) {
				if runtime.GOOS == "windows" {
					t.Skip("SKIPPED: Windows protects a file that is open")
				}
				dir := filepath.Join(t.TempDir(), "dir")
				check(t, os.Mkdir(dir, 0o777))
				path := filepath.Join(dir, "census")
				w := create(t, path, Options{FlushEvery: -1})
				write(t, w, 0, 1)
				check(t, syncNow(w))
				check(t, tt.do(path))
				write(t, w, 1, 1+more)
				err := w.Close()
				want := strings.ReplaceAll(tt.want, "DIR", dir)
				if err == nil || !strings.HasPrefix(err.Error(), "write "+path+": ") || !strings.Contains(err.Error(), want) {
					t.Errorf("%d more: %v, want %s", more, err, want)
				}
				if w.File().Sum != "" {
					t.Error("a census that is not there has a hash")
				}
			})
		}
	}
}
