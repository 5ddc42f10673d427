package list

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
)

// reader reads the inputs one after the other. Its methods that return a bool
// report whether to continue.
type reader struct {
	l    *List
	ctx  context.Context
	take func(n *name, s labels) bool // receives the names; nil: look for invalid lines only

	in        *input
	line      int // of in, or the index of the argument, from 1
	count     Input
	published Input // the part of count that other goroutines know
	used      int64 // bytes of the list that they know to be read
	tap       *tap
	plain     *bufio.Reader // reads from the tap, if the list is not compressed

	pending []pending // names that wait for host names
	fatal   error     // the invalid line that ended reading
	passed  name      // the name that take gets: a variable would be allocated for each line
}

// read reads the inputs in order and passes the names in them to take. It returns an
// error if it could not read all of them, and nil if take ended reading.
func (l *List) read(ctx context.Context, inputs []*input, take func(n *name, s labels) bool) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	r := &reader{l: l, ctx: ctx, take: take}
	for _, in := range inputs {
		r.in, r.line, r.tap, r.plain = in, in.number, nil, nil
		r.count, r.published, r.used = Input{}, Input{}, 0
		more, err := r.input()
		r.publish()
		switch {
		case r.fatal != nil:
			return r.fatal
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case !more:
			return nil
		}
	}
	return nil
}

func (r *reader) input() (more bool, err error) {
	in := r.in
	switch {
	case in.host != "":
		n := in.name
		for _, ip := range in.addrs {
			n.span = span{ip, ip}
			if !r.name(n, labels{}) {
				return false, nil
			}
		}
		return true, nil
	case in.path == "":
		return r.name(in.name, labels{}), nil
	case in.isStdin():
		return r.list(r.l.cfg.Stdin)
	}
	var f io.ReadCloser
	switch {
	case in.source != nil:
		f, err = in.source.Open()
	case in.size >= 0:
		f, err = os.Open(in.path)
	default:
		f, err = openPipe(r.ctx, in.path, r.l.cfg.Note)
	}
	switch {
	case r.ctx.Err() != nil:
		return false, r.ctx.Err()
	case err != nil:
		return false, unreadable(in.path, err)
	}
	more, err = r.list(f)
	if in.source == nil { // a Source must not be closed while it is read
		f.Close()
	}
	if in.source != nil || in.size >= 0 {
		<-r.tap.done
	}
	if in.source != nil {
		f.Close()
	}
	return more, err
}

// list reads a list.
func (r *reader) list(from io.Reader) (more bool, err error) {
	r.tap = newTap(r.ctx, from)
	raw := bufio.NewReaderSize(r.tap, maxLine)
	more, err = r.contents(raw)
	more = more && r.settle()
	if err == nil && more {
		_, err = io.Copy(io.Discard, raw) // bytes after a compressed list
	}
	r.count.SHA256 = r.tap.end()
	switch {
	case r.ctx.Err() != nil:
		err = r.ctx.Err()
	case err != nil:
		err = unreadable(r.in.title(), err)
	}
	return more, err
}

// contents reads a list in whatever format it has.
func (r *reader) contents(raw *bufio.Reader) (more bool, err error) {
	if _, err := raw.Peek(1); err != nil {
		return true, ignoreEOF(err) // the list is empty
	}
	plain, compression, err := decompress(raw)
	if err != nil {
		return false, err
	}
	r.count.Compression = compression
	if compression == "" {
		r.plain = raw
	}
	b := bufio.NewReaderSize(asUTF8(bufio.NewReaderSize(plain, maxLine)), maxLine)
	head, err := peekHead(b)
	if err != nil {
		return true, ignoreEOF(err)
	}
	more = true
	r.count.Format = "text"
	if f := r.l.detect(head); f != nil {
		r.count.Format = f.Name
		r.note(f.note)
		more, err = r.entries(f, b)
	} else {
		for line := range eachLine(b, maxLine, &err) {
			r.line = line.number
			more = r.text(line) && r.tick()
			// Before blocking for the next line, pass on everything that waits for
			// host names.
			if !more || len(r.pending) > 0 && b.Buffered() == 0 && !r.settle() {
				return false, r.ctx.Err()
			}
		}
	}
	if r.count.Skipped > 0 {
		r.note(fmt.Sprintf("%d rows for TCP or for closed ports were skipped", r.count.Skipped))
	}
	if u, ok := plain.(*unpacker); ok {
		r.count.Truncated = u.err == errTruncated
	}
	return more, err
}

// note passes on what a user should know about the list.
func (r *reader) note(text string) {
	if text != "" && r.take != nil && r.l.cfg.Note != nil {
		r.l.cfg.Note(show([]byte(r.in.title())) + ": " + text)
	}
}

