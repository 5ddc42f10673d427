package sink

import (
	"errors"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/thread"
	"github.com/a2sscan/a2sscan/sink/disk"
	"github.com/a2sscan/a2sscan/sink/record"
)

// The sizes in bytes and the number of the blocks that wait for the disk. A block is
// compressed and written in one step. Write waits only if all blocks are full.
const (
	blockSize = 256 << 10
	blockRoom = 64 << 10 // additional room for the last record of a block
	numBlocks = 4
	// maxKept is the largest capacity of a block that is used again. A long record makes
	// the block larger.
	maxKept = 1 << 20
)

// Output writes the records of a scan: to one file or, with Options.Rotate, to parts.
// Its methods may be called from several goroutines.
//
// Open creates the file. A part is created when its first records are written. From then
// on each file is in one of three states:
//
//		            ┌─ Write, Sync ─┐
//		            │               ▼   Close, or the part is full     Commit
//		 created ───┴──────────▶ open ──────────────────────▶ complete ─────▶ named
//		                            ▲                             │              │
//		                            └───── Resume or Append ──────┴──────────────┘
//
//	  - open: the file is durable up to the last Sync. If the process is killed, the file
//	    may have later records, too, and a partial one at its end. Resume truncates the
//	    file to the position of a Sync. Append keeps all complete records.
//	  - complete: the file has all its records, and is durable.
//	  - named: the file has its final name. Until then, the name of a part, or of a file
//	    that replaces another, ends in disk.PartSuffix. Any other file has its final name
//	    from the start.
//
// Write appends a record to a block. Until Close, a goroutine with a thread of its own
// (package thread) compresses and writes full blocks, and creates the next part when a
// part is full. If the disk is slower than the scan, Write waits for a free block. After
// the first error the Output writes no more records, and removes a partial record if it
// can.
type Output struct {
	path   string
	o      Options
	packed packing // compression of the files

	full chan job
	free chan []byte
	stop chan struct{} // closed to end the regular flushes
	busy sync.WaitGroup

	mu             sync.Mutex // guards the fields below
	enc            record.Encoder
	block          []byte // the current block; nil until one is needed
	lines          uint64 // records in the block
	opened, closed bool

	count   atomic.Uint64 // number of records passed to Write and WriteLine
	bytes   atomic.Uint64 // total length of the lines of these records
	written atomic.Uint64 // number of these records that the writing goroutine has written
	writes  atomic.Bool   // whether a block is being written
	failed  atomic.Pointer[error]

	files sync.Mutex // guards ended and now, which only the writing goroutine sets after Open
	ended []*file    // files that are complete or being completed
	now   *file      // the open file, or nil if there is none

	// Only the writing goroutine uses these, after Open.
	packer *packer // nil if the files are not compressed
	header []byte  // header still to be written at the beginning of the open file
}

// job is a block to write; lines is the number of its records. If flush is set,
// everything written so far becomes readable from the file. If end is set, the frame ends
// as well. If mark is not nil, Output.do sets it to the place after the block.
type job struct {
	block      []byte
	lines      uint64
	flush, end bool
	mark       *Mark
}

// New returns an Output for the file at path, which Open will create. "-" and "" are
// standard output. A file whose name ends in .zst or .gz is compressed.
func New(path string, o Options) *Output {
	return &Output{
		path: path, o: o, packed: packingOf(path),
		enc:  record.Encoder{Key: o.NameKey},
		full: make(chan job, numBlocks), free: make(chan []byte, numBlocks), stop: make(chan struct{}),
	}
}

// Create calls New and Open.
func Create(path string, o Options) (*Output, error) {
	w := New(path, o)
	if err := w.Open(); err != nil {
		return nil, err
	}
	return w, nil
}

// Open creates the file, or opens the existing files to resume or append to. If the file
// exists, but Append, Replace and Resume are not set, the error is fs.ErrExist. Pipes and
// devices are always accepted.
//
// If standard output is a pipe whose reader has closed it, Go ends the process with
// SIGPIPE before Write can return an error. A program that wants the error calls
// signal.Ignore(syscall.SIGPIPE).
func (w *Output) Open() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return os.ErrClosed
	}
	var err error
	if w.packed != unpacked {
		w.packer, err = newPacker(w.packed)
	}
	switch {
	case err != nil:
	case w.o.Resume != nil && w.o.Resume.Offset < 0:
		err = w.o.refuse(w.path, errors.New("the length of the census in the checkpoint is negative"), "start a new scan")
	case w.o.Rotate == nil:
		err = w.begin(w.path, &w.o)
	case w.o.Append || isStandard(w.path):
		err = w.o.refuse(w.path, errors.New("a census in parts needs a new file for each part"), "choose the name of a new file")
	case w.o.Resume != nil:
		err = w.resume()
	}
	if err != nil {
		w.failed.CompareAndSwap(nil, &err)
		return err
	}
	w.start()
	return nil
}

