package master

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/go-json-experiment/json/jsontext"
)

type kind uint8

const (
	text   kind = iota
	number      // signed, 32 bits
	size        // unsigned, 32 bits
	id          // 64 bits, usually sent as a JSON string
	boolean
)

// fields are the fields of a server's entry in the answers of GetServerList and
// GetServersAtAddress (docs/FORMATS.md, section 2), in the order in which Server.Details has
// them. Every field is optional.
var fields = [...]struct {
	api, record string // names in the answers and in a record
	kind        kind
}{
	{"name", "name", text},
	{"map", "map", text},
	{"gamedir", "folder", text},
	{"product", "product", text},
	{"appid", "app_id", size},
	{"players", "players", number},
	{"max_players", "max_players", number},
	{"bots", "bots", number},
	{"dedicated", "dedicated", boolean},
	{"os", "os", text},
	{"secure", "vac", boolean},
	{"version", "version", text},
	{"region", "region", number},
	{"gameport", "game_port", size},
	{"specport", "sourcetv_port", size},
	{"steamid", "steam_id", id},
	{"gametype", "keywords", text},
	{"lan", "lan", boolean},
	{"gmsindex", "gms_index", number},
}

func newDecoder(r io.Reader) *jsontext.Decoder {
	return jsontext.NewDecoder(r, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

var (
	// errNoAnswer means that the answer has no data. The empty list is {"response":{}}.
	errNoAnswer = fmt.Errorf("%w: the answer is empty", ErrMalformed)
	errNoAddr   = errors.New("the entry has no address")
)

// members reads an object, the next value of d. It calls read with the name of each member;
// read then reads the member's value from d.
func members(d *jsontext.Decoder, read func(name string) error) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() == '"' {
		token, err := d.ReadToken()
		if err == nil {
			err = read(token.String())
		}
		if err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

// readServer reads a server's entry, the next value of d. Its second result says why the
// entry has no usable address; its last result is an error of d.
func readServer(d *jsontext.Decoder) (s *Server, bad, err error) {
	if d.PeekKind() != '{' {
		return nil, errNoAddr, d.SkipValue()
	}
	entry, err := d.ReadValue()
	if err != nil {
		return nil, nil, err
	}
	s, bad = &Server{Entry: entry}, errNoAddr
	var values [len(fields)]string // in the form of a record; empty: no usable value
	d = newDecoder(bytes.NewBuffer(entry))
	err = members(d, func(key string) error {
		value, err := d.ReadValue()
		switch {
		case err != nil:
			return err
		case key == "addr" && value.Kind() == '"':
			addr := unquoted(value)
			if s.Addr, bad = netip.ParseAddrPort(addr); bad != nil || !s.Addr.Addr().Is4() {
				bad = fmt.Errorf("the address %s is not an IPv4 address with a port", show(addr))
			}
		case key == "addr":
			bad = errNoAddr
			s.odd = s.odd || value.Kind() != 'n'
		}
		for i := range fields {
			if fields[i].api == key {
				values[i] = s.field(key, fields[i].kind, value)
				break
			}
		}
		return nil
	})
	sep := byte('{')
	for i, v := range values {
		if v != "" {
			s.Details = append(append(append(s.Details, sep, '"'), fields[i].record...), `":`...)
			s.Details = append(s.Details, v...)
			sep = ','
		}
	}
	if s.Details != nil {
		s.Details = append(s.Details, '}')
	}
	return s, bad, err
}

// field returns a value in the form of a record. It returns "" for null. For a value of a
// wrong type, it returns "" and sets s.odd. It also stores the properties by which a fetch
// divides lists.
func (s *Server) field(key string, k kind, value jsontext.Value) string {
	ok, raw := false, string(value)
	switch k {
	case text:
		if ok = value.Kind() == '"'; ok {
			raw = unquoted(value)
			switch key {
			case "name":
				s.name = raw
			case "map":
				s.gameMap = raw
			case "os":
				if raw == "l" {
					s.linux = "1"
				}
			}
			raw = string(appendString(nil, raw))
		}
	case boolean:
		ok = raw == "true" || raw == "false"
	case number:
		n, err := strconv.ParseInt(raw, 10, 32)
		ok = err == nil
		if key == "players" && n != 0 {
			s.players = "1"
		}
		if key == "region" {
			s.region = raw
		}
	case size:
		_, err := strconv.ParseUint(raw, 10, 32)
		ok = err == nil
	case id:
		digits := strings.Trim(raw, `"`)
		_, err := strconv.ParseUint(digits, 10, 64)
		ok, raw = err == nil, `"`+digits+`"`
	}
	if !ok {
		s.odd = s.odd || value.Kind() != 'n'
		return ""
	}
	return raw
}

// unquoted decodes a JSON string. It replaces bytes that are not UTF-8 by U+FFFD.
func unquoted(value jsontext.Value) string {
	b, _ := jsontext.AppendUnquote(nil, value)
	return string(b)
}

// appendString appends s as a JSON string. It escapes all unprintable characters,
// which is more than JSON requires, because the output may be shown on a terminal.
// Bytes that are not UTF-8 become U+FFFD.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case strconv.IsPrint(r):
			dst = append(dst, string(r)...)
		case r > 0xFFFF:
			hi, lo := utf16.EncodeRune(r)
			dst = fmt.Appendf(dst, `\u%04x\u%04x`, hi, lo)
		default:
			dst = fmt.Appendf(dst, `\u%04x`, r)
		}
	}
	return append(dst, '"')
}

