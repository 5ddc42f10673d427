package sink

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// maxWindow is the largest window that a file can make a Reader hold: what
// zstd --ultra -20 needs. Its default is 2 MiB, and ours less.
const maxWindow = 32 << 20

var decoderOptions = []zstd.DOption{
	zstd.WithDecoderConcurrency(1),
	zstd.WithDecoderLowmem(true),
	zstd.WithDecoderMaxWindow(maxWindow),
}

var errCorrupt = errors.New("no zstd frame begins here")

// frames reads a zstd file one frame at a time, without unpacking it: it
// knows where frames and their blocks begin and end, and where one is cut
// (RFC 8878, 3.1). Read gives the bytes of the current frame, block by block,
// and io.EOF at its end; of a frame that is cut it gives the whole blocks.
type frames struct {
	in     *bufio.Reader
	offset int64 // of the next byte to be taken from in
	start  int64 // of the current frame
	whole  int64 // where its last block ends that was taken whole

	buf      []byte // what was taken and not yet read
	read     int    // how much of buf was read
	checksum bool   // four bytes follow the last block
	ended    bool   // the last block was taken
	torn     bool   // the input ended inside a frame
}

func newFrames(in *bufio.Reader) *frames { return &frames{in: in} }

// skip passes over the next frame. Its errors are those of begin.
func (z *frames) skip() error {
	if err := z.begin(); err != nil {
		return err
	}
	for !z.ended {
		z.buf = z.buf[:0]
		if err := z.block(); err != nil {
			return err
		}
		if z.torn {
			return io.ErrUnexpectedEOF
		}
	}
	return nil
}

// begin takes the header of the next frame that isn't a skippable one. The
// error is io.EOF after the last frame, and io.ErrUnexpectedEOF, with z.torn
// set, if the frame is cut.
func (z *frames) begin() error {
	for {
		z.start, z.whole = z.offset, z.offset
		b, err := z.in.Peek(zstd.HeaderMaxSize)
		if len(b) == 0 || err != nil && err != io.EOF {
			return err
		}
		var h zstd.Header
		switch err := h.Decode(b); {
		case err == io.ErrUnexpectedEOF:
			z.offset += int64(len(b))
			return z.cut(io.EOF)
		case err != nil:
			return errCorrupt
		case !h.Skippable:
			z.buf, z.read = z.buf[:0], 0
			z.checksum, z.ended = h.HasCheckSum, false
			return z.take(h.HeaderSize)
		}
		n, err := z.in.Discard(h.HeaderSize + int(h.SkippableSize))
		z.offset += int64(n)
		if err != nil {
			return z.cut(err)
		}
	}
}

// block takes the next block of the frame, and what follows the last one. Of
// a last block without what follows it the mark is taken away: whoever unpacks
// the frame has the block, and then learns that the frame is cut.
func (z *frames) block() error {
	if err := z.take(blockHeader); err != nil {
		return err
	}
	b := z.buf[len(z.buf)-blockHeader:]
	head := int(b[0]) | int(b[1])<<8 | int(b[2])<<16
	n := head >> 3
	if kind := head >> 1 & 3; kind == 1 {
		n = 1 // one byte, n times
	}
	if err := z.take(n); err != nil {
		return err
	}
	z.whole, z.ended = z.offset, head&lastBlock != 0
	if z.ended && z.checksum {
		return z.sum(len(z.buf) - n - blockHeader)
	}
	return nil
}

// sum takes the checksum that follows the last block, which begins at last in
// z.buf.
func (z *frames) sum(last int) error {
	size := len(z.buf)
	err := z.take(4)
	if err == nil {
		z.whole = z.offset
	}
	if z.torn {
		z.buf, z.ended, err = z.buf[:size], false, nil
		z.buf[last] &^= lastBlock
	}
	return err
}

// A block's header, and the bit in it that says it is the last one.
const (
	blockHeader = 3
	lastBlock   = 1
)

// take appends n bytes of the input to z.buf.
func (z *frames) take(n int) error {
	old := len(z.buf)
	z.buf = slices.Grow(z.buf, n)[:old+n]
	got, err := io.ReadFull(z.in, z.buf[old:])
	z.offset += int64(got)
	return z.cut(err)
}

// cut makes an end of the input inside a frame the error that says so. The
// decoder has the same error for other faults: torn tells them apart.
func (z *frames) cut(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		z.torn = true
		return io.ErrUnexpectedEOF
	}
	return err
}

// Read reads the bytes of the current frame.
func (z *frames) Read(p []byte) (int, error) {
	if z.read == len(z.buf) {
		if z.ended {
			return 0, io.EOF
		}
		if z.torn {
			return 0, io.ErrUnexpectedEOF
		}
		z.buf, z.read = z.buf[:0], 0
		if err := z.block(); err != nil {
			return 0, err
		}
	}
	n := copy(p, z.buf[z.read:])
	z.read += n
	return n, nil
}

// unpacker gives what is compressed in all frames of a file, up to a cut.
type unpacker struct {
	frames *frames
	dec    *zstd.Decoder
	open   bool  // inside a frame
	torn   int64 // bytes of a block that is cut
}

func newUnpacker(in *bufio.Reader) (*unpacker, error) {
	dec, err := zstd.NewReader(nil, decoderOptions...)
	return &unpacker{frames: newFrames(in), dec: dec}, err
}

func (u *unpacker) Read(p []byte) (n int, err error) {
	for n == 0 && err == nil {
		if !u.open {
			if err = u.frames.begin(); err == nil {
				err = u.dec.Reset(u.frames)
				u.open = true
			}
			if err != nil {
				break
			}
		}
		n, err = u.dec.Read(p)
		if err == io.EOF {
			u.open, err = false, nil
		}
	}
	return n, u.explain(err)
}

// explain makes a cut the end of the file, and says where it is corrupt.
func (u *unpacker) explain(err error) error {
	switch {
	case err == nil || err == io.EOF:
		return err
	case u.frames.torn:
		u.torn = u.frames.offset - u.frames.whole
		return io.EOF
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return fmt.Errorf("the frame at byte %d needs a window of more than %d MiB to unpack",
			u.frames.start, maxWindow>>20)
	}
	return fmt.Errorf("corrupt at byte %d: %w", u.frames.start, err)
}
