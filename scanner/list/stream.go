package list

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"os"
	"regexp"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// openPipe opens a file that may be a named pipe. Opening a pipe blocks until a program
// opens it for writing. If this takes longer than a second, openPipe calls note, unless
// note is nil. If ctx ends, openPipe returns the error of ctx.
func openPipe(ctx context.Context, path string, note func(string)) (*os.File, error) {
	var f *os.File
	var err error
	opened := make(chan struct{})
	go func() {
		defer close(opened)
		f, err = os.Open(path)
	}()
	for long := time.After(time.Second); ; {
		select {
		case <-opened:
			return f, err
		case <-long:
			if note != nil {
				note("waiting for a program to write to " + show([]byte(path)))
			}
		case <-ctx.Done():
			go func() {
				<-opened
				f.Close()
			}()
			return nil, ctx.Err()
		}
	}
}

// tap reads an input in a goroutine, so that a read that blocks can be abandoned. The
// goroutine also hashes the input.
type tap struct {
	*io.PipeReader
	hash  hash.Hash
	done  chan struct{} // closed when the goroutine has returned
	taken int64         // bytes read from the tap
	ended bool          // the tap was read to its end
	stop  func() bool
}

// newTap returns a tap of its second argument. Reads from the tap fail after ctx has
// ended.
func newTap(ctx context.Context, from io.Reader) *tap {
	r, w := io.Pipe()
	t := &tap{PipeReader: r, hash: sha256.New(), done: make(chan struct{})}
	t.stop = context.AfterFunc(ctx, func() { w.CloseWithError(ctx.Err()) })
	go func() {
		defer close(t.done)
		_, err := io.CopyBuffer(w, io.TeeReader(from, t.hash), make([]byte, 256<<10))
		w.CloseWithError(err)
	}()
	return t
}

func (t *tap) Read(p []byte) (int, error) {
	n, err := t.PipeReader.Read(p)
	t.taken += int64(n)
	t.ended = t.ended || err == io.EOF
	return n, err
}

// end stops reading. It returns the SHA-256 of the input in hex, or an empty string
// if the input was not read to its end.
func (t *tap) end() string {
	t.stop()
	t.PipeReader.Close()
	if !t.ended {
		return ""
	}
	<-t.done
	return hex.EncodeToString(t.hash.Sum(nil))
}

// errTruncated is the error at the end of a compressed list that was cut off. The data
// before this error is intact.
var errTruncated = errors.New("the compressed data ends early")

// maxWindow limits the memory that decompressing a list can take. The zstd tool has
// the same limit.
const maxWindow = 128 << 20

// notRead maps the first bytes of a file to the name of an unsupported compression format.
var notRead = map[string]string{"BZh": "bzip2", "\xfd7zXZ": "xz", "PK\x03\x04": "zip", "\x04\x22\x4d\x18": "lz4"}

// decompress returns a reader that decompresses b, and the name of the compression. If the
// data is not compressed, it returns b and "". A compressed list that was cut off ends with
// errTruncated.
func decompress(b *bufio.Reader) (plain io.Reader, compression string, err error) {
	head, _ := b.Peek(6) // any line with a target is longer
	begins := func(magic string) bool { return bytes.HasPrefix(head, []byte(magic)) }
	// A zstd file may begin with a skippable frame, which holds no data.
	skippable := len(head) > 3 && head[0]>>4 == 5 && string(head[1:4]) == "\x2a\x4d\x18"
	var r io.Reader
	switch {
	case begins("\x1f\x8b"):
		compression = "gzip"
		r, err = gzip.NewReader(b)
	case begins("\x28\xb5\x2f\xfd"), skippable:
		// Without concurrency the decoder starts no goroutine, and so needs no Close.
		compression = "zstd"
		r, err = zstd.NewReader(b, zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	default:
		for magic, name := range notRead {
			if begins(magic) {
				return nil, "", fmt.Errorf("the list is compressed with %s, which is not supported: "+
					"decompress the list, or use gzip or zstd", name)
			}
		}
		return b, "", nil
	}
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return &unpacker{err: errTruncated}, compression, nil
	}
	return &unpacker{r: r}, compression, err
}

