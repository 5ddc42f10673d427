package sink

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/cespare/xxhash/v2"

	"github.com/a2sscan/a2sscan/sink/disk"
	"github.com/a2sscan/a2sscan/sink/record"
)

// The reasons not to append to a file.
var (
	errDamaged   = errors.New("the last frame of the file is damaged")
	errUnended   = errors.New("the last record of the file is cut off inside a complete frame")
	errColumns   = errors.New("the file does not begin with the header for the chosen columns")
	errLongFrame = errors.New("the last frame of the file is cut off, and is longer than any frame of a census")
)

// maxTail is greater than the length in bytes of any frame that an Output writes,
// packed or unpacked.
const maxTail = frameSize + blockSize + 2*record.MaxSize

const prefix = `{"schema":`

// tail describes what remains of a file when records are appended to it.
type tail struct {
	keep  int64  // length of the complete lines or frames, which remain
	lines []byte // complete lines of a truncated frame, to be written again
	cut   int64  // number of bytes that are lost
}

// begins returns the bytes with which an existing file must begin if Append is set.
func (o *Options) begins() []byte {
	switch {
	case o.Header != nil:
		return o.Header
	case o.Begins != "":
		return []byte(o.Begins)
	}
	return []byte(prefix)
}

// readTail reads a file to which records will be appended, and decides what stays: the
// complete lines of a plain file, or the complete frames or members of a compressed
// file. If a truncated frame follows, its complete lines stay too, and are written
// again.
func readTail(f io.ReaderAt, size int64, how packing, begins []byte) (t tail, err error) {
	r := NewReader(io.NewSectionReader(f, 0, size))
	r.raw = true
	defer r.Close()
	line, err := r.Next()
	head := append(line, '\n')
	if err == io.EOF {
		head = r.rest
		if how != unpacked {
			head = append(head, ' ') // in a compressed file, all of begins must be readable
		}
	}
	n := min(len(head), len(begins)) // a shorter file need match only up to its end
	switch {
	case err != nil && err != io.EOF || bytes.Equal(head[:n], begins[:n]):
	case begins[0] == '{':
		return t, ErrNotCensus
	default:
		return t, errColumns
	}
	for err == nil {
		_, err = r.Next()
	}
	switch {
	case err != io.EOF:
		return t, errors.Unwrap(err)
	case r.Damage().Found():
		return t, errDamaged
	case r.packed != how && size > 0:
		return t, ErrNotCensus
	case how == unpacked && r.Damage().Truncated > record.MaxSize:
		return t, ErrNotCensus
	case how == unpacked:
		return tail{keep: size - r.Damage().Truncated, cut: r.Damage().Truncated}, nil
	case size == 0:
		return t, nil
	case r.content.unended:
		return t, errUnended
	}
	if r.content.complete < size && !r.content.padded {
		t, err = cutFrame(f, r.content.complete, size)
	} else {
		err = nil
	}
	t.keep = r.content.complete
	return t, err
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
			t.cut = r.Damage().Truncated
			return t, nil
		case err != nil:
			return t, err
		case len(t.lines)+len(line) >= maxTail:
			return t, errLongFrame
		}
		t.lines = append(append(t.lines, line...), '\n')
	}
}

// repack writes lines as one frame over the truncated frame at the offset start, and
// truncates the file after the new frame. Its fourth argument, size, is the length of the
// file. repack returns the new length. If the disk is full, it drops lines until the frame
// fits.
func repack(f handle, how packing, start, size int64, lines []byte) (_ int64, err error) {
	p, err := newPacker(how)
	if err != nil {
		return 0, err
	}
	for n := 0; ; {
		frame, err := p.pack(job{block: lines, end: true})
		if err != nil {
			return 0, err
		}
		if len(lines) > 0 {
			n, err = f.WriteAt(appendFill(frame, how, size-start), start)
			size = max(size, start+int64(n))
		}
		if err == nil || n >= len(frame) {
			disk.Step("output.repacked")
			size = start + int64(len(frame))
			return size, f.Truncate(size)
		}
		lines = lines[:len(lines)-len(lines)/8-1]
		lines = lines[:bytes.LastIndexByte(lines, '\n')+1]
	}
}

// appendFill pads a frame that will overwrite old bytes at the end of a file. Its third
// argument, over, is the number of old bytes. If the frame is shorter, appendFill appends
// bytes that make readers skip the remaining old bytes: for gzip, zeros that overwrite all
// of them; for zstd, the header of a skippable frame that contains them. So the file can
// be read, and appended to, even if the process dies before it truncates the file.
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

// cutBack truncates a file to the bytes that stay, and hashes these bytes. It changes
// nothing if the file is not the one to resume or to append to.
func (f *file) cutBack(o *Options) (err error) {
	size := f.info.Size()
	f.sum = xxhash.New()
	var t tail
	switch at := o.Resume; {
	case at != nil && at.Offset > size:
		err = fmt.Errorf("%w: only %d of %d bytes are left", ErrChanged, size, at.Offset)
	case at != nil:
		t.keep, f.records = at.Offset, at.Records
	case o.Append && size > 0:
		t, err = readTail(f, size, f.packed, o.begins())
	}
	if err != nil {
		return o.refuse(f.name, err, "choose another name")
	}
	if at := o.Resume; at != nil {
		if err := hashFile(f.sum, f, at.Offset, o.Progress); err != nil {
			return newError(o.op(), f.name, err)
		}
		if is := sumText(f.sum); at.Sum != "" && at.Sum != is {
			return o.refuse(f.name, fmt.Errorf("%w: the xxh64 of the first %d bytes is %s, but was %s",
				ErrChanged, at.Offset, is, at.Sum), "start a new scan")
		}
	}
	f.size, f.cut = t.keep, t.cut
	if len(t.lines) > 0 {
		f.size, err = repack(f, f.packed, t.keep, size, t.lines)
	} else if t.keep < size {
		err = f.Truncate(t.keep)
		disk.Step("output.cut")
	}
	if err == nil && o.Append {
		err = hashFile(f.sum, f, f.size, o.Progress)
	}
	if err == nil {
		_, err = f.Seek(f.size, io.SeekStart)
	}
	if err != nil {
		return newError(o.op(), f.name, err)
	}
	return nil
}
