package sink

import (
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"
)

var errCorrupt = errors.New("no zstd frame begins here")

// frames reads a zstd file one frame at a time, without unpacking the frames: it
// finds the ends of frames and blocks, and recognises a truncated frame (RFC 8878,
// 3.1). Read returns the bytes of the current frame, block by block, and io.EOF at
// its end. Of a truncated frame it returns the complete blocks, and then
// io.ErrUnexpectedEOF.
type frames struct {
	in    *tape
	start int64 // of the current frame
	whole int64 // end of the last complete block of the current frame

	buf       []byte // bytes taken and not yet read
	read      int    // how many bytes of buf were read
	blocks    int    // blocks of the frame taken so far
	checksum  bool   // four bytes follow the last block
	ended     bool   // the last block was taken
	truncated bool   // the input ended inside a frame
	short     bool   // Read has returned the error for truncated
}

func newFrames(in io.Reader) *frames { return &frames{in: &tape{in: in}} }

// skip skips the next frame. Its errors are those of begin and block.
func (z *frames) skip() error {
	if err := z.begin(); err != nil {
		return err
	}
	for !z.ended {
		z.buf = z.buf[:0]
		if err := z.block(); err != nil {
			return err
		}
		if z.truncated {
			return io.ErrUnexpectedEOF
		}
	}
	return nil
}

// collect reads the next frame into z.buf. It stops at the end of the frame, at the
// end of a truncated file, or soon after z.buf exceeds limit bytes. Its errors are
// those of begin and block.
func (z *frames) collect(limit int) error {
	err := z.begin()
	if err != nil {
		return err
	}
	for err == nil && !z.ended && len(z.buf) < limit {
		err = z.block()
	}
	if z.truncated {
		return nil
	}
	return err
}

// begin reads the header of the next frame, after skipping skippable frames. The
// error is io.EOF after the last frame, and io.ErrUnexpectedEOF, with z.truncated
// set, if the header is truncated.
func (z *frames) begin() error {
	z.buf, z.read, z.blocks = z.buf[:0], 0, 0
	z.truncated, z.short, z.ended = false, false, false
	for {
		z.start, z.whole = z.in.offset, z.in.offset
		b, err := z.in.peek(zstd.HeaderMaxSize)
		if len(b) == 0 || err != nil && err != io.EOF {
			return err
		}
		var h zstd.Header
		switch err := h.Decode(b); {
		case err == io.ErrUnexpectedEOF:
			return z.cut(z.take(len(b) + 1))
		case err != nil:
			return errCorrupt
		case !h.Skippable:
			z.checksum = h.HasCheckSum
			return z.take(h.HeaderSize)
		}
		if err := z.in.discard(int64(h.HeaderSize) + int64(h.SkippableSize)); err != nil {
			return z.cut(err)
		}
	}
}

// The length of a block header, the bit in it that marks the last block, and the
// maximum length of a block.
const (
	blockHeader = 3
	lastBlock   = 1
	maxBlock    = 128 << 10
)

// block reads the next block of the frame and, after the last one, the checksum. If
// the checksum is truncated, block clears the bit that marks the last block: the
// decoder then unpacks the block, and finds the frame truncated after it.
func (z *frames) block() error {
	if err := z.take(blockHeader); err != nil {
		return err
	}
	b := z.buf[len(z.buf)-blockHeader:]
	head := int(b[0]) | int(b[1])<<8 | int(b[2])<<16
	n := head >> 3
	switch kind := head >> 1 & 3; {
	case kind == 1:
		n = 1 // one byte, n times
	case kind == 3 || n > maxBlock:
		return errCorrupt
	}
	if err := z.take(n); err != nil {
		return err
	}
	z.blocks++
	z.whole, z.ended = z.in.offset, head&lastBlock != 0
	if z.ended && z.checksum {
		return z.sum(len(z.buf) - n - blockHeader)
	}
	return nil
}

// sum reads the checksum after the last block. last is the offset of that block in
// z.buf.
func (z *frames) sum(last int) error {
	size := len(z.buf)
	err := z.take(4)
	if err == nil {
		z.whole = z.in.offset
	}
	if z.truncated {
		z.buf, z.ended, err = z.buf[:size], false, nil
		z.buf[last] &^= lastBlock
	}
	return err
}

// take appends n bytes of the input to z.buf.
func (z *frames) take(n int) (err error) {
	z.buf, err = z.in.take(z.buf, n)
	return z.cut(err)
}

// cut turns the end of the input inside a frame into io.ErrUnexpectedEOF, and sets
// z.truncated. The decoder returns that error for other faults, too; z.truncated
// distinguishes them.
func (z *frames) cut(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		z.truncated = true
		return io.ErrUnexpectedEOF
	}
	return err
}

// Read returns bytes of the current frame.
func (z *frames) Read(p []byte) (int, error) {
	if z.read == len(z.buf) {
		if z.ended {
			return 0, io.EOF
		}
		if z.short = z.truncated; z.truncated {
			return 0, io.ErrUnexpectedEOF
		}
		z.buf, z.read = z.buf[:0], 0
		if err := z.block(); err != nil {
			z.short = z.truncated
			return 0, err
		}
	}
	n := copy(p, z.buf[z.read:])
	z.read += n
	return n, nil
}
