package list

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"os"
	"time"
)

// openPipe opens a file that may be a named pipe. Opening a named pipe blocks until
// it has a writer: after a second, openPipe calls note, unless it is nil; when ctx
// ends, it returns ctx's error.
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

// tap reads an input in a goroutine, so that a read that blocks can be abandoned, and
// hashes it there.
type tap struct {
	*io.PipeReader
	hash  hash.Hash
	done  chan struct{} // closed when the goroutine has returned
	taken int64         // bytes read from the tap
	ended bool          // the tap was read to its end
	stop  func() bool
}

// newTap returns a tap of from. Its reads fail when ctx ends.
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

// Read implements io.Reader.
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
