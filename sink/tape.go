package sink

import (
	"bytes"
	"io"
	"slices"
)

// tape reads a file from the beginning. Bytes can be put back: if a frame is
// damaged, the search for the next frame begins inside it.
type tape struct {
	in     io.Reader
	store  []byte
	r, w   int   // store[r:w] has been read from in, but not taken
	offset int64 // of store[r] in the file
	err    error // error of in after store[:w]
}

// tapeChunk is the number of bytes to read at a time.
const tapeChunk = 256 << 10

// fill makes n bytes available, or all that remain.
func (t *tape) fill(n int) {
	if t.w-t.r >= n {
		return
	}
	if size := max(n, tapeChunk); t.r+size > len(t.store) {
		old := t.store[t.r:t.w]
		if size > len(t.store) {
			t.store = make([]byte, size)
		}
		t.r, t.w = 0, copy(t.store, old)
	}
	for t.w-t.r < n && t.err == nil {
		var got int
		got, t.err = t.in.Read(t.store[t.w:])
		t.w += got
	}
}

// peek returns the next n bytes, or all that remain. The error says why there are
// no more.
func (t *tape) peek(n int) ([]byte, error) {
	if t.fill(n); t.w-t.r < n {
		return t.store[t.r:t.w], t.err
	}
	return t.store[t.r : t.r+n], nil
}

// take appends the next n bytes to dst, or all that remain.
func (t *tape) take(dst []byte, n int) ([]byte, error) {
	b, err := t.peek(n)
	dst = append(dst, b...)
	t.skip(len(b))
	return dst, err
}

// skip skips n bytes, which must be available.
func (t *tape) skip(n int) {
	t.offset += int64(n)
	if t.r += n; t.r == t.w {
		t.r, t.w = 0, 0
	}
}

// discard skips n bytes. It returns an error if fewer remain.
func (t *tape) discard(n int64) error {
	for n > 0 {
		b, err := t.peek(int(min(n, tapeChunk)))
		t.skip(len(b))
		if n -= int64(len(b)); n > 0 && err != nil {
			return err
		}
	}
	return nil
}

// back puts back the bytes that were taken last.
func (t *tape) back(b []byte) {
	t.store = slices.Concat(b, t.store[t.r:t.w])
	t.r, t.w = 0, len(t.store)
	t.offset -= int64(len(b))
}

// find skips everything before the next occurrence of text. It returns false, at
// the end of the file, if there is none.
func (t *tape) find(text []byte) bool {
	for {
		t.fill(len(text))
		b := t.store[t.r:t.w]
		if i := bytes.Index(b, text); i >= 0 {
			t.skip(i)
			return true
		}
		if len(b) < len(text) {
			t.skip(len(b))
			return false
		}
		t.skip(len(b) - len(text) + 1)
	}
}
