//go:build unix

package target

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

// TestPipe reads a named pipe. To open it waits for a writer, and to close it
// ends him, so that Open must do neither.
func TestPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	l := mustOpen(t, Config{Args: []string{path}})
	go os.WriteFile(path, []byte("1.0.0.1:1\n"), 0)
	if got := texts(l.All()); !slices.Equal(got, []string{"1.0.0.1:1"}) {
		t.Errorf("%q", got)
	}
	if _, known := l.Progress(); known {
		t.Error("the length of a pipe is known")
	}
}
