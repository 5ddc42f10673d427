package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2sscan/a2sscan/scanner"
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
			if err == nil || !strings.Contains(err.Error(), "is not like 1.2.3") {
				t.Errorf("%q: %v", test.given, err)
			}
			continue
		}
		if err != nil || r.version != test.version || r.number() != test.number || !r.time.Equal(time.Unix(1795143600, 0)) {
			t.Errorf("%q: %+v, %v", test.given, r, err)
		}
	}
}

func TestTimeIsANumber(t *testing.T) {
	for _, epoch := range []string{"today", "-1", "1e9"} {
		t.Setenv("SOURCE_DATE_EPOCH", epoch)
		if _, err := newRelease("1.2.3"); err == nil || !strings.Contains(err.Error(), "number of seconds") {
			t.Errorf("SOURCE_DATE_EPOCH=%s: %v", epoch, err)
		}
	}
}

// TestOwnVersion checks the version of a commit without a tag. It also checks that
// newRelease returns an error if neither git nor SOURCE_DATE_EPOCH gives a time.
func TestOwnVersion(t *testing.T) {
	r := &release{commit: "0123456789abcdef", time: when}
	t.Setenv("GIT_DIR", t.TempDir()) // not a git repository, so there is no tag
	if got := r.ownVersion(); got != "v0.0.0-20261120030000-0123456789ab" || !semver.MatchString(got) {
		t.Error(got)
	}
	t.Setenv("SOURCE_DATE_EPOCH", "")
	if _, err := newRelease("1.2.3"); err == nil || !strings.Contains(err.Error(), "SOURCE_DATE_EPOCH=seconds") {
		t.Errorf("outside of a clone, without a time: %v", err)
	}
}

func TestChoose(t *testing.T) {
	if got, err := choose(""); err != nil || !slices.Equal(got, systems) {
		t.Errorf("%v, %v", got, err)
	}
	got, err := choose("windows/amd64,linux/arm64")
	if err != nil || !slices.Equal(got, []system{{"windows", "amd64"}, {"linux", "arm64"}}) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := choose("linux/amd64,plan9/386"); err == nil || !strings.Contains(err.Error(), `"plan9/386"`) {
		t.Error(err)
	}
}

func sample() (t tree) {
	t.add("a", 0o755, []byte("program"))
	t.add("b/c", 0o644, []byte("text"))
	return t
}

// TestTarGz: the names, modes, owners and times in an archive do not depend on the
// machine.
func TestTarGz(t *testing.T) {
	data, err := sample().tarGz("top", when)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
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
		got = append(got, fmt.Sprintf("%s %o %d:%d %s %s", h.Name, h.Mode, h.Uid, h.Gid, h.Uname, text))
		if !h.ModTime.Equal(when) {
			t.Errorf("%s is of %v", h.Name, h.ModTime)
		}
	}
	want := []string{"top/a 755 0:0 root program", "top/b/c 644 0:0 root text"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestZip(t *testing.T) {
	data, err := sample().zip("top", when)
	if err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil || len(r.File) != 2 {
		t.Fatalf("%v: %+v", err, r)
	}
	for i, want := range []string{"top/a -rwxr-xr-x", "top/b/c -rw-r--r--"} {
		f := r.File[i]
		if got := f.Name + " " + f.Mode().String(); got != want || !f.Modified.Equal(when) {
			t.Errorf("%s of %v, want %s", got, f.Modified, want)
		}
	}
}

// TestWriteTree checks that write gives the files their modes, that addFolder reads
// them back, and that addFolder adds nothing if the folder does not exist.
func TestWriteTree(t *testing.T) {
	dir := t.TempDir()
	if err := sample().write(dir); err != nil {
		t.Fatal(err)
	}
	var got tree
	if err := got.addFolder("again", dir); err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || string(got.find("again/b/c")) != "text" {
		t.Errorf("%+v", got)
	}
	for _, f := range sample() {
		info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(f.name)))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != f.mode.Perm() {
			t.Errorf("%s has the mode %v, want %v", f.name, info.Mode(), f.mode)
		}
	}
	if err := got.addFolder("none", filepath.Join(dir, "none")); err != nil || len(got) != 2 {
		t.Errorf("a folder that is not there: %v, %d files", err, len(got))
	}
}

// TestNotices checks that the notices include the licences of Go, of modules and of
// the map, and that a module without a licence is an error.
func TestNotices(t *testing.T) {
	t.Chdir("../..")
	text, err := notices(systems[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\nGo\n", "\ngithub.com/spf13/cobra v", "\ngolang.org/x/net v", "\nworld-atlas 2", ": LICENSE\n\n"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q", want)
		}
	}
	p := &imported{Dir: t.TempDir()}
	p.Module = &struct {
		Path, Version, Dir string
		Main               bool
	}{Path: "example.org/x", Dir: p.Dir}
	if err := p.licences(nil); err == nil || !strings.Contains(err.Error(), "no licence") {
		t.Errorf("a module without a licence: %v", err)
	}
}

func TestPackaged(t *testing.T) {
	t.Chdir("../..")
	var in tree
	in.add("man/a2sscan.1", 0o644, []byte(".TH A2SSCAN 1\n"))
	r := &release{version: "v1.2.3", time: when, commit: "0123"}
	out, err := r.packaged(in)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(out.find("man/a2sscan.1.gz")))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(z); err != nil || !bytes.Equal(text, in[0].data) || in[0].name != "man/a2sscan.1" {
		t.Errorf("%q, %v of %s", text, err, in[0].name)
	}
	config := string(out.find("nfpm.yaml"))
	if !strings.Contains(config, "\nmaintainer: "+maintainer+"\n") {
		t.Errorf("the maintainer of nfpm.yaml is not %s", maintainer)
	}
	for _, m := range regexp.MustCompile(`\bscripts/\w+`).FindAllString(config, -1) {
		if out.find(m) == nil {
			t.Errorf("there is no %s", m)
		}
	}
}

// TestSysctl: the sysctl file allows the socket buffers that a scan without a rate
// limit requests.
func TestSysctl(t *testing.T) {
	text, err := os.ReadFile("../sysctl/a2sscan.conf")
	if err != nil {
		t.Fatal(err)
	}
	recv, send, _ := scanner.Config{Rate: scanner.Off}.Buffers()
	for _, want := range []string{
		fmt.Sprintf("\nnet.core.rmem_max = %d\n", recv),
		fmt.Sprintf("\nnet.core.wmem_max = %d\n", send),
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q", want)
		}
	}
}
