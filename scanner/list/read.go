package list

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"slices"
)

// taker takes what the inputs name, one after the other, and reports whether
// it wants more.
type taker interface {
	take(n *name, s said) bool
}

// bulkTaker is a taker that takes many addresses with ports at once.
type bulkTaker interface {
	taker
	// takeAll takes what take would, one after the other, and returns a slice
	// without elements to put the next in: all may still be in use.
	takeAll(all []addrPort) (empty []addrPort)
}

// addrPort is an address with its port.
type addrPort struct {
	ip   uint32
	port uint16
}

// reader reads inputs. Its methods that return a bool report whether to go on.
type reader struct {
	*List
	ctx   context.Context
	to    taker
	bulk  bulkTaker  // to, if it is one
	many  []addrPort // for bulk
	quiet bool       // only look for what is invalid

	in    *input // that is read
	line  int
	named name // in the line
	ports portLists
	hosts hostQueue
	bad   error // the line at which Strict ends it

	enough bool // the taker wants no more

	tap      *tap
	tearable *tearable     // of the tap, if it is compressed
	plain    *bufio.Reader // of the tap, if it is not compressed
	size     int64         // bytes since the last flush
	told     int64         // bytes of the tap that were flushed

	targets, invalids uint64 // of in
}

func (l *List) newReader(ctx context.Context, to taker) (r *reader, end func()) {
	ctx, end = context.WithCancel(ctx)
	bulk, _ := to.(bulkTaker)
	return &reader{List: l, ctx: ctx, to: to, bulk: bulk}, end
}

// all reads the inputs in order, and returns why that ended early; nil if the
// taker wanted no more.
func (r *reader) all() error {
	for _, in := range r.inputs {
		if err := r.one(in); err != nil || r.enough {
			return err
		}
	}
	return nil
}

// one reads an input.
func (r *reader) one(in *input) error {
	more, err := r.input(in)
	r.enough = !more
	switch {
	case r.bad != nil:
		return r.bad
	case err != nil:
		return err
	}
	return r.ctx.Err()
}

func (r *reader) input(in *input) (more bool, err error) {
	r.in, r.line, r.targets, r.invalids = in, 0, 0, 0
	r.tap, r.tearable, r.plain, r.size, r.told = nil, nil, nil, 0, 0
	defer r.flush()
	switch {
	case in.path == "":
		r.line = in.arg
		more = r.argument()
	case in.isStdin():
		more, err = r.list(r.cfg.Stdin)
	default:
		more, err = r.file()
	}
	return more, err
}

// argument is a target that was named itself.
func (r *reader) argument() bool {
	if r.in.host == "" {
		return r.name(&r.in.name, said{})
	}
	return r.host(r.in.host, said{}) && r.hosts.wait(r)
}

func (r *reader) file() (more bool, err error) {
	f, err := r.open()
	switch {
	case r.ctx.Err() != nil:
		return false, r.ctx.Err()
	case err != nil:
		return false, unreadable(r.in.path, err)
	}
	return r.list(f)
}

func (r *reader) open() (io.ReadCloser, error) {
	if s := r.in.source; s != nil {
		return s.Open()
	}
	if r.in.size >= 0 {
		return os.Open(r.in.path)
	}
	return openPipe(r.ctx, r.in.path)
}

// openPipe opens what may be a pipe: that waits for its writer, which must not
// hold up whoever wants no more.
func openPipe(ctx context.Context, path string) (io.ReadCloser, error) {
	var f *os.File
	var err error
	opened := make(chan struct{})
	go func() {
		f, err = os.Open(path)
		close(opened)
	}()
	select {
	case <-opened:
		return f, err
	case <-ctx.Done():
		go func() {
			if <-opened; err == nil {
				f.Close()
			}
		}()
		return nil, ctx.Err()
	}
}

