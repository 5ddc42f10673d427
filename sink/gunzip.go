package sink

import (
	"bufio"
	"errors"
	"io"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
)

// gunzip unpacks the members of a gzip file, one after the other. From a truncated
// member it returns the bytes that can be unpacked. After a damaged member it skips the
// rest of the file, because members do not contain their lengths.
//
// Unlike unzstd, it returns the content of a member before it has compared the
// checksum.
type gunzip struct {
	unpacking
	in     *bufio.Reader
	n      int64  // number of bytes read from g.in
	recent uint32 // the last four bytes read from g.in
	member *gzip.Reader
	open   bool // the next byte to read belongs to a member
	got    bool // the current member had content
}

// counter counts the bytes that gzip.Reader reads. It implements io.ByteReader, because
// gzip.Reader would read beyond the end of the member otherwise.
type counter struct{ *gunzip }

func (c counter) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.n += int64(n)
	for _, b := range p[max(0, n-4):n] {
		c.recent = c.recent<<8 | uint32(b)
	}
	return n, err
}

func (c counter) ReadByte() (byte, error) {
	b, err := c.in.ReadByte()
	if err == nil {
		c.n++
		c.recent = c.recent<<8 | uint32(b)
	}
	return b, err
}

// flushMark is the last four bytes that a flush writes: the length 0 of an empty block,
// and its complement (RFC 1951, 3.2.4).
const flushMark = 0x0000FFFF

// Read returns the content of the members.
func (g *gunzip) Read(p []byte) (n int, err error) {
	for n == 0 && err == nil {
		if !g.open {
			err = g.begin()
			continue
		}
		if n, err = g.member.Read(p); n > 0 {
			g.got, g.last = true, p[n-1]
		}
		if err == io.EOF {
			g.complete, g.unended = g.n, g.last != '\n'
			g.open, err = false, nil
		}
	}
	if err != nil && err != io.EOF {
		err = g.end(err)
	}
	return n, err
}

// begin starts the next member. The error is io.EOF if no member follows. Like the gzip
// command, begin skips zeros after the last member.
func (g *gunzip) begin() error {
	next, err := g.in.Peek(1)
	for err == nil && g.n > 0 && next[0] == 0 {
		g.padded = true
		_, _ = counter{g}.ReadByte() // can't fail: Peek has already read this byte
		next, err = g.in.Peek(1)
	}
	switch {
	case err != nil:
		return err // io.EOF if the last member was complete
	case g.padded:
		return gzip.ErrHeader
	}
	g.open, g.got = true, false
	if err = g.member.Reset(counter{g}); err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	g.member.Multistream(false)
	return err
}

// end handles err, the error of a truncated or damaged member: it counts the bytes that
// are lost, and returns io.EOF. If the file can't be read, it returns the read error.
func (g *gunzip) end(err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		g.noEnd, g.flushed = true, g.recent == flushMark && g.last == '\n'
		if !g.got {
			g.truncated = g.n - g.complete
		}
		return io.EOF
	case !errors.Is(err, gzip.ErrChecksum) && !errors.Is(err, gzip.ErrHeader) && !errors.As(err, &corrupt):
		return err // the file can't be read
	}
	rest, err := io.Copy(io.Discard, g.in)
	g.damage.Frames++
	g.damage.Doubtful = g.open && g.got
	g.damage.add(g.complete, g.n+rest-g.complete)
	if err != nil {
		return err
	}
	return io.EOF
}
