package sink

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/klauspost/compress/zstd"
)

// maxWindow is the largest window, in bytes, for which a Reader reserves memory: the
// window of zstd --ultra -22. The default of zstd is 2 MiB; an Output uses packWindow.
// maxFrame is the largest content, in bytes, of a frame that is unpacked at once. A larger
// frame is unpacked block by block.
const (
	maxWindow = 128 << 20
	maxFrame  = 32 << 20
)

// maxAhead is the maximum number of frames that are unpacked before they are needed. The
// content of a frame takes up to maxFrame bytes, but only about 8 MiB if an Output wrote it.
const maxAhead = 8

// frameMagic begins a zstd frame. It is not valid UTF-8, so no string of a record in a
// damaged frame can look like the beginning of a frame.
var frameMagic = []byte("\x28\xB5\x2F\xFD")

// The reasons why no complete frame of a usual length begins at an offset.
var (
	errCorrupt = errors.New("no zstd frame begins here")
	errCut     = errors.New("the file ends inside a frame")
	errLong    = errors.New("the frame is longer than any frame of a census")
)

// unzstd unpacks the frames of a zstd file. It returns the content of a complete frame
// only after it has verified the checksum. It unpacks a truncated frame, and a frame that
// is longer than the frames of an Output, block by block. After damage it continues with
// the next frame whose checksum is correct.
type unzstd struct {
	unpacking
	in  io.Reader
	buf []byte // bytes that in.Read returned and that are not consumed yet
	at  int64  // offset of buf in the file
	err error  // error of in.Read, to return when buf is empty

	frames *zstd.Decoder // decodes complete frames
	blocks *zstd.Decoder // decodes all other frames, block by block
	stream bool          // whether u.blocks has more content to return
	// unsummed means that at least one frame so far has no checksum.
	unsummed bool
	// joined means that a frame began inside a line: the previous frame did not end with a
	// newline.
	joined bool
	good   int64 // offset in the file when u.blocks last returned content

	store, out []byte // out is unpacked content that Read has not returned yet; frames are unpacked into store

	// failed is the number of bytes that findFrame has examined or unpacked without
	// finding a frame with a correct checksum.
	failed int64

	ahead  []*frame // the next frames, which other goroutines unpack
	stores [][]byte // free buffers for the content of frames
	most   int      // the maximum length of u.ahead
}

type frame struct {
	at      int64 // offset in the file
	end     int   // packed length in bytes
	content []byte
	err     error
	done    chan struct{}
}

func newUnzstd(in io.Reader) (u *unzstd, err error) {
	u = &unzstd{in: in, unpacking: unpacking{last: '\n'}}
	u.most = min(runtime.GOMAXPROCS(0)/2, maxAhead) // leaves half of the processors for parsing
	u.blocks, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxWindow))
	if err == nil {
		u.frames, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(u.most+1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(maxFrame))
	}
	return u, err
}

// close releases the decoders. It may be called for a nil u.
func (u *unzstd) close() {
	if u == nil {
		return
	}
	for _, f := range u.ahead {
		<-f.done
	}
	u.blocks.Close()
	u.frames.Close()
}

