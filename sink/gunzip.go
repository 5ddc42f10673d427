package sink

import (
	"bufio"
	"errors"
	"io"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
)

// isGzip reports whether b begins with the header of a gzip member with deflated
// data.
func isGzip(b []byte) bool { return len(b) >= 3 && string(b[:3]) == "\x1F\x8B\x08" }

// gunzipper unpacks the members of a gzip file, one after the other. Of a truncated
// member it returns what can be unpacked. Members do not contain their lengths, so
// after damage it can't find the next member, and skips the rest of the file.
//
// Unlike unpacker, it returns the content of a member before it has compared the
// checksum.
type gunzipper struct {
	in        byteCounter
	member    *gzip.Reader // nil: none has begun yet
	start     int64        // offset of the current member; -1 between two members
	whole     int64        // end of the last complete member
	truncated int64        // bytes of a truncated member without content
	damage    Damage
	got       bool // the current member had content
	padded    bool // only zeros follow the last member
	last      byte // the last byte of the content
	unended   bool // the content up to whole does not end with a newline
}

func newGunzipper(in *bufio.Reader) *gunzipper {
	return &gunzipper{in: byteCounter{in: in}, last: '\n'}
}

// byteCounter counts the bytes that are read. It implements io.ByteReader because gzip
// would read beyond the end of a member otherwise.
type byteCounter struct {
	in *bufio.Reader
	n  int64
}

func (c *byteCounter) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.n += int64(n)
	return n, err
}

func (c *byteCounter) ReadByte() (byte, error) {
	b, err := c.in.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}

// Read returns the content of the members.
func (g *gunzipper) Read(p []byte) (n int, err error) {
	for n == 0 && err == nil {
		if g.member == nil || g.start < 0 {
			err = g.begin()
			continue
		}
		n, err = g.member.Read(p)
		if n > 0 {
			g.got, g.last = true, p[n-1]
		}
		if err == io.EOF {
			g.whole, g.unended = g.in.n, g.last != '\n'
			g.start, err = -1, nil
		}
	}
	if err == nil || err == io.EOF {
		return n, err
	}
	return n, g.end(err)
}

// begin starts the next member. The error is io.EOF if there is none.
func (g *gunzipper) begin() (err error) {
	next, err := g.in.in.Peek(1)
	switch {
	case err != nil:
		return err // io.EOF: the last member was complete
	case next[0] == 0 && g.member != nil:
		return g.padding()
	}
	g.start, g.got = g.in.n, false
	if g.member == nil {
		g.member, err = gzip.NewReader(&g.in)
	} else {
		err = g.member.Reset(&g.in)
	}
	if err == nil {
		g.member.Multistream(false)
	} else if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// padding skips zeros after the last member, as the gzip command does. Anything
// else there is damage.
func (g *gunzipper) padding() error {
	for {
		switch b, err := g.in.ReadByte(); {
		case err == io.EOF:
			g.padded = true
			return io.EOF
		case err != nil:
			return err
		case b != 0:
			return gzip.ErrHeader
		}
	}
}

// end stops reading at a truncated or damaged member, and counts the bytes that are
// lost. It returns io.EOF or, if the file can't be read, that error.
func (g *gunzipper) end(err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		if !g.got {
			g.truncated = g.in.n - g.whole
		}
		return io.EOF
	case !errors.Is(err, gzip.ErrChecksum) && !errors.Is(err, gzip.ErrHeader) && !errors.As(err, &corrupt):
		return err // the file can't be read
	}
	rest, err := io.Copy(io.Discard, g.in.in)
	g.damage.Frames++
	g.damage.add(g.whole, g.in.n+rest-g.whole)
	if err != nil {
		return err
	}
	return io.EOF
}
