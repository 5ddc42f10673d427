package export

import (
	"bytes"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink"
)

// written writes a census of simulated servers and returns the path of the file.
func written(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "census.ndjson.zst")
	w, err := sink.Create(path, sink.Options{FlushEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	cfg := fleet.Config{Network: netip.MustParsePrefix("127.0.0.0/23"), Ports: []uint16{27015}, Seed: 7}
	for at := range cfg.All() {
		if r := cfg.Truth(at, scanner.AskAll); r != nil {
			if err := w.Write("night", r); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// export exports a census to a new directory and returns the path of the output.
func export(t testing.TB, o Options) string {
	t.Helper()
	o.Output = filepath.Join(t.TempDir(), o.Output)
	if err := Export(console.New(io.Discard), o); err != nil {
		t.Fatal(err)
	}
	return o.Output
}

// TestSorted: rows are sorted by address, and no row is lost.
func TestSorted(t *testing.T) {
	census := written(t)
	table := export(t, Options{Files: []string{census}, Output: "census.parquet"})
	rows, err := parquet.ReadFile[struct {
		Addr string `parquet:"addr"`
		Info *struct {
			Name *string `parquet:"name"`
		} `parquet:"info"`
	}](table)
	if err != nil {
		t.Fatal(err)
	}
	last, names := netip.AddrPort{}, 0
	for _, r := range rows {
		if at := netip.MustParseAddrPort(r.Addr); at.Compare(last) <= 0 {
			t.Fatalf("%s is out of order", r.Addr)
		} else {
			last = at
		}
		if r.Info != nil && r.Info.Name != nil {
			names++
		}
	}
	if want := countLines(t, census); len(rows) != want || names < want/2 {
		t.Errorf("%d rows, %d names, want %d", len(rows), names, want)
	}
}

// countLines counts the records of a census.
func countLines(t testing.TB, path string) (n int) {
	t.Helper()
	r, err := sink.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		if _, err := r.Next(); err != nil {
			return n
		}
		n++
	}
}

// TestRefused: Export does not change an existing file, and leaves no partial file
// behind when it fails.
func TestRefused(t *testing.T) {
	census := written(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "census.parquet")
	if err := os.WriteFile(path, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	term := console.New(io.Discard)
	if err := Export(term, Options{Files: []string{census}, Output: path}); console.ExitCode(err) != console.ExitOutput {
		t.Errorf("an existing file: %v", err)
	}
	if err := Export(term, Options{Files: []string{filepath.Join(dir, "missing")}, Output: path, Force: true}); console.ExitCode(err) != console.ExitInput {
		t.Errorf("a missing census: %v", err)
	}
	if b, err := os.ReadFile(path); string(b) != "old" || err != nil {
		t.Errorf("%.20q, %v", b, err)
	}
	if all, _ := os.ReadDir(dir); len(all) != 1 {
		t.Errorf("left behind: %v", all)
	}
}

// TestCreator checks that a Parquet file names the program that wrote it.
func TestCreator(t *testing.T) {
	b, err := os.ReadFile(export(t, Options{Files: []string{written(t)}, Output: "census.parquet", Version: "1.2.3", Build: "abc"}))
	if err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := f.Metadata().CreatedBy, "a2sscan version 1.2.3(build abc)"; got != want {
		t.Errorf("created by %q, want %q", got, want)
	}
}
