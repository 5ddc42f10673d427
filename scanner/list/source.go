package list

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"sync/atomic"
)

// tap reads ahead of the line reader in one goroutine and hashes the input in
// another, so that neither reading nor hashing delays the line reader.
type tap struct {
	blocks chan *tapBlock // in order
	free   chan *tapBlock
	quit   chan struct{}
	done   chan struct{} // closed when the reading goroutine has returned
	hashed chan struct{} // closed when everything is hashed

	cur   *tapBlock
	rest  []byte // of cur
	err   error
	taken int64 // bytes read from t

	bytes atomic.Int64
	hash  hash.Hash
}

// tapBlock is a part of the input. It can be reused when it has no users.
type tapBlock struct {
	b     []byte
	err   error // the error after b
	users atomic.Int32
}

// The size of the read-ahead: enough to keep a disk busy while lines are read.
const (
	tapBlocks = 4
	tapSize   = 256 << 10
)

func newTap(r io.Reader) *tap {
	t := &tap{
		blocks: make(chan *tapBlock, tapBlocks),
		free:   make(chan *tapBlock, tapBlocks),
		quit:   make(chan struct{}),
		done:   make(chan struct{}),
		hashed: make(chan struct{}),
		hash:   sha256.New(),
	}
	for range tapBlocks {
		t.free <- new(tapBlock)
	}
	toHash := make(chan *tapBlock, tapBlocks)
	go t.read(r, toHash)
	go t.sum(toHash)
	return t
}

// read reads blocks from r until r returns an error or stop is called.
func (t *tap) read(r io.Reader, toHash chan<- *tapBlock) {
	defer close(t.done)
	defer close(t.blocks)
	defer close(toHash)
	for {
		var b *tapBlock
		select {
		case b = <-t.free:
		case <-t.quit:
			return
		}
		if b.b == nil { // a short list needs few blocks
			b.b = make([]byte, tapSize)
		}
		n, err := r.Read(b.b[:tapSize])
		b.b, b.err = b.b[:n], err
		b.users.Store(2)
		t.bytes.Add(int64(n))
		toHash <- b
		t.blocks <- b
		if err != nil {
			return
		}
	}
}

func (t *tap) sum(blocks <-chan *tapBlock) {
	defer close(t.hashed)
	for b := range blocks {
		t.hash.Write(b.b)
		t.release(b)
	}
}

func (t *tap) release(b *tapBlock) {
	if b.users.Add(-1) == 0 {
		t.free <- b
	}
}

// reader returns an io.Reader of t. Its reads fail when ctx ends.
func (t *tap) reader(ctx context.Context) io.Reader { return tapReader{t, ctx} }

type tapReader struct {
	*tap
	ctx context.Context
}

// Read implements io.Reader.
func (t tapReader) Read(p []byte) (int, error) {
	for len(t.rest) == 0 {
		if err := t.nextBlock(t.ctx); err != nil {
			return 0, err
		}
	}
	n := copy(p, t.rest)
	t.tap.rest = t.rest[n:]
	t.taken += int64(n)
	return n, nil
}

// nextBlock releases the current block and waits for the next.
func (t *tap) nextBlock(ctx context.Context) error {
	if t.cur != nil {
		t.err = t.cur.err
		t.release(t.cur)
		t.cur = nil
	}
	if t.err != nil {
		return t.err
	}
	select {
	case b, ok := <-t.blocks:
		if !ok {
			return io.ErrUnexpectedEOF // read after stop
		}
		t.cur, t.rest = b, b.b
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// stop makes the reading goroutine end. It does not interrupt a Read that blocks.
func (t *tap) stop() { close(t.quit) }

// sum256 returns the SHA-256 of the input in hex, or an empty string if the input
// was not read to its end.
func (t *tap) sum256() string {
	if t.err != io.EOF {
		return ""
	}
	<-t.hashed
	return hex.EncodeToString(t.hash.Sum(nil))
}
