package census

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

	"github.com/a2sscan/a2sscan/sink"
)

// sortedLines returns all lines that eachLine passes to its function, sorted.
func sortedLines(t *testing.T, path string) ([]string, sink.Damage) {
	t.Helper()
	var mu sync.Mutex
	var all []string
	reading, err := (&Census{workers: 3}).eachLine(path, func(_ int, line []byte) error {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, string(line))
		return nil
	})
	check(t, err)
	slices.Sort(all)
	return all, reading
}

// readerLines returns all lines that a Reader returns, sorted.
func readerLines(t *testing.T, path string) (all []string, reading sink.Damage) {
	t.Helper()
	r, err := sink.Open(path)
	check(t, err)
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

// TestEachLine checks that eachLine passes on the lines that a Reader returns,
// each once, even if the file is damaged, truncated, or divided inside lines.
func TestEachLine(t *testing.T) {
	var text []byte
	for i := range 40_000 {
		text = fmt.Appendf(text, `{"schema":1,"n":%d,"pad":"%s"}`+"\n", i, strings.Repeat("x", i%90))
	}
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest))
	check(t, err)
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
		check(t, os.WriteFile(path, content, 0o666))
		got, reading := sortedLines(t, path)
		want, wanted := readerLines(t, path)
		if !slices.Equal(got, want) || reading != wanted {
			t.Errorf("%s: %d lines, %+v; want %d, %+v", name, len(got), reading, len(want), wanted)
		}
	}
}

// TestEachLineErrors checks that eachLine returns an error for a file that is not
// a census, and the error of the caller's function.
func TestEachLineErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	check(t, os.WriteFile(path, []byte(strings.Repeat("not a record\n", 99)), 0o666))
	nothing := func(int, []byte) error { return nil }
	for _, name := range []string{path, path + "missing"} {
		if _, err := (&Census{workers: 2}).eachLine(name, nothing); err == nil {
			t.Errorf("%s is read", name)
		}
	}
	check(t, os.WriteFile(path, []byte(strings.Repeat("{\"schema\":1}\n", 500_000)), 0o666))
	if _, err := (&Census{workers: 2}).eachLine(path, func(int, []byte) error { return os.ErrClosed }); err != os.ErrClosed {
		t.Error(err)
	}
}
