package sink

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// keepLines is a parser for Pipe that returns the lines of a block.
func keepLines() func(*Block) []string {
	return func(b *Block) (all []string) {
		for i, line := range b.Lines() {
			if i != len(all) {
				panic("wrong index of a line")
			}
			all = append(all, string(line))
		}
		return all
	}
}

// pipeAll describes everything that Pipe returns for a file: its lines with their numbers,
// the damage, and the error.
func pipeAll(file []byte) string {
	r := NewReader(bytes.NewReader(file))
	defer r.Close()
	var b strings.Builder
	err := Pipe(r, keepLines, func(block *Block, lines []string) error {
		for i, line := range lines {
			fmt.Fprintf(&b, "%d %s\n", block.First+i, line)
		}
		return nil
	})
	fmt.Fprintf(&b, "%+v %v", r.Damage(), err)
	return b.String()
}

// nextAll describes a file like pipeAll, as Next returns it.
func nextAll(file []byte) string {
	r := NewReader(bytes.NewReader(file))
	defer r.Close()
	var b strings.Builder
	for n := 1; ; n++ {
		line, err := r.Next()
		if err == nil {
			fmt.Fprintf(&b, "%d %s\n", n, line)
			continue
		}
		if err == io.EOF {
			err = nil
		}
		fmt.Fprintf(&b, "%+v %v", r.Damage(), err)
		return b.String()
	}
}

// wantSame checks that a file reads the same line by line, and on 1, 2 and 8 processors.
func wantSame(t *testing.T, name string, file []byte) {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	want := nextAll(file)
	for _, n := range []int{1, 2, 8} {
		runtime.GOMAXPROCS(n)
		if got := pipeAll(file); got != want {
			t.Errorf("%s, %d processors: %s; want %s", name, n, around(got, want), around(want, got))
		}
		if got := nextAll(file); got != want {
			t.Errorf("%s, %d processors, with Next: %s; want %s", name, n, around(got, want), around(want, got))
		}
	}
}

// around returns the part of a where it begins to differ from b.
func around(a, b string) string {
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	return fmt.Sprintf("%.200q", a[max(at-50, 0):])
}

// TestPipeOpen: Pipe returns as soon as take returns an error, even if the writer of the
// census writes nothing more and leaves the pipe open. The Reader can be closed then.
func TestPipeOpen(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // no frame is unpacked ahead
	enough := errors.New("enough")
	for name, lines := range map[string][]byte{"plain": []byte("1\n2\n3\n"), "zstd": pack("1\n2\n3\n")} {
		in, out := io.Pipe()
		written := make(chan error)
		go func() {
			_, err := out.Write(lines)
			written <- err
		}()
		r := NewReader(in)
		got := 0
		err := Pipe(r, keepLines, func(_ *Block, lines []string) error {
			got += len(lines)
			return enough
		})
		if err != enough || got != 3 || r.Damage().Found() {
			t.Errorf("%s: %d lines, %v, %v", name, got, r.Damage(), err)
		}
		check(t, errors.Join(<-written, r.Close(), out.Close()))
		<-r.reading
	}
}

