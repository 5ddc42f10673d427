package sink

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"runtime"
	"slices"
	"sync"

	"github.com/a2sscan/a2sscan/sink/record"
)

// readSize is the usual size in bytes of a Block's buffer.
const readSize = 256 << 10

// Block holds successive complete lines of a census.
type Block struct {
	// First is the number of the block's first line, counted from 1. It is set when Pipe
	// calls take, but is still 0 when the block is parsed.
	First int
	// Out is empty at first. The function that parses the block may append to it, and the
	// take function of Pipe may read it.
	Out []byte

	text    []byte // the lines that b.next has not returned yet
	memory  []byte // the buffer that holds text
	at      int64  // offset of text in the unpacked census
	raw     bool   // b.next returns lines without checking them
	checked bool   // a checksum has shown that the lines are as they were written
	good    bool   // at least one line of the census so far was JSON
	foreign uint64 // in earlier blocks: number of lines before the first JSON line of the census

	lines   int // number of lines that b.next has returned
	dropped Damage
	err     error // the error that ends the block; nil if there is none
}

// byteOrderMark is what some programs write at the beginning of a file. A census may
// consist of several files.
const byteOrderMark = "\uFEFF"

// Lines yields the lines of the block with their index in the block. A line is valid until
// the take function of Pipe has returned. In a frame whose checksum is correct, Lines does not
// parse the lines: it checks only that each one begins and ends like an object. A
// record.Reader finds other faults, such as two records on one line. Whoever uses a line
// without a Reader calls record.Check.
func (b *Block) Lines() iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		for line, ok := b.next(); ok; line, ok = b.next() {
			if !yield(b.lines-1, line) {
				return
			}
		}
	}
}

// next returns the next line of the block, or false if there is none. It skips lines that
// are not JSON.
func (b *Block) next() (line []byte, ok bool) {
	for b.err == nil && len(b.text) > 0 {
		n := bytes.IndexByte(b.text, '\n') + 1
		line, at := bytes.TrimPrefix(b.text[:n-1], []byte(byteOrderMark)), b.at
		b.text, b.at = b.text[n:], at+int64(n)
		switch {
		case b.raw:
		case b.good && b.checked && len(line) > 1 && line[0] == '{' && line[len(line)-1] == '}' || json.Valid(line):
			b.good = true
			b.err = record.CheckSchema(line)
		default:
			b.dropped.Lines++
			b.dropped.add(at, int64(n))
			if !b.good && b.foreign+b.dropped.Lines == maxForeign {
				b.err = ErrNotCensus
			}
			continue
		}
		if b.err == nil {
			b.lines++
			return line, true
		}
	}
	return nil, false
}

// fill reads complete lines into b. It calls Read until there is at least one complete
// line. It returns an error only if no complete line is left.
func (r *Reader) fill(b *Block) error {
	if r.source == nil {
		if err := r.start(); err != nil {
			return err
		}
	}
	text, complete := append(b.memory[:0], r.partial...), 0
	for complete == 0 && r.failed == nil && len(text) <= maxLine {
		if cap(text)-len(text) < readSize/2 {
			text = slices.Grow(text, max(readSize, len(text)))
		}
		old := len(text)
		n, err := r.source.Read(text[old:cap(text)])
		text, r.failed = text[:old+n], err
		if at := bytes.LastIndexByte(text[old:], '\n'); at >= 0 {
			complete = old + at + 1
		}
	}
	if len(text) > maxLine {
		complete = r.limit(text, complete)
	}
	r.partial = append(r.partial[:0], text[complete:]...)
	if complete == 0 {
		return r.end(text, r.failed)
	}
	z := r.zstd // has it returned only complete lines of complete frames whose checksums are correct?
	intact := z != nil && !z.stream && !z.unsummed && !z.joined && !z.damage.Found()
	*b = Block{
		Out: b.Out[:0], text: text[:complete], memory: text, at: r.at,
		raw: r.raw, good: r.good, foreign: r.foreign,
		checked: intact && bytes.IndexByte(text[:complete], 0) < 0,
	}
	r.at += int64(complete)
	if !r.good && !r.raw { // the check of the next block depends on the lines of this one
		ahead := *b
		_, r.good = ahead.next()
		r.foreign += ahead.dropped.Lines
	}
	return nil
}

// limit returns the total length of the lines before the first line that is longer than
// maxLine, and sets r.failed. If no line is too long, limit returns its second argument, the
// total length of the complete lines of text.
func (r *Reader) limit(text []byte, complete int) int {
	from := 0
	for line := range bytes.Lines(text) {
		if len(line) > maxLine {
			r.failed = fmt.Errorf("the line at byte %d is longer than %d MiB", r.at+int64(from), maxLine>>20)
			return from
		}
		from += len(line)
	}
	return complete
}