func ignoreEOF(err error) error {
	if err == io.EOF || err == errTruncated {
		return nil
	}
	return err
}

// entries reads a list in a format other than text.
func (r *reader) entries(f *Format, from io.Reader) (more bool, err error) {
	more = true
	err = f.Read(from, func(e Entry) bool {
		r.line = e.Line
		more = r.entry(&e) && r.tick()
		return more
	})
	if r.ctx.Err() != nil {
		return false, r.ctx.Err()
	}
	return more, err
}

func (r *reader) entry(e *Entry) bool {
	s := labels{tag: string(e.Tag)}
	if r.l.cfg.KeepMaster {
		s.master = string(e.Master)
	}
	switch {
	case e.skip:
		r.count.Skipped++
		return true
	case e.Fault != nil:
		return r.invalid(r.at(e.Text), e.Fault)
	case !e.Addr.IsValid():
		n, f := parse(e.Text)
		if e.stray && len(r.l.cfg.Ports) == 0 && f == "" && n.kind == kindAddr && n.ports == nil {
			return r.invalid(r.at(e.Text), faultPortColumn)
		}
		return r.named(e.Text, s, e.Text)
	case !e.Addr.Addr().Unmap().Is4():
		return r.name(name{kind: kindIPv6}, s)
	}
	ip := ipOf(e.Addr.Addr().Unmap())
	return r.name(name{kind: kindAddrPort, span: span{ip, ip}, port: e.Addr.Port()}, s)
}

// name takes a name. If host names are pending, it queues the name behind them.
func (r *reader) name(n name, s labels) bool {
	if len(r.pending) > 0 {
		return r.enqueue(pending{name: n, labels: s})
	}
	return r.passOn(n, s)
}

func (r *reader) passOn(n name, s labels) bool {
	r.passed = n
	r.count.Targets += r.l.ports.count(&r.passed)
	return r.take == nil || r.take(&r.passed, s)
}

func (r *reader) enqueue(p pending) bool {
	r.pending = append(r.pending, p)
	return len(r.pending) < maxPending || r.settle()
}

// at returns the current position in the input, with the given text.
func (r *reader) at(text []byte) Invalid {
	return Invalid{File: show([]byte(r.in.title())), Line: r.line, Text: show(text)}
}

// invalid counts and reports a line that names no target.
func (r *reader) invalid(v Invalid, err error) bool {
	v.Err = err
	if r.take != nil {
		r.count.Invalid++
		r.l.counts.invalid.Add(1)
	}
	switch {
	case r.l.cfg.Strict:
		r.fatal = v
		return false
	case r.take != nil && r.l.cfg.Invalid != nil:
		r.l.cfg.Invalid(v)
	}
	return true
}

// publishLines is the number of lines after which other goroutines learn the counts.
const publishLines = 512

// tick publishes the counts from time to time, and reports whether to continue.
func (r *reader) tick() bool {
	if r.line%publishLines == 0 {
		r.publish()
		return r.ctx.Err() == nil
	}
	return true
}

// publish updates the counters that other goroutines read.
func (r *reader) publish() {
	if r.take == nil {
		return
	}
	now := &r.count
	if r.tap != nil {
		now.Bytes = r.tap.taken
		used := now.Bytes
		if r.plain != nil {
			used -= int64(r.plain.Buffered())
		}
		r.l.counts.listed.Add(now.Targets + now.Invalid - r.published.Targets - r.published.Invalid)
		r.l.counts.listedBytes.Add(used - r.used)
		r.used = used
	}
	r.published = *now
	r.in.mu.Lock()
	r.in.read = *now
	r.in.mu.Unlock()
}

// detect returns the format of a list that begins with head, or nil for text.
func (l *List) detect(head []byte) *Format {
	for i := range l.formats {
		if f := &l.formats[i]; f.Sniff(head) {
			return f
		}
	}
	return nil
}

// peekHead returns the beginning of a list, for Sniff. Because a pipe may be written
// slowly, it waits for no more than the first line that is neither empty nor a
// comment, unless that line begins JSON of several lines.
func peekHead(b *bufio.Reader) ([]byte, error) {
	for {
		head, _ := b.Peek(min(b.Buffered(), sniffLen))
		end := bytes.LastIndexByte(head, '\n') + 1
		first := firstLine(head[:end])
		enough := len(first) > 0 && (first[0] != '{' && first[0] != '[' || first[len(first)-1] == '}')
		if enough || len(head) == sniffLen {
			return head, nil
		}
		_, err := b.Peek(len(head) + 1)
		switch {
		case err == io.EOF || err == errTruncated:
			return head, nil
		case err != nil:
			return nil, err
		}
	}
}