func (w *Output) start() {
	w.opened = true
	for range numBlocks {
		w.free <- nil
	}
	w.busy.Go(w.run)
	every := w.o.FlushEvery
	if every == 0 {
		every = defaultFlush
		if w.packed != unpacked {
			every = defaultFlushZstd
		}
	}
	if every < 0 {
		return
	}
	w.busy.Go(func() {
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
	})
}

// Write adds the record of r. Its first argument, scan, is the name of the scan. If the
// name is empty, the record lacks the key "scan". Write keeps no reference to r. The error
// may concern earlier records. Only Sync and Close report the errors of all records before
// the call.
func (w *Output) Write(scan string, r *scanner.Result) error {
	return w.add(func(block []byte) []byte { return w.enc.Append(block, scan, r) })
}

// WriteLine adds a line, such as a record that is already encoded. The line must not end
// with a newline.
func (w *Output) WriteLine(line []byte) error {
	return w.add(func(block []byte) []byte { return append(append(block, line...), '\n') })
}

func (w *Output) add(appendTo func([]byte) []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.writable(); err != nil {
		return err
	}
	if w.block == nil {
		if w.block = <-w.free; w.block == nil {
			w.block = newBlock()
		}
	}
	old := len(w.block)
	w.block = appendTo(w.block)
	if w.o.Shown != nil {
		w.block = append(append(w.block[:old], w.o.Shown(w.block[old:len(w.block)-1])...), '\n')
	}
	w.lines++
	w.count.Add(1)
	w.bytes.Add(uint64(len(w.block) - old))
	if len(w.block) >= blockSize {
		w.handOver(job{})
	}
	return nil
}

func newBlock() []byte { return make([]byte, 0, blockSize+blockRoom) }

// handOver passes the current block to the writing goroutine. w.mu must be held.
func (w *Output) handOver(j job) {
	j.block, j.lines = w.block, w.lines
	w.block, w.lines = nil, 0
	w.full <- j
}

// writable returns the error that prevents writing, or nil. w.mu must be held.
func (w *Output) writable() error {
	if err := w.Err(); err != nil {
		return err
	}
	if w.closed || !w.opened {
		return &Error{Op: "write", Path: w.path, Err: os.ErrClosed}
	}
	return nil
}

// fail stores err if it is the first error, and calls Options.Failed. It ignores nil.
func (w *Output) fail(err error) {
	if err == nil {
		return
	}
	first := err // a copy, so that a call with a nil error allocates nothing
	if w.failed.CompareAndSwap(nil, &first) && w.o.Failed != nil {
		w.o.Failed()
	}
}

// Err returns the first error, or nil. It never waits.
func (w *Output) Err() error {
	if err := w.failed.Load(); err != nil {
		return *err
	}
	return nil
}

// Sync returns when every record written so far is in its file, and the last frame is
// complete. It also syncs a regular file to the disk.
func (w *Output) Sync() (Position, error) {
	m, err := w.Mark()
	if err != nil {
		return Position{}, err
	}
	return m.Sync()
}

// flush hands over the current block if it has records. If the file is compressed and no
// other block waits, flush hands over even an empty block, because the encoder may still
// hold records.
func (w *Output) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	held := w.packed != unpacked && len(w.full) == 0
	if !w.closed && (len(w.block) > 0 || held) {
		w.handOver(job{flush: true})
	}
}

// run writes blocks until there are no more. After an error it only makes the blocks
// available again, so that no call waits for a block in vain.
func (w *Output) run() {
	thread.Lower()
	for j := range w.full {
		if w.Err() == nil {
			w.writes.Store(true)
			w.fail(w.do(j))
			w.writes.Store(false)
		}
		if cap(j.block) > maxKept {
			j.block = newBlock()
		}
		if j.block != nil {
			w.free <- j.block[:0]
		}
		if j.mark != nil {
			close(j.mark.written)
		}
	}
	if w.now != nil {
		w.turn()
	}
}

// do writes a block. It begins a part if no part is open, and ends a part that is
// full.
func (w *Output) do(j job) error {
	if w.now == nil && len(j.block) > 0 {
		o := w.o
		o.Resume = nil
		if err := w.begin(w.partName(len(w.ended)+1), &o); err != nil {
			return err
		}
		disk.Step("part.created")
	}
	if f := w.now; f != nil {
		if len(w.header) > 0 {
			if err := f.write(w.packer, job{block: w.header}); err != nil {
				return err
			}
			w.header = nil
		}
		if err := f.write(w.packer, j); err != nil {
			return err
		}
		w.written.Add(j.lines)
		if r := w.o.Rotate; r != nil && (r.Size > 0 && f.size >= r.Size || r.Every > 0 && time.Since(f.born) >= r.Every) {
			if err := f.write(w.packer, job{end: true}); err != nil {
				return err
			}
			w.turn()
		}
	}
	if m := j.mark; m != nil {
		if m.before = slices.Clone(w.ended); w.now != nil {
			m.in, m.at = w.now, w.now.position()
		}
	}
	return nil
}

