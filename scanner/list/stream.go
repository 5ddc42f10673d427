package list

import (
	"bufio"
	"context"
	"io"
	"os"
	"time"
)

// listStream is a list that is being read: its bytes pass through a tap and are
// decompressed.
type listStream struct {
	in       *input
	tap      *tap
	unpacked *unpacker     // reads from the tap, if the list is compressed
	plain    *bufio.Reader // reads from the tap, if the list is not compressed
}

// openList opens a list that is not standard input.
func openList(ctx context.Context, in *input, waiting func(string)) (io.ReadCloser, error) {
	switch {
	case in.source != nil:
		return in.source.Open()
	case in.size >= 0:
		return os.Open(in.path)
	}
	return openPipe(ctx, in.path, waiting)
}

// pipePatience is how long opening a pipe may take before openPipe calls waiting.
const pipePatience = time.Second

// openPipe opens a file that may be a named pipe. Opening a named pipe blocks until
// it has a writer: after pipePatience, openPipe calls waiting, unless it is nil;
// when ctx ends, it returns ctx's error.
func openPipe(ctx context.Context, path string, waiting func(string)) (io.ReadCloser, error) {
	var f *os.File
	var err error
	opened := make(chan struct{})
	go func() {
		f, err = os.Open(path)
		close(opened)
	}()
	long := time.NewTimer(pipePatience)
	defer long.Stop()
	for {
		select {
		case <-opened:
			return f, err
		case <-long.C:
			if waiting != nil {
				waiting(show([]byte(path)))
			}
		case <-ctx.Done():
			go func() {
				if <-opened; err == nil {
					f.Close()
				}
			}()
			return nil, ctx.Err()
		}
	}
}

// unpack decompresses raw if it is compressed, and converts it to UTF-8.
func (s *listStream) unpack(raw *bufio.Reader) (*bufio.Reader, error) {
	plain, compression, err := decompress(raw)
	if err != nil {
		return nil, err
	}
	s.in.compression.Store(&compression)
	if compression == "" {
		s.plain = raw
	}
	s.unpacked, _ = plain.(*unpacker)
	return buffered(asUTF8(buffered(plain))), nil
}

// buffered returns r with a buffer large enough for a line.
func buffered(r io.Reader) *bufio.Reader {
	if b, ok := r.(*bufio.Reader); ok && b.Size() >= MaxLine {
		return b
	}
	return bufio.NewReaderSize(r, MaxLine)
}

// taken returns how many bytes of the input the line reader has used so far.
func (s *listStream) taken() int64 {
	n := s.tap.taken
	if s.plain != nil {
		n -= int64(s.plain.Buffered())
	}
	return n
}

// end stops reading, closes from unless it is standard input, and records the
// checksum, truncation and size of the input.
func (s *listStream) end(from io.Reader) {
	t := s.tap
	t.stop()
	if s.in.source != nil {
		<-t.done // unlike a file, it must not be closed while it is read
	}
	if f, ok := from.(io.Closer); ok && !s.in.isStdin() {
		f.Close()
		if s.in.size >= 0 {
			<-t.done // a regular file doesn't block
		}
	}
	sum := t.sum256()
	s.in.sum.Store(&sum)
	s.in.truncated.Store(s.unpacked != nil && s.unpacked.err == errTruncated)
	s.in.bytes.Store(t.bytes.Load())
}
