package sink

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/thread"
	"github.com/a2sscan/a2sscan/sink/disk"
	"github.com/a2sscan/a2sscan/sink/record"
)

// The sizes of the blocks that wait for the disk, in bytes, and their number. A
// block is compressed and written in one step; Write waits only if all blocks are
// full.
const (
	blockSize = 256 << 10
	blockRoom = 64 << 10 // for the last record of a block
	numBlocks = 4
	maxKept   = 1 << 20 // longer blocks, with a long record, are not reused
)

// Writer writes the records of a scan to a file. Write, Sync and the counters may
// be called from several goroutines.
//
// Records are appended to a block. A goroutine compresses and writes full blocks,
// on its own thread until Close (package thread). If the disk is slower than the
// scan, Write waits for a free block. The first write error is final: every later
// call returns it, and the file ends with the last complete record that fitted or,
// if it is compressed, with the last lines that could be saved.
type Writer struct {
	scan string
	dest *dest

	shown func(record []byte) []byte // nil: unchanged

	full chan job
	free chan []byte
	stop chan struct{} // closed to end the method flushEvery
	busy sync.WaitGroup

	mu     sync.Mutex // guards the fields below
	enc    record.Encoder
	block  []byte // the current block; nil until one is needed
	closed bool

	headers uint64 // lines of the file that are not records
	count   atomic.Uint64
	written atomic.Uint64 // lines that the pipe or device has accepted, with headers
	bytes   atomic.Uint64
	disk    sync.Mutex   // held while the file is synced, closed or renamed
	sum     string       // after Close; guarded by disk
	offset  atomic.Int64 // length of the file at the last Sync
	length  atomic.Int64 // length of the file
	failed  atomic.Pointer[Error]
}

// job is a block to write. If flush is set, everything written so far becomes
// readable from the file; if end is set, its frame ends as well. After that, the
// mark, if there is one, gets the length and the hash of the file.
type job struct {
	block      []byte
	flush, end bool
	mark       *Mark
}

// Create opens path to write records to it. "-" and "" are standard output; a file
// whose name ends in .zst or .gz is compressed. For an existing file the error is
// fs.ErrExist unless the Options allow it; pipes and devices are always accepted.
// The file is created at once: see Check.
//
// If standard output is a pipe whose reader has closed it, Go ends the process with
// SIGPIPE before Write can return an error. A program that wants the error calls
// signal.Ignore(syscall.SIGPIPE).
func Create(path string, o Options) (*Writer, error) {
	out, err := o.open(path)
	if err != nil {
		return nil, err
	}
	d := &dest{f: out, output: out, frame: out.size, screen: o.Screen}
	if out.packed != unpacked {
		if d.packer, err = newPacker(out.packed); err != nil {
			out.release()
			return nil, newError(o.op(), out.name, err)
		}
	}
	return newWriter(d, o), nil
}

// newWriter starts the goroutines that write to d.
func newWriter(d *dest, o Options) *Writer {
	w := &Writer{
		scan: o.Scan,
		dest: d,

		shown: o.Shown,
		enc:   record.Encoder{Names: record.NewNameHasher(o.NameKey)},

		full: make(chan job, numBlocks),
		free: make(chan []byte, numBlocks),
		stop: make(chan struct{}),
	}
	for range numBlocks {
		w.free <- nil
	}
	if len(o.Header) > 0 && d.size == 0 {
		w.block = append(w.freeBlock(), o.Header...)
		w.headers = 1
	}
	w.offset.Store(d.size)
	w.length.Store(d.size)
	w.busy.Go(w.run)
	every := o.FlushEvery
	if every == 0 {
		every = defaultFlush
		if d.packed != unpacked {
			every = defaultFlushZstd
		}
	}
	if every > 0 {
		w.busy.Go(func() { w.flushEvery(every) })
	}
	return w
}

// Write adds the record of r. It keeps nothing of r. Its error may concern earlier
// records: only Sync and Close report on all records before them.
func (w *Writer) Write(r *scanner.Result) error { return w.WriteAs(w.scan, r) }

// WriteAs does what Write does, with scan in place of Options.Scan.
func (w *Writer) WriteAs(scan string, r *scanner.Result) error {
	return w.add(func(block []byte) []byte { return w.enc.Append(block, scan, r) })
}

// WriteLine adds a record that is already encoded; line has no newline at its end.
func (w *Writer) WriteLine(line []byte) error {
	return w.add(func(block []byte) []byte { return append(append(block, line...), '\n') })
}

// add adds the record that appendTo appends to the block.
func (w *Writer) add(appendTo func([]byte) []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.err(); err != nil {
		return err
	}
	if w.block == nil {
		w.block = w.freeBlock()
	}
	old := len(w.block)
	w.block = appendTo(w.block)
	if w.shown != nil {
		w.block = append(append(w.block[:old], w.shown(w.block[old:len(w.block)-1])...), '\n')
	}
	w.count.Add(1)
	w.bytes.Add(uint64(len(w.block) - old))
	if len(w.block) >= blockSize {
		w.handOver(job{})
	}
	return nil
}

