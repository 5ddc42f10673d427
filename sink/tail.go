package sink

import (
	"bytes"
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/a2sscan/a2sscan/sink/record"
)

// Why a file isn't added to. Cutting a torn tail off is safe only in a file
// that is a census of ours.
var (
	errDamaged   = errors.New("its last frame is damaged")
	errUnended   = errors.New("its last record is cut off inside a whole frame")
	errLongFrame = errors.New("its last frame is cut off, and too long to be one of a census")
)

// maxTail is more than a frame of ours holds.
const maxTail = frameSize + blockSize + 2*record.MaxSize

// prefix is how every record begins.
const prefix = `{"schema":`

// tail is what a file that is added to ends with.
type tail struct {
	keep  int64  // what stays as it is: whole lines, or whole frames
	lines []byte // whole lines of a frame that is cut, to be written anew
	torn  int64  // bytes that are lost: as Reader.Torn has them
}

// plainTail looks for the last whole record of a census.
func plainTail(f io.ReaderAt, size int64) (tail, error) {
	keep, err := wholeLines(f, size)
	return tail{keep: keep, torn: size - keep}, err
}

// wholeLines returns where the last whole record of a census ends.
func wholeLines(f io.ReaderAt, size int64) (int64, error) {
	head := make([]byte, min(size, int64(len(prefix))))
	if _, err := f.ReadAt(head, 0); err != nil {
		return 0, err
	}
	if !bytes.HasPrefix([]byte(prefix), head) {
		return 0, ErrNotCensus
	}
	chunk := make([]byte, 64<<10)
	for end := size; end > 0; {
		chunk = chunk[:min(end, int64(len(chunk)))]
		end -= int64(len(chunk))
		if _, err := f.ReadAt(chunk, end); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(chunk, '\n'); i >= 0 {
			return end + int64(i) + 1, nil
		}
		if size-end > record.MaxSize {
			return 0, ErrNotCensus
		}
	}
	return 0, nil
}

// packedTail looks for the last whole frame of a compressed census, and for
// the whole lines of one that is cut after it.
func packedTail(f io.ReaderAt, size int64) (t tail, err error) {
	last, keep, err := wholeFrames(f, size)
	if err != nil {
		return tail{}, err
	}
	if keep > 0 {
		err = checkFrames(f, last, keep)
	}
	if err == nil && keep < size {
		t, err = cutFrame(f, keep, size)
	}
	if err == nil && keep == 0 && !bytes.HasPrefix(t.lines, []byte(prefix)) {
		err = ErrNotCensus
	}
	t.keep = keep
	return t, err
}

// wholeFrames returns where the last whole frame of a compressed file begins
// and ends.
func wholeFrames(f io.ReaderAt, size int64) (last, end int64, err error) {
	all := newFrames(io.NewSectionReader(f, 0, size))
	for {
		err := all.skip()
		switch {
		case err == nil:
			last = all.start
		case err == io.EOF || all.torn:
			return last, all.start, nil
		default:
			return 0, 0, err
		}
	}
}

// cutFrame reads what is whole in the frame that begins at start and is cut.
func cutFrame(f io.ReaderAt, start, size int64) (t tail, err error) {
	r := NewReader(io.NewSectionReader(f, start, size-start))
	r.raw = true
	defer r.Close()
	for {
		line, err := r.Next()
		switch {
		case err == io.EOF && r.Damage().Found():
			return t, errDamaged
		case err == io.EOF:
			t.torn = r.Torn()
			return t, nil
		case err != nil:
			return t, err
		case len(t.lines)+len(line) >= maxTail:
			return t, errLongFrame
		}
		t.lines = append(append(t.lines, line...), '\n')
	}
}

// checkFrames reports whether the frames up to end, the last of which begins
// at last, are a census.
func checkFrames(f io.ReaderAt, last, end int64) error {
	r := NewReader(io.NewSectionReader(f, 0, end))
	defer r.Close()
	if line, err := r.Next(); err != nil || !bytes.HasPrefix(line, []byte(prefix)) {
		return ErrNotCensus
	}
	return checkEnd(io.NewSectionReader(f, last, end-last))
}

// checkEnd reports whether what is compressed in a frame ends a line.
func checkEnd(frame io.Reader) error {
	dec, err := zstd.NewReader(frame, decoderOptions...)
	if err != nil {
		return err
	}
	defer dec.Close()
	var tail lastByte
	if _, err := io.Copy(&tail, dec); err != nil {
		return err
	}
	if tail != '\n' {
		return errUnended
	}
	return nil
}

// lastByte remembers the last byte that was written to it.
type lastByte byte

func (b *lastByte) Write(p []byte) (int, error) {
	if len(p) > 0 {
		*b = lastByte(p[len(p)-1])
	}
	return len(p), nil
}

// repack writes lines as one frame that begins at start, in the place of one
// that is cut, and cuts the file behind it. It returns how long the file is
// then. Where there is no room for all of the frame, its beginning is there,
// and the lines in that can be read as before.
func repack(f file, start int64, lines []byte) (size int64, err error) {
	p, err := newPacker()
	if err != nil {
		return 0, err
	}
	n := 0
	if len(lines) > 0 {
		n, err = f.WriteAt(p.enc.EncodeAll(lines, nil), start)
	}
	size = start + int64(n)
	return size, errors.Join(err, f.Truncate(size))
}
