package output

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink"
)

// TestOutputRemove: Remove deletes the file of a run that queried no target, unless
// the file existed before or has records.
func TestOutputRemove(t *testing.T) {
	tests := []struct {
		name   string
		before string
		records,
		keeps bool
	}{
		{name: "new and empty"},
		{name: "was there", before: `{"schema":1}` + "\n", keeps: true},
		{name: "has a record", records: true, keeps: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "out")
			if test.before != "" {
				os.WriteFile(path, []byte(test.before), 0o666)
			}
			o := New(path, sink.Options{Scan: "test", Append: true})
			if err := o.Open(); err != nil {
				t.Fatal(err)
			}
			if test.records {
				o.Write(&scanner.Result{Status: scanner.StatusOK})
			}
			if err := o.Close(); err != nil {
				t.Fatal(err)
			}
			o.Remove()
			_, err := os.Stat(path)
			if kept := !errors.Is(err, fs.ErrNotExist); kept != test.keeps {
				t.Errorf("kept: %v, want %v", kept, test.keeps)
			}
		})
	}
}

// TestOutputClosed: an output that is closed before Open creates no file, and can
// no longer be opened.
func TestOutputClosed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	o := New(path, sink.Options{Scan: "test"})
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	if err := o.Open(); err == nil {
		t.Error("Open succeeds after Close")
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("there is a file")
	}
}
