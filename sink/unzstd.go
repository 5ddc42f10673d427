package sink

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// maxWindow is the largest window, in bytes, for which a Reader reserves memory: the
// window of zstd --ultra -20. The default of zstd is 2 MiB; a Writer uses packWindow.
const maxWindow = 32 << 20

// frameMagic begins a zstd frame. It is not valid UTF-8, so no string of a record in a
// damaged frame can look like the beginning of a frame.
var frameMagic = []byte("\x28\xB5\x2F\xFD")

// The reasons why no complete frame of a usual length begins at a place.
var (
	errCorrupt = errors.New("no zstd frame begins here")
	errCut     = errors.New("the file ends inside a frame")
	errLong    = errors.New("the frame is longer than those of a census")
)

// unpacker unpacks the frames of a zstd file. It unpacks a complete frame and compares
// its checksum before it returns any of it. It returns a frame that is cut off, or
// longer than a Writer produces, block by block. After damage it continues with the
// next frame that checks.
type unpacker struct {
	in  io.Reader
	buf []byte // read from in and not yet consumed
	at  int64  // offset of buf in the file
	err error  // of in, after buf

	whole  *zstd.Decoder // for complete frames
	blocks *zstd.Decoder // for others
	stream bool          // blocks has more to return
	good   int64         // offset of the last complete block that blocks has read

	store, out []byte // out is unpacked and not yet returned; store is its memory
	last       byte   // the last byte returned
	kept       int64  // end of the last complete frame
	unended    bool   // the content up to kept does not end with a newline
	truncated  int64  // bytes of a truncated block or header
	damage     Damage
}

func newUnpacker(in io.Reader) (*unpacker, error) {
	options := []zstd.DOption{zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true)}
	blocks, err := zstd.NewReader(nil, append(options, zstd.WithDecoderMaxWindow(maxWindow))...)
	if err != nil {
		return nil, err
	}
	whole, err := zstd.NewReader(nil, append(options, zstd.WithDecoderMaxMemory(maxWindow))...)
	return &unpacker{in: in, whole: whole, blocks: blocks, last: '\n'}, err
}

func (u *unpacker) close() {
	u.blocks.Close()
	u.whole.Close()
}

// Read returns the content of the frames.
func (u *unpacker) Read(p []byte) (n int, err error) {
	for n == 0 && err == nil {
		switch {
		case len(u.out) > 0:
			n = copy(p, u.out)
			u.out = u.out[n:]
		case u.stream:
			n, err = u.readBlocks(p)
		default:
			err = u.next()
		}
	}
	if n > 0 {
		u.last = p[n-1]
	}
	return n, err
}

// fill makes n bytes of the file available in buf, and reports whether there are so
// many.
func (u *unpacker) fill(n int) bool {
	const chunk, least = 256 << 10, 4 << 10
	for len(u.buf) < n && u.err == nil {
		if cap(u.buf)-len(u.buf) < least {
			u.buf = append(make([]byte, 0, max(2*len(u.buf), chunk)), u.buf...)
		}
		var got int
		got, u.err = u.in.Read(u.buf[len(u.buf):cap(u.buf)])
		u.buf = u.buf[:len(u.buf)+got]
	}
	return len(u.buf) >= n
}

// take consumes n bytes of buf.
func (u *unpacker) take(n int) {
	u.buf = u.buf[n:]
	u.at += int64(n)
}

// cut returns the error for bytes that fill has not found.
func (u *unpacker) cut() error {
	if u.err != io.EOF {
		return u.err
	}
	return errCut
}

// frame makes the frame at the beginning of buf available, and returns its length. It
// follows the lengths of its blocks (RFC 8878, 3.1.1). If the frame is cut off, end is
// the end of its last complete block. A skippable frame has no content.
func (u *unpacker) frame() (end int, err error) {
	if !u.fill(1) {
		return 0, u.err
	}
	u.fill(zstd.HeaderMaxSize)
	var h zstd.Header
	switch err := h.Decode(u.buf[:min(len(u.buf), zstd.HeaderMaxSize)]); {
	case err == io.ErrUnexpectedEOF && u.err != nil:
		return 0, u.cut()
	case err != nil:
		return 0, errCorrupt
	}
	pos := h.HeaderSize
	if h.Skippable {
		if pos += int(h.SkippableSize); pos > maxTail {
			return 0, errCorrupt
		} else if !u.fill(pos) {
			return 0, u.cut()
		}
		return pos, nil
	}
	const header, lastBlock, oneByte, reserved, maxBlock = 3, 1, 1, 3, 128 << 10
	for last := false; !last; end = pos {
		if !u.fill(pos + header) {
			return end, u.cut()
		}
		head := int(u.buf[pos]) | int(u.buf[pos+1])<<8 | int(u.buf[pos+2])<<16
		kind, n := head>>1&3, head>>3
		if kind == oneByte {
			n = 1 // repeated
		}
		switch {
		case kind == reserved || n > maxBlock:
			return end, errCorrupt
		case !u.fill(pos + header + n):
			return end, u.cut()
		case pos > maxTail:
			return end, errLong
		}
		if last = head&lastBlock != 0; last && h.HasCheckSum && !u.fill(pos+header+n+4) {
			u.buf[pos] &^= lastBlock // the decoder then returns the block
			return pos + header + n, u.cut()
		}
		pos += header + n
	}
	if h.HasCheckSum {
		end += 4
	}
	return end, nil
}

