package sink

import (
	"time"

	"github.com/klauspost/compress/zstd"
)

// How a file is compressed. A frame is ended by Sync, and otherwise when it
// holds so much, or when a flush finds it so old: what comes after a fault of
// the disk can be read from the next frame on. The window is as long as some
// hundred records: a longer one costs time and memory and finds little more.
const (
	frameSize  = 8 << 20
	frameAge   = 10 * time.Second
	packWindow = 512 << 10
)

// packer compresses lines to frames. Its memory is used again: a frame costs
// two allocations of some bytes.
type packer struct {
	enc  *zstd.Encoder
	out  packed
	in   int // bytes of the lines in the frame that is open; 0: none is
	born time.Time
}

// packed is what an encoder wrote.
type packed []byte

func (b *packed) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}

// newPacker returns a packer. The level comes after the window: the other way
// round it would shorten the blocks.
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

// flush makes all that was added readable from what take returns.
func (p *packer) flush() error {
	switch {
	case p.in == 0:
		return nil
	case time.Since(p.born) >= frameAge:
		return p.end()
	}
	return p.enc.Flush()
}

// end ends the frame that is open.
func (p *packer) end() error {
	if p.in == 0 {
		return nil
	}
	p.in = 0
	return p.enc.Close()
}

// take returns what came out since the last take. It is valid until the next
// call.
func (p *packer) take() []byte {
	out := p.out
	p.out = p.out[:0]
	return out
}
