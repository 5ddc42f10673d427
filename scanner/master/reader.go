package master

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
)

// Reader reads the servers of a list that was fetched earlier, in any Kind except
// KindText:
//
//	r, err := master.NewReader(file)
//	if r.Kind() == master.KindText { … r.Unread() … }
//	for r.Next() {
//		use(r.Server())
//	}
//	err = r.Err()
//
// It keeps only one entry in memory, so a list may have any length. It does not
// remove duplicates.
type Reader struct {
	kind   Kind
	in     *bufio.Reader
	next   func() bool
	server Server
	stats  ReadStats
	err    error

	answers *answers
	line    []byte
	lines   uint64
	ended   bool // KindPages: after a terminator, before the next header

	// Invalid is called for each entry that has no usable address or can't be read.
	// It may be nil.
	Invalid func(Invalid)
}

// ReadStats counts the entries of a list. Invalid entries do not end the list, nor
// do truncated pages if another page follows.
type ReadStats struct {
	Servers   uint64 // entries with an address
	Invalid   uint64 // entries without a usable address, or that can't be read
	Odd       uint64 // servers with a field of a wrong type, which is dropped
	Pages     uint64 // replies of a master server
	Truncated uint64 // pages that end inside an address
	Stray     uint64 // bytes after a terminator that belong to no page
}

// Invalid is an entry of a list that has no usable address or can't be read.
type Invalid struct {
	Item uint64 // number of the line or element, from 1
	Err  error  // what is wrong
}

// NewReader detects the Kind of the list in r and returns a Reader for the list. It
// waits only for as much data as the detection needs.
func NewReader(r io.Reader) (*Reader, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	kind, err := peek(in)
	if err != nil {
		return nil, err
	}
	l := &Reader{kind: kind, in: in}
	switch kind {
	case KindPages:
		l.next = l.nextAddr
	case KindWeb, KindAtAddress:
		l.skipMark()
		l.answers = newAnswers(in, math.MaxInt64)
		l.next = l.nextAnswer
	case KindLines:
		l.skipMark()
		l.next = l.nextLine
	default:
		l.next = func() bool { return false }
	}
	return l, nil
}

// peek detects the Kind from the bytes that are available. It waits for more bytes
// only if these are not enough.
func peek(in *bufio.Reader) (Kind, error) {
	for want := 1; ; {
		b, err := in.Peek(want)
		if more, _ := in.Peek(min(in.Buffered(), sniffLen)); len(more) > len(b) {
			b = more
		}
		k, sure := sniff(b)
		switch {
		case sure, err == io.EOF, len(b) >= sniffLen:
			return k, nil
		case err != nil:
			return k, err
		}
		want = len(b) + 1
	}
}

// skipMark skips a byte order mark at the beginning of the list.
func (l *Reader) skipMark() {
	if b, _ := l.in.Peek(len(byteOrderMark)); string(b) == byteOrderMark {
		l.in.Discard(len(b))
	}
}

// Kind returns the kind of the list. For KindText, Next always returns false.
func (l *Reader) Kind() Kind { return l.kind }

// Unread returns the list from its beginning, for a reader of other formats. It
// must be called before Next. The list is unchanged, except that a byte order mark
// before JSON is removed.
func (l *Reader) Unread() io.Reader { return l.in }

// Next advances to the next server and reports whether there is one.
func (l *Reader) Next() bool {
	if l.err != nil || !l.next() {
		return false
	}
	l.stats.Servers++
	return true
}

// Server returns the current server, whose address may be one that can't be
// queried. The result is valid until the next call of Next.
func (l *Reader) Server() *Server { return &l.server }

// Stats returns the counts so far.
func (l *Reader) Stats() ReadStats { return l.stats }

// Err returns the error that ended the list early, or nil at the end of the list.
// For a bad list the error is or wraps ErrTruncated, ErrMalformed or ErrTooLarge;
// otherwise it is the error of the io.Reader. The servers before the error are
// valid.
func (l *Reader) Err() error { return l.err }

