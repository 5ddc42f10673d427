//go:build unix

package list

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

// TestPipe reads a named pipe. Opening a pipe waits for its writer and closing it
// ends that writer, so Open must do neither.
func TestPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	l := mustOpen(t, Config{Order: OrderInput, Args: []string{path}})
	go os.WriteFile(path, []byte("1.0.0.1:1\n"), 0)
	if got := texts(l.All()); !slices.Equal(got, []string{"1.0.0.1:1"}) {
		t.Errorf("%q", got)
	}
	if _, known := l.Progress(); known {
		t.Error("the length of a pipe is known")
	}
}

// TestExclusionsFromPipe checks that rules from a pipe stay: reading the pipe again
// would block or find nothing.
func TestExclusionsFromPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	go os.WriteFile(path, []byte("1.0.0.0/24\n"), 0)
	x := mustExclude(t, ExclusionConfig{Files: []string{path}})
	for range 2 {
		if err := x.Reload(); err != nil {
			t.Fatal(err)
		}
		if !x.Excluded(addr("1.0.0.1")) {
			t.Error("the rules of the pipe are lost")
		}
	}
	if got := x.Rules(); len(got) != 1 || got[0].Stopped != 2 || got[0].Gone {
		t.Errorf("%+v", got)
	}
}

// TestWaitingForWriter checks that waiting for the writer of a named pipe is
// reported with the pipe's name, and that the list is read when the writer comes.
func TestWaitingForWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pi\x1bpe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	var waited []string
	l := mustOpen(t, Config{Args: []string{path}, Waiting: func(name string) {
		waited = append(waited, name)
		go os.WriteFile(path, []byte("1.0.0.1:1\n"), 0)
	}})
	if got := texts(l.All()); !slices.Equal(got, []string{"1.0.0.1:1"}) {
		t.Errorf("%q", got)
	}
	if len(waited) != 1 || filepath.Base(waited[0]) != `pi\x1bpe` {
		t.Errorf("waited for %q", waited)
	}
}

// TestPipeWithoutWriter cancels the wait for a writer that never comes.
func TestPipeWithoutWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	l := mustOpen(t, Config{Args: []string{path}})
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if err := l.Load(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
