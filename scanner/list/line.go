package list

import (
	"bufio"
	"bytes"
	"io"
	"iter"
)

// MaxLine is the maximum length of a line in bytes, including its line ending. A
// longer line is invalid, and only its beginning is kept. A line of JSON may be
// longer: see MaxJSONLine.
const MaxLine = 64 << 10

// utf8BOM is the byte order mark that some editors write at the beginning of a
// file.
var utf8BOM = []byte("\xef\xbb\xbf")

// line is a line of a list. Its text is valid until the next line is read.
type line struct {
	number int    // from 1
	text   []byte // with its line ending; only the beginning if the line is too long
	long   bool   // the line is too long
	size   int64  // length of the line in the input, in bytes
	last   bool   // the list ends without a line ending after this line
	cut    bool   // the list is compressed and was cut off inside this line
}

// eachLine yields the lines of r; it keeps at most most bytes of a line. If reading
// fails, eachLine sets err and does not yield the line that it was reading. A
// compressed list that was cut off ends with a line that has cut set and may be
// empty.
func eachLine(r io.Reader, most int, err *error) iter.Seq[line] {
	return newLineSource(r, most).each(err)
}

// lineSource reads lines, which may be longer than its buffer.
type lineSource struct {
	b      *bufio.Reader
	most   int
	number int    // of the current line
	long   []byte // scratch memory for a line that is longer than the buffer
}

func newLineSource(r io.Reader, most int) *lineSource {
	return &lineSource{b: bufio.NewReaderSize(r, MaxLine), most: most}
}

// each yields the lines as described at eachLine. A caller that reads more lines
// directly from lr.b must add their number to lr.number.
func (lr *lineSource) each(err *error) iter.Seq[line] {
	return func(yield func(line) bool) {
		for {
			lr.number++
			l := line{number: lr.number}
			switch *err = lr.read(&l); *err {
			case io.EOF:
				l.last = true
			case errTruncated:
				l.last, l.cut = true, true
			}
			if l.last {
				*err = nil
			}
			if l.number == 1 {
				l.text = bytes.TrimPrefix(l.text, utf8BOM)
			}
			nothing := l.last && !l.cut && l.size == 0
			if *err != nil || nothing || !yield(l) || l.last {
				return
			}
		}
	}
}

// read reads a line into l. It returns an error if the line has no line ending.
func (lr *lineSource) read(l *line) error {
	text, err := lr.b.ReadSlice('\n')
	l.text, l.size = text, int64(len(text))
	if err != bufio.ErrBufferFull {
		return err
	}
	lr.long = lr.long[:0]
	for {
		if room := lr.most - len(lr.long); len(text) > room || room == 0 {
			l.long = true
			text = text[:room]
		}
		lr.long = append(lr.long, text...)
		if err != bufio.ErrBufferFull {
			l.text = lr.long
			return err
		}
		text, err = lr.b.ReadSlice('\n')
		l.size += int64(len(text))
	}
}
