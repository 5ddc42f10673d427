package sink

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/a2sscan/a2sscan/sink/record"
)

// maxLine is the longest line that a Reader returns. Files of a later schema
// may have somewhat longer records than ours.
const maxLine = record.MaxSize + 1<<20

// Reader reads the lines of a census: of a file as it is, or compressed with
// zstd, which shows in its first bytes. Files that were put one after the
// other are one census. It serves one goroutine at a time.
type Reader struct {
	name  string
	close func() error
	in    *bufio.Reader // the file
	zstd  *unpacker     // nil unless it is compressed
	lines *bufio.Reader // what is in it
	long  []byte        // a line longer than the buffer of lines
	at    int64         // of the next line, in what was compressed
	torn  int64
	rest  []byte // of a line that is not whole
	err   error  // kept
}

// Open opens the census at path; "-" and "" are standard input.
func Open(path string) (*Reader, error) {
	if isStandard(path) {
		r := NewReader(os.Stdin)
		r.name = "standard input"
		return r, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, newError("open", path, err)
	}
	r := NewReader(f)
	r.name, r.close = path, f.Close
	return r, nil
}

// NewReader returns a Reader of what in holds. It reads nothing before Next
// is called, and more than was asked for then.
func NewReader(in io.Reader) *Reader {
	return &Reader{name: "census", in: bufio.NewReaderSize(in, 256<<10)}
}

// Next returns the next line without its newline, valid until the next call.
// After the last whole line the error is io.EOF, also where the rest is torn
// (see Torn). Any other error is an *Error: the file can't be read or is
// corrupt. It says from which byte on; what came out of a frame before it was
// found to be corrupt may be wrong. Lines are not checked to be JSON.
func (r *Reader) Next() ([]byte, error) {
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

// start looks at the first bytes to see what the file is.
func (r *Reader) start() (err error) {
	b, err := r.in.Peek(4)
	if err != nil && err != io.EOF {
		return newError("read", r.name, err)
	}
	r.lines = r.in
	if isZstd(b) {
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
		r.zstd.dec.Close()
	}
	if r.close == nil {
		return nil
	}
	return r.close()
}
