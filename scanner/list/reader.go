package list

import (
	"bufio"
	"bytes"
	"context"
	"io"
)

// reader reads the inputs one after the other. Its methods that return a bool
// report whether to continue.
type reader struct {
	ctx     context.Context
	cfg     *Config
	inputs  []*input
	formats []Format
	counts  *counters

	out  handover
	text textLines

	in          *input
	stream      *listStream // of in; nil if in is an argument
	unpublished int64       // bytes read since publish
	published   int64       // bytes of the stream that have been published

	enough bool // the taker wants no more
}

// newReader returns a reader that passes what it reads to the taker to. If to is
// nil, the reader only looks for invalid lines. The caller must call end when it is
// done.
func (l *List) newReader(ctx context.Context, to taker) (r *reader, end func()) {
	ctx, end = context.WithCancel(ctx)
	r = &reader{
		ctx: ctx, cfg: &l.cfg, inputs: l.inputs, formats: l.formats, counts: &l.counts,
		out: handover{
			ctx: ctx, ports: l.ports, to: to, checkOnly: to == nil,
			hosts: hostQueue{resolve: l.cfg.Resolve},
			invalid: invalidLines{
				strict: l.cfg.Strict, report: l.cfg.Invalid, counts: &l.counts, checkOnly: to == nil,
			},
		},
	}
	r.out.bulk, _ = to.(bulkTaker)
	r.text = textLines{out: &r.out, ports: l.ports, hosts: l.cfg.Resolve != nil && !l.cfg.OnlyArgs}
	return r, end
}

// all reads the inputs in order. It returns an error if it could not read all of
// them, and nil if the taker ended reading.
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
	r.in, r.stream, r.unpublished, r.published = in, nil, 0, 0
	r.out.begin(in)
	more, err := r.input()
	r.publish()
	r.enough = !more
	switch {
	case r.out.invalid.fatal != nil:
		return r.out.invalid.fatal
	case err != nil:
		return err
	}
	return r.ctx.Err()
}

func (r *reader) input() (more bool, err error) {
	switch {
	case r.in.path == "":
		return r.argument(), nil
	case r.in.isStdin():
		return r.list(r.cfg.Stdin)
	}
	f, err := openList(r.ctx, r.in, r.cfg.Waiting)
	switch {
	case r.ctx.Err() != nil:
		return false, r.ctx.Err()
	case err != nil:
		return false, unreadable(r.in.path, err)
	}
	return r.list(f)
}

// argument reads an argument that is itself a target.
func (r *reader) argument() bool {
	r.out.invalid.line = r.in.number
	if r.in.host == "" {
		return r.out.name(&r.in.name, labels{})
	}
	n := r.in.name
	for _, ip := range r.in.addrs() {
		n.ip = ip
		if !r.out.name(&n, labels{}) {
			return false
		}
	}
	return true
}