// list reads a list. It closes files.
func (r *reader) list(from io.Reader) (more bool, err error) {
	r.tap = newTap(from)
	defer r.leave(from)
	raw := r.tap.reader(r.ctx)
	more, err = r.contents(bufio.NewReaderSize(raw, MaxLine))
	more = more && r.hosts.wait(r)
	if err == nil && more {
		_, err = io.Copy(io.Discard, raw) // what is behind a compressed list
	}
	switch {
	case err == nil:
	case r.ctx.Err() != nil:
		err = r.ctx.Err()
	default:
		err = unreadable(r.in.title(), err)
	}
	return more, err
}

// leave ends reading from an input and keeps what is known of it.
func (r *reader) leave(from io.Reader) {
	t := r.tap
	t.stop()
	if r.in.source != nil {
		<-t.done // a file can be closed while it is read, others can't
	}
	if f, ok := from.(io.Closer); ok && !r.in.isStdin() {
		f.Close()
		if r.in.size >= 0 {
			<-t.done // a regular file doesn't block
		}
	}
	sum := t.sum256()
	r.in.sum.Store(&sum)
	r.in.torn.Store(r.tearable != nil && r.tearable.err == errTorn)
	r.in.bytes.Store(t.bytes.Load())
}

// contents reads a list in whatever form it is.
func (r *reader) contents(raw *bufio.Reader) (more bool, err error) {
	if _, err := raw.Peek(1); err != nil {
		return true, ignoreEOF(err) // there is nothing
	}
	plain, compression, err := decompress(raw)
	if err != nil {
		return false, err
	}
	r.in.compression.Store(&compression)
	if compression == "" {
		r.plain = raw
	}
	r.tearable, _ = plain.(*tearable)
	b := buffered(asUTF8(buffered(plain)))
	f, err := r.formatOf(b)
	if err != nil {
		return true, ignoreEOF(err)
	}
	if f == nil {
		return r.lines(b)
	}
	r.in.format.Store(&f.Name)
	return r.entries(f, b)
}

// buffered returns r with a buffer for a line.
func buffered(r io.Reader) *bufio.Reader {
	if b, ok := r.(*bufio.Reader); ok && b.Size() >= MaxLine {
		return b
	}
	return bufio.NewReaderSize(r, MaxLine)
}

func ignoreEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// formatOf returns the format of a list, nil for text. A list in input order
// may be a pipe that is written slowly, so that its first line is enough if it
// shows what follows.
func (r *reader) formatOf(b *bufio.Reader) (*Format, error) {
	if r.cfg.Order == OrderInput {
		head, err := peekLine(b)
		if err != nil {
			return nil, err
		}
		if f := r.sniff(head); f != nil || len(head) > 0 && startsLine(head[0]) {
			return f, nil
		}
	}
	head, err := b.Peek(SniffLen)
	if err != nil && err != io.EOF && err != errTorn {
		return nil, err
	}
	return r.sniff(head), nil
}

// sniff returns the format that knows a list which begins with head.
func (r *reader) sniff(head []byte) *Format {
	for i := range r.formats {
		if r.formats[i].Sniff(head) {
			return &r.formats[i]
		}
	}
	return nil
}

// peekLine returns how a list begins: its first line, or what there is of it.
// It waits for no more than that.
func peekLine(b *bufio.Reader) ([]byte, error) {
	for {
		head, _ := b.Peek(min(b.Buffered(), SniffLen))
		if bytes.IndexByte(head, '\n') >= 0 || len(head) == SniffLen {
			return head, nil
		}
		_, err := b.Peek(len(head) + 1)
		switch {
		case err == io.EOF || err == errTorn:
			return head, nil
		case err != nil:
			return nil, err
		}
	}
}

// startsLine reports whether c may begin a line of text: not JSON, and not
// anything packed.
func startsLine(c byte) bool { return ' ' < c && c < 0x7f && c != '{' && c != '[' }

