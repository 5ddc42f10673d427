package target

import (
	"bufio"
	"bytes"
	"io"
	"iter"
)

// MaxLine is how long a line may be, in bytes, its end included. A longer one
// is invalid; no more than that of it is ever held.
const MaxLine = 64 << 10

// utf8BOM is what some editors begin a file with.
var utf8BOM = []byte("\xef\xbb\xbf")

// line is one line of a text, valid until the next one.
type line struct {
	number int    // from 1
	text   []byte // with its end; of a line that is too long, how it begins
	long   bool   // longer than MaxLine
	size   int64  // bytes it took
	torn   bool   // it ends without an end of line
}

// eachLine yields the lines of br, whose buffer has MaxLine bytes. err is set if
// it fails; the line in which that happens is not yielded.
func eachLine(br *bufio.Reader, err *error) iter.Seq[line] {
	return func(yield func(line) bool) {
		for number := 1; ; number++ {
			l := line{number: number}
			l.text, *err = br.ReadSlice('\n')
			l.size = int64(len(l.text))
			if *err == bufio.ErrBufferFull {
				l.text, l.long = bytes.Clone(l.text), true
				*err = l.passOver(br)
			}
			l.torn = *err == io.EOF
			if l.torn {
				*err = nil
			}
			if number == 1 {
				l.text = bytes.TrimPrefix(l.text, utf8BOM)
			}
			if *err != nil || l.torn && l.size == 0 || !yield(l) || l.torn {
				return
			}
		}
	}
}

// passOver reads to the end of a line that is too long.
func (l *line) passOver(br *bufio.Reader) error {
	for {
		more, err := br.ReadSlice('\n')
		l.size += int64(len(more))
		if err != bufio.ErrBufferFull {
			return err
		}
	}
}
