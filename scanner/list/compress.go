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
	{"\x1f\x8b", "gzip", openGzip},
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
			plain, err = m.open(b)
			return plain, m.name, err
		}
	}
	if head, _ := b.Peek(min(4, b.Buffered())); isSkippable(head) {
		plain, err = openZstd(b)
		return plain, "zstd", err
	}
	return b, "", nil
}

// isSkippable reports whether head is the magic number of a skippable zstd frame,
// which holds no data.
func isSkippable(head []byte) bool {
	return len(head) == 4 && head[0]>>4 == 5 && bytes.HasSuffix(head, []byte("\x2a\x4d\x18"))
}

func openGzip(b *bufio.Reader) (io.Reader, error) {
	z, err := gzip.NewReader(b)
	if err != nil {
		return truncated(err)
	}
	return &unpacker{r: z}, nil
}

func openZstd(b *bufio.Reader) (io.Reader, error) {
	// A decoder that starts no goroutine needs no Close.
	z, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return truncated(err)
	}
	return &unpacker{r: z}, nil
}

// truncated returns an empty list that ends with errTruncated if err means that the
// data ends early, and otherwise returns err.
func truncated(err error) (io.Reader, error) {
	if isTruncation(err) {
		return &unpacker{r: bytes.NewReader(nil), err: errTruncated}, nil
	}
	return nil, err
}

func isTruncation(err error) bool { return err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) }

// unpacker is a decompressor that returns errTruncated if its data ends early.
type unpacker struct {
	r   io.Reader
	err error
}

// Read implements io.Reader.
func (t *unpacker) Read(p []byte) (int, error) {
	if t.err != nil {
		return 0, t.err
	}
	n, err := t.r.Read(p)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = errTruncated
	}
	t.err = err
	return n, err
}