// lines reads a list of text.
func (r *reader) lines(b *bufio.Reader) (more bool, err error) {
	more = true
	lr := newLineSource(b, MaxLine)
	for line := range lr.each(&err) {
		r.line = line.number
		r.size += line.size
		switch {
		case line.long:
			more = r.longLine(line.text)
		case line.cut:
			more = r.invalid(trimLeft(line.text), FaultTorn)
		default:
			more = r.oneLine(line.text)
		}
		if len(r.many) > 0 {
			lr.number += r.manyLines(lr.b) // where one is, others follow
		}
		if r.size >= flushSize {
			r.flush()
			more = more && r.ctx.Err() == nil
		}
		// Nothing waits for a host name while the next line is waited for.
		if !more || b.Buffered() == 0 && !r.hosts.wait(r) {
			return false, r.ctx.Err()
		}
	}
	return more, err
}

// manyLines hands on many, with what the next lines in the buffer name, up to the
// first that parseQuick would not take. It returns how many lines those are.
func (r *reader) manyLines(b *bufio.Reader) (lines int) {
	text, _ := b.Peek(b.Buffered())
	used, before := 0, len(r.many)
	for {
		ip, port, n := quickLine(text[used:])
		if n == 0 {
			break
		}
		used += n
		r.many = append(r.many, addrPort{ip, port})
	}
	_, _ = b.Discard(used) // it is buffered
	lines = len(r.many) - before
	r.size += int64(used)
	r.targets += uint64(len(r.many))
	r.many = r.bulk.takeAll(r.many)
	return lines
}

// flushSize is how many bytes are read before others are told.
const flushSize = 16 << 10

// flush tells others how much was read.
func (r *reader) flush() {
	r.size = 0
	if r.quiet {
		return
	}
	targets := r.targets - r.in.targets.Load()
	invalids := r.invalids - r.in.invalid.Load()
	r.in.targets.Add(targets)
	r.in.invalid.Add(invalids)
	if r.tap == nil {
		return
	}
	bytes := r.tap.taken
	if r.plain != nil {
		bytes -= int64(r.plain.Buffered())
	}
	r.counts.listed.Add(targets + invalids)
	r.counts.listedBytes.Add(bytes - r.told)
	r.in.bytes.Store(r.tap.bytes.Load())
	r.told = bytes
}

// longLine counts a line that is too long.
func (r *reader) longLine(text []byte) bool {
	text = trimLeft(text)
	return len(text) > 0 && text[0] == '#' || r.invalid(text, FaultLong)
}

// oneLine reads a line of a list.
func (r *reader) oneLine(text []byte) bool {
	text = trimRight(trimLeft(text))
	if len(text) == 0 || text[0] == '#' {
		return true
	}
	if ip, port, ok := parseQuick(text); ok {
		if r.bulk != nil && r.hosts.empty() {
			r.many = append(r.many, addrPort{ip, port})
			return true
		}
		r.named = name{form: formAddrPort, ip: ip, port: port}
		return r.name(&r.named, said{})
	}
	if holdsLines(text) {
		return r.invalid(text, FaultLineEnds)
	}
	addr, tag := cutTag(text)
	if len(tag) > 0 && tag[0] == '-' {
		addr, tag = joinRange(addr, tag)
	}
	if r.isStrayPort(addr, tag) {
		return r.invalid(text, FaultStrayPort)
	}
	return r.text(addr, said{tag: tag}, text)
}

// holdsLines reports whether a line is several that end with a carriage return
// alone: the targets behind the first would be lost in its tag.
func holdsLines(text []byte) bool {
	i := bytes.IndexByte(text, '\r')
	if i < 0 {
		return false
	}
	addr, _ := cutTag(trimLeft(text[i:]))
	return isTarget(addr)
}

