package sink

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"

	"github.com/a2sscan/a2sscan/sink/record"
)

// maxLine is the maximum length in bytes of a line that a Reader returns: somewhat
// more than the maximum length of a record.
const maxLine = record.MaxSize + 1<<20

// ErrNotCensus means that a file contains no records.
var ErrNotCensus = errors.New("the file does not look like a census")

// A Reader returns ErrNotCensus for a file that begins with maxForeign lines that
// are not JSON.
const maxForeign = 16

// Reader reads the lines of a census from a file that is plain or compressed with
// zstd or gzip. It detects the format from the first bytes. Several concatenated
// files are one census. A Reader serves one goroutine at a time. Pipe reads on several
// processors.
//
// A Reader skips damaged frames, and lines that are not JSON. Damage counts both.
type Reader struct {
	name    string
	close   func() error
	in      *bufio.Reader // reads the file; its buffer serves only to look at the first bytes
	packed  packing       // compression of the file; known after the first read
	content *unpacking    // nil if the file is plain
	zstd    *unzstd       // nil if the file is not compressed with zstd
	raw     bool          // return lines without checking them

	source  io.Reader // the unpacked content; nil before the first read
	at      int64     // offset of the next block in the unpacked census
	partial []byte    // the beginning of a line, read after the last block
	failed  error     // the error of source; Next returns it after all lines that were read
	good    bool      // at least one line was JSON
	foreign uint64    // number of lines before the first line that is JSON

	block     Block // the lines that Next returns
	dropped   Damage
	truncated int64
	rest      []byte // the partial last line
	err       error  // the first error

	regular bool          // the file is a regular file, so reading it does not wait for other programs
	reading chan struct{} // closed when the goroutine that reads for Pipe has ended; nil before Pipe
}

// unpacking describes the frames or members that were read from a file.
type unpacking struct {
	complete int64 // end of the last complete frame
	// truncated is the number of bytes at the end of the file that belong to a partial
	// block or member.
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

// OpenTee opens the census at path like Open. It also writes to w every byte that the
// Reader reads from the file.
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
	if info, err := f.Stat(); err == nil {
		r.regular = info.Mode().IsRegular()
	}
	return r, nil
}

// NewReader returns a Reader that reads the census from its argument. It reads nothing
// before the first call of Next or Pipe; then it reads ahead.
func NewReader(in io.Reader) *Reader {
	return &Reader{name: "census", in: bufio.NewReaderSize(in, 512)}
}

// Next returns the next line without its newline. The line is valid until the next
// call. After the last complete line the error is io.EOF, even if a partial line
// follows or something was skipped (see Damage). Any other error before Close is an
// *Error: the file can't be read, a line is too long, the file contains no records
// (ErrNotCensus), or a record has an unknown schema (record.SchemaError).
func (r *Reader) Next() ([]byte, error) {
	for r.err == nil {
		if line, ok := r.block.next(); ok {
			return line, nil
		}
		if r.err = r.finish(&r.block); r.err == nil {
			r.err = r.fill(&r.block)
			text := r.block.text // has it one record per line?
			r.block.checked = r.block.checked && !bytes.Contains(text, []byte("}{")) && bytes.Count(text, []byte(`{"schema":`)) <= bytes.Count(text, []byte("\n"))
		}
	}
	return nil, r.err
}

// KeepLines makes Next return every line, even one that is not JSON.
func (r *Reader) KeepLines() { r.raw = true }

// isReading reports whether a goroutine that Pipe started still reads from r.
func (r *Reader) isReading() bool {
	if r.reading == nil {
		return false
	}
	select {
	case <-r.reading:
		return false
	default:
		return true
	}
}

// Damage returns the damage that the Reader has skipped so far. If Pipe returned an error of
// take and a goroutine still waits for input, Damage returns only damaged lines.
func (r *Reader) Damage() Damage {
	d := r.dropped
	if r.isReading() {
		return d
	}
	d.join(r.block.dropped)
	if r.content != nil {
		if lines := d; r.content.damage.Found() {
			d = r.content.damage
			d.Lines, d.Bytes = lines.Lines, d.Bytes+lines.Bytes
		}
		d.Open, d.Flushed = r.content.noEnd, r.content.flushed
	}
	d.Truncated = r.truncated
	return d
}

// start detects the format from the first bytes or, if these are damaged, from the name of
// the file.
func (r *Reader) start() (err error) {
	b, err := r.in.Peek(4)
	if err != nil && err != io.EOF {
		return newError("read", r.name, err)
	}
	r.source = r.in
	switch {
	case begins(b, "\x1F\x8B\x08"): // a gzip member with deflated data
		g := &gunzip{in: bufio.NewReaderSize(r.in, 256<<10), unpacking: unpacking{last: '\n'}, member: new(gzip.Reader)}
		r.packed, r.content, r.source = inGzip, &g.unpacking, g
	case isZstd(b) || packingOf(r.name) == inZstd && len(b) > 0 && b[0] != '{':
		if r.zstd, err = newUnzstd(r.in); err != nil {
			return newError("read", r.name, err)
		}
		r.packed, r.content, r.source = inZstd, &r.zstd.unpacking, r.zstd
	}
	return nil
}

// isZstd reports whether b begins with the magic number of a zstd frame or a skippable
// frame. If b is shorter than four bytes, it must be the complete file.
func isZstd(b []byte) bool {
	if len(b) == 4 && b[0]&0xF0 == 0x50 && string(b[1:]) == "\x2A\x4D\x18" {
		return true
	}
	return begins(b, "\x28\xB5\x2F\xFD")
}

// begins reports whether b begins with magic. If b is shorter than magic, begins reports
// whether magic begins with b, which must not be empty.
func begins(b []byte, magic string) bool {
	return len(b) > 0 && string(b[:min(len(b), len(magic))]) == magic[:min(len(b), len(magic))]
}

// end stores the partial line at the end of the file, and returns io.EOF. If the file can't
// be read to its end, or is no census, end returns the error for that.
func (r *Reader) end(partial []byte, err error) error {
	if err != io.EOF {
		return newError("read", r.name, err)
	}
	text := bytes.TrimPrefix(partial, []byte(byteOrderMark))
	if !r.good && !r.raw && (r.foreign > 0 || len(text) > 0 && text[0] != '{') {
		return newError("read", r.name, ErrNotCensus)
	}
	r.truncated, r.rest = int64(len(partial)), partial
	if r.content != nil && (r.truncated == 0 || r.packed == inZstd) {
		r.truncated = max(r.truncated, r.content.truncated)
	}
	return io.EOF
}

// Close closes the file that Open has opened. After Close, Next returns an error.
func (r *Reader) Close() error {
	r.err = errors.New("read " + r.name + ": the reader is closed")
	if r.isReading() {
		go func() {
			<-r.reading
			r.zstd.close()
		}()
	} else {
		r.zstd.close()
	}
	if r.close == nil {
		return nil
	}
	return r.close()
}
