package sink

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/a2sscan/a2sscan/sink/disk"
	"github.com/a2sscan/a2sscan/sink/record"
)

// The reasons not to append to a file. Cutting off a partial record is safe only in
// a census.
var (
	errDamaged   = errors.New("its last frame is damaged")
	errUnended   = errors.New("its last record is cut off inside a complete frame")
	errColumns   = errors.New("does not begin with the header of these columns")
	errLongFrame = errors.New("its last frame is cut off, and longer than any frame of a census")
)

// maxTail is greater than the length in bytes of any frame that a Writer writes,
// packed or unpacked.
const maxTail = frameSize + blockSize + 2*record.MaxSize

// prefix begins every record.
const prefix = `{"schema":`

// tail says what to keep of a file that is appended to.
type tail struct {
	keep  int64  // length of the complete lines or frames, which are kept
	lines []byte // complete lines of a truncated frame, which are rewritten
	cut   int64  // bytes that are lost
}

// begins returns the bytes with which a file with these options begins.
func (o *Options) begins() []byte {
	if o.Header != nil {
		return o.Header
	}
	return []byte(prefix)
}

// begun returns an error unless content begins with begins. Content that is shorter
// than begins need only match as far as it goes.
func begun(content, begins []byte) error {
	n := min(len(content), len(begins))
	switch {
	case bytes.Equal(content[:n], begins[:n]):
		return nil
	case string(begins) == prefix:
		return ErrNotCensus
	}
	return errColumns
}

// plainTail keeps a plain census up to the end of its last complete record.
func plainTail(f io.ReaderAt, size int64, begins []byte) (tail, error) {
	keep, err := wholeLines(f, size, begins)
	return tail{keep: keep, cut: size - keep}, err
}

// wholeLines returns the end of the last complete record of a census.
func wholeLines(f io.ReaderAt, size int64, begins []byte) (int64, error) {
	head := make([]byte, min(size, int64(len(begins))))
	if _, err := f.ReadAt(head, 0); err != nil {
		return 0, err
	}
	if err := begun(head, begins); err != nil {
		return 0, err
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

// packedTail keeps a zstd census up to the end of its last complete frame, and
// returns the complete lines of a truncated frame after it.
func packedTail(f io.ReaderAt, size int64, begins []byte) (t tail, err error) {
	last, keep, err := wholeFrames(f, size)
	if err != nil {
		return tail{}, err
	}
	if keep > 0 {
		err = checkFrames(f, last, keep, begins)
	}
	if err == nil && keep < size {
		t, err = cutFrame(f, keep, size)
	}
	if err == nil && keep == 0 {
		err = begun(append(t.lines, ' '), begins)
	}
	t.keep = keep
	return t, err
}

// wholeFrames returns the start and the end of the last complete frame of a zstd
// file; both are 0 if there is none.
func wholeFrames(f io.ReaderAt, size int64) (last, end int64, err error) {
	all := newFrames(io.NewSectionReader(f, 0, size))
	for {
		err := all.skip()
		switch {
		case err == nil:
			last = all.start
		case err == io.EOF || all.truncated:
			return last, all.start, nil
		default:
			return 0, 0, err
		}
	}
}

// cutFrame reads the complete lines of the truncated frame that begins at start.
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
			t.cut = r.Truncated()
			return t, nil
		case err != nil:
			return t, err
		case len(t.lines)+len(line) >= maxTail:
			return t, errLongFrame
		}
		t.lines = append(append(t.lines, line...), '\n')
	}
}

// checkFrames returns an error unless the frames up to end are a census; last is
// the start of the last frame.
func checkFrames(f io.ReaderAt, last, end int64, begins []byte) error {
	r := NewReader(io.NewSectionReader(f, 0, end))
	defer r.Close()
	r.raw = true
	line, err := r.Next()
	if err != nil {
		return ErrNotCensus
	}
	if err := begun(append(line, '\n'), begins); err != nil {
		return err
	}
	return checkEnd(io.NewSectionReader(f, last, end-last))
}

// checkEnd returns an error unless the content of a frame ends with a complete
// line.
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

// lastByte stores the last byte that was written to it.
type lastByte byte

func (b *lastByte) Write(p []byte) (int, error) {
	if len(p) > 0 {
		*b = lastByte(p[len(p)-1])
	}
	return len(p), nil
}

// repack writes lines as one frame over the truncated frame that begins at start,
// and cuts off the rest of the file, which is size bytes long. It returns the new
// length of the file. If the disk is full, the file then holds the beginning of the
// frame, whose lines can be read.
func repack(f file, how packing, start, size int64, lines []byte) (_ int64, err error) {
	p, err := newPacker(how)
	if err != nil {
		return 0, err
	}
	n, frame := 0, []byte(nil)
	if len(lines) > 0 {
		if frame, err = p.pack(lines); err != nil {
			return 0, err
		}
		n, err = f.WriteAt(appendFill(frame, how, size-start), start)
		if n >= len(frame) {
			n, err = len(frame), nil
		}
	}
	disk.Step("output.repacked")
	size = start + int64(n)
	return size, errors.Join(err, f.Truncate(size))
}

// appendFill appends filler to a frame that overwrites the last over bytes of a
// file, so that it covers all of them. Readers skip the filler: zeros after gzip
// members, or a skippable zstd frame. So the file can be read, and appended to,
// even if the process dies before it cuts off the rest.
func appendFill(frame []byte, how packing, over int64) []byte {
	const magic, header = 0x184D2A50, 8
	rest := over - int64(len(frame))
	if rest <= 0 {
		return frame
	}
	if how == inGzip {
		return append(frame, make([]byte, rest)...)
	}
	skip := binary.LittleEndian.AppendUint32(frame, magic)
	return binary.LittleEndian.AppendUint32(skip, uint32(max(0, rest-header)))
}
