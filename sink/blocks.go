package sink

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/a2sscan/a2sscan/sink/record"
)

// Reading is the outcome of reading a census to its end.
type Reading struct {
	Damage    Damage // what was skipped
	Truncated int64  // see Reader.Truncated
}

// EachBlock reads the census at path as a Reader does, but on several goroutines.
// It passes all complete lines, with their newlines, to do in blocks, in no
// particular order. Several goroutines, numbered from 0 to workers-1, call do at
// the same time; a block is valid until do returns. The first error of do ends the
// reading and is returned.
func EachBlock(path string, workers int, do func(worker int, block []byte) error) (Reading, error) {
	return Source{}.EachBlock(path, workers, do)
}

// EachBlock does what the function EachBlock does, for a census that s opens.
func (s Source) EachBlock(name string, workers int, do func(worker int, block []byte) error) (Reading, error) {
	b := &blocks{from: s, path: name, workers: max(workers, 1), do: do}
	b.turn.L = &b.mu
	if isStandard(name) {
		return b.careful()
	}
	in, err := s.file(name)
	if err != nil {
		return Reading{}, newError("open", name, err)
	}
	err = b.fast(in)
	in.Close()
	if err == nil || b.err != nil {
		return Reading{}, b.err
	}
	return b.careful()
}

// blocks reads a census in blocks. It first tries the fast path, in which workers
// unpack frames independently. If a frame or a line is damaged, truncated or
// unusual, it starts again with a Reader, which can handle that, and skips the
// lines that do has already received.
type blocks struct {
	from    Source
	path    string
	workers int
	do      func(worker int, block []byte) error

	mu     sync.Mutex
	turn   sync.Cond
	next   int    // number of the piece whose turn is next
	tail   []byte // unfinished line at the end of the previous piece
	passed int64  // bytes of lines that were passed to do
	odd    bool   // a piece was unusual: the fast path passes no more lines to do
	err    error  // the first error of do
}

// piece is one frame of a compressed file, or many complete lines of a plain file.
type piece struct {
	number int
	bytes  []byte
}

// pieceSize is the approximate size of a piece of a plain file.
const pieceSize = 1 << 20

// errUnusual means that only a Reader can read the file.
var errUnusual = errors.New("not an undamaged census in short frames")

// fast reads the file on all workers. It returns an error if it could not read all
// of it. If do failed, its error is in b.err.
func (b *blocks) fast(in io.Reader) (err error) {
	if isPipe(in) {
		return errUnusual
	}
	f := bufio.NewReader(in)
	magic, _ := f.Peek(4)
	n, packed := len(magic), isZstd(magic)
	if !packed && (n == 0 || magic[0] != '{') {
		return errUnusual
	}
	pieces, free := make(chan piece, b.workers), make(chan []byte, 2*b.workers+1)
	for range cap(free) {
		free <- nil
	}
	var group sync.WaitGroup
	for w := range b.workers {
		group.Go(func() { b.work(w, packed, pieces, free) })
	}
	if packed {
		err = b.frames(f, pieces, free)
	} else {
		err = b.plain(f, pieces, free)
	}
	close(pieces)
	group.Wait()
	if err == nil && (b.odd || len(b.tail) > 0) {
		err = errUnusual
	}
	return err
}

// isPipe reports whether in is a local file other than a regular file, which may be
// readable only once.
func isPipe(in io.Reader) bool {
	f, ok := in.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err != nil || !info.Mode().IsRegular()
}

// stopped reports whether the fast path has given up, or do has failed.
func (b *blocks) stopped() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.odd || b.err != nil
}

// frames sends the frames of a compressed file to the workers. It returns
// errUnusual for a damaged, truncated or long frame, or if stopped reports true.
func (b *blocks) frames(f io.Reader, pieces chan<- piece, free <-chan []byte) error {
	z := newFrames(f)
	for n := 0; !b.stopped(); n++ {
		err := z.collect(maxTail)
		if err == io.EOF {
			return nil
		}
		if err != nil || z.truncated || !z.ended || z.blocks > maxWindow/maxBlock {
			return errUnusual
		}
		pieces <- piece{n, append((<-free)[:0], z.buf...)}
	}
	return errUnusual
}

// plain sends the lines of a plain file to the workers, in large pieces. It returns
// errUnusual for a partial or long line, or if stopped reports true.
func (b *blocks) plain(f io.Reader, pieces chan<- piece, free <-chan []byte) error {
	var rest []byte
	for n := 0; !b.stopped(); n++ {
		buf := append((<-free)[:0], rest...)
		buf, end, err := fillLines(f, buf)
		if end > 0 {
			pieces <- piece{n, buf[:end]}
			rest = append(rest[:0], buf[end:]...)
		}
		switch {
		case err == io.EOF && end == len(buf):
			return nil
		case err != nil || end == 0:
			return errUnusual
		}
	}
	return errUnusual
}