// turn ends the open file. It does not wait for the disk.
func (w *Output) turn() {
	f := w.now
	w.files.Lock()
	w.ended, w.now = append(w.ended, f), nil
	w.files.Unlock()
	w.busy.Go(func() {
		defer close(f.done)
		if w.Err() != nil {
			f.close()
			return
		}
		if f.err = f.end(); f.err == nil && w.o.Rotate != nil && !w.o.Rotate.Hold {
			f.err = f.commit()
		}
		w.fail(f.err)
	})
}

// Close makes the files durable, and checks that they still have their names and hold
// everything that was written. After that, files without final names wait for Commit or
// Keep. Standard output stays open. A second Close only returns the error of the first.
func (w *Output) Close() error {
	w.mu.Lock()
	if w.opened && !w.closed {
		close(w.stop)
		w.handOver(job{end: true})
		close(w.full)
	}
	w.closed = true
	w.mu.Unlock()
	w.busy.Wait()
	return w.Err()
}

// Commit closes the Output if it is open, and renames the files of a complete census to
// their final names. If the Output has failed, it does what Keep does.
func (w *Output) Commit() error {
	if err := w.Close(); err != nil {
		w.Keep()
		return err
	}
	return commit(w.ended)
}

func commit(files []*file) error {
	for _, f := range files {
		if <-f.done; f.err != nil {
			return f.err
		}
		if err := f.commit(); err != nil {
			return err
		}
	}
	return nil
}

// Keep closes the Output if it is open, and leaves the files of an incomplete census
// under their current names.
func (w *Output) Keep() error {
	err := w.Close()
	for _, f := range w.ended {
		err = errors.Join(err, f.close())
	}
	return err
}

// Discard closes the Output if it is open, and removes the file if this Output created
// it. So a scan without targets leaves no file. Parts stay, because each has records.
func (w *Output) Discard() error {
	err := w.Keep()
	if w.o.Rotate == nil && len(w.ended) > 0 && w.ended[0].created {
		err = errors.Join(err, os.Remove(w.ended[0].shown()))
	}
	return err
}

func (w *Output) each() (ended []*file, open *file) {
	w.files.Lock()
	defer w.files.Unlock()
	return w.ended[:len(w.ended):len(w.ended)], w.now
}

// File describes the file that contains the records. A file that replaces another gets
// the name of that file only with Commit. Records, Bytes and Sum are set after Close, and
// only for a regular file. For standard output and for a census in parts, only Name is
// set.
func (w *Output) File() Part {
	ended, open := w.each()
	p := Part{Name: w.path}
	if w.o.Rotate != nil || isStandard(w.path) {
		return p
	}
	if open != nil {
		ended = []*file{open}
	}
	for _, one := range partsOf(ended) {
		if p = one; p.Name != beside(w.path) {
			p.Name = w.path
		}
	}
	return p
}

// Parts returns the parts that are complete or being closed. The Records, Bytes and Sum
// of a part are not known until it is closed. Without Options.Rotate there are none.
func (w *Output) Parts() []Part {
	if w.o.Rotate == nil {
		return nil
	}
	ended, _ := w.each()
	return partsOf(ended)
}

// Count returns the number of records that were passed to Write and WriteLine.
func (w *Output) Count() uint64 { return w.count.Load() }

// Waiting returns the number of records that wait for the reader of a pipe or a device, and
// whether a write to it is in progress, even one without records. For a regular file it
// returns 0 and false.
func (w *Output) Waiting() (records uint64, writing bool) {
	if _, open := w.each(); open == nil || open.regular {
		return 0, false
	}
	written := w.written.Load() // load written before count: both grow, and the difference must not be negative
	return w.count.Load() - written, w.writes.Load()
}

// Cut returns how many bytes of a partial record Options.Append cut off.
func (w *Output) Cut() int64 {
	ended, open := w.each()
	if len(ended) > 0 {
		open = ended[0]
	}
	if open == nil {
		return 0
	}
	return open.cut
}

// SetAside adds disk.PartSuffix to the name of a census that nobody should use, so that
// the next census can have the old name. It does nothing for a census in parts. Call it
// after Keep or Commit.
func (w *Output) SetAside() error {
	if w.o.Rotate != nil || len(w.ended) == 0 {
		return nil
	}
	f := w.ended[0]
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.final != "" || f.sum == nil { // the file has that name already, or is not a regular file
		return nil
	}
	if err := os.Rename(disk.Resolve(w.path), beside(w.path)); err != nil {
		return newError("rename", w.path, err)
	}
	f.name = beside(w.path)
	return nil
}
