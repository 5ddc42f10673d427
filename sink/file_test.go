package sink

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink/disk"
	"github.com/a2sscan/a2sscan/sink/record"
	"github.com/a2sscan/a2sscan/wire"
)

// TestMain lets garbage grow. The tests hold little memory and use large buffers, so
// that collecting it at the usual time takes half of their processor time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	m.Run()
}

// names are file names of a census, one for each kind of compression.
var names = []string{"census.ndjson", "census.ndjson.zst", "census.ndjson.gz"}

// typical returns the result of typical server number i, with 12 players and 24 rules.
func typical(i int) *scanner.Result {
	r := &scanner.Result{
		Addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{203, 0, byte(i >> 8), byte(i)}), 27015),
		Time: time.Date(2026, 11, 20, 3, 0, 1, 123_999_999, time.UTC), Status: scanner.StatusOK, Asked: wire.AskAll,
		RTT: 23_412_700, Took: 4_523_100_000, Sent: 6, Received: 3, SentBytes: 90, RecvBytes: 412,
		HasInfo: true, HasPlayers: true, HasRules: true, PlayersAnnounced: 12, RulesAnnounced: 24, RulesDistinct: true,
	}
	r.Info = wire.Info{
		Has:    (wire.HasVersion<<1-1)&^wire.HasShip | wire.HasEDF | wire.HasGamePort | wire.HasSteamID | wire.HasKeywords,
		Format: wire.FormatSource, Protocol: 17, Name: fmt.Appendf(nil, "Server #%d [EU] 24/7 fast download", i),
		Map: []byte("ctf_2fort"), Folder: []byte("tf"), Game: []byte("Team Fortress"), ShortAppID: 440, Players: 12,
		MaxPlayers: 24, ServerType: 'd', Environment: 'l', VAC: 1, Version: []byte("1.0.0.22"), EDF: 0xB1,
		GamePort: 27015, SteamID: 90071992547409921, Keywords: []byte("cp,increased_maxplayers,nocrits,valve"),
	}
	for p := range 12 {
		r.Players = append(r.Players, wire.Player{Name: fmt.Appendf(nil, "player %d", i+p),
			Score: int32(i * p % 97), Duration: float32(i*p) * 1.17})
	}
	for n := range 24 {
		r.Rules = append(r.Rules, wire.Rule{Name: fmt.Appendf(nil, "sv_some_cvar_%d", n), Value: fmt.Append(nil, i*n%5)})
	}
	return r
}

// create opens path, or ends the test.
func create(t *testing.T, path string, o Options) *Output {
	t.Helper()
	w, err := Create(path, o)
	check(t, err)
	return w
}

// write writes the records of the typical results in [from, to).
func write(t *testing.T, w *Output, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		check(t, w.Write("", typical(i)))
	}
}

func closed(t *testing.T, w *Output) {
	t.Helper()
	check(t, w.Close())
}

// lines returns the records of the typical results in [from, to), without newlines.
func lines(from, to int) (want []string) {
	for i := from; i < to; i++ {
		want = append(want, strings.TrimSuffix(string(record.Append(nil, "", typical(i))), "\n"))
	}
	return want
}

// readAll returns all lines of r, and the error that ended the reading, or nil for
// io.EOF.
func readAll(r *Reader) (got []string, err error) {
	for {
		line, err := r.Next()
		if err == io.EOF {
			return got, nil
		}
		if err != nil {
			return got, err
		}
		got = append(got, string(line))
	}
}

// readFile returns the lines of a file, and the length of its truncated tail.
func readFile(t *testing.T, path string) (got []string, truncated int64) {
	t.Helper()
	r, err := Open(path)
	check(t, err)
	got, err = readAll(r)
	check(t, err)
	check(t, r.Close())
	return got, r.Damage().Truncated
}