// emptied returns b without its content, or a new block if b has grown too long.
func emptied(b []byte) []byte {
	if cap(b) > maxKept {
		return newBlock()
	}
	return b[:0]
}

// freeBlock waits for a free block. It makes a block that was never used: a short file
// needs one.
func (w *Writer) freeBlock() []byte {
	if b := <-w.free; b != nil {
		return b
	}
	return newBlock()
}

func newBlock() []byte { return make([]byte, 0, blockSize+blockRoom) }

// handOver passes the current block to the writing goroutine. w.mu must be held.
func (w *Writer) handOver(j job) {
	j.block, w.block = w.block, nil
	w.full <- j
}

// err returns the error that keeps records from being written, or nil. w.mu must be
// held.
func (w *Writer) err() error {
	if err := w.failure(); err != nil {
		return err
	}
	if w.closed {
		return &Error{Op: "write", Path: w.dest.name, Err: os.ErrClosed}
	}
	return nil
}

// fail records e unless it is nil or there was an error before.
func (w *Writer) fail(e *Error) {
	if e != nil {
		w.failed.CompareAndSwap(nil, e)
	}
}

// failure returns the first error, or nil.
func (w *Writer) failure() error {
	if e := w.failed.Load(); e != nil {
		return e
	}
	return nil
}

// Sync returns when every record written so far is in the file, its frame is
// complete and, if the file is on a disk, the disk was told to store it.
func (w *Writer) Sync() error {
	m, err := w.Mark()
	if err != nil {
		return err
	}
	_, err = m.Sync()
	return err
}

// Close syncs the file, checks that it still has its name and holds everything that
// was written, and closes it. A census that is to replace another one then waits
// for Commit or Keep. Standard output stays open. A second Close only returns the
// error of the first.
func (w *Writer) Close() error {
	if w.shut() {
		w.busy.Wait()
		if w.failure() == nil {
			w.syncTo(w.dest.size)
		}
		w.disk.Lock()
		defer w.disk.Unlock()
		if w.failure() == nil {
			w.fail(w.dest.checkWhole())
		}
		if w.dest.final == "" || w.failure() != nil {
			w.fail(w.dest.close())
		}
		if w.failure() == nil {
			w.sum = w.dest.sumNow()
			disk.Step("output.closed")
		}
	}
	return w.failure()
}

// Commit closes the Writer if it is open, and gives a complete census its final name,
// replacing the old one. Without Options.Replace the file already has that name.
func (w *Writer) Commit() error {
	if err := w.Close(); err != nil {
		return err
	}
	w.disk.Lock()
	defer w.disk.Unlock()
	if err := w.dest.commit(); err != nil {
		return err
	}
	return nil
}

// Keep closes the Writer if it is open, and leaves an incomplete census beside the one
// that it was to replace. Without Options.Replace it does nothing more than Close.
func (w *Writer) Keep() error {
	err := w.Close()
	w.disk.Lock()
	defer w.disk.Unlock()
	return errors.Join(err, w.dest.release())
}

// Discard closes the Writer if it is open, and removes the file if this Writer created
// it: a scan without targets leaves no file.
func (w *Writer) Discard() error {
	err := w.Keep()
	if w.dest.created {
		err = errors.Join(err, os.Remove(w.dest.name))
	}
	return err
}

// Name returns the name of the file that contains the records. With
// Options.Replace, this is the file beside the old census until Commit.
func (w *Writer) Name() string {
	w.disk.Lock()
	defer w.disk.Unlock()
	return w.dest.name
}

// Sum returns the hash of the whole file, xxHash64 in hex, after a successful
// Close. It is empty before that, and if the output is not a regular file.
func (w *Writer) Sum() string {
	w.disk.Lock()
	defer w.disk.Unlock()
	return w.sum
}

// shut hands over the last block. It returns false if that was done before.
func (w *Writer) shut() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	w.closed = true
	close(w.stop)
	w.handOver(job{end: true})
	close(w.full)
	return true
}

// Count returns the number of records that were passed to Write, WriteAs and
// WriteLine.
func (w *Writer) Count() uint64 { return w.count.Load() }

// Bytes returns the total length of the records before compression.
func (w *Writer) Bytes() uint64 { return w.bytes.Load() }

// linesOf counts the lines of a block that goes to a pipe or a device; for a
// regular file it returns 0.
func (w *Writer) linesOf(j *job) uint64 {
	if w.dest.output == nil || w.dest.regular {
		return 0
	}
	return uint64(bytes.Count(j.block, []byte{'\n'}))
}

// Unwritten returns how many records wait for the reader of a pipe or a device. For
// a regular file it is 0.
func (w *Writer) Unwritten() uint64 {
	if w.dest.output == nil || w.dest.regular {
		return 0
	}
	written := w.written.Load() // first: both only grow
	count := w.count.Load()
	return min(count, count+w.headers-written)
}

// Offset returns the length of the file after the last successful Sync.
// Options.Resume can return to it. It means nothing for standard output.
func (w *Writer) Offset() int64 { return w.offset.Load() }

