package sink

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// blockLines returns all lines that EachBlock passes to its function, sorted.
func blockLines(t *testing.T, path string) ([]string, Damage) {
	t.Helper()
	var mu sync.Mutex
	var all []string
	reading, err := (Source{}).EachBlock(path, 3, func(_ int, block []byte) error {
		mu.Lock()
		defer mu.Unlock()
		for line := range strings.Lines(string(block)) {
			all = append(all, strings.TrimSuffix(line, "\n"))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all, reading
}

// readerLines returns all lines that a Reader returns, sorted.
func readerLines(t *testing.T, path string) (all []string, reading Damage) {
	t.Helper()
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		line, err := r.Next()
		if err != nil {
			slices.Sort(all)
			return all, r.Damage()
		}
		all = append(all, string(line))
	}
}

// TestEachBlock checks that the blocks contain the lines that a Reader returns,
// each once, even if the file is damaged, truncated, or divided inside lines.
func TestEachBlock(t *testing.T) {
	var text []byte
	for i := range 40_000 {
		text = fmt.Appendf(text, `{"schema":1,"n":%d,"pad":"%s"}`+"\n", i, strings.Repeat("x", i%90))
	}
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		t.Fatal(err)
	}
	frames := func(size int) (packed []byte) {
		for part := range slices.Chunk(text, size) {
			packed = enc.EncodeAll(part, packed)
		}
		return packed
	}
	damaged := frames(100_000)
	damaged[len(damaged)/2] ^= 0xFF
	badLine := bytes.Clone(text)
	badLine[len(badLine)/2] = 0
	files := map[string][]byte{
		"plain": text, "long.zst": enc.EncodeAll(text, nil), "divided.zst": frames(100_003), "tiny.zst": frames(40),
		"damaged.zst": damaged, "truncated.zst": frames(100_000)[:len(damaged)-7], "cut": text[:len(text)-5], "bad": badLine,
		"empty": nil,
	}
	for name, content := range files {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		got, reading := blockLines(t, path)
		want, wanted := readerLines(t, path)
		if !slices.Equal(got, want) || reading != wanted {
			t.Errorf("%s: %d lines, %+v; want %d, %+v", name, len(got), reading, len(want), wanted)
		}
	}
}

// TestEachBlockErrors checks that EachBlock returns an error for a file that is not
// a census, and the error of the caller's function.
func TestEachBlockErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(strings.Repeat("not a record\n", 99)), 0o666); err != nil {
		t.Fatal(err)
	}
	nothing := func(int, []byte) error { return nil }
	for _, name := range []string{path, path + "missing"} {
		if _, err := (Source{}).EachBlock(name, 2, nothing); err == nil {
			t.Errorf("%s is read", name)
		}
	}
	if err := os.WriteFile(path, []byte(strings.Repeat("{\"schema\":1}\n", 500_000)), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := (Source{}).EachBlock(path, 2, func(int, []byte) error { return os.ErrClosed }); err != os.ErrClosed {
		t.Error(err)
	}
}