// maxItem is the maximum number of bytes of one server in a JSON answer, and of the data
// before or after the array of servers.
const maxItem = 8 << 20

// budget limits how many bytes are read from r: to maxItem for each server, and altogether
// to the initial value of total. Its user sets item to 0 before each server.
type budget struct {
	r     io.Reader
	item  int64 // bytes read for the current server
	total int64 // bytes that may still be read
}

// Read implements io.Reader. When the budget is used up, Read returns ErrTooMuch
// without reading from r.
func (b *budget) Read(p []byte) (int, error) {
	left := min(maxItem-b.item, b.total)
	if left <= 0 {
		return 0, ErrTooMuch
	}
	n, err := b.r.Read(p[:min(int64(len(p)), left)])
	b.item += int64(n)
	b.total -= int64(n)
	return n, err
}

// isAnswer matches the beginning of a list. An array is an answer if it is empty, or if it
// has objects with the key "addr".
var isAnswer = regexp.MustCompile(`^\x{FEFF}?\s*(\{\s*"response"|\[\s*(\]|\{(?s:.*)"addr"))`)

// IsAnswer reports whether a list that begins with head is an answer of the Web API. 4096
// bytes are enough.
func IsAnswer(head []byte) bool { return isAnswer.Match(head) }

// ReadAnswers passes the entries of one or more answers of the Web API to handle, in order,
// with their numbers from 1. The last argument of handle says why an entry has no usable
// address. The Server is valid until handle returns. ReadAnswers returns an error of r or
// handle, but may replace one that wraps ErrTooMuch or io.EOF. Other errors wrap
// ErrMalformed or ErrTooMuch. ReadAnswers keeps only one entry in memory, and does not
// remove duplicates.
func ReadAnswers(r io.Reader, handle func(item int, s *Server, bad error) error) error {
	in := bufio.NewReader(r)
	if b, _ := in.Peek(3); string(b) == "\uFEFF" {
		in.Discard(3)
	}
	item := 0
	err := readJSON(&budget{r: in, total: math.MaxInt64}, func(s *Server, bad error) error {
		item++
		return handle(item, s, bad)
	})
	if errors.Is(err, ErrRefused) {
		return fmt.Errorf("%w: the answer reports a failure", ErrMalformed)
	}
	return err
}

// readJSON reads one or more answers of the Web API, each of the form
// {"response":{"servers":[…]}}, or only the array of servers. It returns ErrRefused if
// an answer reports a failure, and ErrMalformed for anything else. Errors of handle
// and of the reader pass through explainJSON. handle receives each server, or the reason
// why an entry has no usable address; the Server is valid until handle returns.
func readJSON(in *budget, handle func(s *Server, bad error) error) error {
	d := newDecoder(in)
	begun, refused := false, false // of the current answer, and of any answer
	servers := func() error {
		if begun = d.PeekKind() == '['; !begun {
			return ErrMalformed
		}
		_, err := d.ReadToken()
		for err == nil && d.PeekKind() != ']' {
			in.item = 0
			var s *Server
			var bad error
			if s, bad, err = readServer(d); err == nil {
				err = handle(s, bad)
			}
		}
		if err == nil {
			_, err = d.ReadToken()
		}
		return err
	}
	response := func(name string) error {
		if name == "servers" {
			return servers()
		}
		refused = refused || name == "success" && d.PeekKind() == 'f'
		return d.SkipValue()
	}
	answer := func(name string) error {
		if name != "response" || d.PeekKind() != '{' {
			return d.SkipValue()
		}
		begun = true
		return members(d, response)
	}
	for answers := 0; ; answers++ {
		in.item = 0
		kind, err := d.PeekKind(), error(nil)
		begun = false
		switch {
		case kind == '{':
			err = members(d, answer)
		case kind == '[' && answers == 0:
			err = servers()
		default:
			_, err = d.ReadToken()
			switch {
			case err == io.EOF && answers == 0:
				return errNoAnswer
			case err == io.EOF && refused:
				return fmt.Errorf("%w: the answer reports a failure", ErrRefused)
			case err == io.EOF:
				return nil
			}
		}
		if err == nil && !begun {
			err = ErrMalformed
		}
		if err != nil {
			return explainJSON(err)
		}
	}
}

// explainJSON replaces syntax errors of package jsontext, which quote the input, and errors
// that wrap ErrTooMuch, io.EOF or io.ErrUnexpectedEOF. It unwraps jsontext's other errors.
func explainJSON(err error) error {
	syntax, isSyntax := errors.AsType[*jsontext.SyntacticError](err)
	switch {
	case errors.Is(err, ErrTooMuch):
		return ErrTooMuch
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: the JSON is truncated", ErrMalformed)
	case isSyntax:
		return fmt.Errorf("%w: invalid JSON at byte %d", ErrMalformed, syntax.ByteOffset+1)
	case strings.HasPrefix(err.Error(), "jsontext: "):
		return errors.Unwrap(err) // error of the reader
	}
	return err
}
