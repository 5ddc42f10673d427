package disk

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

func lock(t *testing.T, path string) *Lock {
	t.Helper()
	l, err := TryLock(path)
	check(t, err)
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
	check(t, os.Rename(path, moved))
	second := lock(t, path) // another file of that name
	info, err := os.Stat(moved)
	if err != nil || !first.locks(info) || second.locks(info) {
		t.Errorf("which lock has which file: %v", err)
	}
	if err := errors.Join(first.Release(), second.Release()); err != nil {
		t.Error(err)
	}
}

// TestReplace: after each step at which a crash could happen, the file has either the
// complete old or the complete new content. The mode stays.
func TestReplace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	var seen []string
	Step = func(name string) {
		b, _ := os.ReadFile(path)
		seen = append(seen, name+" "+string(b))
	}
	defer func() { Step = func(string) {} }()
	for _, content := range []string{"old", "new"} {
		check(t, Replace(path, []byte(content), 0o640))
	}
	want := []string{
		"file.written ", "file.synced ", "file.renamed old",
		"file.written old", "file.synced old", "file.renamed new",
	}
	if !slices.Equal(seen, want) {
		t.Errorf("%q, want %q", seen, want)
	}
	if left, _ := filepath.Glob(path + "?*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o640 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// TestCreateTwice: a file is replaced by one process at a time, and a file that
// another process creates meanwhile is not replaced.
func TestCreateTwice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	first, err := Create(path, 0o666)
	check(t, err)
	if err := Replace(path, nil, 0o666); !errors.Is(err, ErrLocked) {
		t.Errorf("two replace one file: %v", err)
	}
	other := lock(t, path)
	if err := first.Commit(); runtime.GOOS != "windows" && !errors.Is(err, ErrLocked) {
		t.Errorf("a file that another process writes is replaced: %v", err)
	}
	if err := other.Remove(); err != nil {
		t.Error(err)
	}
	if err := Replace(path, []byte("x"), 0o666); err != nil { // removes what is left
		t.Error(err)
	}
}

// TestLinks: nothing beside a file is written through a link.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	path, victim := filepath.Join(dir, "file"), filepath.Join(dir, "victim")
	if err := errors.Join(os.Symlink(victim, path+PartSuffix), os.Symlink(victim, path+".lock")); err != nil {
		t.Skipf("SKIPPED: this system makes no links: %v", err)
	}
	if err := Replace(path, nil, 0o666); !errors.Is(err, errNotRegular) {
		t.Errorf("a link was followed or removed: %v", err)
	}
	if f, err := Reopen(path); err == nil {
		t.Errorf("a link was followed: %v", f.Close())
	}
	if _, err := TryLock(path + ".lock"); !errors.Is(err, errNotRegular) {
		t.Errorf("a lock follows a link: %v", err)
	}
	if _, err := os.Lstat(victim); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the target of a link was created: %v", err)
	}
}

// TestResolve: whatever links lead to a file, also to one that is not there, its path is the same.
func TestResolve(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return dir + string(filepath.Separator) + filepath.FromSlash(name) }
	if err := os.MkdirAll(in("real/sub"), 0o777); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{
		"folder": "real/sub", "link": "file", "second": "link", "absolute": in("folder/file"), "up": "folder/../file", "loop": "loop",
	} {
		if err := os.Symlink(filepath.FromSlash(to), in(name)); err != nil {
			t.Skipf("SKIPPED: this system makes no links: %v", err)
		}
	}
	check := func() {
		t.Helper()
		for path, want := range map[string]string{
			"file": "file", "link": "file", "second": "file", "folder/file": "real/sub/file", "absolute": "real/sub/file",
			"up": "real/file", "folder/../file": "real/file", "missing/file": "missing/file", "loop": "loop", "new/": "new/",
		} {
			if got := Resolve(in(path)); got != in(want) {
				t.Errorf("%s: %s, want %s", path, got, in(want))
			}
		}
	}
	check() // the links are dangling
	for _, file := range []string{"file", "real/sub/file", "real/file"} {
		if err := os.WriteFile(in(file), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	check()
	t.Chdir(dir)
	if got := Resolve("second"); got != "file" {
		t.Errorf("a relative path: %s", got)
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

// check ends the test if err is not nil.
func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
