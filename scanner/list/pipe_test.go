//go:build unix

package list

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// TestExclusionsFromPipe checks that Reload keeps the rules from a named pipe:
// reading the pipe again would block or find nothing.
func TestExclusionsFromPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	check(t, syscall.Mkfifo(path, 0o600))
	go os.WriteFile(path, []byte("1.0.0.0/24\n"), 0)
	x := mustExclude(t, exclusionConfig{Files: []string{path}})
	for range 2 {
		if _, err := x.Reload(false); err != nil {
			t.Fatal(err)
		}
		if !x.Excluded(addr("1.0.0.1")) {
			t.Error("the rules of the pipe are lost")
		}
	}
	if got := fileCounts(x); !slices.Equal(got, []string{"pipe 0 2"}) {
		t.Errorf("%q", got)
	}
}

// TestWaitingForWriter checks that Config.Note is called with the printable name
// of a named pipe that has no writer, and that the list is read when a writer opens
// the pipe.
func TestWaitingForWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pi\x1bpe")
	check(t, syscall.Mkfifo(path, 0o600))
	var waited []string
	l := mustOpen(t, Config{Args: []string{path}, Note: func(note string) {
		waited = append(waited, note)
		go os.WriteFile(path, []byte("1.0.0.1:1\n"), 0)
	}})
	if got := texts(l.From(0)); !slices.Equal(got, []string{"1.0.0.1:1"}) {
		t.Errorf("%q", got)
	}
	if len(waited) != 1 || !strings.HasSuffix(waited[0], `/pi\x1bpe`) {
		t.Errorf("waited for %q", waited)
	}
}

// TestNamesInPipe checks that a list yields a name, and the targets after it, before it
// waits for more lines.
func TestNamesInPipe(t *testing.T) {
	for _, text := range []string{"a.test:5\n1.0.0.1:5\n", `{"host":"a.test","port":5}` + "\n" + `{"ip":"1.0.0.1","port":5}` + "\n"} {
		synctest.Test(t, func(t *testing.T) {
			r, w := io.Pipe()
			l := mustOpen(t, Config{Stdin: r, InOrder: true, Resolve: func(context.Context, string) ([]netip.Addr, error) {
				return []netip.Addr{addr("1.0.0.9")}, nil
			}})
			go io.WriteString(w, text)
			next, stop := iter.Pull(l.From(0))
			for _, want := range []string{"1.0.0.9:5", "1.0.0.1:5"} {
				if got, _ := next(); got.Addr.String() != want {
					t.Errorf("%v, want %s", got.Addr, want)
				}
			}
			w.Close()
			stop()
		})
	}
}

// TestPipeWithoutWriter cancels Load while it waits for a writer to open a named
// pipe.
func TestPipeWithoutWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	check(t, syscall.Mkfifo(path, 0o600))
	l := mustOpen(t, Config{Args: []string{path}})
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if err := l.Load(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