// fillLines appends bytes of f to buf, pieceSize at a time, until buf contains a
// complete line or maxLine bytes. end is the end of the last complete line in buf,
// or 0 if there is none.
func fillLines(f io.Reader, buf []byte) (_ []byte, end int, err error) {
	for end == 0 && err == nil && len(buf) < maxLine {
		start := len(buf)
		if cap(buf) < start+pieceSize {
			buf = append(make([]byte, 0, 2*start+pieceSize+pieceSize/4), buf...)
		}
		var n int
		n, err = io.ReadFull(f, buf[start:start+pieceSize])
		buf = buf[:start+n]
		end = bytes.LastIndexByte(buf, '\n') + 1
	}
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	return buf, end, err
}

// work unpacks frames, or checks plain lines, and passes the lines to do.
func (b *blocks) work(w int, packed bool, pieces <-chan piece, free chan<- []byte) {
	dec, err := zstd.NewReader(nil, append(decoderOptions, zstd.WithDecoderMaxMemory(maxWindow))...)
	if err == nil {
		defer dec.Close()
	}
	var out []byte
	for p := range pieces {
		lines, good := p.bytes, err == nil
		switch {
		case packed && good:
			var bad error
			out, bad = dec.DecodeAll(p.bytes, out[:0])
			lines, good = out, bad == nil
		case good:
			good = allJSON(lines)
		}
		b.pass(w, p.number, lines, good)
		free <- p.bytes
	}
}

// allJSON reports whether all lines are JSON.
func allJSON(lines []byte) bool {
	for line := range bytes.Lines(lines) {
		if !json.Valid(line) {
			return false
		}
	}
	return true
}

// pass waits for the turn of piece number and then passes its complete lines to do,
// unless the piece is unusual (good is false).
func (b *blocks) pass(w, number int, lines []byte, good bool) {
	b.mu.Lock()
	for b.next != number {
		b.turn.Wait()
	}
	joined, lines, good := b.join(number, lines, good)
	b.next++
	b.turn.Broadcast()
	b.mu.Unlock()
	if !good {
		return
	}
	for _, block := range [][]byte{joined, lines} {
		if len(block) == 0 {
			continue
		}
		if err := b.do(w, block); err != nil {
			b.fail(err)
			return
		}
	}
}

// join completes the line that the previous piece left unfinished, and keeps the
// beginning of a line that the next piece will complete. It returns the line that
// spans both pieces, and the complete lines of this piece. ok is false if there is
// nothing to pass to do.
func (b *blocks) join(number int, lines []byte, good bool) (joined, rest []byte, ok bool) {
	if b.odd = b.odd || !good || number == 0 && !begins(lines); b.odd || b.err != nil {
		return nil, nil, false
	}
	end := bytes.LastIndexByte(lines, '\n') + 1
	if end == 0 {
		b.tail = append(b.tail, lines...)
		b.odd = len(b.tail) > maxLine
		return nil, nil, false
	}
	start := 0
	if len(b.tail) > 0 {
		start = bytes.IndexByte(lines, '\n') + 1
		joined = append(b.tail, lines[:start]...)
	}
	b.tail = append([]byte(nil), lines[end:]...)
	b.passed += int64(len(joined) + end - start)
	return joined, lines[start:end], true
}

// begins reports whether lines begins with a record that a Reader would return.
func begins(lines []byte) bool {
	line, _, found := bytes.Cut(lines, []byte("\n"))
	return found && json.Valid(line) && record.CheckSchema(line) == nil
}

func (b *blocks) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.err = err
	}
}

// careful reads the file with a Reader, and calls do from all workers with the
// lines that do has not received yet.
func (b *blocks) careful() (Reading, error) {
	r, err := b.from.Open(b.path)
	if err != nil {
		return Reading{}, err
	}
	defer r.Close()
	full, free := make(chan []byte, b.workers), make(chan []byte, 2*b.workers+1)
	for range cap(free) {
		free <- nil
	}
	var group sync.WaitGroup
	for w := range b.workers {
		group.Go(func() { b.deliver(w, full, free) })
	}
	err = b.gather(r, full, free)
	close(full)
	group.Wait()
	if b.err != nil {
		err = b.err
	}
	if err == io.EOF {
		err = nil
	}
	return Reading{Damage: r.Damage(), Truncated: r.Truncated()}, err
}

// deliver passes blocks to do.
func (b *blocks) deliver(w int, full <-chan []byte, free chan<- []byte) {
	for block := range full {
		if err := b.do(w, block); err != nil {
			b.fail(err)
		}
		free <- block
	}
}

// gather collects the lines that do has not received yet into blocks, until the
// Reader returns an error or do has failed.
func (b *blocks) gather(r *Reader, full chan<- []byte, free <-chan []byte) error {
	for err := error(nil); err == nil; {
		block := (<-free)[:0]
		b.mu.Lock()
		b.odd, err = false, b.err
		b.mu.Unlock()
		for err == nil && len(block) < pieceSize {
			var line []byte
			if line, err = r.Next(); err == nil && r.at > b.passed {
				block = append(append(block, line...), '\n')
			}
		}
		if len(block) > 0 {
			full <- block
		}
		if err != nil {
			return err
		}
	}
	return nil
}