// Length returns the current length of the file. It does not include records that
// wait for the disk or for compression.
func (w *Writer) Length() int64 { return w.length.Load() }

// Cut returns how many bytes of a partial record Options.Append cut off.
func (w *Writer) Cut() int64 { return w.dest.cut }

// flushEvery flushes at the interval every until Close, so that the file grows
// while the scan runs.
func (w *Writer) flushEvery(every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-tick.C:
			w.flush()
		}
	}
}

// flush hands over the current block. It does so even if the block is empty but the
// encoder may still hold records, unless other blocks are waiting anyway.
func (w *Writer) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	held := w.dest.packer != nil && len(w.full) == 0
	if !w.closed && (len(w.block) > 0 || held) {
		w.handOver(job{flush: true})
	}
}

// run writes blocks until there are no more. After an error it only recycles them,
// so that no call waits for ever.
func (w *Writer) run() {
	thread.Lower()
	for j := range w.full {
		if w.failure() == nil {
			lines := w.linesOf(&j)
			if e := w.dest.write(&j); e != nil {
				w.fail(e)
			} else {
				w.written.Add(lines)
			}
			w.length.Store(w.dest.size)
		}
		if j.block != nil {
			w.free <- emptied(j.block)
		}
		if j.mark != nil {
			j.mark.offset, j.mark.sum = w.dest.size, w.dest.sumNow()
			close(j.mark.written)
		}
	}
}

// file has the methods of os.File that a Writer needs. Tests replace it with one
// that fails.
type file interface {
	io.Writer
	io.ReaderAt
	io.WriterAt
	io.Seeker
	Sync() error
	Truncate(size int64) error
	Close() error
}

// dest is the file as the writing goroutine uses it.
type dest struct {
	*output
	f      file
	packer *packer   // nil if the file is not compressed
	screen io.Writer // written to instead of f, if not nil
	frame  int64     // start of the open frame
}

// write appends a block: its lines, or what the encoder has produced so far.
func (d *dest) write(j *job) *Error {
	b := j.block
	if d.packer != nil {
		if err := d.pack(j); err != nil {
			return newError("write", d.name, err)
		}
		b = d.packer.take()
	}
	if len(b) == 0 {
		return nil
	}
	if err := d.checkLength(); err != nil {
		return newError("write", d.name, err)
	}
	var to io.Writer = d.f
	if d.screen != nil && !d.ours {
		to = d.screen
	}
	n, err := to.Write(b)
	d.size += int64(n)
	if err != nil {
		return d.mend(b[:n], err)
	}
	if d.sum != nil {
		_, _ = d.sum.Write(b) // it never fails
	}
	if d.packer != nil && d.packer.in == 0 {
		d.frame = d.size
	}
	disk.Step("output.block")
	return nil
}

// pack compresses a block. It ends the frame if j.end is set or the frame is large
// enough, and otherwise flushes it if j.flush is set.
func (d *dest) pack(j *job) error {
	p := d.packer
	if err := p.add(j.block); err != nil {
		return err
	}
	switch {
	case j.end || p.in >= frameSize:
		return p.end()
	case j.flush:
		return p.flush()
	}
	return nil
}

// mend cuts off the partial record that a failed write has left, if the file may be
// cut. written are the last of the d.size bytes in the file.
func (d *dest) mend(written []byte, err error) *Error {
	e := newError("write", d.name, err)
	if !d.regular || !d.ours {
		return e
	}
	if d.packer != nil {
		err = d.mendFrame()
	} else {
		d.size -= int64(len(written) - bytes.LastIndexByte(written, '\n') - 1)
		err = d.f.Truncate(d.size)
	}
	if err != nil {
		e.Hint += "; its last line is cut off"
	}
	return e
}

// mendFrame rewrites the frame that a failed write has truncated as a complete
// frame, with the lines that can be read from it, or as many of them as fit.
func (d *dest) mendFrame() error {
	t, err := cutFrame(d.f, d.frame, d.size)
	if err != nil {
		return err
	}
	for lines := t.lines; ; {
		d.size, err = repack(d.f, d.packed, d.frame, d.size, lines)
		if err == nil || len(lines) == 0 {
			return err
		}
		lines = lines[:len(lines)-len(lines)/8-1]
		lines = lines[:bytes.LastIndexByte(lines, '\n')+1]
	}
}

// sync makes the file durable.
func (d *dest) sync() *Error {
	if !d.regular {
		return nil
	}
	if err := d.f.Sync(); err != nil {
		return newError("write", d.name, err)
	}
	return nil
}

// sumNow returns the hash of the bytes written so far, or "" if there is none.
func (d *dest) sumNow() string {
	if d.sum == nil {
		return ""
	}
	return sumText(d.sum)
}

func (d *dest) close() *Error {
	if !d.ours {
		return nil
	}
	if err := errors.Join(d.f.Close(), d.release()); err != nil {
		return newError("write", d.name, err)
	}
	return nil
}