// finish adds the damage in b to the damage of the census. It returns the error that ended
// b, or nil.
func (r *Reader) finish(b *Block) error {
	r.dropped.join(b.dropped)
	b.dropped = Damage{}
	if b.err != nil {
		return newError("read", r.name, b.err)
	}
	return nil
}

// Pipe reads a census on all processors, at most 16. It divides the census into blocks of
// lines, and starts one goroutine per processor. Each goroutine calls parser once, to get
// its own parse function, and then passes its blocks to this function. Pipe itself calls
// take with each block and the result of the parse function, one block at a time, in the
// order of the census. So take gets the same lines, whatever the number of processors.
//
// Pipe returns nil after the last complete line. If reading fails, take gets the lines
// before the error, and Pipe returns the error that Next would return. If take returns an
// error, Pipe returns that error at once, even if a goroutine still waits for input. This
// goroutine then ends with the next input. For n processors, Pipe has 2n+1 blocks in memory.
//
//	               ┌─▶ unpack ─┐                   ┌─▶ parse ─┐
//	file ─▶ frames ┼─▶ unpack ─┼─▶ lines ─▶ blocks ┼─▶ parse ─┼─▶ take
//	               └─▶ unpack ─┘                   └─▶ parse ─┘
func Pipe[T any](r *Reader, parser func() func(*Block) T, take func(*Block, T) error) error {
	workers := min(runtime.GOMAXPROCS(0), 16)
	jobs := 2*workers + 1
	q := &queue[T]{stop: make(chan struct{}), work: make(chan *pipeJob[T], jobs), order: make(chan *pipeJob[T], jobs), free: make(chan *pipeJob[T], jobs)}
	for range jobs {
		q.free <- &pipeJob[T]{done: make(chan struct{}, 1)}
	}
	for range workers {
		go func() {
			parse := parser()
			for j := range q.work {
				j.parsed = parse(&j.Block)
				j.done <- struct{}{}
			}
		}()
	}
	r.reading = make(chan struct{})
	go q.read(r)
	first := 1
	for j := range q.order {
		<-j.done
		j.First = first
		first += j.lines
		if r.err = take(&j.Block, j.parsed); r.err == nil {
			r.err = r.finish(&j.Block)
		}
		if r.err != nil {
			q.end()
			if r.regular {
				<-r.reading
			}
			return r.err
		}
		q.free <- j
	}
	<-r.reading
	if r.err = q.failed; r.err == io.EOF {
		return nil
	}
	return r.err
}

// A pipeJob is a block that Pipe reads, parses and takes.
type pipeJob[T any] struct {
	Block
	parsed T
	done   chan struct{} // has an element when parsed is set
}

// queue holds the jobs of a Pipe. Each channel has room for all jobs.
type queue[T any] struct {
	free, work, order chan *pipeJob[T] // unused jobs; jobs to parse; jobs in the order of the census
	failed            error            // the error of Reader.fill; valid when order is closed

	mu   sync.Mutex    // guards stop, and sending to work and order
	stop chan struct{} // closed by end
}

// read reads blocks until there is an error or q.end was called.
func (q *queue[T]) read(r *Reader) {
	defer close(r.reading)
	defer close(q.work)
	defer close(q.order)
	for {
		select {
		case <-q.stop:
			return
		case j := <-q.free:
			if q.failed = r.fill(&j.Block); q.failed != nil || !q.send(j) {
				return
			}
		}
	}
}

// send passes a job to the goroutines that parse. It returns false after q.end.
func (q *queue[T]) send(j *pipeJob[T]) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	select {
	case <-q.stop:
		return false
	default:
		q.work <- j
		q.order <- j
		return true
	}
}

// end stops the reading goroutine, and waits until no job is being parsed.
func (q *queue[T]) end() {
	q.mu.Lock()
	close(q.stop)
	q.mu.Unlock()
	for {
		select {
		case j, ok := <-q.order:
			if !ok {
				return
			}
			<-j.done
		default:
			return
		}
	}
}

// PipeFile opens the census at path, as Open does, calls Pipe and closes the census. It
// returns the damage that it skipped.
func PipeFile[T any](path string, parser func() func(*Block) T, take func(*Block, T) error) (Damage, error) {
	r, err := Open(path)
	if err != nil {
		return Damage{}, err
	}
	defer r.Close()
	err = Pipe(r, parser, take)
	return r.Damage(), err
}