// TestPipe checks that damaged, truncated, divided and mixed files read the same on any
// number of processors.
func TestPipe(t *testing.T) {
	skipShort(t)
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
	flip := func(b []byte, at int) []byte {
		b = bytes.Clone(b)
		b[at] ^= 0xFF
		return b
	}
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	packed := frames(100_000)
	other := bytes.Replace(text, []byte(`"schema":1,"n":30000`), []byte(`"schema":7,"n":30000`), 1)
	foreign := bytes.Repeat([]byte("not a record\n"), 99)
	var zipped bytes.Buffer
	p, err := newPacker(inGzip)
	check(t, err)
	member, err := p.pack(job{block: text, end: true})
	check(t, err)
	zipped.Write(member)
	for name, file := range map[string][]byte{
		"plain": text, "empty": nil, "one frame": enc.EncodeAll(text, nil), "divided lines": frames(100_003), "tiny frames": frames(40),
		"truncated": text[:len(text)-5], "a bad line": flip(text, len(text)/2), "another schema": other,
		"another schema in frames": join(packed, enc.EncodeAll(other, nil)),
		"truncated frame":          packed[:len(packed)-7], "damaged frame": flip(packed, len(packed)/2), "damaged start": flip(packed, 9),
		"several damaged": flip(flip(flip(packed, len(packed)/3), len(packed)/2), len(packed)/2+9),
		"appended":        join(packed, packed[:500], packed, packed),
		"lines after it":  join(packed, text),
		"no census":       foreign, "no census in a frame": enc.EncodeAll(foreign, nil),
		"late junk": join(packed, enc.EncodeAll(foreign, nil), packed), "junk first": join(foreign[:13*9], text),
		"blank lines": join([]byte("\n\n"), text, []byte("\n"), text), "blank lines in frames": join(packed, enc.EncodeAll([]byte("\n \n"), nil), packed),
		"long line":      join(text, []byte(`"`), bytes.Repeat([]byte("x"), maxLine), []byte("\"\n"), text),
		"long last line": join(text, []byte(`"`), bytes.Repeat([]byte("x"), maxLine)),
		"gzip":           zipped.Bytes(), "truncated gzip": zipped.Bytes()[:zipped.Len()-20],
		"gzip with junk": join(zipped.Bytes(), []byte("junk")),
	} {
		wantSame(t, name, file)
	}
}

// TestPipeMutations compares files with random damage. Short reads and large files let the
// blocks end anywhere.
func TestPipeMutations(t *testing.T) {
	skipShort(t)
	var base []byte
	for i := range 60 {
		base = append(base, pack(string(bytes.Repeat(fmt.Appendf(nil, `{"schema":1,"n":%d}`+"\n", i), 30)))...)
	}
	for i := range 300 {
		file := bytes.Clone(base)
		for range 1 + i%4 {
			at := (i*7919 + 31*len(file)) % len(file)
			switch i % 3 {
			case 0:
				file[at] ^= byte(1 << (i % 8))
			case 1:
				file = slices.Delete(file, at, min(at+i%50+1, len(file)))
			case 2:
				file = slices.Insert(file, at, file[:i%90+1]...)
			}
		}
		wantSame(t, fmt.Sprint("mutation ", i), file)
	}
}

// TestPipeErrors checks that Pipe returns the error of a read after the lines before it,
// and the error of take.
func TestPipeErrors(t *testing.T) {
	text := strings.Repeat("{\"schema\":1}\n", 500_000)
	broken := errors.New("broken")
	r := NewReader(io.MultiReader(strings.NewReader(text), &failing{broken}))
	lines := 0
	err := Pipe(r, keepLines, func(_ *Block, all []string) error { lines += len(all); return nil })
	if lines != 500_000 || !errors.Is(err, broken) {
		t.Errorf("%d lines, %v", lines, err)
	}
	path := filepath.Join(t.TempDir(), "census")
	check(t, os.WriteFile(path, []byte(text), 0o666))
	calls := 0
	_, err = PipeFile(path, keepLines, func(*Block, []string) error { calls++; return broken })
	if err != broken || calls != 1 {
		t.Errorf("%d calls, %v", calls, err)
	}
	if _, err := PipeFile(path+"missing", keepLines, nil); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// failing is a reader that fails.
type failing struct{ err error }

func (f *failing) Read([]byte) (int, error) { return 0, f.err }

func BenchmarkPipe(b *testing.B) {
	line := `{"schema":1,"pad":"` + strings.Repeat("0123456789", 200) + "\"}\n"
	file := bytes.Repeat(pack(strings.Repeat(line, 4000)), 10)
	b.SetBytes(40_000 * int64(len(line)))
	for b.Loop() {
		r := NewReader(bytes.NewReader(file))
		check(b, Pipe(r, func() func(*Block) int {
			return func(b *Block) (n int) {
				for range b.Lines() {
					n++
				}
				return n
			}
		}, func(*Block, int) error { return nil }))
		r.Close()
	}
}
