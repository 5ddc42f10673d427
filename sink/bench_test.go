package sink

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/a2sscan/a2sscan/scanner"
)

// appendWork is what is timed, and what must not allocate.
func appendWork() map[string]*scanner.Result {
	info, players, rules := typical(1), typical(1), typical(1)
	info.HasPlayers, info.HasRules = false, false
	players.HasInfo, players.HasRules = false, false
	rules.HasInfo, rules.HasPlayers = false, false
	whole, unseen := typical(1), *rules // rules that nobody looked through
	whole.RulesDistinct, rules.RulesDistinct = true, true
	return map[string]*scanner.Result{
		"info": info, "players/12": players, "rules/24": rules, "rules/24/unseen": &unseen, "full": whole,
		"hostile": vicious(), "raw": full(), "no_reply": noReply(),
	}
}

// appender returns a function that appends r, and how long its record is.
func appender(r *scanner.Result) (body func(), size int) {
	e := new(Encoder)
	dst := e.Append(nil, "20261120T030000Z", r)
	return func() { dst = e.Append(dst[:0], "20261120T030000Z", r) }, len(dst)
}

func BenchmarkAppend(b *testing.B) {
	work := appendWork()
	for _, name := range []string{"info", "players/12", "rules/24", "rules/24/unseen", "full", "hostile", "raw", "no_reply"} {
		b.Run(name, func(b *testing.B) {
			body, size := appender(work[name])
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				body()
			}
		})
	}
}

func TestAppendAllocates(t *testing.T) {
	for name, r := range appendWork() {
		body, _ := appender(r)
		if n := testing.AllocsPerRun(100, body); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
		dst := make([]byte, 0, 64<<10)
		n := testing.AllocsPerRun(100, func() { dst = AppendRecord(dst[:0], "scan", r) })
		if n != 0 {
			t.Errorf("%s: %v allocations by AppendRecord", name, n)
		}
	}
}

// TestAppendAllocatesHostile: the scratch memory for many rules is kept.
func TestAppendAllocatesHostile(t *testing.T) {
	r := blank()
	r.HasRules = true
	for i := range 65535 {
		r.Rules = append(r.Rules, rules(fmt.Sprint(i%60000), "\xff")...)
	}
	body, _ := appender(r)
	if n := testing.AllocsPerRun(3, body); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// recordsPerRun is how many records an allocation test writes at once: more
// than a few blocks.
const recordsPerRun = 1000

// writer returns a function that writes n records to a file of that name.
func writer(tb testing.TB, path string) (w *Writer, body func(n int)) {
	tb.Helper()
	w, err := Create(path, Options{Force: true, Scan: "20261120T030000Z"})
	if err != nil {
		tb.Fatal(err)
	}
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
			if err := w.Write(results[i%len(results)]); err != nil {
				tb.Fatal(err)
			}
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
			b.SetBytes(int64(w.Bytes()))
			b.ReportAllocs()
			for b.Loop() {
				body(1)
			}
		})
	}
}

func TestWriteAllocates(t *testing.T) {
	for _, path := range []string{
		filepath.Join(t.TempDir(), "census.ndjson"),
		filepath.Join(t.TempDir(), "census.zst"),
		os.DevNull,
	} {
		_, body := writer(t, path)
		body(recordsPerRun) // until all blocks and the encoder have their size
		// A frame of zstd costs two allocations of some bytes, and holds more
		// records than these.
		n := testing.AllocsPerRun(10, func() { body(recordsPerRun) })
		if n > 0 {
			t.Errorf("%s: %v allocations for %d records", path, n, recordsPerRun)
		}
	}
}