// isStrayPort reports whether a tag is rather the port of the address before it:
// a number, where nobody said which ports to ask.
func (r *reader) isStrayPort(addr, tag []byte) bool {
	if _, f := parsePort(tag); f != 0 || len(r.cfg.Ports.list) > 0 {
		return false
	}
	n, f := parse(addr)
	return f == 0 && n.form == formAddr && n.ports == nil
}

// joinRange takes a range with white space around its hyphen together, of which
// the tag begins with the hyphen.
func joinRange(first, tag []byte) (addr, rest []byte) {
	last, rest := cutTag(trimLeft(tag[1:]))
	addr = slices.Concat(first, tag[:1], last)
	if _, f := parse(addr); f != 0 {
		return first, tag
	}
	return addr, rest
}

// text is a target in words; all is the line that it stands in.
func (r *reader) text(addr []byte, s said, all []byte) bool {
	var f Fault
	r.named, f = r.ports.parse(addr)
	if f == FaultPort {
		r.named, f = parseNoPort(addr)
	}
	switch {
	case f == 0 && r.needsPorts(&r.named):
		f = FaultNoPorts
	case f == 0:
		return r.name(&r.named, s)
	case r.cfg.Resolve != nil && isHost(addr):
		return r.host(string(addr), s)
	}
	return r.invalid(all, f)
}

// parseNoPort reads an address with port 0, which masters have on their lists:
// nobody can be asked there, but it is no mistake of the list's.
func parseNoPort(addr []byte) (name, Fault) {
	ip, isZero := bytes.CutSuffix(addr, []byte(":0"))
	n, f := parse(ip)
	if !isZero || f != 0 || n.form != formAddr {
		return name{}, FaultPort
	}
	n.form = formAddrPort
	return n, 0
}

// entries reads a list in another format than text.
func (r *reader) entries(f *Format, from io.Reader) (more bool, err error) {
	more = true
	err = f.Read(from, func(e Entry) bool {
		r.line = e.Line
		more = r.entry(&e) && r.ctx.Err() == nil
		if r.line%flushEntries == 0 {
			r.flush()
		}
		return more
	})
	if r.ctx.Err() != nil {
		return false, r.ctx.Err()
	}
	return more, err
}

// flushEntries is how many entries are read before others are told.
const flushEntries = 512

func (r *reader) entry(e *Entry) bool {
	s := said{tag: e.Tag}
	if r.cfg.KeepMaster {
		s.master = e.Master
	}
	switch {
	case e.Fault != nil:
		return r.invalid(e.Text, e.Fault)
	case !e.Addr.IsValid():
		return r.text(e.Text, s, e.Text)
	case !e.Addr.Addr().Unmap().Is4():
		return r.invalid([]byte(e.Addr.String()), FaultIPv6)
	}
	ip := ipOf(e.Addr.Addr().Unmap())
	r.named = name{form: formAddrPort, ip: ip, port: e.Addr.Port()}
	return r.name(&r.named, s)
}

// name hands on a target, or keeps it until the names before it are looked up.
func (r *reader) name(n *name, s said) bool {
	if r.hosts.empty() {
		return r.take(n, s)
	}
	return r.hosts.add(r, pending{name: *n, said: s.clone()})
}

func (r *reader) take(n *name, s said) bool {
	r.targets += r.count(n)
	return r.quiet || r.to.take(n, s)
}

func (r *reader) invalid(text []byte, err error) bool {
	if !r.reject() {
		return true
	}
	return r.complain(Invalid{File: show([]byte(r.in.title())), Line: r.line, Text: show(text), Err: err})
}

// reject counts an invalid line, and reports whether somebody wants to know
// about it.
func (r *reader) reject() bool {
	if !r.quiet {
		r.invalids++
		r.counts.invalid.Add(1)
	}
	return r.cfg.Strict || r.cfg.Invalid != nil && !r.quiet
}

// complain says what is invalid.
func (r *reader) complain(v Invalid) bool {
	if r.cfg.Strict {
		r.bad = v
		return false
	}
	r.cfg.Invalid(v)
	return true
}