// Read returns the content of the frames.
func (u *unzstd) Read(p []byte) (n int, err error) {
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

// fill reads until buf holds at least n bytes. If the file ends before that, fill returns
// errCut; if reading fails, it returns the error.
func (u *unzstd) fill(n int) error {
	const chunk, least = 256 << 10, 4 << 10
	for len(u.buf) < n && u.err == nil {
		if cap(u.buf)-len(u.buf) < least {
			u.buf = append(make([]byte, 0, max(2*len(u.buf), chunk)), u.buf...)
		}
		var got int
		got, u.err = u.in.Read(u.buf[len(u.buf):cap(u.buf)])
		u.buf = u.buf[:len(u.buf)+got]
	}
	switch {
	case len(u.buf) >= n:
		return nil
	case u.err == io.EOF:
		return errCut
	}
	return u.err
}

func (u *unzstd) take(n int) {
	u.buf = u.buf[n:]
	u.at += int64(n)
}

// frameAt returns the header and the length of the frame that begins at u.buf[from]. It adds
// up the lengths of the frame's blocks (RFC 8878, 3.1.1). If there is an error, n is the
// number of bytes that frameAt could recognise as a frame.
func (u *unzstd) frameAt(from int) (h zstd.Header, n int, err error) {
	if u.fill(from+1) != nil {
		return h, 0, u.err
	}
	short := u.fill(from + zstd.HeaderMaxSize)
	if err = h.Decode(u.buf[from:min(len(u.buf), from+zstd.HeaderMaxSize)]); err != nil {
		if err == io.ErrUnexpectedEOF && short != nil {
			return h, 0, short
		}
		return h, 0, errCorrupt
	}
	const header, lastBlock, oneByte, reserved, maxBlock = 3, 1, 1, 3, 128 << 10
	end := h.HeaderSize + int(h.SkippableSize)
	if h.Skippable && end > maxTail {
		return h, 0, errCorrupt
	}
	for last := h.Skippable; !last; {
		if end > maxTail {
			return h, end, errLong
		}
		if err := u.fill(from + end + header); err != nil {
			return h, end, err
		}
		b := u.buf[from+end:]
		head := int(b[0]) | int(b[1])<<8 | int(b[2])<<16
		kind, n := head>>1&3, head>>3
		if kind == oneByte {
			n = 1 // the block holds one byte, which is repeated
		}
		if kind == reserved || n > maxBlock {
			return h, end, errCorrupt
		}
		end += header + n
		if last = head&lastBlock != 0; last && h.HasCheckSum {
			end += 4
		}
	}
	u.unsummed = u.unsummed || !h.Skippable && !h.HasCheckSum
	return h, end, u.fill(from + end)
}

// unpack unpacks the complete frame at the beginning of buf, and returns its length. Other
// goroutines unpack the next frames meanwhile. If there is an error, end is the number of
// bytes that frameAt could recognise as a frame.
func (u *unzstd) unpack() (end int, err error) {
	u.lookAhead(0)
	if len(u.ahead) > 0 && u.ahead[0].at == u.at {
		f := u.ahead[0]
		u.ahead = u.ahead[1:]
		if <-f.done; f.err == nil {
			u.stores = append(u.stores, u.store)
			u.store, u.out = f.content, f.content
			u.lookAhead(f.end)
			return f.end, nil
		}
	}
	u.store = u.store[:0]
	h, end, err := u.frameAt(0)
	if err != nil {
		return end, err
	}
	u.store, err = u.frames.DecodeAll(u.buf[:end], u.store)
	switch {
	case errors.Is(err, zstd.ErrDecoderSizeExceeded),
		errors.Is(err, zstd.ErrWindowSizeExceeded) && h.WindowSize > maxFrame && h.WindowSize <= maxWindow:
		return end, errLong
	case err != nil:
		return end, err
	}
	u.out = u.store
	return end, nil
}

// lookAhead starts goroutines that unpack the next frames. It stops at the first frame that
// frameAt rejects. If u.ahead is empty, the first of the next frames begins at u.buf[from].
func (u *unzstd) lookAhead(from int) {
	for len(u.ahead) > 0 && u.ahead[0].at < u.at { // the bytes of this frame were skipped as damage
		<-u.ahead[0].done
		u.ahead = u.ahead[1:]
	}
	if n := len(u.ahead); n > 0 {
		from = int(u.ahead[n-1].at-u.at) + u.ahead[n-1].end
	}
	for len(u.ahead) < u.most {
		_, end, err := u.frameAt(from)
		if err != nil {
			return
		}
		f := &frame{at: u.at + int64(from), end: end, done: make(chan struct{})}
		if n := len(u.stores); n > 0 {
			f.content, u.stores = u.stores[n-1], u.stores[:n-1]
		}
		packed := u.buf[from : from+end]
		go func() {
			defer close(f.done)
			f.content, f.err = u.frames.DecodeAll(packed, f.content[:0])
		}()
		u.ahead = append(u.ahead, f)
		from += end
	}
}

// next unpacks the next frame, starts to unpack it block by block, or continues after
// damage.
func (u *unzstd) next() error {
	u.joined = u.joined || u.unended
	end, err := u.unpack()
	switch {
	case err == nil:
		u.take(end)
		u.complete = u.at
		if n := len(u.out); n > 0 {
			u.unended = u.out[n-1] != '\n'
		}
		return nil
	case err == errLong:
	case err == errCut:
		// If another frame follows, the current frame is damaged, because its length is
		// wrong. buf holds the rest of the file.
		before := *u
		if end, err = u.findFrame(); err == nil {
			u.endDamage(before.at, end)
			return nil
		}
		before.failed, before.ahead, before.stores = u.failed, u.ahead, u.stores
		*u = before
	case err == u.err:
		return err
	default:
		return u.skipDamage()
	}
	u.stream, u.good = true, u.at
	return u.blocks.Reset(rest{u})
}

type rest struct{ *unzstd }

func (r rest) Read(p []byte) (int, error) {
	if r.fill(1) != nil {
		return 0, r.err
	}
	n := copy(p, r.buf)
	r.take(n)
	return n, nil
}

func (u *unzstd) readBlocks(p []byte) (int, error) {
	n, err := u.blocks.Read(p)
	if n > 0 {
		u.last, u.good = p[n-1], u.at
	}
	if err == nil {
		return n, nil
	}
	u.stream = false
	atEnd := len(u.buf) == 0 && u.err != nil
	switch {
	case err == io.EOF:
		u.complete, u.unended = u.at, u.last != '\n'
		return n, nil
	case atEnd && u.err != io.EOF:
		return n, u.err
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return n, fmt.Errorf("the frame at byte %d needs a window of more than %d MiB to unpack", u.good, maxWindow>>20)
	case atEnd && errors.Is(err, io.ErrUnexpectedEOF):
		u.truncated, u.noEnd = u.at-u.good, true
		u.flushed = u.truncated == 0
		return n, io.EOF
	}
	u.damage.Frames++
	return n, u.skipDamage()
}

// skipDamage consumes everything before the next frame whose checksum is correct, and
// unpacks that frame. If no frame follows, it returns io.EOF or the read error.
func (u *unzstd) skipDamage() error {
	start := u.at
	end, err := u.findFrame()
	u.endDamage(start, end)
	if err != nil && len(u.out) == 0 {
		return u.err
	}
	return nil
}

// maxFailed limits unzstd.failed: on average, findFrame may examine or unpack each byte
// of the file this many times without success. Accidental damage costs less: usually a
// few times the length of the damaged frame, and rarely the length of the longest
// frame. Without a limit, a file in which each frame seems to contain all later frames
// would take time that grows with the square of its length.
const maxFailed = 8

// findFrame consumes everything before the next frame whose checksum is correct, unpacks
// that frame, and returns its length. It counts the damaged frames. If no frame follows, it
// consumes everything. It does not unpack frames ahead, because frameMagic often
// occurs in places where no frame begins.
func (u *unzstd) findFrame() (end int, err error) {
	most := u.most
	u.most = 0
	defer func() { u.most = most }()
	for err = errCorrupt; err != nil && u.fill(len(frameMagic)) == nil; {
		i := bytes.Index(u.buf, frameMagic)
		if i < 0 {
			u.take(len(u.buf) - len(frameMagic) + 1)
			continue
		}
		u.take(i)
		if end, err = u.unpack(); err == nil {
			return end, nil
		}
		u.damage.Frames++
		end = max(1, min(end, len(u.buf)))
		if u.failed += int64(end + len(u.store)); u.failed > maxFailed*(u.at+maxTail) {
			u.take(end) // skip these bytes without looking for frames inside
		} else {
			u.take(1)
		}
	}
	u.take(len(u.buf))
	return 0, err
}

// endDamage counts as damaged all bytes from the offset start to u.at. Its second
// argument, end, is the length of the frame after these bytes, which endDamage consumes,
// too. If the damage cuts off a line, endDamage adds a newline, so that the next line is
// not joined to that line.
func (u *unzstd) endDamage(start int64, end int) {
	u.damage.add(start, u.at-start)
	u.take(end)
	if u.last != '\n' {
		u.out, u.last = append([]byte{'\n'}, u.out...), '\n'
	}
}
