package sink

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"

	"github.com/a2sscan/a2sscan/sink/record"
)

// maxLine is the maximum length in bytes of a line that a Reader returns: somewhat
// more than the maximum length of a record.
const maxLine = record.MaxSize + 1<<20

// readAhead is the size of a Reader's buffers.
const readAhead = 256 << 10

// ErrNotCensus means that a file contains no records.
var ErrNotCensus = errors.New("does not look like a census")

// A Reader returns ErrNotCensus for a file that begins with maxForeign lines that
// are not JSON.
const maxForeign = 16

// Reader reads the lines of a census from a file that is plain or compressed with
// zstd or gzip. It detects the format from the first bytes. Several concatenated
// files are one census. A Reader serves one goroutine at a time.
//
// A Reader skips damage: a damaged frame of a compressed file, and a line of a
// plain file that is not JSON. Damage counts both.
type Reader struct {
	name      string
	close     func() error
	in        *bufio.Reader // reads the file; its buffer serves only to look at the first bytes
	packed    packing       // compression of the file; known after the first Next
	content   *unpacking    // nil if the file is plain
	zstd      *unzstd       // nil unless the file is compressed with zstd
	lines     *bufio.Reader // the unpacked content
	raw       bool          // Next returns lines without checking them
	good      bool          // at least one line was returned
	long      []byte        // holds a line that is longer than the buffer of lines
	at        int64         // offset of the next line, after unpacking
	truncated int64
	rest      []byte // the partial last line
	err       error  // the first error

	dropped Damage // skipped lines
}

// unpacking describes the frames or members that were read from a file.
type unpacking struct {
	complete int64 // end of the last complete frame
	// Bytes after the last complete frame that belong to an unreadable block or member.
	truncated int64
	noEnd     bool   // the file ends inside a frame
	flushed   bool   // the file ends where a flush ended
	unended   bool   // the content of the complete frames does not end with a newline
	padded    bool   // zeros follow the last member
	last      byte   // the last byte of the content
	damage    Damage // skipped frames
}

// Open opens the census at path; "-" and "" are standard input.
func Open(path string) (*Reader, error) { return OpenTee(path, io.Discard) }

// OpenTee opens the census at path like Open. It also writes each byte of the file to w
// when the Reader has read it.
func OpenTee(path string, w io.Writer) (*Reader, error) {
	if isStandard(path) {
		r := NewReader(io.TeeReader(os.Stdin, w))
		r.name = "standard input"
		return r, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, newError("open", path, err)
	}
	r := NewReader(io.TeeReader(f, w))
	r.name, r.close = path, f.Close
	return r, nil
}

// NewReader returns a Reader of in. It reads nothing before the first call of Next;
// then it reads ahead.
func NewReader(in io.Reader) *Reader {
	return &Reader{name: "census", in: bufio.NewReaderSize(in, 512)}
}

// Next returns the next line without its newline. The line is valid until the next
// call. After the last complete line the error is io.EOF, even if a partial line
// follows or something was skipped (see Damage). Any other error is
// an *Error: the file can't be read, contains no records (ErrNotCensus), or has
// records of an unknown schema (record.SchemaError).
func (r *Reader) Next() ([]byte, error) {
	for {
		at := r.at
		line, err := r.next()
		if err != nil || r.raw {
			return line, err
		}
		// The lines of an undamaged frame need no check, because its checksum was
		// right.
		z := r.zstd
		if z != nil && r.good && !z.stream && !z.damage.Found() || json.Valid(line) {
			r.good = true
			if err := record.CheckSchema(line); err != nil {
				r.err = newError("read", r.name, err)
				return nil, r.err
			}
			return line, nil
		}
		r.dropped.Lines++
		r.dropped.add(at, r.at-at)
		if !r.good && r.dropped.Lines == maxForeign {
			r.err = newError("read", r.name, ErrNotCensus)
		}
	}
}

