package list

import (
	"bufio"
	"bytes"
	"io"

	"golang.org/x/text/encoding/unicode" // reads UTF-16, surrogates and all
)

// The byte order marks of UTF-16, as editors and shells on Windows write them.
var (
	littleEndianBOM = []byte("\xff\xfe")
	bigEndianBOM    = []byte("\xfe\xff")
)

// asUTF8 converts b to UTF-8 if it begins with a UTF-16 byte order mark, and
// otherwise returns b. No list in another format begins like that.
func asUTF8(b *bufio.Reader) io.Reader {
	first, _ := b.Peek(1)
	if len(first) == 0 || first[0] != littleEndianBOM[0] && first[0] != bigEndianBOM[0] {
		return b // don't wait for a second byte
	}
	head, _ := b.Peek(2)
	if !bytes.Equal(head, littleEndianBOM) && !bytes.Equal(head, bigEndianBOM) {
		return b
	}
	return unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder().Reader(b)
}