func (l *Reader) invalid(item uint64, err error) {
	l.stats.Invalid++
	if l.Invalid != nil {
		l.Invalid(Invalid{item, err})
	}
}

// nextAddr reads the next address and the headers before it. If a header begins
// inside an address, the page before that header was truncated.
func (l *Reader) nextAddr() bool {
	for {
		b, err := l.in.Peek(2*addrLen - 1)
		if err != nil && err != io.EOF {
			l.err = err
			return false
		}
		at := bytes.Index(b, []byte(pageHeader))
		switch {
		case at == 0:
			l.in.Discard(len(pageHeader))
			l.stats.Pages++
			l.ended = false
		case l.ended || at > 0:
			if len(b) == 0 {
				return false
			}
			l.stray(b, at)
		case len(b) < addrLen:
			l.tail(len(b))
			return false
		default:
			l.server = Server{Addr: addrAt(b)}
			l.in.Discard(addrLen)
			if l.server.Addr != noSeed {
				return true
			}
			l.ended = true
		}
	}
}

// stray skips the bytes before the next header, which do not form an address. at is
// the index of the header in b, or negative if b contains no header.
func (l *Reader) stray(b []byte, at int) {
	n := at
	if n < 0 { // no header, but one may begin in the last bytes of b
		for n = 1; n < len(b) && !hasPrefixOfHeader(b[n:]); n++ {
		}
	}
	if l.ended {
		l.stats.Stray += uint64(n)
	} else {
		l.stats.Truncated++
	}
	l.in.Discard(n)
}

// tail ends a list whose last n bytes are too few for an address. It sets no error
// if n is 0.
func (l *Reader) tail(n int) {
	if n > 0 {
		l.stats.Truncated++
		l.err = ErrTruncated
	}
}

// nextAnswer reads the next element that has a valid address, and reports the
// elements before it as invalid.
func (l *Reader) nextAnswer() bool {
	for {
		err := l.answers.next()
		if err == io.EOF && l.answers.refused {
			err = fmt.Errorf("%w: it reports a failure", ErrMalformed)
		}
		if err != nil {
			if err != io.EOF {
				l.err = err
			}
			return false
		}
		item := l.stats.Servers + l.stats.Invalid + 1
		err = l.answers.element.address(&l.server)
		if err == nil {
			l.take(&l.answers.element)
			return true
		}
		l.invalid(item, err)
	}
}

// take sets the fields of l.server, except its address, from an element.
func (l *Reader) take(v *element) {
	if v.server(&l.server) {
		l.stats.Odd++
	}
}

// nextLine reads the next line that is an element with a valid address, and reports
// the lines before it as invalid.
func (l *Reader) nextLine() bool {
	for {
		err := l.readLine()
		if err == nil && len(bytes.TrimSpace(l.line)) == 0 {
			continue
		}
		if err == nil {
			err = l.parseLine()
		} else if !errors.Is(err, ErrTooLarge) {
			if err != io.EOF {
				l.err = err
			}
			return false
		}
		if err == nil {
			return true
		}
		l.invalid(l.lines, err)
	}
}

// parseLine sets l.server from the element in l.line.
func (l *Reader) parseLine() error {
	var v element
	if json.Unmarshal(l.line, &v) != nil {
		return errNotJSON
	}
	if err := v.address(&l.server); err != nil {
		return err
	}
	l.take(&v)
	return nil
}

var errNotJSON = errors.New("the line is not a complete JSON object")

// readLine reads the next line into l.line. If the line is longer than maxItem
// bytes, readLine skips it and returns ErrTooLarge.
func (l *Reader) readLine() error {
	l.line = l.line[:0]
	l.lines++
	long := false
	for {
		part, err := l.in.ReadSlice('\n')
		if !long {
			l.line = append(l.line, part...)
		}
		if len(l.line) > maxItem {
			l.line, long = l.line[:0], true
		}
		switch {
		case err == bufio.ErrBufferFull:
		case err == io.EOF && len(part) == 0 && len(l.line) == 0 && !long:
			return io.EOF
		case err != nil && err != io.EOF:
			return err
		case long:
			return ErrTooLarge
		default:
			return nil
		}
	}
}