// next returns the next line, whatever it contains.
func (r *Reader) next() ([]byte, error) {
	if r.lines == nil && r.err == nil {
		r.err = r.start()
	}
	if r.err != nil {
		return nil, r.err
	}
	line, err := r.lines.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		line, err = r.readLong(line)
	}
	if err != nil {
		r.err = r.end(line, err)
		return nil, r.err
	}
	r.at += int64(len(line))
	return line[:len(line)-1], nil
}

// KeepLines makes Next return every line, even one that is not JSON. It is for
// programs that report such lines themselves.
func (r *Reader) KeepLines() { r.raw = true }

// Damage returns what Next has skipped so far.
func (r *Reader) Damage() Damage {
	d := r.dropped
	if r.content != nil {
		if r.content.damage.Found() {
			d = r.content.damage
			d.Lines, d.Bytes = r.dropped.Lines, d.Bytes+r.dropped.Bytes
		}
		d.Open, d.Flushed = r.content.noEnd, r.content.flushed
	}
	d.Truncated = r.truncated
	return d
}

// start detects the format from the first bytes, and if they are damaged, from the
// name.
func (r *Reader) start() (err error) {
	b, err := r.in.Peek(4)
	if err != nil && err != io.EOF {
		return newError("read", r.name, err)
	}
	var content io.Reader = r.in
	switch {
	case begins(b, "\x1F\x8B\x08"): // a gzip member with deflated data
		g := &gunzip{in: bufio.NewReaderSize(r.in, readAhead), unpacking: unpacking{last: '\n'}, member: new(gzip.Reader)}
		r.packed, r.content, content = inGzip, &g.unpacking, g
	case isZstd(b) || packingOf(r.name) == inZstd && len(b) > 0 && b[0] != '{':
		if r.zstd, err = newUnzstd(r.in); err != nil {
			return newError("read", r.name, err)
		}
		r.packed, r.content, content = inZstd, &r.zstd.unpacking, r.zstd
	case bytes.HasPrefix(b, []byte("\uFEFF")): // skip the byte order mark that other programs write
		_, _ = r.in.Discard(len("\uFEFF"))
	}
	r.lines = bufio.NewReaderSize(content, readAhead)
	return nil
}

// isZstd reports whether b begins a frame with data or a skippable frame. b has four
// bytes, the length of a magic number, or is the complete file if that is shorter.
func isZstd(b []byte) bool {
	if len(b) == 4 && b[0]&0xF0 == 0x50 && string(b[1:]) == "\x2A\x4D\x18" {
		return true
	}
	return begins(b, "\x28\xB5\x2F\xFD")
}

// begins reports whether b, the first bytes of a file or the complete file, begins with
// magic or, if b is shorter, is the beginning of magic.
func begins(b []byte, magic string) bool {
	return len(b) > 0 && string(b[:min(len(b), len(magic))]) == magic[:min(len(b), len(magic))]
}

// readLong reads the rest of a line whose beginning filled the buffer.
func (r *Reader) readLong(line []byte) ([]byte, error) {
	r.long = append(r.long[:0], line...)
	for {
		more, err := r.lines.ReadSlice('\n')
		r.long = append(r.long, more...)
		if len(r.long) > maxLine {
			return nil, fmt.Errorf("the line at byte %d is longer than %d MiB", r.at, maxLine>>20)
		}
		if err != bufio.ErrBufferFull {
			return r.long, err
		}
	}
}

// end records the partial line at the end of the file, or returns why the file
// can't be read to its end.
func (r *Reader) end(partial []byte, err error) error {
	if err != io.EOF {
		return newError("read", r.name, err)
	}
	if !r.good && !r.raw && (r.dropped.Lines > 0 || len(partial) > 0 && partial[0] != '{') {
		return newError("read", r.name, ErrNotCensus)
	}
	r.truncated, r.rest = int64(len(partial)), partial
	if r.content != nil && (r.truncated == 0 || r.packed == inZstd) {
		r.truncated = max(r.truncated, r.content.truncated)
	}
	return io.EOF
}

// Close closes the file that Open opened. After that, Next fails.
func (r *Reader) Close() error {
	r.err = errors.New("read " + r.name + ": after Close")
	if r.zstd != nil {
		r.zstd.close()
	}
	if r.close == nil {
		return nil
	}
	return r.close()
}
