package list

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/encoding/unicode" // reads UTF-16, as editors and shells on Windows write it
	"golang.org/x/text/transform"
)

// reader reads the inputs one after the other. Its methods that return a bool report
// whether to continue, except isHost and lacksPort.
type reader struct {
	l     *List
	ctx   context.Context
	take  func(n name, s labels) bool // called with each name
	check bool                        // the reader only looks for invalid lines

	in    *input
	line  int // line number in the input, or index of the argument; both count from 1
	count Input
	said  struct{ aside, beside, hosts uint64 } // counts of the input's rows, for notes at its end
	tap   *tap
	read  []*bufio.Reader // buffers of bytes that were read from the tap and are not used yet
	row   object          // the object parsed from Entry.Row

	pending []pending // host names that are not looked up yet, and the names that follow them in the input
	fatal   error     // the invalid line that ended reading
}

// read reads the inputs in order and calls take with each name in them. It returns an error
// if it could not read all inputs, and nil if a call of take returned false. If take is
// nil, read only looks for invalid lines.
func (l *List) read(ctx context.Context, inputs []*input, take func(n name, s labels) bool) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	r := &reader{l: l, ctx: ctx, take: take, check: take == nil}
	if r.check {
		r.take = func(name, labels) bool { return true }
	}
	for _, in := range inputs {
		r.in, r.line, r.count, r.tap = in, in.number, Input{}, nil
		r.said.aside, r.said.beside, r.said.hosts = 0, 0, 0
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
	for _, n := range in.names {
		if !r.name(n, labels{}, nil) {
			return false, nil
		}
	}
	switch {
	case in.path == "":
		return true, nil
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
	if in.source != nil || in.size >= 0 { // not for a pipe: the tap may block until f is closed
		<-r.tap.done
	}
	f.Close()
	return more, err
}

func (r *reader) list(from io.Reader) (more bool, err error) {
	r.tap = newTap(r.ctx, from)
	raw := bufio.NewReaderSize(r.tap, maxLine)
	r.read = []*bufio.Reader{raw}
	more, err = r.contents(raw)
	more = more && r.settle()
	if err == nil && more {
		_, err = io.Copy(io.Discard, raw) // the hash includes bytes after a compressed list
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

func (r *reader) contents(raw *bufio.Reader) (more bool, err error) {
	plain, compression, err := decompress(raw)
	if err != nil {
		return false, err
	}
	// A list in UTF-16 begins with a byte order mark.
	b := bufio.NewReaderSize(transform.NewReader(plain, unicode.BOMOverride(transform.Nop)), maxLine)
	r.count.Compression = compression
	if compression == "" {
		r.read = append(r.read, b)
	}
	head, err := peekHead(b)
	if err != nil {
		return false, err
	}
	more = true
	r.count.Format = "text"
	if i := slices.IndexFunc(r.l.formats, func(f Format) bool { return f.Sniff(head) }); i >= 0 {
		f := &r.l.formats[i]
		r.count.Format = f.Name
		r.note(f.note)
		err = f.Read(b, func(e Entry) bool {
			r.line = e.Line
			more = r.entry(&e) && r.next(b)
			return more
		})
	} else {
		for line := range eachLine(b, maxLine, &err) {
			r.line = line.number
			if more = r.text(line) && r.next(b); !more {
				break
			}
		}
	}
	for _, row := range []struct {
		n    uint64
		text string
	}{
		{r.count.Skipped, "skipped rows for TCP, closed ports or banners: %d"},
		{r.said.hosts, "rows without a port: %d; such hosts are queried at the ports from --port, or at port 27015"},
		{r.said.beside, "rows with several ports: %d; the field query_port is used, or the field port if query_port is missing"},
		{r.said.aside, "lines with another address after the first: %d; only the first address is queried, so write one target per line"},
	} {
		if row.n > 0 {
			r.note(fmt.Sprintf(row.text, row.n))
		}
	}
	if u, ok := plain.(*unpacker); ok {
		r.count.Truncated = u.err == errTruncated
	}
	return more, err
}

// next is called after each entry of the list that is read from b. Before a read that may
// block, it looks up the pending host names, and passes on the names that wait for them.
func (r *reader) next(b *bufio.Reader) (more bool) {
	return r.tick() && (len(r.pending) == 0 || b.Buffered() > 0 || r.settle())
}

// peekHead returns the beginning of a list, for Sniff. Because a pipe may be written
// slowly, peekHead waits only for the first line that is neither empty nor a comment. If
// that line begins a JSON value of several lines, peekHead waits for sniffLen bytes or the
// end of the list. If there are only comments so far, it looks further, up to the size of b.
func peekHead(b *bufio.Reader) ([]byte, error) {
	most := sniffLen
	for {
		head, _ := b.Peek(min(b.Buffered(), most))
		end := bytes.LastIndexByte(head, '\n') + 1
		first := firstLine(head[:end])
		enough := len(first) > 0 && first[0] != '[' && (first[0] != '{' || first[len(first)-1] == '}')
		if len(head) == most && len(firstLine(head)) == 0 {
			most = min(2*most, b.Size())
		}
		if enough || len(head) == most {
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

func (r *reader) note(text string) {
	if text != "" && !r.check && r.l.cfg.Note != nil {
		r.l.cfg.Note(r.in.title() + ": " + text)
	}
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
	case e.Row != nil:
		return r.object(e)
	case e.unclear != "" && len(r.l.ports) == 0 && r.lacksPort(e.Text):
		return r.invalid(r.at(e.Text), e.unclear)
	}
	if e.beside {
		r.said.beside++
	}
	if e.hostOnly && r.lacksPort(e.Text) {
		r.said.hosts++
	}
	if e.aside {
		r.said.aside++
	}
	return r.named(e.Text, s, e.Text)
}

// object reads the targets of e.Row.
func (r *reader) object(e *Entry) bool {
	if r.row.parse(e.Row) != nil {
		return r.invalid(r.at(e.Row), faultJSON)
	}
	return r.row.entries(e.Line, e.Row, func(target Entry) bool {
		target.Master = e.Master
		return r.entry(&target)
	})
}

// named reads the name in addr. Its last argument is the line that contains the name.
func (r *reader) named(addr []byte, s labels, all []byte) bool {
	addr = trimConnect(addr)
	n, f := parse(addr)
	switch {
	case f == "" && r.l.ports.missing(&n):
		f = faultNoPorts
	case f == "" || f == faultIPv6:
		return r.name(n, s, all)
	case r.isHost(addr):
		host, n, f := parseHost(addr)
		switch {
		case f != "":
			return r.invalid(r.at(addr), f)
		case r.check:
			return true
		}
		return r.enqueue(pending{name: n, labels: s, lookup: host, where: r.at(addr)})
	}
	return r.invalid(r.at(all), f)
}

// isHost reports whether text is a host name that will be looked up.
func (r *reader) isHost(text []byte) bool {
	return r.l.cfg.Resolve != nil && !r.l.cfg.OnlyArgs && isHost(text)
}

// lacksPort reports whether text is an address, a network, a range or a host name without
// a port.
func (r *reader) lacksPort(text []byte) bool {
	text = trimConnect(text)
	n, f := parse(text)
	return f == "" && n.kind != kindAddrPort && n.ports == nil || f != "" && r.isHost(text) && bytes.IndexByte(text, ':') < 0
}

// name passes on a name. If earlier host names are not looked up yet, the name waits for
// them in r.pending. The last argument is the name as written.
func (r *reader) name(n name, s labels, text []byte) bool {
	if f := r.unscannable(&n); f != "" {
		return r.invalid(r.at(text), f)
	}
	if len(r.pending) > 0 {
		return r.enqueue(pending{name: n, labels: s})
	}
	return r.passOn(n, s)
}

func (r *reader) passOn(n name, s labels) bool {
	if !r.check && n.kind == kindAddr && n.ports == nil && len(r.l.ports) == 0 {
		r.l.counts.defaultPort.Add(1)
	}
	r.count.Targets += r.l.ports.count(&n)
	return r.take(n, s)
}

// unscannable returns the reason why n can't be scanned, or "" if there is none. Without
// Config.Strict, and for an argument, it always returns "".
func (r *reader) unscannable(n *name) fault {
	if !r.l.cfg.Strict || r.in.path == "" {
		return ""
	}
	first, last := r.l.cfg.Exclusions.find(n.first), r.l.cfg.Exclusions.find(n.last)
	switch {
	case n.kind == kindIPv6:
		return faultIPv6
	case n.kind == kindAddrPort && n.port == 0:
		return faultPortZero
	case first != nil && first == last && first.Unscannable:
		return faultNoServer
	}
	return ""
}

func (r *reader) at(text []byte) Invalid {
	return Invalid{File: r.in.title(), Line: r.line, Text: show(text)}
}

func (r *reader) invalid(v Invalid, err error) bool {
	v.Err = err
	r.count.Invalid++
	r.l.counts.invalid.Add(1)
	f, _ := err.(fault)
	if f == faultPort || f == faultPorts || f == faultStrayPort || f == faultPortColumn || strings.HasPrefix(string(f), string(faultNested)) {
		r.l.counts.badPort.Add(1)
	}
	if r.l.cfg.Strict {
		r.fatal = v
		return false
	}
	if r.l.cfg.Invalid != nil {
		r.l.cfg.Invalid(v)
	}
	return true
}

// tick publishes the counts from time to time, and reports whether to continue.
func (r *reader) tick() bool {
	if r.line%512 == 0 {
		r.publish()
		return r.ctx.Err() == nil
	}
	return true
}

func (r *reader) publish() {
	if r.check {
		return
	}
	r.in.mu.Lock()
	defer r.in.mu.Unlock()
	if r.tap != nil {
		r.count.Bytes = r.tap.taken
		r.in.used = r.tap.taken
		for _, b := range r.read {
			r.in.used -= int64(b.Buffered())
		}
	}
	r.in.read = r.count
}

func (r *reader) text(l line) bool {
	text := bytes.TrimSpace(l.text)
	switch n, f := parse(text); {
	case l.isBlank():
		return true
	case l.fault != "":
		return r.invalid(r.at(text), l.fault)
	case f == "" && !r.l.ports.missing(&n): // most lines
		return r.name(n, labels{}, text)
	}
	text = trimCommand(text)
	addr, tag := joinRange(cutTag(text))
	if mayBeTarget(trimSeparators(tag)) {
		words, comment, f := several(text)
		switch {
		case f != "":
			return r.invalid(r.at(text), f)
		case len(words) > 1:
			for _, word := range words {
				if !r.named(word, labels{tag: string(comment)}, text) {
					return false
				}
			}
			return true
		}
	}
	tagged := len(tag) > 0 && !isComment(tag)
	if tagged && len(r.l.ports) == 0 && r.lacksPort(addr) && isStray(string(tag)) {
		return r.invalid(r.at(text), faultStrayPort)
	}
	invalid := r.count.Invalid
	more := r.named(addr, labels{tag: string(tag)}, text)
	if tagged && r.count.Invalid == invalid && bytes.ContainsAny(tag, ".]") && another.Match(tag) {
		r.said.aside++
	}
	return more
}

// another matches a tag that begins with an address, or contains an address with a port.
var another = regexp.MustCompile(`(?i)^[^0-9a-z]*(connect |steam://connect/)?[0-9]{1,3}(\.[0-9]{1,3}){3}\b|\b[0-9]{1,3}(\.[0-9]{1,3}){3}:[0-9]|\]:[0-9]`)

// cutTag splits a line without surrounding white space into address and tag. White space,
// a semicolon or a comma begins the tag; a comma in a list of ports does not.
func cutTag(line []byte) (addr, tag []byte) {
	for i, c := range line {
		if c == ',' {
			ports, end := bytes.LastIndexByte(line[:i], ':')+1, len(line)
			if n := bytes.IndexAny(line[i:], "; \t"); n > 0 {
				end = i + n
			}
			list := bytes.TrimRight(line[ports:end], ",")
			if ports > 0 && i < ports+len(list) && isPortList.Match(list) {
				continue
			}
		}
		if c == ',' || c == ';' || isSpace(c) {
			return line[:i], bytes.TrimSpace(line[i+1:])
		}
	}
	return line, nil
}