// unpacker is a decompressor that returns errTruncated if its data ends early.
type unpacker struct {
	r   io.Reader
	err error
}

func (t *unpacker) Read(p []byte) (n int, err error) {
	if t.err == nil {
		n, t.err = t.r.Read(p)
		if errors.Is(t.err, io.ErrUnexpectedEOF) {
			t.err = errTruncated
		}
	}
	return n, t.err
}

// maxLine is the maximum length of a line in bytes, including its line ending. A
// longer line is invalid, and only its beginning is used. A line of JSON may be
// longer.
const maxLine = 64 << 10

// utf8BOM is the byte order mark that some editors write at the beginning of a file. A file
// that was joined from several files may contain several marks.
var utf8BOM = []byte("\xef\xbb\xbf")

// line is a line of a list. Its text is valid until the next line is read.
type line struct {
	number int    // from 1
	text   []byte // without its line ending; only the beginning if the line is too long
	last   bool   // this is the last line, and it has no line ending
	// fault is "", faultLong or faultLineEnds. It is faultTruncated if a compressed list
	// was cut off inside this line.
	fault fault
}

// isBlank reports whether the line is empty or a comment. A line with a fault is not
// blank, except a comment that is too long.
func (l *line) isBlank() bool {
	text := bytes.TrimSpace(l.text)
	return isComment(text) && (l.fault == "" || l.fault == faultLong && len(text) > 0)
}

// joined matches a carriage return inside a line, and a target after it.
var joined = regexp.MustCompile(`(?s)\r.*([0-9]\.[0-9]+\.[0-9]+\.[0-9]|[A-Za-z0-9\]]:[0-9])`)

// endsInReturns reports whether a line is probably several lines, each of which ends with
// only a carriage return. Their targets must not become part of a tag or a comment.
func (l *line) endsInReturns() bool {
	if bytes.IndexByte(l.text, '\r') < 0 {
		return false
	}
	text := bytes.TrimSpace(l.text)
	return joined.Match(text) || l.last && bytes.IndexByte(text, '\r') >= 0 && l.text[len(l.text)-1] == '\r'
}

// eachLine yields the lines of r. Its second argument is the maximum length of a line in
// bytes; the rest of a longer line is dropped. If reading fails, eachLine sets err and does
// not yield the line that it was reading. A compressed list that was cut off ends with a
// line that has faultTruncated and may be empty.
func eachLine(r io.Reader, most int, err *error) iter.Seq[line] {
	return func(yield func(line) bool) {
		b := bufio.NewReaderSize(r, maxLine)
		var long []byte // memory for a line that is longer than the buffer
		for number := 1; ; number++ {
			l := line{number: number}
			text, fail := b.ReadSlice('\n')
			size := len(text)
			if fail == bufio.ErrBufferFull {
				long = append(long[:0], text...)
				for fail == bufio.ErrBufferFull {
					text, fail = b.ReadSlice('\n')
					size += len(text)
					long = append(long, text[:min(len(text), most-len(long))]...)
				}
				text = long
			}
			switch {
			case fail == io.EOF:
				l.last = true
			case fail == errTruncated:
				l.last, l.fault = true, faultTruncated
			case fail != nil:
				*err = fail
				return
			}
			if size > most {
				l.fault = faultLong
			}
			text = bytes.TrimPrefix(text, utf8BOM)
			l.text = bytes.TrimSuffix(text, []byte("\n"))
			if l.fault != faultTruncated && l.endsInReturns() {
				l.fault = faultLineEnds
			}
			l.text = bytes.TrimSuffix(l.text, []byte("\r"))
			if l.last && l.fault == "" && size == 0 || !yield(l) || l.last {
				return
			}
		}
	}
}

// isComment reports whether a line without surrounding white space is empty or a
// comment. Comments of Xash3D begin with "//".
func isComment(text []byte) bool {
	return len(text) == 0 || text[0] == '#' || bytes.HasPrefix(text, []byte("//"))
}

// firstLine returns the first line that is neither empty nor a comment, without
// surrounding white space.
func firstLine(head []byte) []byte {
	for text := range bytes.Lines(head) {
		if text = bytes.TrimSpace(bytes.TrimPrefix(text, utf8BOM)); !isComment(text) {
			return text
		}
	}
	return nil
}
