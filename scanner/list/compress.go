package list

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// errTruncated is the error at the end of a compressed list that was cut off. The
// data before it is intact.
var errTruncated = errors.New("the compressed data ends early")

// maxWindow limits the memory that decompressing a list can take. The zstd tool has
// the same limit.
const maxWindow = 128 << 20

// notRead are the first bytes of files in compression formats that are not read.
var notRead = map[string]string{"BZh": "bzip2", "\xfd7zXZ": "xz", "PK\x03\x04": "zip", "\x04\x22\x4d\x18": "lz4"}

// decompress returns a reader of the decompressed data in b and the name of the
// compression, or b and "" if the data is not compressed. It returns an error for a
// compression that is not supported. A compressed list that was cut off ends with
// errTruncated.
func decompress(b *bufio.Reader) (plain io.Reader, compression string, err error) {
	head, _ := b.Peek(6) // a line with a target is longer
	begins := func(magic string) bool { return bytes.HasPrefix(head, []byte(magic)) }
	// A zstd file may begin with a skippable frame, which holds no data.
	skippable := len(head) > 3 && head[0]>>4 == 5 && string(head[1:4]) == "\x2a\x4d\x18"
	var r io.Reader
	switch {
	case begins("\x1f\x8b"):
		compression = "gzip"
		r, err = gzip.NewReader(b)
	case begins("\x28\xb5\x2f\xfd"), skippable:
		compression = "zstd" // without concurrency it starts no goroutine, and so needs no Close
		r, err = zstd.NewReader(b, zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	default:
		for magic, name := range notRead {
			if begins(magic) {
				return nil, "", fmt.Errorf("it is compressed with %s, which is not read here: "+
					"decompress it first, or use gzip or zstd", name)
			}
		}
		return b, "", nil
	}
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return &unpacker{err: errTruncated}, compression, nil
	}
	return &unpacker{r: r}, compression, err
}

// unpacker is a decompressor that returns errTruncated if its data ends early.
type unpacker struct {
	r   io.Reader
	err error
}

// Read implements io.Reader.
func (t *unpacker) Read(p []byte) (n int, err error) {
	if t.err == nil {
		n, t.err = t.r.Read(p)
		if errors.Is(t.err, io.ErrUnexpectedEOF) {
			t.err = errTruncated
		}
	}
	return n, t.err
}
