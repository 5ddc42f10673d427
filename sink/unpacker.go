package sink

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// maxWindow is the largest window, in bytes, for which a Reader reserves memory:
// the window of zstd --ultra -20. The default of zstd is 2 MiB; a Writer uses
// packWindow.
const maxWindow = 32 << 20

var decoderOptions = []zstd.DOption{
	zstd.WithDecoderConcurrency(1),
	zstd.WithDecoderLowmem(true),
	zstd.WithDecoderMaxWindow(maxWindow),
}

// frameMagic begins a zstd frame. It is not valid UTF-8, so no string of a record
// in a damaged frame can look like the beginning of a frame.
var frameMagic = []byte("\x28\xB5\x2F\xFD")

// unpacker unpacks all frames of a file.
//
// It unpacks a complete frame and verifies its checksum before it returns any of
// it. It skips a damaged frame and continues with the next complete one. It returns
// a truncated frame, or one longer than a Writer produces, block by block.
type unpacker struct {
	frames    *frames
	dec       *zstd.Decoder
	whole     *zstd.Decoder // for complete frames
	out       []byte        // unpacked but not yet returned
	buf       []byte        // memory of out
	last      byte          // last byte returned
	stream    bool          // the current frame is returned block by block
	truncated int64         // bytes of a truncated block or header
	damage    Damage
}

func newUnpacker(in io.Reader) (*unpacker, error) {
	dec, err := zstd.NewReader(nil, decoderOptions...)
	if err != nil {
		return nil, err
	}
	whole, err := zstd.NewReader(nil, append(decoderOptions, zstd.WithDecoderMaxMemory(maxWindow))...)
	return &unpacker{frames: newFrames(in), dec: dec, whole: whole, last: '\n'}, err
}

func (u *unpacker) close() {
	u.dec.Close()
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
			n, err = u.readStream(p)
		default:
			err = u.next()
		}
	}
	if n > 0 {
		u.last = p[n-1]
	}
	return n, err
}

// next unpacks the next frame, starts to unpack it block by block, or continues
// after damage.
func (u *unpacker) next() error {
	z := u.frames
	err := z.collect(maxTail)
	switch {
	case err == errCorrupt:
		return u.resume(z.start, z.buf)
	case err == io.ErrUnexpectedEOF && z.truncated: // in its header
		u.truncated = z.in.offset - z.start
		return io.EOF
	case err != nil:
		return err
	case z.truncated && u.frameInside():
		return u.resume(z.start, z.buf)
	case !z.ended:
		return u.begin()
	}
	err = u.unpack()
	switch {
	case err == nil:
		return nil
	case u.isLong():
		return u.begin()
	}
	return u.resume(z.start, z.buf)
}

// unpack unpacks the collected frame, which must be complete.
func (u *unpacker) unpack() (err error) {
	frame := u.frames.buf
	u.buf, err = u.whole.DecodeAll(frame, u.buf[:0])
	if errors.Is(err, zstd.ErrWindowSizeExceeded) && !u.isLong() && narrow(frame) {
		u.buf, err = u.whole.DecodeAll(frame, u.buf[:0])
	}
	if err == nil {
		u.out = u.buf
	}
	return err
}

// isLong reports whether the collected frame may hold more than maxWindow bytes,
// too many to unpack at once.
func (u *unpacker) isLong() bool { return u.frames.blocks > maxWindow/maxBlock }

// narrow sets the window size in a frame's header to maxWindow. A short frame needs
// no larger window, whatever its header says. narrow returns false if the header
// can't be read or contains no window size.
func narrow(frame []byte) bool {
	const descriptor, exponent = 5, 15 // 1 KiB << 15 is maxWindow
	var h zstd.Header
	if err := h.Decode(frame); err != nil || h.SingleSegment {
		return false
	}
	frame[descriptor] = exponent << 3
	return true
}

// begin starts unpacking the collected frame block by block.
func (u *unpacker) begin() error {
	u.stream = true
	if err := u.dec.Reset(u.frames); err != nil {
		return u.endStream(err)
	}
	return nil
}

// readStream reads from the frame that is unpacked block by block.
func (u *unpacker) readStream(p []byte) (int, error) {
	n, err := u.dec.Read(p)
	if err == nil {
		return n, nil
	}
	if n > 0 {
		u.last = p[n-1]
	}
	return n, u.endStream(err)
}

// endStream ends a frame that is unpacked block by block, because the decoder
// returned err.
func (u *unpacker) endStream(err error) error {
	z := u.frames
	u.stream = false
	switch {
	case err == io.EOF:
		return nil
	case z.short:
		u.truncated = z.in.offset - z.whole
		return io.EOF
	case z.in.err != nil && z.in.err != io.EOF:
		return z.in.err
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return fmt.Errorf("the frame at byte %d needs a window of more than %d MiB to unpack",
			z.start, maxWindow>>20)
	}
	return u.resume(z.in.offset-int64(len(z.buf)), z.buf)
}

// frameInside reports whether a frame that seems to be truncated contains a
// complete frame. If so, a length in the outer frame is wrong: it is damaged, not
// truncated.
func (u *unpacker) frameInside() bool {
	inner := &unpacker{frames: newFrames(bytes.NewReader(u.frames.buf[1:])), whole: u.whole}
	return inner.find()
}

// find collects and unpacks the next complete frame, and reports whether there is
// one.
func (u *unpacker) find() bool {
	z := u.frames
	for z.in.find(frameMagic) {
		if err := z.collect(maxTail); err == nil && z.ended && u.unpack() == nil {
			return true
		}
		u.damage.Frames++
		u.putBack(z.buf)
	}
	return false
}

// putBack puts back taken, the bytes that were taken last, except for the first of
// them. If taken is empty, it skips one byte instead. Either way the next search
// begins one byte later.
func (u *unpacker) putBack(taken []byte) {
	if len(taken) == 0 {
		u.frames.in.skip(1)
		return
	}
	u.frames.in.back(taken[1:])
}

// resume continues after damage that begins at start; taken holds the bytes already
// taken from there. If the damage cuts off a line, resume ends the line with a
// newline: what follows the damage must not be joined to it.
func (u *unpacker) resume(start int64, taken []byte) error {
	in := u.frames.in
	if len(taken) > 0 {
		u.damage.Frames++
	}
	u.putBack(taken)
	found := u.find()
	if in.err != nil && in.err != io.EOF {
		return in.err
	}
	end := in.offset
	if found {
		end = u.frames.start
	}
	u.damage.add(start, end-start)
	if u.last != '\n' {
		u.out, u.last = append([]byte{'\n'}, u.out...), '\n'
	}
	if !found && len(u.out) == 0 {
		return io.EOF
	}
	return nil
}
