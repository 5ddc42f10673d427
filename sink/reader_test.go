package sink

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/zstd"

	"github.com/a2sscan/a2sscan/sink/record"
)

// stream compresses a string as other programs do: to one frame of any length,
// whose header does not contain its length.
func stream(t *testing.T, s string, o ...zstd.EOption) []byte {
	t.Helper()
	var b bytes.Buffer
	enc, err := zstd.NewWriter(&b, append(o, zstd.WithEncoderConcurrency(1))...)
	check(t, err)
	if _, err := io.WriteString(enc, s); err != nil {
		t.Fatal(err)
	}
	check(t, enc.Close())
	return b.Bytes()
}

// skippable returns a skippable frame with n bytes of another program's data.
func skippable(n int) string {
	return "\x5A\x2A\x4D\x18" + string([]byte{byte(n), byte(n >> 8), 0, 0}) + strings.Repeat("S", n)
}

func TestReader(t *testing.T) {
	skipShort(t)
	a, ab := string(pack("1\n")), string(stream(t, "1\n2\n"))
	long := strings.Repeat("1", record.MaxSize)
	tests := []struct {
		name, in  string
		want      []string
		truncated int64
	}{
		{"nothing", "", nil, 0},
		{"one line", "1\n", []string{"1"}, 0},
		{"half a line", "{", nil, 1},
		{"a line and a half", "1\n23", []string{"1"}, 2},
		{"a line that is no JSON", "1\n{\n2\n", []string{"1", "2"}, 0},
		{"a line like a magic number", "1\n\x28\n", []string{"1"}, 0},
		{"half a line like one", "\x28\xB5", nil, 2},
		{"long", long + "\n" + long + "\n2", []string{long, long}, 1},
		{"half a long line", "{" + long[1:], nil, record.MaxSize},

		{"a byte order mark", "\uFEFF1\n2\n", []string{"1", "2"}, 0},
		{"a byte order mark in a frame", string(pack("\uFEFF1\n2\n")), []string{"1", "2"}, 0},
		{"a byte order mark in each file", a + string(pack("\uFEFF1\n")), []string{"1", "1"}, 0},
		{"half a line after a byte order mark", string(pack("\uFEFF{")), nil, 4},
		{"a frame", a, []string{"1"}, 0},
		{"a frame of another program", ab, []string{"1", "2"}, 0},
		{"two frames", a + ab, []string{"1", "1", "2"}, 0},
		{"a line in two frames", string(pack("1\n2")) + string(pack("3\n4\n")), []string{"1", "23", "4"}, 0},
		{"half a line in a frame", string(pack("1\n23")), []string{"1"}, 2},
		{"an empty frame", string(stream(t, "", zstd.WithZeroFrames(true))) + a, []string{"1"}, 0},
		{"a long line in frames", string(pack(long)) + string(pack("\n")), []string{long}, 0},
		{"a frame to skip", skippable(5) + a + skippable(300) + a + skippable(0), []string{"1", "1"}, 0},
		{"only a frame to skip", skippable(9), nil, 0},
		{"a cut frame to skip", a + skippable(9)[:16], []string{"1"}, 16},
		{"a cut header of one", a + skippable(9)[:5], []string{"1"}, 5},
		{"a cut magic number", a + a[:3], []string{"1"}, 3},
		{"a cut header", a + a[:5], []string{"1"}, 5},
		{"a cut block", a + a[:8], []string{"1"}, 8},
		{"a cut checksum", a + a[:len(a)-1], []string{"1"}, int64(len(a) - 1)},
		{"no checksum", a + a[:len(a)-4], []string{"1"}, int64(len(a) - 4)},
		{"a cut checksum, after more blocks", a + ab[:len(ab)-2], []string{"1"}, int64(len(ab) - 2)},
		{"only a magic number", a[:4], nil, 4},
		{"only a byte of it", a[:1], nil, 1},
	}
	for _, tt := range tests {
		for how, in := range map[string]io.Reader{
			"at once":        strings.NewReader(tt.in),
			"in small bites": iotest.HalfReader(strings.NewReader(tt.in)),
			"end with data":  iotest.DataErrReader(strings.NewReader(tt.in)),
		} {
			r := NewReader(in)
			got, err := readAll(r)
			if err != nil || !slices.Equal(got, tt.want) || r.Damage().Truncated != tt.truncated {
				t.Errorf("%s, %s: %.50q, %d truncated, %v; want %.50q, %d truncated",
					tt.name, how, got, r.Damage().Truncated, err, tt.want, tt.truncated)
			}
			if _, err := r.Next(); err != io.EOF {
				t.Errorf("%s: after the end: %v", tt.name, err)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestReaderCutFrame checks that all lines in the complete blocks of a truncated frame
// are returned, and that the truncated rest is shorter than a block.
func TestReaderCutFrame(t *testing.T) {
	skipShort(t)
	g := rand.New(rand.NewPCG(1, 2))
	line := make([]byte, 1<<16)
	var content strings.Builder
	for content.Len() < 2<<20 {
		for i := range line {
			line[i] = byte(g.Uint32()) | 0x80 // can't be compressed, and has no newline
		}
		line[0], line[len(line)-2] = '"', '"'
		content.Write(append(line[:len(line)-1:len(line)-1], '\n'))
	}
	first := string(pack("1\n"))
	frame := string(stream(t, content.String(), zstd.WithEncoderLevel(zstd.SpeedFastest)))
	want := append([]string{"1"}, strings.Split(strings.TrimSuffix(content.String(), "\n"), "\n")...)

	got, err := readAll(NewReader(strings.NewReader(first + frame)))
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("complete: %d lines of %d: %v", len(got), len(want), err)
	}
	for cut := 1; cut < len(frame); cut += 50_001 {
		r := NewReader(strings.NewReader(first + frame[:cut]))
		got, err = readAll(r)
		if n := 1 + (cut-100)>>16; err != nil || len(got) < n || !slices.Equal(got, want[:len(got)]) {
			t.Errorf("cut at %d: %d lines, want %d: %v", cut, len(got), n, err)
		}
		if r.Damage().Truncated == 0 || r.Damage().Truncated > 1<<16+100 {
			t.Errorf("cut at %d: %d truncated", cut, r.Damage().Truncated)
		}
	}
}

// TestReaderRefuses checks that the error for a file that can't be read to its end
// says where reading failed, and that the lines before that point are returned.
// TestReaderLines: a line that is not JSON counts as damaged in a plain file and in a frame. A frame
// without a checksum is examined in full. Of the lines in other frames, only the ends are.
func TestReaderLines(t *testing.T) {
	const record, cut, garbage = `{"schema":1}` + "\n", `{"schema":1,"ip":` + "\n", `{"schema":1,ip}` + "\n"
	for _, test := range []struct {
		name string
		file []byte
	}{
		{"plain", []byte(record + cut + "garbage\n" + garbage + record)},
		{"frame", stream(t, record+cut+"garbage\n"+"{\n"+record)},
		{"frame without checksum", stream(t, record+cut+"garbage\n"+garbage+record, zstd.WithEncoderCRC(false))},
		{"frame without checksum after another frame", append(stream(t, record+cut), stream(t, "garbage\n"+garbage+record, zstd.WithEncoderCRC(false))...)},
		{"frame that ends inside a line", append(stream(t, record+record[:len(record)-1]), stream(t, record+"garbage\n"+garbage+record)...)},
		{"two records on a line", stream(t, record+record[:len(record)-1]+record+"garbage\n"+garbage+record)},
		{"a zero", stream(t, record+"{\"schema\":1,\"tag\":\"\x00\"}\n"+"garbage\n"+garbage+record)},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := NewReader(bytes.NewReader(test.file))
			defer r.Close()
			for range 2 {
				if line, err := r.Next(); err != nil || string(line)+"\n" != record {
					t.Errorf("%s, %v", line, err)
				}
			}
			if _, err := r.Next(); err != io.EOF || r.Damage().Lines != 3 {
				t.Errorf("%v, damaged: %v", err, r.Damage())
			}
		})
	}
}

func TestReaderRefuses(t *testing.T) {
	a := string(pack("1\n"))
	// A window of 512 MiB, and many blocks of 64 KiB that are not compressed.
	window := "\x28\xB5\x2F\xFD\x00\x98" + strings.Repeat("\x00\x00\x08"+strings.Repeat("x", 1<<16), maxTail>>16+1)
	tests := []struct{ name, in, want string }{
		{"a window too large", a + window, "the frame at byte 15 needs a window of more than 128 MiB to unpack"},
		{"a line too long", "1\n" + strings.Repeat("x", maxLine+1), "the line at byte 2 is longer than 9 MiB"},
		{"a line too long, compressed", a + string(pack(strings.Repeat("x", maxLine+1))),
			"the line at byte 2 is longer than 9 MiB"},
		{"another schema", "1\n{\"schema\":2,\"ip\":\"192.0.2.1\"}\n",
			"the file has records of schema 2, but this version of a2sscan knows only schema 1; use a newer version of a2sscan"},
		{"another schema, compressed", a + string(pack("{\"schema\":\"x\"}\n")), "the file has records of schema \"x\", but"},
	}
	for _, tt := range tests {
		r := NewReader(strings.NewReader(tt.in))
		got, err := readAll(r)
		if err == nil || !strings.HasPrefix(err.Error(), "read census: "+tt.want) {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
		if len(got) == 0 || got[0] != "1" {
			t.Errorf("%s: lines %.50q", tt.name, got)
		}
		if _, again := r.Next(); again != err {
			t.Errorf("%s: %v, then %v", tt.name, err, again)
		}
	}
}

// TestReaderBroken checks that a read error is returned, and not taken for the end
// of a truncated file.
func TestReaderBroken(t *testing.T) {
	lost := errors.New("the disk was lost")
	a, b := string(pack("1\n")), string(pack(tinyLines(20)))
	for _, in := range []string{"", "1\n2", a, a + a[:2], a + a[:6], a + a[:9], a + b[:40],
		a + b[:len(b)-1], a + skippable(9)[:12], a + skippable(90)[:50]} {
		r := NewReader(io.MultiReader(strings.NewReader(in), iotest.ErrReader(lost)))
		if _, err := readAll(r); !errors.Is(err, lost) || r.Damage().Truncated != 0 {
			t.Errorf("%q: %v, %d truncated", in, err, r.Damage().Truncated)
		}
	}
}

// TestReaderFlipped changes each byte of a compressed census. Each change may lose
// the frame that contains the byte, but no other.
func TestReaderFlipped(t *testing.T) {
	skipShort(t)
	const each, frames = 20, 3
	content := strings.SplitAfter(tinyLines(each*frames), "\n")
	var file []byte
	var starts []int
	for i := range frames {
		starts = append(starts, len(file))
		file = append(file, pack(strings.Join(content[i*each:(i+1)*each], ""))...)
	}
	damaged := 0
	for i := range file {
		hit := 0 // the frame that byte i is in
		for hit+1 < frames && i >= starts[hit+1] {
			hit++
		}
		for _, flip := range []byte{0x01, 0x10, 0xFF} {
			b := slices.Clone(file)
			b[i] ^= flip
			r := NewReader(bytes.NewReader(b))
			r.name = "census.zst" // its first bytes may be those that changed
			got, err := readAll(r)
			d := r.Damage()
			var want []string
			for n, line := range content[:each*frames] {
				if !d.Found() && r.Damage().Truncated == 0 || n/each != hit {
					want = append(want, strings.TrimSuffix(line, "\n"))
				}
			}
			if err != nil || !slices.Equal(got, want) && !(r.Damage().Truncated > 0 && hit == frames-1) {
				t.Errorf("byte %d^%#x: %d lines, %d truncated, %v, %v", i, flip, len(got), r.Damage().Truncated, d, err)
			}
			if d.Found() {
				damaged++
			}
		}
	}
	if damaged < 2*len(file) {
		t.Errorf("damage was found %d times for %d bytes", damaged, len(file))
	}
}

// TestReaderDamage checks that damage is skipped and counted, and that the rest is
// read.
func TestReaderDamage(t *testing.T) {
	skipShort(t)
	a, b := string(pack("1\n2\n")), string(pack("3\n4\n"))
	bad := []byte(b)
	bad[len(bad)-1] ^= 1 // of the checksum
	long := []byte(stream(t, strings.Repeat(`"longer than any frame of ours"`+"\n", 1<<20)))
	long[len(long)-1] ^= 1
	n := int64(len(a))
	tests := []struct {
		name, in string
		want     []string
		damage   Damage
	}{
		{"text after a frame", a + "text", []string{"1", "2"}, Damage{Bytes: 4, At: n}},
		{"text between frames", a + "text" + a, []string{"1", "2", "1", "2"}, Damage{Bytes: 4, At: n}},
		{"zeros at the end", a + strings.Repeat("\x00", 100), []string{"1", "2"}, Damage{Bytes: 100, At: n}},
		{"a wrong checksum", a + string(bad) + a, []string{"1", "2", "1", "2"}, Damage{Frames: 1, Bytes: int64(len(bad)), At: n}},
		{"two of them", a + string(bad) + a + string(bad) + a, []string{"1", "2", "1", "2", "1", "2"},
			Damage{Frames: 2, Bytes: 2 * int64(len(bad)), At: n}},
		{"next to each other", a + string(bad) + string(bad) + a, []string{"1", "2", "1", "2"},
			Damage{Frames: 2, Bytes: 2 * int64(len(bad)), At: n}},
		{"the last", a + string(bad), []string{"1", "2"}, Damage{Frames: 1, Bytes: int64(len(bad)), At: n}},
		{"half a line before it", string(pack("1\n2")) + string(bad) + string(pack("3\n4\n")), []string{"1", "2", "3", "4"},
			Damage{Frames: 1, Bytes: int64(len(bad)), At: int64(len(pack("1\n2")))}},
		{"a large window, not used", a + "\x28\xB5\x2F\xFD\x00\x80\x11\x00\x002\n", []string{"1", "2", "2"}, Damage{}},
		{"a plain file", "1\n{\"a\":\n\x00\x00\n2\n", []string{"1", "2"}, Damage{Lines: 2, Bytes: 9, At: 2}},
	}
	for _, tt := range tests {
		for how, in := range map[string]io.Reader{
			"at once":        strings.NewReader(tt.in),
			"in small bites": iotest.OneByteReader(strings.NewReader(tt.in)),
		} {
			r := NewReader(in)
			got, err := readAll(r)
			if err != nil || !slices.Equal(got, tt.want) || r.Damage() != tt.damage {
				t.Errorf("%s, %s: %q, %+v, %v; want %q, %+v", tt.name, how, got, r.Damage(), err, tt.want, tt.damage)
			}
		}
	}
	r := NewReader(strings.NewReader(string(long) + a))
	got, err := readAll(r)
	if d := r.Damage(); err != nil || d.Frames != 1 || got[len(got)-1] != "2" {
		t.Errorf("a long frame: %d lines, %+v, %v", len(got), d, err)
	}
}

// TestReaderCrafted: the work that a crafted file can cause grows with its length, not with
// the square of it. Each place of these files seems to begin a frame that contains all
// later ones.
func TestReaderCrafted(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED under -short: other tests run the same goroutines, and go test without -short runs it")
	}
	const header = "\x28\xB5\x2F\xFD\x04\x00" // with a checksum, and a window of 1 KiB
	line := []byte(prefix + "1}\n")
	p, err := newPacker(inZstd)
	check(t, err)
	first, err := p.pack(job{block: line, end: true})
	check(t, err)
	first = bytes.Clone(first)
	for name, unit := range map[string]string{
		"frames with a wrong checksum": header + "\x30\x00\x00",               // a block of 6 bytes: the next header
		"frames without an end":        header + "\x30\x00\x00",               // likewise
		"long content":                 header + "\x02\x00\x10\n\x30\x00\x00", // 128 KiB of newlines, then that block
	} {
		const units = 20_000
		crafted := append(bytes.Clone(first), strings.Repeat(unit, units)...)
		if name != "frames without an end" {
			crafted = append(crafted, header+"\x01\x00\x00sum "...)
		}
		crafted = append(crafted, first...)
		r := NewReader(bytes.NewReader(crafted))
		n := 0
		for _, err = r.Next(); err == nil; _, err = r.Next() {
			n++
		}
		if r.zstd.failed > 2*maxFailed*(int64(len(crafted))+maxTail) {
			t.Errorf("%s: %d bytes for a file of %d", name, r.zstd.failed, len(crafted))
		}
		if err != io.EOF || !r.Damage().Found() || n == 0 {
			t.Errorf("%s: %d lines, %+v, %v", name, n, r.Damage(), err)
		}
	}
}

// TestNotCensus checks that Next returns ErrNotCensus for a file that is not a
// census.
func TestNotCensus(t *testing.T) {
	for _, in := range []string{"text\n", "text", strings.Repeat("text\n", maxForeign) + "1\n"} {
		if got, err := readAll(NewReader(strings.NewReader(in))); !errors.Is(err, ErrNotCensus) || len(got) > 0 {
			t.Errorf("%.20q: %q, %v", in, got, err)
		}
	}
	in := strings.Repeat("text\n", maxForeign-1) + "1\n"
	if got, err := readAll(NewReader(strings.NewReader(in))); err != nil || len(got) != 1 {
		t.Errorf("%q, %v", got, err)
	}
}

func TestDamageString(t *testing.T) {
	for _, tt := range []struct {
		d    Damage
		want string
	}{
		{Damage{Frames: 1, Bytes: 100, At: 7}, "1 compressed frame, 100 bytes, the first at byte 7"},
		{Damage{Frames: 2, Lines: 1, Bytes: 1}, "2 compressed frames and 1 line, 1 byte, the first at byte 0"},
		{Damage{Frames: 1, Bytes: 9, At: 7, Doubtful: true}, "the gzip member at byte 7 does not match its checksum, so the records read from it may be false"},
		{Damage{Frames: 1, Lines: 2, Doubtful: true}, "the gzip member at byte 0 does not match its checksum, so the records read from it may be false; skipped 2 lines"},
		{Damage{Bytes: 3, At: 9}, "3 bytes, the first at byte 9"},
	} {
		if got := tt.d.String(); got != tt.want {
			t.Errorf("%s, want %s", got, tt.want)
		}
	}
}

// countFrames returns how many frames a file has, or -1 if it does not end with the
// last of them.
func countFrames(file []byte) (n int) {
	u, _ := newUnzstd(bytes.NewReader(file))
	defer u.close()
	for {
		end, err := u.unpack()
		switch {
		case err == io.EOF:
			return n
		case err != nil:
			return -1
		}
		u.take(end)
		n++
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "missing")
	_, err := Open(missing)
	if !errors.Is(err, fs.ErrNotExist) ||
		err.Error() != "open "+missing+": no such file or directory; check the name of the file" {
		t.Error(err)
	}
	r, err := Open(dir)
	check(t, err)
	if _, err := r.Next(); err == nil || err.Error() != "read "+dir+": is a directory" {
		t.Error(err)
	}
	r.Close()
	if _, err := r.Next(); err == nil || err == io.EOF {
		t.Errorf("Next after Close: %v", err)
	}
}

// FuzzReader reads arbitrary files. They must read the same on any number of processors, no
// line may contain a newline, the reading must end, and the truncated bytes must not exceed the size of the file.
func FuzzReader(f *testing.F) {
	f.Add([]byte("a\nb"))
	f.Add(pack("a\nb\n"))
	f.Add(append(pack("a\nb\n"), pack(strings.Repeat("c\n", 1000))...))
	f.Add([]byte(skippable(3)))
	f.Fuzz(func(t *testing.T, file []byte) {
		r := NewReader(bytes.NewReader(file))
		defer r.Close()
		n := 0
		for {
			line, err := r.Next()
			if err != nil {
				break
			}
			if bytes.ContainsRune(line, '\n') {
				t.Fatalf("line %q", line)
			}
			if n += len(line) + 1; r.zstd == nil && n > len(file) {
				t.Fatalf("%d bytes of lines in %d", n, len(file))
			}
		}
		wantSame(t, "the file", file)
		if truncated := r.Damage().Truncated; truncated < 0 || r.zstd == nil && truncated > int64(len(file)-n) {
			t.Fatalf("%d bytes truncated of %d", truncated, len(file))
		}
	})
}

// FuzzAppendable checks that the part of a file that Append keeps ends with a
// complete line.
func FuzzAppendable(f *testing.F) {
	one := tinyLines(1)
	f.Add([]byte(one+one[:9]), false)
	f.Add(append(pack(one), pack(one)[:20]...), true)
	f.Fuzz(func(t *testing.T, file []byte, zst bool) {
		size := int64(len(file))
		how := unpacked
		if zst {
			how = inZstd
		}
		end, err := readTail(bytes.NewReader(file), size, how, []byte(prefix))
		if err != nil {
			return
		}
		if n := len(end.lines); n > 0 && end.lines[n-1] != '\n' {
			t.Fatalf("the lines of a cut frame end in %q", end.lines[n-1])
		}
		r := NewReader(bytes.NewReader(file[:end.keep]))
		defer r.Close()
		if _, err := readAll(r); err == nil && r.Damage().Truncated != 0 {
			t.Fatalf("%d bytes truncated of the %d that were kept", r.Damage().Truncated, end.keep)
		}
	})
}

// TestOtherPrograms checks that zstd, and other readers of its format, read a census of 50
// frames to its end.
func TestOtherPrograms(t *testing.T) {
	const frames, each = 50, 20
	path := filepath.Join(t.TempDir(), "census.ndjson.zst")
	w := create(t, path, Options{})
	for i := range frames {
		write(t, w, i*each, (i+1)*each)
		check(t, syncNow(w))
	}
	closed(t, w)
	file, err := os.ReadFile(path)
	if n := countFrames(file); n != frames || err != nil {
		t.Fatalf("%d frames: %v", n, err)
	}
	wantWhole(t, path, frames*each)
	zstd, err := exec.LookPath("zstd")
	if err != nil {
		t.Skip("SKIPPED, NOTHING WAS READ WITH ZSTD: there is no zstd in PATH (Debian: package zstd)")
	}
	text, err := exec.Command(zstd, "-dc", path).Output()
	if want := strings.Join(lines(0, frames*each), "\n") + "\n"; string(text) != want || err != nil {
		t.Errorf("%d bytes of %d: %v", len(text), len(want), err)
	}
}
