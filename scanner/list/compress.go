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

// magics are the first bytes of files in known compression formats.
var magics = []struct {
	begins string
	name   string
	open   func(*bufio.Reader) (io.Reader, error) // nil: unsupported
}{
	{"\x1f\x8b", "gzip", func(b *bufio.Reader) (io.Reader, error) { return gzip.NewReader(b) }},
	{"\x28\xb5\x2f\xfd", "zstd", openZstd},
	{"BZh", "bzip2", nil},
	{"\xfd7zXZ", "xz", nil},
	{"PK\x03\x04", "zip", nil},
	{"\x04\x22\x4d\x18", "lz4", nil},
}

// decompress returns a reader of the decompressed data in b and the name of the
// compression, or b and "" if the data is not compressed. It returns an error for a
// compression that is not supported. A compressed list that was cut off ends with
// errTruncated.
func decompress(b *bufio.Reader) (plain io.Reader, compression string, err error) {
	first, err := b.Peek(1)
	if err != nil {
		return b, "", nil
	}
	for _, m := range magics {
		if m.begins[0] != first[0] {
			continue
		}
		head, _ := b.Peek(len(m.begins))
		switch {
		case string(head) != m.begins:
		case m.open == nil:
			return nil, "", fmt.Errorf("it is compressed with %s, which is not read here: "+
				"decompress it first, or use gzip or zstd", m.name)
		default:
			plain, err = unpack(m.open(b))
			return plain, m.name, err
		}
	}
	// A zstd file may begin with a skippable frame, which holds no data.
	head, _ := b.Peek(min(4, b.Buffered()))
	if len(head) == 4 && head[0]>>4 == 5 && bytes.HasSuffix(head, []byte("\x2a\x4d\x18")) {
		plain, err = unpack(openZstd(b))
		return plain, "zstd", err
	}
	return b, "", nil
}

// openZstd returns a decoder that starts no goroutine and so needs no Close.
func openZstd(b *bufio.Reader) (io.Reader, error) {
	return zstd.NewReader(b, zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
}

// unpack returns a reader of the decompressor r. err is the error of opening it: if
// the data ended early, the reader is empty and ends with errTruncated.
func unpack(r io.Reader, err error) (io.Reader, error) {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return &unpacker{err: errTruncated}, nil
	}
	return &unpacker{r: r}, err
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
