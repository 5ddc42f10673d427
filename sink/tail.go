package sink

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"
)

// Why a file isn't added to. Cutting a torn tail off is safe only in a file
// that is a census of ours.
var (
	errNotCensus = errors.New("does not look like a census")
	errShort     = errors.New("is shorter than it was when it was left")
	errUnended   = errors.New("its last record is cut off inside a whole frame")
)

// prefix is how every record begins.
const prefix = `{"schema":`

// wholeLines returns where the last whole record of a census ends.
func wholeLines(f io.ReaderAt, size int64) (int64, error) {
	head := make([]byte, min(size, int64(len(prefix))))
	if _, err := f.ReadAt(head, 0); err != nil {
		return 0, err
	}
	if !bytes.HasPrefix([]byte(prefix), head) {
		return 0, errNotCensus
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
		if size-end > MaxRecord {
			return 0, errNotCensus
		}
	}
	return 0, nil
}

// wholeFrames returns where the last whole frame of a compressed census ends.
func wholeFrames(f io.ReaderAt, size int64) (int64, error) {
	all := newFrames(bufio.NewReaderSize(io.NewSectionReader(f, 0, size), 256<<10))
	last := int64(0)
	for {
		err := all.skip()
		switch {
		case err == nil:
			last = all.start
		case err == io.EOF || all.torn:
			return all.start, checkFrames(f, last, all.start)
		default:
			return 0, err
		}
	}
}

// checkFrames reports whether the frames up to end, the last of which begins
// at last, are a census.
func checkFrames(f io.ReaderAt, last, end int64) error {
	r := NewReader(io.NewSectionReader(f, 0, end))
	defer r.Close()
	if line, err := r.Next(); err != nil || !bytes.HasPrefix(line, []byte(prefix)) {
		return errNotCensus
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
