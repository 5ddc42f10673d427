package master

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Errors of incomplete JSON. The servers read before the error are valid.
var (
	ErrTooLarge  = errors.New("larger than we are willing to read")
	ErrTruncated = errors.New("ends in the middle")
	ErrMalformed = errors.New("not what it should be")
)

// maxItem limits the data between two servers of a JSON answer, and a line of
// NDJSON.
const maxItem = 8 << 20

// budget reads from r: at most item bytes between two refills, and total bytes
// altogether.
type budget struct {
	r     io.Reader
	item  int64 // left until the next refill
	total int64 // left
	read  uint64
}

func (b *budget) refill() { b.item = maxItem }

// Read implements io.Reader. It returns ErrTooLarge if there is more data when the
// budget is used up.
func (b *budget) Read(p []byte) (int, error) {
	left := min(b.item, b.total)
	if left <= 0 {
		return 0, ErrTooLarge
	}
	n, err := b.r.Read(p[:min(int64(len(p)), left)])
	b.item -= int64(n)
	b.total -= int64(n)
	b.read += uint64(n)
	return n, err
}

// answers reads the servers of one or more answers of the Web API:
// {"response":{"servers":[…]}}, or only the inner array. It skips unknown keys.
type answers struct {
	in      *budget
	dec     *json.Decoder
	inside  bool // inside an array of servers
	bare    bool // the array is not part of an answer
	begun   bool // at least one answer was read
	refused bool // an answer reported a failure
	element element
}

func newAnswers(r io.Reader, total int64) *answers {
	in := &budget{r: r, item: maxItem, total: total}
	return &answers{in: in, dec: json.NewDecoder(in)}
}

// next reads the next server into a.element. After the last answer it returns
// io.EOF; any other error is one of this package.
func (a *answers) next() error {
	for {
		if a.inside {
			if a.dec.More() {
				return a.server()
			}
			a.inside = false
			if err := a.rest(); err != nil {
				return err
			}
		}
		if err := a.open(); err != nil {
			return err
		}
	}
}

// server reads an element of the array.
func (a *answers) server() error {
	a.in.refill()
	a.element = element{}
	err := a.dec.Decode(&a.element)
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		err = nil // not an object: a server without fields
	}
	return explainJSON(err)
}

// open advances to the first server of the next answer.
func (a *answers) open() error {
	a.in.refill()
	t, err := a.dec.Token()
	if err == io.EOF {
		return io.EOF // between two answers: the end
	}
	first := !a.begun
	a.begun = true
	if first && t == json.Delim('[') {
		a.inside, a.bare = true, true
		return nil
	}
	if err == nil && t != json.Delim('{') {
		err = ErrMalformed
	}
	if err == nil {
		err = a.find("response", '{')
	}
	if err == nil {
		err = a.members()
	}
	return explainJSON(err)
}

// find advances to a member of the object and skips the members before it.
func (a *answers) find(name string, kind json.Delim) error {
	for a.dec.More() {
		t, err := a.dec.Token()
		if err != nil {
			return err
		}
		if t == name {
			return a.delim(kind)
		}
		if err := a.skip(); err != nil {
			return err
		}
	}
	return ErrMalformed
}

// members reads the members of "response" up to the array of servers. If there is
// no array, the answer has no servers, and members reads to its end.
func (a *answers) members() error {
	for a.dec.More() {
		t, err := a.dec.Token()
		switch {
		case err != nil:
			return err
		case t == "servers":
			a.inside = true
			return a.delim('[')
		case t == "success":
			err = a.success()
		default:
			err = a.skip()
		}
		if err != nil {
			return err
		}
	}
	return a.close(2)
}

// success reads the value of "success".
func (a *answers) success() error {
	var value any
	if err := a.dec.Decode(&value); err != nil {
		return err
	}
	a.refused = a.refused || value == false
	return nil
}

// rest reads what follows the array of servers, to the end of the answer.
func (a *answers) rest() error {
	a.in.refill()
	err := a.delim(']')
	if a.bare {
		a.bare = false
		return explainJSON(err)
	}
	for err == nil && a.dec.More() {
		if _, err = a.dec.Token(); err == nil {
			err = a.skip()
		}
	}
	if err == nil {
		err = a.close(2)
	}
	return explainJSON(err)
}

// close reads to the ends of n objects and skips their other members.
func (a *answers) close(n int) error {
	for range n {
		for a.dec.More() {
			if _, err := a.dec.Token(); err != nil {
				return err
			}
			if err := a.skip(); err != nil {
				return err
			}
		}
		if err := a.delim('}'); err != nil {
			return err
		}
	}
	return nil
}

// delim reads the bracket want.
func (a *answers) delim(want json.Delim) error {
	t, err := a.dec.Token()
	if err == nil && t != want {
		err = ErrMalformed
	}
	return err
}

// skip skips a value.
func (a *answers) skip() error {
	var value json.RawMessage
	return a.dec.Decode(&value)
}

// explainJSON replaces an error of package json, which quotes its input, with one
// of this package.
func explainJSON(err error) error {
	var syntax *json.SyntaxError
	switch {
	case err == nil, errors.Is(err, ErrTooLarge), errors.Is(err, ErrMalformed):
		return err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return ErrTruncated
	case errors.As(err, &syntax):
		return fmt.Errorf("%w: no JSON at byte %d", ErrMalformed, syntax.Offset)
	}
	return err
}

// address reads the address of a server.
func (v *element) address(s *Server) error {
	if !v.Addr.has {
		return errNoAddr
	}
	addr, err := parseAddr([]byte(v.Addr.value))
	if err != nil {
		return fmt.Errorf("%w: %s", errBadAddr, show(v.Addr.value))
	}
	s.Addr = addr
	return nil
}

var (
	errNoAddr  = errors.New("has no address")
	errBadAddr = errors.New("not an IPv4 address with a port")
)
