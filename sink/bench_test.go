package sink

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/a2sscan/a2sscan/scanner"
)

// recordsPerRun is the number of records that an allocation test writes at a time.
// They fill several blocks.
const recordsPerRun = 1000

// writer creates a file at path and returns a function that writes n records to it.
func writer(tb testing.TB, path string) (w *Output, body func(n int)) {
	tb.Helper()
	w, err := Create(path, Options{})
	check(tb, err)
	tb.Cleanup(func() {
		if err := w.Close(); err != nil {
			tb.Error(err)
		}
	})
	var results []*scanner.Result
	for i := range 100 {
		r := typical(i)
		r.RulesDistinct = true // as a scan has it
		results = append(results, r)
	}
	return w, func(n int) {
		for i := range n {
			check(tb, w.Write("20261120T030000Z", results[i%len(results)]))
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	for name, path := range map[string]string{
		"ndjson":  filepath.Join(b.TempDir(), "census.ndjson"),
		"zstd":    filepath.Join(b.TempDir(), "census.zst"),
		"discard": os.DevNull,
	} {
		b.Run(name, func(b *testing.B) {
			w, body := writer(b, path)
			body(1)
			b.SetBytes(int64(w.bytes.Load()))
			b.ReportAllocs()
			for b.Loop() {
				body(1)
			}
		})
	}
}

func TestWriteAllocates(t *testing.T) {
	skipShort(t)
	for _, path := range []string{
		filepath.Join(t.TempDir(), "census.ndjson"),
		filepath.Join(t.TempDir(), "census.zst"),
		os.DevNull,
	} {
		_, body := writer(t, path)
		body(recordsPerRun) // until all blocks and the encoder have their size
		// A zstd frame costs two small allocations, and holds more records than are
		// written here.
		n := math.Inf(1) // the least of three: the runtime allocates now and then, too
		for range 3 {
			n = min(n, testing.AllocsPerRun(10, func() { body(recordsPerRun) }))
		}
		if n > 0 {
			t.Errorf("%s: %v allocations for %d records", path, n, recordsPerRun)
		}
	}
}