// wantLines fails the test unless the file has exactly the lines want and nothing
// after them.
func wantLines(t *testing.T, path string, want []string) {
	t.Helper()
	got, truncated := readFile(t, path)
	if !slices.Equal(got, want) || truncated != 0 {
		t.Errorf("%s has %d lines and %d truncated bytes, want %d lines or others",
			path, len(got), truncated, len(want))
	}
	if strings.HasSuffix(path, ".zst") {
		wantWhole(t, path, len(want))
	}
}

// wantWhole fails the test unless all frames of a file are complete, as other
// programs require, and contain n lines.
func wantWhole(t *testing.T, path string, n int) {
	t.Helper()
	file, err := os.ReadFile(path)
	check(t, err)
	dec, err := zstd.NewReader(nil)
	check(t, err)
	defer dec.Close()
	text, err := dec.DecodeAll(file, nil)
	if got := bytes.Count(text, []byte("\n")); err != nil || got != n {
		t.Errorf("%s: other programs read %d lines of %d: %v", path, got, n, err)
	}
}

// durable returns the length of the only file at the last sync.
func durable(w *Output) int64 {
	ended, f := w.each()
	if len(ended) > 0 {
		f = ended[0]
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.durable
}

func size(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	check(t, err)
	return info.Size()
}

func TestStandardOutput(t *testing.T) {
	for _, path := range []string{"-", ""} {
		f, err := os.Create(filepath.Join(t.TempDir(), "out"))
		check(t, err)
		if err := New(path, Options{}).Check(); err != nil {
			t.Error(err)
		}
		w := create(t, path, Options{Stdout: f})
		write(t, w, 0, 3)
		closed(t, w)
		wantLines(t, f.Name(), lines(0, 3))
		if err := f.Close(); err != nil {
			t.Errorf("standard output was closed: %v", err)
		}
	}
}

// TestRefused checks that Create's errors name the operation, the file, the reason
// and a remedy, that Check returns the same errors, and that no file changes.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	there := filepath.Join(dir, "there.ndjson")
	put(t, there, "{}\n")
	no, fresh := filepath.Join(dir, "no"), filepath.Join(dir, "new")
	tests := []struct {
		path string
		o    Options
		want string
		is   error
	}{
		{there, Options{}, "create " + there +
			": file already exists; append to the file, replace it, or choose another name", fs.ErrExist},
		{dir, Options{Replace: true}, "replace " + dir + ": is a directory; name a file in the directory", nil},
		{filepath.Join(no, "x"), Options{}, "the directory " + no + " does not exist; create it first", nil},
		{filepath.Join(there, "x"), Options{}, "not a directory", nil},
		{fresh, Options{Resume: &Position{Offset: 1}}, "resume " + fresh +
			": file does not exist; name the census that the scan began", fs.ErrNotExist},
	}
	for _, tt := range tests {
		_, err := Create(tt.path, tt.o)
		if err == nil || !strings.Contains(err.Error(), tt.want) || tt.is != nil && !errors.Is(err, tt.is) {
			t.Errorf("%s: %v, want %s", tt.path, err, tt.want)
		}
		if early := New(tt.path, tt.o).Check(); early == nil || err != nil && early.Error() != err.Error() {
			t.Errorf("%s: Check says %v, Create %v", tt.path, early, err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || size(t, there) != 3 {
		t.Errorf("something was touched: %v, %v", entries, err)
	}
}

func put(t *testing.T, path, content string) {
	t.Helper()
	check(t, os.WriteFile(path, []byte(content), 0o666))
}

// TestAppend appends to a complete census, and to a complete census that is
// followed by part of a record or frame, as an interrupted run can leave it.
func TestAppend(t *testing.T) {
	for _, name := range names {
		path := filepath.Join(t.TempDir(), name)
		w := create(t, path, Options{Append: true}) // makes it
		write(t, w, 0, 300)
		closed(t, w)
		whole, err := os.ReadFile(path)
		check(t, err)
		for _, tail := range []int{0, 1, 2, 3, 7, 17, 100, 1000} {
			if packingOf(name) == inGzip && tail > 17 {
				break // part of the member's content can be unpacked
			}
			put(t, path, string(whole)+string(whole[:tail]))
			w := create(t, path, Options{Append: true})
			if w.Cut() != int64(tail) {
				t.Errorf("%s: cut %d bytes, want %d", name, w.Cut(), tail)
			}
			write(t, w, 300, 302)
			closed(t, w)
			wantLines(t, path, lines(0, 302))
		}
	}
}

// TestAppendLong appends to files whose last newline is far from the end, or that
// have no newline because the first record is incomplete.
func TestAppendLong(t *testing.T) {
	path := filepath.Join(t.TempDir(), "census.ndjson")
	half := prefix + `1,"tag":"` + strings.Repeat("x", record.MaxSize-100)
	for n := range 2 {
		before := lines(0, n)
		put(t, path, strings.Join(append(before, half), "\n"))
		w := create(t, path, Options{Append: true})
		if w.Cut() != int64(len(half)) {
			t.Errorf("cut %d bytes, want %d", w.Cut(), len(half))
		}
		write(t, w, n, n+1)
		closed(t, w)
		wantLines(t, path, lines(0, n+1))
	}
}

// TestAppendRefused checks that a file which is not one of our censuses is neither
// cut nor appended to.
func TestAppendRefused(t *testing.T) {
	frame := string(pack(lines(0, 1)[0] + "\n"))
	corrupt := string(openFrame(lines(0, 1)[0] + "\n"))
	corrupt = corrupt[:20] + strings.Repeat("\xff", 20) + corrupt[40:]
	tests := []struct{ name, file, content, want string }{
		{"other text", "a.ndjson", "a list\nof lines", "does not look like a census"},
		{"shorter than a prefix", "a.ndjson", "{}", "does not look like a census"},
		{"no newline in too many bytes", "a.ndjson",
			prefix + strings.Repeat("x", record.MaxSize+1<<20), "the line at byte 0 is longer than 9 MiB"},
		{"compressed", "a.ndjson", frame, "does not look like a census"},
		{"not compressed", "a.zst", lines(0, 1)[0] + "\n", "does not look like a census"},
		{"garbage after a frame", "a.zst", frame + "garbage", "the last frame of the file is damaged"},
		{"another content", "a.zst", string(pack("a list\nof lines\n")), "does not look like a census"},
		{"no complete frame", "a.zst", frame[:20], "does not look like a census"},
		{"half a line in a complete frame", "a.zst", frame + string(pack(prefix)), "cut off inside a complete frame"},
		{"a cut frame of another content", "a.zst", string(openFrame("a list\nof lines\n")), "does not look like a census"},
		{"a cut frame that is corrupt", "a.zst", frame + corrupt, "the last frame of the file is damaged"},
	}
	for _, tt := range tests {
		path := filepath.Join(t.TempDir(), tt.file)
		put(t, path, tt.content)
		_, err := Create(path, Options{Append: true})
		if err == nil || !strings.Contains(err.Error(), tt.want) ||
			!strings.HasPrefix(err.Error(), "append to "+path+": ") {
			t.Errorf("%s: %v", tt.name, err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != tt.content {
			t.Errorf("%s: the file was changed", tt.name)
		}
	}
}

// pack compresses a string to one frame.
func pack(s string) []byte {
	p, err := newPacker(inZstd)
	if err != nil {
		panic(err)
	}
	frame, err := p.pack(job{block: []byte(s), end: true})
	if err != nil {
		panic(err)
	}
	return slices.Clone(frame)
}

// openFrame compresses a string to a frame that has no end.
func openFrame(s string) []byte {
	p, err := newPacker(inZstd)
	if err != nil {
		panic(err)
	}
	open, err := p.pack(job{block: []byte(s), flush: true})
	if err != nil {
		panic(err)
	}
	return open
}

func TestLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "census.ndjson")
	w := create(t, path, Options{})
	write(t, w, 0, 1)
	check(t, syncNow(w))
	for _, o := range []Options{{Append: true}, {Replace: true}, {Resume: &Position{}}} {
		if other, err := Create(path, o); err == nil {
			t.Errorf("two write to one file: %v", other.Close())
		} else if !strings.Contains(err.Error(), "written by another process; wait") {
			t.Error(err)
		}
	}
	closed(t, w)
	wantLines(t, path, lines(0, 1))
}

// TestKilled cuts a file at every byte (of a gzip file, at every fifth), as kill -9
// or a crash does. All records that were flushed or synced before must be readable,
// and Append must be able to continue the file, although the last frame of a
// compressed file then has no end.
func TestKilled(t *testing.T) {
	skipShort(t)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			var readable map[int64]int
			synctest.Test(t, func(t *testing.T) { readable = writeInSteps(t, path) })
			whole, err := os.ReadFile(path)
			check(t, err)
			promised, want := 0, strings.Split(tinyLines(8), "\n")[:8]
			for cut := range whole {
				promised = max(promised, readable[int64(cut)])
				if packingOf(name) == inGzip && cut%5 > 0 && readable[int64(cut)] == 0 {
					continue // it takes long
				}
				checkCut(t, whole[:cut], want, promised, readable[int64(cut)] > 0)
				if promised > 0 && (cut%3 == 0 || readable[int64(cut)] > 0) {
					checkAppend(t, path, whole[:cut], promised)
				}
			}
		})
	}
}

