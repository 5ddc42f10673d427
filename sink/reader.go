package sink

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/a2sscan/a2sscan/sink/record"
)

// maxLine is the longest line that a Reader returns. Files of a later schema
// may have somewhat longer records than ours.
const maxLine = record.MaxSize + 1<<20

// ErrNotCensus says that a file has no records.
var ErrNotCensus = errors.New("does not look like a census")

// maxForeign is how many lines that are no JSON a file may begin with.
const maxForeign = 16

// Reader reads the lines of a census: of a plain file, or of one that is
// compressed with zstd, which shows in its first bytes. Several files put one
// after the other are one census. A Reader serves one goroutine at a time.
//
// What is damaged is passed over: of a compressed file the frame, in a plain one
// the lines that are no JSON. Damage says what is missing.
type Reader struct {
	name  string
	close func() error
	in    *bufio.Reader // the file
	zstd  *unpacker     // nil unless it is compressed
	lines *bufio.Reader // what is in it
	raw   bool          // lines are not looked at
	good  bool          // a line was returned
	long  []byte        // a line longer than the buffer of lines
	at    int64         // of the next line, in what was compressed
	torn  int64
	rest  []byte // of a line that is not complete
	err   error  // kept

	dropped Damage // lines
}

// Open opens the census at path; "-" and "" are standard input.
func Open(path string) (*Reader, error) {
	return open(path, func(in io.Reader) io.Reader { return in })
}

// open is Open with something between the file and the Reader.
func open(path string, through func(io.Reader) io.Reader) (*Reader, error) {
	if isStandard(path) {
		r := NewReader(through(os.Stdin))
		r.name = "standard input"
		return r, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, newError("open", path, err)
	}
	r := NewReader(through(f))
	r.name, r.close = path, f.Close
	return r, nil
}

// NewReader returns a Reader of what in holds. It reads nothing before Next
// is called, and more than was asked for then.
func NewReader(in io.Reader) *Reader {
	return &Reader{name: "census", in: bufio.NewReaderSize(in, 256<<10)}
}

// Next returns the next line without its newline, valid until the next call.
// After the last complete line the error is io.EOF, also where the rest is cut
// off (see Torn) or something was passed over (see Damage). Any other error is
// an *Error: the file can't be read, holds no records (ErrNotCensus), or records
// of a schema that this version does not know (record.SchemaError).
func (r *Reader) Next() ([]byte, error) {
	for {
		at := r.at
		line, err := r.next()
		if err != nil || r.raw {
			return line, err
		}
		if r.isJSON(line) {
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

// isJSON reports whether a line is JSON. Checksums prove that of what comes out
// of undamaged frames.
func (r *Reader) isJSON(line []byte) bool {
	if z := r.zstd; z != nil && r.good && !z.stream && !z.damage.Found() {
		return true
	}
	return json.Valid(line)
}

// next returns the next line, whatever it is.
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

// KeepLines makes Next return every line, also those that are no JSON: for a
// program that reports each of them itself.
func (r *Reader) KeepLines() { r.raw = true }

// Damage returns what was passed over so far.
func (r *Reader) Damage() Damage {
	d := r.dropped
	if r.zstd != nil && r.zstd.damage.Found() {
		d = r.zstd.damage
		d.Lines, d.Bytes = r.dropped.Lines, d.Bytes+r.dropped.Bytes
	}
	return d
}

// start looks at the first bytes to see what the file is.
func (r *Reader) start() (err error) {
	b, err := r.in.Peek(4)
	if err != nil && err != io.EOF {
		return newError("read", r.name, err)
	}
	r.lines = r.in
	if isZstd(b) || isPacked(r.name) && len(b) > 0 && b[0] != '{' {
		if r.zstd, err = newUnpacker(r.in); err != nil {
			return newError("read", r.name, err)
		}
		r.lines = bufio.NewReaderSize(r.zstd, 256<<10)
	}
	return nil
}

// isZstd reports whether b begins a frame with data, or a skippable one; b is
// shorter than a magic number only in a file that is.
func isZstd(b []byte) bool {
	if len(b) == 4 && b[0]&0xF0 == 0x50 && string(b[1:]) == "\x2A\x4D\x18" {
		return true
	}
	return len(b) > 0 && bytes.HasPrefix([]byte("\x28\xB5\x2F\xFD"), b)
}

// readLong reads on after the beginning of a line that filled the buffer.
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

// end notes what was left out at the end of the file, or says why it can't be
// read to the end; half is a line without its end.
func (r *Reader) end(half []byte, err error) error {
	if err != io.EOF {
		return newError("read", r.name, err)
	}
	if !r.good && r.dropped.Lines > 0 {
		return newError("read", r.name, ErrNotCensus)
	}
	r.torn, r.rest = int64(len(half)), half
	if r.zstd != nil && r.zstd.torn > 0 {
		r.torn = r.zstd.torn
	}
	return io.EOF
}

// Torn returns how many bytes were left out at the end of the file, once Next
// returned io.EOF: of half a line, or of a block of zstd that is cut, as it
// stands compressed in the file. A run that was killed leaves such a tail; it
// was never promised by a Sync. It is 0 where nothing was lost, also in a file
// of which the last frame isn't ended, as it is in one that is being written.
func (r *Reader) Torn() int64 { return r.torn }

// Rest returns what there is of a last line without its end, once Next returned
// io.EOF: what Torn counts, where the file is not compressed. It is valid until
// Close. In a file without one whole line it shows whether that is a census.
func (r *Reader) Rest() []byte { return r.rest }

// Close closes the file, unless the Reader was given an io.Reader. Next can't
// be called after it.
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
