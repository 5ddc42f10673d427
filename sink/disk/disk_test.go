package disk

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func lock(t *testing.T, path string) *Lock {
	t.Helper()
	l, err := TryLock(path)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestTryLock checks that only one caller at a time can lock a file, and that
// Remove removes the file.
func TestTryLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first := lock(t, path)
	if _, err := TryLock(path); !errors.Is(err, ErrLocked) {
		t.Errorf("a second lock: %v", err)
	}
	if err := first.Release(); err != nil {
		t.Error(err)
	}
	second := lock(t, path)
	if err := second.Remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the lock's file: %v", err)
	}
}

// TestLocks checks that a lock stays with its file when the file is renamed.
func TestLocks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: Windows does not rename a locked file")
	}
	dir := t.TempDir()
	path, moved := filepath.Join(dir, "lock"), filepath.Join(dir, "moved")
	first := lock(t, path)
	if err := os.Rename(path, moved); err != nil {
		t.Fatal(err)
	}
	second := lock(t, path) // another file of that name
	info, err := os.Stat(moved)
	if err != nil || !first.Locks(info) || second.Locks(info) || first.current() || !second.current() {
		t.Errorf("which lock has which file: %v", err)
	}
	if err := errors.Join(first.Release(), second.Release()); err != nil {
		t.Error(err)
	}
}

func TestSyncDir(t *testing.T) {
	dir := t.TempDir()
	if err := SyncDir(dir); err != nil {
		t.Error(err)
	}
	if err := SyncDir(filepath.Join(dir, "missing")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
