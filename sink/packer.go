package sink

import (
	"bytes"
	"io"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/a2sscan/a2sscan/sink/disk"
)

// packing is the compression of a file. Its value is the suffix of the file's name.
type packing string

const (
	unpacked packing = ""
	inZstd   packing = ".zst"
	inGzip   packing = ".gz"
)

func packingOf(path string) packing {
	path = strings.TrimSuffix(path, disk.PartSuffix)
	for _, p := range []packing{inZstd, inGzip} {
		if strings.HasSuffix(path, string(p)) {
			return p
		}
	}
	return unpacked
}

// The parameters of compression. A frame ends at a Sync, when it has frameSize bytes of
// lines, or when a flush finds that it is frameAge old. Frames are short because, after
// damage, reading continues at the next frame. The window holds a few hundred records. A
// longer window would cost time and memory, and save little space.
const (
	frameSize  = 8 << 20
	frameAge   = 10 * time.Second
	packWindow = 512 << 10
)

type encoder interface {
	io.WriteCloser
	Flush() error
	Reset(w io.Writer)
}

// packer compresses lines to zstd frames or gzip members. It reuses its memory.
type packer struct {
	enc  encoder
	out  bytes.Buffer
	in   int // bytes of lines in the open frame, or 0 if no frame is open
	born time.Time
}

// newPacker returns a packer. WithEncoderLevel must come after WithWindowSize: in the
// other order, the blocks would be shorter.
func newPacker(how packing) (*packer, error) {
	if how == inGzip {
		enc, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
		return &packer{enc: enc}, err
	}
	enc, err := zstd.NewWriter(nil,
		zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(packWindow),
		zstd.WithEncoderLevel(zstd.SpeedFastest))
	return &packer{enc: enc}, err
}

// pack compresses the block of j, and returns the encoder's output. It ends the frame if
// j.end is set, or if the frame has reached frameSize. If j.flush is set, it ends a frame
// that has reached frameAge, and makes all lines of a younger frame readable. The returned
// bytes are valid until the next call.
func (p *packer) pack(j job) (_ []byte, err error) {
	p.out.Reset()
	if len(j.block) > 0 {
		if p.in == 0 {
			p.enc.Reset(&p.out)
			p.born = time.Now()
		}
		p.in += len(j.block)
		_, err = p.enc.Write(j.block)
	}
	switch {
	case p.in == 0 || err != nil:
	case j.end, p.in >= frameSize, j.flush && time.Since(p.born) >= frameAge:
		p.in = 0
		err = p.enc.Close()
	case j.flush:
		err = p.enc.Flush()
	}
	return p.out.Bytes(), err
}
