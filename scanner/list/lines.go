package list

import (
	"bufio"
	"bytes"
	"io"
	"iter"
)

// maxLine is the maximum length of a line in bytes, including its line ending. A
// longer line is invalid, and only its beginning is kept. A line of JSON may be
// longer.
const maxLine = 64 << 10

// utf8BOM is the byte order mark that some editors write at the beginning of a
// file. Files that were joined have more of them.
var utf8BOM = []byte("\xef\xbb\xbf")

// line is a line of a list. Its text is valid until the next line is read.
type line struct {
	number int    // from 1
	text   []byte // without its line ending; only the beginning if the line is too long
	last   bool   // the list ends without a line ending after this line
	fault  fault  // faultLong; or faultTruncated: the list is compressed and was cut off inside this line
}

// eachLine yields the lines of r; it keeps at most most bytes of a line. If reading
// fails, eachLine sets err and does not yield the line that it was reading. A
// compressed list that was cut off ends with a line that has faultTruncated and may be
// empty.
func eachLine(r io.Reader, most int, err *error) iter.Seq[line] {
	return func(yield func(line) bool) {
		b := bufio.NewReaderSize(r, maxLine)
		var long []byte // scratch memory for a line that is longer than the buffer
		for number := 1; ; number++ {
			l := line{number: number}
			text, fail := b.ReadSlice('\n')
			size := len(text)
			if fail == bufio.ErrBufferFull {
				long = append(long[:0], text...)
				for fail == bufio.ErrBufferFull {
					text, fail = b.ReadSlice('\n')
					size += len(text)
					long = append(long, text[:min(len(text), most-len(long))]...)
				}
				text = long
			}
			switch {
			case fail == io.EOF:
				l.last = true
			case fail == errTruncated:
				l.last, l.fault = true, faultTruncated
			case fail != nil:
				*err = fail
				return
			}
			if size > most {
				l.fault = faultLong
			}
			text = bytes.TrimPrefix(text, utf8BOM)
			l.text = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("\n")), []byte("\r"))
			if l.last && l.fault == "" && size == 0 || !yield(l) || l.last {
				return
			}
		}
	}
}

// isComment reports whether a line without surrounding white space names nothing.
// Xash3D has comments that begin with "//".
func isComment(text []byte) bool {
	return len(text) == 0 || text[0] == '#' || bytes.HasPrefix(text, []byte("//"))
}

// firstLine returns the first line of a list that is neither empty nor a comment,
// without surrounding white space.
func firstLine(head []byte) []byte {
	for text := range bytes.Lines(bytes.TrimPrefix(head, utf8BOM)) {
		if text = bytes.TrimSpace(text); !isComment(text) {
			return text
		}
	}
	return nil
}
