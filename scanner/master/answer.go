package master

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Errors for data that is too large, truncated or malformed. The servers read
// before the error are valid.
var (
	ErrTooLarge  = errors.New("larger than we are willing to read")
	ErrTruncated = errors.New("ends in the middle")
	ErrMalformed = errors.New("not what it should be")
)

// maxItem is the maximum number of bytes for one server of a JSON answer, for the
// data before or after the array of servers, and for a line of NDJSON.
const maxItem = 8 << 20

// budget is an io.Reader that limits what is read from r: at most maxItem bytes
// between two calls of refill, and total bytes altogether.
type budget struct {
	r     io.Reader
	item  int64  // bytes left until the next refill
	total int64  // bytes left
	read  uint64 // bytes read so far
}

func (b *budget) refill() { b.item = maxItem }

// Read implements io.Reader. When the budget is used up, Read returns ErrTooLarge
// without reading from r.
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

// answers reads the servers from one or more answers of the Web API, each of the
// form {"response":{"servers":[…]}}. The first answer may be only the array of
// servers. Unknown keys are skipped.
type answers struct {
	in      *budget
	dec     *json.Decoder
	inside  bool // inside an array of servers
	bare    bool // the current array is not part of an object
	begun   bool // the input contains more than white space
	refused bool // an answer contains "success": false
	element element
}

func newAnswers(r io.Reader, total int64) *answers {
	in := &budget{r: r, item: maxItem, total: total}
	return &answers{in: in, dec: json.NewDecoder(in)}
}

// next reads the next server into a.element. After the last answer it returns
// io.EOF; all other errors come from explainJSON.
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

// server reads the next element of the array into a.element.
func (a *answers) server() error {
	a.in.refill()
	a.element = element{}
	err := a.dec.Decode(&a.element)
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		err = nil // the element is not an object: a server without fields
	}
	return explainJSON(err)
}

// open reads the next answer up to the first element of its array of servers, or to
// the end of the answer if it has no array. It returns io.EOF after the last
// answer.
func (a *answers) open() error {
	a.in.refill()
	t, err := a.dec.Token()
	if err == io.EOF {
		return io.EOF // no further answer
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

// find skips the members of an object before the member name, and reads the opening
// bracket of the member's value, which must be kind.
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

// members reads the members of "response" up to the opening bracket of the array of
// servers. If there is no array, members reads to the end of the answer.
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

// success reads the value of "success", and sets a.refused if the value is false.
func (a *answers) success() error {
	var value any
	if err := a.dec.Decode(&value); err != nil {
		return err
	}
	a.refused = a.refused || value == false
	return nil
}

// rest reads the closing bracket of the array of servers and everything after it up
// to the end of the answer.
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

// close reads to the end of the n innermost open objects and skips their remaining
// members.
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

// delim reads the next token, and returns ErrMalformed if it is not want.
func (a *answers) delim(want json.Delim) error {
	t, err := a.dec.Token()
	if err == nil && t != want {
		err = ErrMalformed
	}
	return err
}

// skip skips the next value.
func (a *answers) skip() error {
	var value json.RawMessage
	return a.dec.Decode(&value)
}

// explainJSON replaces syntax errors of package json, which quote the input, and
// unexpected ends of the input with errors of this package. It returns other errors
// unchanged.
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

// address sets the address of s. It returns errNoAddr if v has no address, or an
// error that wraps errBadAddr if the address is invalid.
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
