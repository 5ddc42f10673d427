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

// pipePatience is how long opening a pipe may take before the caller is informed.
const pipePatience = time.Second

// openPipe opens a file that may be a named pipe. Opening a pipe waits for its
// writer, so openPipe gives up when ctx ends; it calls waiting, if that is not nil,
// when the wait becomes long.
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

// taken returns how many bytes of the input have been used so far.
func (s *listStream) taken() int64 {
	n := s.tap.taken
	if s.plain != nil {
		n -= int64(s.plain.Buffered())
	}
	return n
}

// end stops reading, closes files, and records what is known about the input.
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
