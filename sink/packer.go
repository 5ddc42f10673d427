package sink

import (
	"time"

	"github.com/klauspost/compress/zstd"
)

// Compression. A frame ends with Sync, at this size, or when a flush finds it this
// old: after damage a file can be read from the next frame on. The window holds
// some hundred records: a longer one costs time and memory, and saves little.
const (
	frameSize  = 8 << 20
	frameAge   = 10 * time.Second
	packWindow = 512 << 10
)

// packer compresses lines to frames. It reuses its memory: a frame costs two small
// allocations.
type packer struct {
	enc  *zstd.Encoder
	out  packed
	in   int // bytes of lines in the open frame; 0: no frame is open
	born time.Time
}

// packed is the output of an encoder.
type packed []byte

func (b *packed) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}

// newPacker returns a packer. The level follows the window: in the other order it
// would shorten the blocks.
func newPacker() (*packer, error) {
	enc, err := zstd.NewWriter(nil,
		zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(packWindow),
		zstd.WithEncoderLevel(zstd.SpeedFastest))
	return &packer{enc: enc}, err
}

// add compresses lines, and begins a frame if none is open.
func (p *packer) add(lines []byte) error {
	if len(lines) == 0 {
		return nil
	}
	if p.in == 0 {
		p.enc.Reset(&p.out)
		p.born = time.Now()
	}
	p.in += len(lines)
	_, err := p.enc.Write(lines)
	return err
}

// flush makes all added lines readable from what take returns.
func (p *packer) flush() error {
	switch {
	case p.in == 0:
		return nil
	case time.Since(p.born) >= frameAge:
		return p.end()
	}
	return p.enc.Flush()
}

// end ends the open frame.
func (p *packer) end() error {
	if p.in == 0 {
		return nil
	}
	p.in = 0
	return p.enc.Close()
}

// take returns the output since the last take. It is valid until the next call.
func (p *packer) take() []byte {
	out := p.out
	p.out = p.out[:0]
	return out
}