// list reads a list and then closes it.
func (r *reader) list(from io.Reader) (more bool, err error) {
	r.stream = &listStream{in: r.in, tap: newTap(from)}
	defer r.stream.end(from)
	raw := r.stream.tap.reader(r.ctx)
	more, err = r.contents(bufio.NewReaderSize(raw, MaxLine))
	more = more && r.out.wait()
	if err == nil && more {
		_, err = io.Copy(io.Discard, raw) // bytes after a compressed list
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

// contents reads a list in whatever format it has.
func (r *reader) contents(raw *bufio.Reader) (more bool, err error) {
	if _, err := raw.Peek(1); err != nil {
		return true, ignoreEOF(err) // the list is empty
	}
	b, err := r.stream.unpack(raw)
	if err != nil {
		return false, err
	}
	f, err := detect(b, r.formats, r.cfg.Order == OrderInput)
	switch {
	case err != nil:
		return true, ignoreEOF(err)
	case f == nil:
		return r.lines(b)
	}
	r.in.format.Store(&f.Name)
	return r.entries(f, b)
}

func ignoreEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// lines reads a list in text format.
func (r *reader) lines(b *bufio.Reader) (more bool, err error) {
	more = true
	lr := newLineSource(b, MaxLine)
	for line := range lr.each(&err) {
		r.unpublished += line.size
		more = r.text.line(line)
		if len(r.out.batch) > 0 {
			lines, size := r.text.following(lr.b)
			lr.number += lines
			r.unpublished += size
		}
		if r.unpublished >= publishBytes {
			r.publish()
			more = more && r.ctx.Err() == nil
		}
		// Before blocking for the next line, pass on everything that waits for host
		// names.
		if !more || b.Buffered() == 0 && !r.out.wait() {
			return false, r.ctx.Err()
		}
	}
	return more, err
}

// The number of bytes (text) or the entry interval (other formats) after which the
// published counters are updated.
const (
	publishBytes   = 16 << 10
	publishEntries = 512
)

// publish updates the counters that other goroutines read.
func (r *reader) publish() {
	r.unpublished = 0
	if r.out.checkOnly {
		return
	}
	targets := r.out.targets - r.in.targets.Load()
	invalid := r.out.invalid.n - r.in.invalid.Load()
	r.in.targets.Add(targets)
	r.in.invalid.Add(invalid)
	if r.stream == nil {
		return
	}
	taken := r.stream.taken()
	r.counts.listed.Add(targets + invalid)
	r.counts.listedBytes.Add(taken - r.published)
	r.in.bytes.Store(r.stream.tap.bytes.Load())
	r.published = taken
}

// entries reads a list in a format other than text.
func (r *reader) entries(f *Format, from io.Reader) (more bool, err error) {
	more = true
	err = f.Read(from, func(e Entry) bool {
		r.out.invalid.line = e.Line
		more = r.entry(&e) && r.ctx.Err() == nil
		if e.Line%publishEntries == 0 {
			r.publish()
		}
		return more
	})
	if r.ctx.Err() != nil {
		return false, r.ctx.Err()
	}
	return more, err
}

func (r *reader) entry(e *Entry) bool {
	s := labels{tag: e.Tag}
	if r.cfg.KeepMaster {
		s.master = e.Master
	}
	switch {
	case e.Fault != nil:
		return r.out.invalid.add(e.Text, e.Fault)
	case !e.Addr.IsValid():
		return r.text.name(e.Text, s, e.Text)
	case !e.Addr.Addr().Unmap().Is4():
		return r.out.invalid.add([]byte(e.Addr.String()), FaultIPv6)
	}
	return r.out.addrPort(ipOf(e.Addr.Addr().Unmap()), e.Addr.Port(), s)
}

// detect returns the format of a list, or nil for text. Because a pipe may be
// written slowly, detect with early set reads no more than the first line if that
// line shows the format.
func detect(b *bufio.Reader, formats []Format, early bool) (*Format, error) {
	if early {
		head, err := peekLine(b)
		if err != nil {
			return nil, err
		}
		if f := sniff(formats, head); f != nil || len(head) > 0 && startsLine(head[0]) {
			return f, nil
		}
	}
	head, err := b.Peek(SniffLen)
	if err != nil && !isEnd(err) {
		return nil, err
	}
	return sniff(formats, head), nil
}

// sniff returns the format that recognises a list beginning with head, or nil.
func sniff(formats []Format, head []byte) *Format {
	for i := range formats {
		if formats[i].Sniff(head) {
			return &formats[i]
		}
	}
	return nil
}

// peekLine returns the beginning of a list: its first line, or as much of it as
// there is. It does not wait for more.
func peekLine(b *bufio.Reader) ([]byte, error) {
	for {
		head, _ := b.Peek(min(b.Buffered(), SniffLen))
		if bytes.IndexByte(head, '\n') >= 0 || len(head) == SniffLen {
			return head, nil
		}
		_, err := b.Peek(len(head) + 1)
		switch {
		case isEnd(err):
			return head, nil
		case err != nil:
			return nil, err
		}
	}
}

// isEnd reports whether err is the end of a list, complete or not.
func isEnd(err error) bool { return err == io.EOF || err == errTruncated }

// startsLine reports whether c may begin a line of text, and neither JSON nor
// compressed data.
func startsLine(c byte) bool { return ' ' < c && c < 0x7f && c != '{' && c != '[' }
