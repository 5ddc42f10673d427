package checkpoint

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// TestEarlierVersions: a checkpoint that an earlier version wrote is refused with what to
// do, and stays as it is.
func TestEarlierVersions(t *testing.T) {
	for _, name := range []string{"version1.checkpoint", "version2.checkpoint"} {
		t.Run(name, func(t *testing.T) { testEarlier(t, name) })
	}
}

func testEarlier(t *testing.T, name string) {
	old, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Decode(old); !errors.Is(err, errOlder) {
		t.Error(err)
	}
	if _, err := Decode(old[:len(old)-1]); !errors.Is(err, errDamaged) {
		t.Errorf("damaged: %v", err)
	}
	path := filepath.Join(t.TempDir(), "cp")
	if err := os.WriteFile(path, old, 0o666); err != nil {
		t.Fatal(err)
	}
	_, err = Open(console.New(io.Discard), Options{Path: path, Program: "a2sscan", Args: []string{"scan", "list"}})
	var f *console.Failure
	if !errors.As(err, &f) || f.Code != console.ExitCheckpoint || !strings.Contains(err.Error(), "complete the scan with that version") ||
		f.Hint != "to discard the results and start over: a2sscan scan list --fresh --force" {
		t.Errorf("%v, %+v", err, f)
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, old) {
		t.Errorf("the checkpoint was changed: %v", err)
	}
}
