package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

var when = time.Date(2026, 11, 20, 3, 0, 0, 0, time.UTC)

func TestVersion(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1795143600")
	for _, test := range []struct{ given, version, number string }{
		{"1.2.3", "v1.2.3", "1.2.3"},
		{"v1.2.3", "v1.2.3", "1.2.3"},
		{"1.2.3-rc.1", "v1.2.3-rc.1", "1.2.3-rc.1"},
		{"1.2", "", ""},
		{"1.2.3 -X main.x=y", "", ""},
		{"../1.2.3", "", ""},
		{"1.2.3\n", "", ""},
	} {
		r, err := newRelease(test.given)
		if test.version == "" {
			if err == nil || !strings.Contains(err.Error(), "must have a form such as 1.2.3") {
				t.Errorf("%q: %v", test.given, err)
			}
			continue
		}
		if err != nil || r.version != test.version || r.number() != test.number || !r.time.Equal(time.Unix(1795143600, 0)) {
			t.Errorf("%q: %+v, %v", test.given, r, err)
		}
	}
}

// TestOwnVersion checks the version of a commit without a tag. It also checks that
// newRelease returns an error if neither git nor SOURCE_DATE_EPOCH gives a time, or if
// that is no number.
func TestOwnVersion(t *testing.T) {
	t.Setenv("GIT_DIR", t.TempDir()) // not a git repository, so there is no tag
	t.Setenv("SOURCE_DATE_EPOCH", fmt.Sprint(when.Unix()))
	if r, err := newRelease(""); err != nil || r.version != "v0.0.0-20261120030000-unknown" {
		t.Errorf("%+v, %v", r, err)
	}
	t.Setenv("SOURCE_DATE_EPOCH", "")
	if _, err := newRelease("1.2.3"); err == nil || !strings.Contains(err.Error(), "set SOURCE_DATE_EPOCH") {
		t.Errorf("outside of a clone, without a time: %v", err)
	}
	for _, epoch := range []string{"today", "-1", "1e9"} {
		t.Setenv("SOURCE_DATE_EPOCH", epoch)
		if _, err := newRelease("1.2.3"); err == nil || !strings.Contains(err.Error(), "must be the number of seconds since 1970") {
			t.Errorf("SOURCE_DATE_EPOCH=%s: %v", epoch, err)
		}
	}
}

func sample(r *release) fstest.MapFS {
	t := fstest.MapFS{}
	r.add(t, "a", 0o755, []byte("program"))
	r.add(t, "b/c", 0o644, []byte("text"))
	return t
}

// TestArchives: the names, modes, owners and times in an archive do not depend on the
// machine.
func TestArchives(t *testing.T) {
	out, r := t.TempDir(), &release{version: "v1.2.3", time: when}
	for _, s := range []system{{"linux", "amd64"}, {"windows", "amd64"}} {
		if err := r.writeArchive(s, sample(r), out); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open(filepath.Join(out, "a2sscan-1.2.3-linux-amd64.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil || !z.ModTime.IsZero() || z.Name != "" {
		t.Fatalf("%v: %+v", err, z)
	}
	var got []string
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(r)
		got = append(got, fmt.Sprintf("%s %o %d:%d%s %s", h.Name, h.Mode, h.Uid, h.Gid, h.Uname, text))
		if !h.ModTime.Equal(when) {
			t.Errorf("%s is of %v", h.Name, h.ModTime)
		}
	}
	top := "a2sscan-1.2.3-linux-amd64/"
	if want := []string{top + " 755 0:0 ", top + "a 755 0:0 program", top + "b/ 755 0:0 ", top + "b/c 644 0:0 text"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	files, err := zip.OpenReader(filepath.Join(out, "a2sscan-1.2.3-windows-amd64.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer files.Close()
	got = nil
	for _, f := range files.File {
		if got = append(got, f.Name+" "+f.Mode().String()); !f.Modified.Equal(when) {
			t.Errorf("%s of %v", f.Name, f.Modified)
		}
	}
	top = "a2sscan-1.2.3-windows-amd64/"
	if want := []string{top + " drwxr-xr-x", top + "a -rwxr-xr-x", top + "b/ drwxr-xr-x", top + "b/c -rw-r--r--"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestNotices checks that the notices include the licences of Go, of modules and of
// the charts.
func TestNotices(t *testing.T) {
	t.Chdir("../..")
	text, err := notices(systems[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\nGo\n", "\ngithub.com/spf13/cobra v", "\ngolang.org/x/net v", "\nuPlot 1", ": LICENSE\n\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q", want)
		}
	}
	dir := t.TempDir()
	if n := licences(map[string]string{}, dir, dir, "example.org/x v1.0.0"); n != 0 {
		t.Errorf("a module without a licence has %d", n)
	}
}
