package playerkey

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

func TestKeyIsKept(t *testing.T) {
	dir := t.TempDir()
	output := filepath.Join(dir, "census.ndjson")
	first, err := Open("", output)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, DefaultName)
	if _, err := os.Stat(path); err == nil {
		t.Error("Open creates the file, although nothing was scanned yet")
	}
	if err := first.Store(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the key file: %v, %v", info.Mode(), err)
	}
	second, err := Open(path, "-")
	if err != nil || second.ID() != first.ID() || *second.Key() != *first.Key() {
		t.Errorf("read again: %v, %v, want %v", second.ID(), err, first.ID())
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("%d files, want one", len(files))
	}
	if strings.Contains(string(first.key[:]), first.ID()) || len(first.ID()) != 16 {
		t.Errorf("ID %q", first.ID())
	}
}

func TestTwoScansMakeOneKey(t *testing.T) {
	output := filepath.Join(t.TempDir(), "census.ndjson")
	a, _ := Open("", output)
	b, _ := Open("", output)
	if err := a.Store(); err != nil {
		t.Fatal(err)
	}
	if err := b.Store(); err == nil || !strings.Contains(err.Error(), "another scan has just made") {
		t.Errorf("the second: %v", err)
	}
	if c, err := Open("", output); err != nil || c.ID() != a.ID() {
		t.Errorf("the file has %v, %v, want that of the first", c.ID(), err)
	}
}

func TestKeyFilesRefused(t *testing.T) {
	dir := t.TempDir()
	good := prefix + strings.Repeat("ab", 32) + "\n"
	tests := []struct {
		name, text string
		mode       os.FileMode
		want       string
		code       int
	}{
		{"shared", good, 0o644, "other users may read the player key", console.ExitUsage},
		{"group", good, 0o640, "other users may read the player key", console.ExitUsage},
		{"empty", "", 0o600, "is no player key", console.ExitInput},
		{"cut", good[:60], 0o600, "is no player key", console.ExitInput},
		{"other", "-----BEGIN PRIVATE KEY-----\n", 0o600, "is no player key", console.ExitInput},
	}
	for _, test := range tests {
		path := filepath.Join(dir, test.name)
		if err := os.WriteFile(path, []byte(test.text), test.mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, test.mode); err != nil {
			t.Fatal(err)
		}
		_, err := Open(path, "-")
		var f *console.Failure
		if !errors.As(err, &f) || f.Code != test.code || !strings.Contains(f.Error(), test.want) || f.Hint == "" {
			t.Errorf("%s: %v, want %q and a hint", test.name, err, test.want)
		}
	}
	if _, err := Open("", os.DevNull); err == nil {
		t.Error("a key beside a device: no error")
	}
	if _, err := Open("", filepath.Join(dir, "none", "x")); err != nil {
		t.Errorf("a missing folder is for the output to report: %v", err)
	}
}