// unpack unpacks a complete frame. A short frame needs no large window, whatever its
// header says.
func (u *unpacker) unpack(frame []byte) (err error) {
	u.store, err = u.whole.DecodeAll(frame, u.store[:0])
	var h zstd.Header
	if errors.Is(err, zstd.ErrWindowSizeExceeded) && h.Decode(frame) == nil && !h.SingleSegment {
		const descriptor, exponent = 5, 15 // 1 KiB << 15 is maxWindow
		old := frame[descriptor]
		frame[descriptor] = exponent << 3
		u.store, err = u.whole.DecodeAll(frame, u.store[:0])
		frame[descriptor] = old
	}
	if err == nil {
		u.out = u.store
	}
	return err
}

// next unpacks the next frame, starts to unpack it block by block, or continues after
// damage.
func (u *unpacker) next() error {
	end, err := u.frame()
	if err == nil {
		if err = u.unpack(u.buf[:end]); err == nil {
			u.take(end)
			u.kept = u.at
			if n := len(u.out); n > 0 {
				u.unended = u.out[n-1] != '\n'
			}
			return nil
		}
		if errors.Is(err, zstd.ErrDecoderSizeExceeded) {
			err = errLong
		}
	}
	switch {
	case err == errLong:
		return u.begin(raw{u})
	case err == errCut && !u.frameInside():
		u.truncated = int64(len(u.buf) - end)
		rest := u.buf[:end]
		u.take(len(u.buf))
		return u.begin(bytes.NewReader(rest))
	case err == u.err:
		return err
	}
	frames := uint64(0)
	if bytes.HasPrefix(u.buf, frameMagic) {
		frames = 1
	}
	return u.skipDamage(frames, 1)
}

// frameInside reports whether a frame that seems to be cut off contains a complete
// frame. If so, a length in the outer frame is wrong: it is damaged.
func (u *unpacker) frameInside() bool {
	inner := &unpacker{in: bytes.NewReader(u.buf[1:]), whole: u.whole}
	_, found := inner.find()
	return found
}

// find consumes everything before the next frame that checks, and unpacks that frame,
// whose length it returns. It counts frames that do not check.
func (u *unpacker) find() (end int, found bool) {
	for {
		if i := bytes.Index(u.buf, frameMagic); i < 0 {
			u.take(max(0, len(u.buf)-len(frameMagic)+1))
			if !u.fill(len(frameMagic)) {
				u.take(len(u.buf))
				return 0, false
			}
			continue
		} else {
			u.take(i)
		}
		end, err := u.frame()
		if err == nil && u.unpack(u.buf[:end]) == nil {
			return end, true
		}
		u.damage.Frames++
		u.take(1)
	}
}

// skipDamage continues after damage that begins at buf, with frames damaged frames and
// at least n bytes. If the damage cuts off a line, it ends the line with a newline:
// what follows must not be joined to it.
func (u *unpacker) skipDamage(frames uint64, n int) error {
	start := u.at
	u.damage.Frames += frames
	u.take(min(n, len(u.buf)))
	end, found := u.find()
	if u.err != nil && u.err != io.EOF {
		return u.err
	}
	u.damage.add(start, u.at-start)
	u.take(end)
	if u.last != '\n' {
		u.out, u.last = append([]byte{'\n'}, u.out...), '\n'
	}
	if !found && len(u.out) == 0 {
		return io.EOF
	}
	return nil
}

// raw reads the bytes of the file.
type raw struct{ *unpacker }

func (r raw) Read(p []byte) (int, error) {
	if !r.fill(1) {
		return 0, r.err
	}
	n := copy(p, r.buf)
	r.take(n)
	return n, nil
}

// begin starts to unpack frames block by block.
func (u *unpacker) begin(from io.Reader) error {
	u.stream, u.good = true, u.at
	return u.blocks.Reset(from)
}

// readBlocks returns what begin has started to unpack.
func (u *unpacker) readBlocks(p []byte) (int, error) {
	n, err := u.blocks.Read(p)
	if n > 0 {
		u.last, u.good = p[n-1], u.at
	}
	if err == nil {
		return n, nil
	}
	u.stream = false
	switch atEnd := len(u.buf) == 0 && u.err != nil; {
	case err == io.EOF:
		if u.truncated == 0 {
			u.kept, u.unended = u.at, u.last != '\n'
		}
		return n, nil
	case atEnd && u.err != io.EOF:
		return n, u.err
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return n, fmt.Errorf("the frame at byte %d needs a window of more than %d MiB to unpack", u.good, maxWindow>>20)
	case atEnd && errors.Is(err, io.ErrUnexpectedEOF):
		u.truncated += u.at - u.good
		return n, io.EOF
	}
	return n, u.skipDamage(1, 0)
}
