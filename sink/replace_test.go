package sink

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/a2sscan/a2sscan/sink/disk"
)

const yesterday = "yesterday's census\n"

// wantText fails the test unless the content of the file is want.
func wantText(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("%s: %.100q, %v; want %.100q", path, got, err, want)
	}
}

func wantMissing(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is there: %v", path, err)
	}
}

func mustCommit(t *testing.T, w *Output) {
	t.Helper()
	check(t, w.Commit())
}

// TestReplace checks that the name refers to the old census until Commit, and to the
// new one after that.
func TestReplace(t *testing.T) {
	for _, name := range names {
		path := filepath.Join(t.TempDir(), name)
		put(t, path, yesterday)
		check(t, os.Chmod(path, 0o640))
		w := create(t, path, Options{Replace: true})
		write(t, w, 0, 2)
		check(t, syncNow(w))
		wantText(t, path, yesterday)
		closed(t, w)
		wantText(t, path, yesterday)
		if w.File().Name != path+disk.PartSuffix {
			t.Errorf("the records are in %s", w.File().Name)
		}
		mustCommit(t, w)
		wantLines(t, path, lines(0, 2))
		wantMissing(t, path+disk.PartSuffix)
		info, err := os.Stat(path)
		if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
		if w.File().Name != path {
			t.Errorf("the records are in %s", w.File().Name)
		}
		mustCommit(t, w) // does nothing
	}
}

// TestReplaceKept checks that an incomplete census stays beside the old one, and
// that the next scan overwrites it.
func TestReplaceKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), names[0])
	put(t, path, yesterday)
	for n := 1; n < 3; n++ {
		w := create(t, path, Options{Replace: true})
		write(t, w, 0, n)
		closed(t, w)
		check(t, w.Keep())
		wantText(t, path, yesterday)
		wantLines(t, path+disk.PartSuffix, lines(0, n))
	}
}

// TestDiscard checks that Discard leaves no new file, and keeps an existing one.
func TestDiscard(t *testing.T) {
	path := filepath.Join(t.TempDir(), names[0])
	discard := func(o Options) {
		t.Helper()
		check(t, create(t, path, o).Discard())
	}
	discard(Options{})
	wantMissing(t, path)
	put(t, path, yesterday)
	discard(Options{Replace: true})
	wantMissing(t, path+disk.PartSuffix)
	wantText(t, path, yesterday)
	put(t, path, tinyLines(1))
	discard(Options{Append: true})
	wantText(t, path, tinyLines(1))
}

// TestReplaceLink checks that the file to which a symbolic link points is replaced,
// and that the link stays.
func TestReplaceLink(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, names[0]), filepath.Join(t.TempDir(), "link")
	put(t, path, yesterday)
	if err := os.Symlink(path, link); err != nil {
		t.Skipf("SKIPPED: no symbolic links here: %v", err)
	}
	w := create(t, link, Options{Replace: true})
	write(t, w, 0, 2)
	closed(t, w)
	wantText(t, path, yesterday)
	mustCommit(t, w)
	wantLines(t, path, lines(0, 2))
	if got, err := os.Readlink(link); got != path {
		t.Errorf("the link is %s: %v", got, err)
	}
}

// TestReplaceLocked checks that no other scan can write to the new census, even
// between Close and Commit.
func TestReplaceLocked(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: a census is not locked on Windows")
	}
	path := filepath.Join(t.TempDir(), names[0])
	put(t, path, yesterday)
	w := create(t, path, Options{Replace: true})
	write(t, w, 0, 2)
	for range 2 {
		if _, err := Create(path, Options{Replace: true}); err == nil || !strings.Contains(err.Error(), "another process") {
			t.Errorf("two scans write to one census: %v", err)
		}
		closed(t, w)
	}
	mustCommit(t, w)
	wantLines(t, path, lines(0, 2))
}

// TestReplaceFails checks that a census that could not be written does not replace
// the old one.
func TestReplaceFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), names[0])
	put(t, path, yesterday)
	w := create(t, path, Options{Replace: true, FlushEvery: -1})
	write(t, w, 0, 1)
	check(t, syncNow(w))
	check(t, os.Truncate(w.File().Name, 1))
	if err := w.Commit(); err == nil {
		t.Error("a census that was cut is complete")
	}
	wantText(t, path, yesterday)
}

// TestReplaceResume checks that a scan that was killed continues the file beside
// the old census, and that a scan that was killed after its Commit continues the
// committed file.
func TestReplaceResume(t *testing.T) {
	for _, committed := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), names[0])
		put(t, path, yesterday)
		w := create(t, path, Options{Replace: true})
		write(t, w, 0, 2)
		m, err := w.Mark()
		check(t, err)
		write(t, w, 2, 4) // is lost
		closed(t, w)
		if committed {
			mustCommit(t, w)
		} else if err := w.Keep(); err != nil {
			t.Fatal(err)
		}
		at, err := m.Sync()
		check(t, err)
		w = create(t, path, Options{Replace: true, Resume: &at})
		write(t, w, 2, 3)
		closed(t, w)
		if !committed {
			wantText(t, path, yesterday)
		}
		mustCommit(t, w)
		wantLines(t, path, lines(0, 3))
		wantMissing(t, path+disk.PartSuffix)
	}
}

// TestReplaceOther checks that Replace writes to an output directly if it is not a
// regular file, and that Check returns an error if the file to write beside it is a
// directory.
func TestReplaceOther(t *testing.T) {
	w := create(t, os.DevNull, Options{Replace: true})
	write(t, w, 0, 1)
	mustCommit(t, w)
	if w.File().Name != os.DevNull {
		t.Errorf("the records are in %s", w.File().Name)
	}
	path := filepath.Join(t.TempDir(), names[0])
	check(t, os.Mkdir(path+disk.PartSuffix, 0o777))
	if err := New(path, Options{Replace: true}).Check(); err == nil {
		t.Errorf("%s is a directory", path+disk.PartSuffix)
	}
}