// writeInSteps writes 8 records, flushes after each, and syncs after the 3rd and
// 6th. It returns how many records must be readable at each length of the file.
func writeInSteps(t *testing.T, path string) map[int64]int {
	t.Helper()
	readable := map[int64]int{}
	w := create(t, path, Options{FlushEvery: -1})
	for i := range 8 {
		check(t, w.Write("", tiny(i)))
		w.flush()
		synctest.Wait()
		readable[size(t, path)] = i + 1
		if i%3 != 2 {
			continue
		}
		if _, err := w.Sync(); err != nil || durable(w) != size(t, path) {
			t.Fatalf("offset %d: %v", durable(w), err)
		}
		readable[durable(w)] = i + 1
	}
	closed(t, w)
	return readable
}

// checkCut reads a file that was cut. It fails the test unless the lines are the
// first of want, at least promised of them, every byte of a plain file belongs to a line
// or counts as truncated, and the Reader knows whether the file ends behind a flush.
func checkCut(t *testing.T, file []byte, want []string, promised int, flushed bool) {
	t.Helper()
	r := NewReader(bytes.NewReader(file))
	got, err := readAll(r)
	if err != nil || len(got) < promised || !slices.Equal(got, want[:len(got)]) {
		t.Fatalf("cut at %d: %d lines, %d promised: %v", len(file), len(got), promised, err)
	}
	if d := r.Damage(); d.Open && d.Flushed != flushed && d.Truncated == 0 {
		t.Errorf("cut at %d: %+v behind a flush: %v", len(file), d, flushed)
	}
	whole := 0
	for _, line := range got {
		whole += len(line) + 1
	}
	if r.content == nil && int64(whole)+r.Damage().Truncated != int64(len(file)) {
		t.Fatalf("cut at %d: %d bytes in lines, %d truncated", len(file), whole, r.Damage().Truncated)
	}
}

