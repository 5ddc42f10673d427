package list

import (
	"bufio"
	"bytes"
	"io"
	"iter"
)

// MaxLine is the maximum length of a line in bytes, including its end. A longer
// line is invalid, and only its first MaxLine bytes are kept. A line of JSON may be
// longer: MaxJSONLine.
const MaxLine = 64 << 10

// utf8BOM is the mark that some editors write at the beginning of a file.
var utf8BOM = []byte("\xef\xbb\xbf")

// line is one line of a text. It is valid until the next line is read.
type line struct {
	number int    // from 1
	text   []byte // with its end; only the beginning if the line is too long
	long   bool   // the line is too long
	size   int64  // its length in the input
	last   bool   // nothing follows, not even an end of line
	cut    bool   // this is the last line, and the compressed list ends inside it
}

// eachLine yields the lines of r, each truncated to the length most. If reading
// fails, it sets err and does not yield the line in which that happens. A list that
// was cut off ends with a line that is marked cut, which may be empty.
func eachLine(r io.Reader, most int, err *error) iter.Seq[line] {
	return newLineSource(r, most).each(err)
}

// lineSource reads lines, including those that are longer than its buffer.
type lineSource struct {
	b      *bufio.Reader
	most   int
	number int    // of the last line
	long   []byte // a line that is longer than the buffer
}

func newLineSource(r io.Reader, most int) *lineSource {
	return &lineSource{b: bufio.NewReaderSize(r, MaxLine), most: most}
}

// each implements eachLine. A caller that takes more lines out of the buffer must
// add them to number.
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

// read reads a line. It returns an error if the line does not end with an end of
// line.
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
