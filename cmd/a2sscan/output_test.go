package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/a2sscan/a2sscan/scanner"
)

// TestOutputRemove: a file of a run that asked nobody is taken back, unless it
// was there before or has something in it.
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
			o, err := (&outFlags{output: path, append: true}).plan("test")
			if err != nil {
				t.Fatal(err)
			}
			if err := o.open(); err != nil {
				t.Fatal(err)
			}
			if test.records {
				o.write(&scanner.Result{Status: scanner.StatusOK})
			}
			if err := o.close(); err != nil {
				t.Fatal(err)
			}
			o.remove()
			_, err = os.Stat(path)
			if kept := !errors.Is(err, fs.ErrNotExist); kept != test.keeps {
				t.Errorf("kept: %v, want %v", kept, test.keeps)
			}
		})
	}
}

// TestOutputClosed: a list that gives out its first target when the run is
// over makes no file.
func TestOutputClosed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	o, err := (&outFlags{output: path}).plan("test")
	if err != nil {
		t.Fatal(err)
	}
	if err := o.close(); err != nil {
		t.Fatal(err)
	}
	if err := o.open(); err == nil {
		t.Error("opened after the end")
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("there is a file")
	}
}