// checkAppend appends a record to a file that was cut. It fails the test unless the
// file then has the lines that could be read before, at least promised of them, and
// the new one.
func checkAppend(t *testing.T, path string, file []byte, promised int) {
	t.Helper()
	put(t, path, string(file))
	before, truncated := readFile(t, path)
	w := create(t, path, Options{Append: true})
	if w.Cut() != truncated || len(before) < promised || durable(w) != size(t, path) {
		t.Errorf("cut at %d: cut %d, truncated %d", len(file), w.Cut(), truncated)
	}
	if err := w.Write("", tiny(len(before))); err != nil {
		t.Error(err)
	}
	closed(t, w)
	wantLines(t, path, strings.Split(tinyLines(len(before)+1), "\n")[:len(before)+1])
}

// TestAppendCutFrame checks that Append keeps the complete lines of a truncated
// frame, even if they are in many blocks, and drops half a line at its end.
func TestAppendCutFrame(t *testing.T) {
	skipShort(t)
	for _, before := range []int{0, 3} {
		whole := string(pack(strings.Join(lines(0, before), "\n") + "\n"))
		if before == 0 {
			whole = ""
		}
		frame := stream(t, strings.Join(lines(before, 500), "\n")+"\n")
		for _, cut := range []int{len(frame) - 1, len(frame) - 4, len(frame) - 5, len(frame) / 2} {
			path := filepath.Join(t.TempDir(), "census.zst")
			put(t, path, whole+string(frame[:cut]))
			got, truncated := readFile(t, path)
			n := len(got)
			if n < before+50 || truncated == 0 && cut > len(frame)-4 {
				t.Errorf("cut at %d of %d: %d lines, %d truncated", cut, len(frame), n, truncated)
			}
			w := create(t, path, Options{Append: true})
			write(t, w, n, n+1)
			closed(t, w)
			wantLines(t, path, lines(0, n+1))
		}
	}
}

// TestAppendKilled kills a scan while it rewrites the lines of a truncated frame.
// The census must still contain these lines, and it must be possible to append to
// it.
func TestAppendKilled(t *testing.T) {
	text := strings.Join(lines(0, 500), "\n") + "\n"
	for _, form := range []struct{ name, frame string }{
		{"census.ndjson.zst", string(stream(t, text))}, {"census.ndjson.gz", gzipped(t, text)},
	} {
		t.Run(form.name, func(t *testing.T) { checkAppendKilled(t, form.name, form.frame) })
	}
}

func checkAppendKilled(t *testing.T, name, frame string) {
	for _, cut := range []int{len(frame) - 1, len(frame) - 2000, len(frame) / 2} {
		path := filepath.Join(t.TempDir(), name)
		put(t, path, frame[:cut])
		got, _ := readFile(t, path)
		killed := filepath.Join(t.TempDir(), name)
		atStep(t, "output.repacked", func() { copyFile(t, killed, path) })
		closed(t, create(t, path, Options{Append: true}))
		path = killed
		if filepath.Ext(name) == ".zst" {
			wantWhole(t, path, len(got))
		}
		wantLines(t, path, lines(0, len(got)))
		w := create(t, path, Options{Append: true})
		write(t, w, len(got), len(got)+1)
		closed(t, w)
		wantLines(t, path, lines(0, len(got)+1))
	}
}

// gzipped returns text as one gzip member that is longer than those of a scan, in
// blocks that are flushed one by one.
func gzipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.NoCompression)
	check(t, err)
	for line := range strings.Lines(text) {
		if _, err := z.Write([]byte(line)); err != nil {
			t.Fatal(err)
		}
		check(t, z.Flush())
	}
	check(t, z.Close())
	return b.String()
}

// atStep makes disk.Step call do once, when the step with that name is done.
func atStep(t *testing.T, name string, do func()) {
	var once sync.Once
	disk.Step = func(now string) {
		if now == name {
			once.Do(do)
		}
	}
	t.Cleanup(func() { disk.Step = func(string) {} })
}

func copyFile(t *testing.T, to, from string) {
	t.Helper()
	b, err := os.ReadFile(from)
	check(t, err)
	put(t, to, string(b))
}

// tiny returns the result of a server with short strings, so that there are not too
// many bytes at which its record can be cut.
func tiny(i int) *scanner.Result {
	r := &scanner.Result{PlayersAnnounced: -1, RulesAnnounced: -1}
	r.Tag = strconv.Itoa(i)
	return r
}

// tinyLines returns the lines of n tiny records.
func tinyLines(n int) (s string) {
	for i := range n {
		s += string(record.Append(nil, "", tiny(i)))
	}
	return s
}

// skipShort skips a test under -short. The race detector is run with -short.
func skipShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("SKIPPED under -short: it takes long, and go test without -short runs it")
	}
}

// check ends the test if err is not nil.
func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
