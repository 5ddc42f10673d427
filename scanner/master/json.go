package master

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/netip"
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
	d = newDecoder(bytes.NewBuffer(entry))
	if _, err := d.ReadToken(); err != nil {
		return nil, nil, err
	}
	s, bad = &Server{Entry: entry}, errNoAddr
	var values [len(fields)]string // in the form of a record; empty: no usable value
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, nil, err
		}
		key := name.String()
		value, err := d.ReadValue()
		if err != nil {
			return nil, nil, err
		}
		switch {
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
	}
	for i, v := range values {
		if v != "" {
			sep := byte(',')
			if s.Details == nil {
				sep = '{'
			}
			s.Details = append(append(append(s.Details, sep, '"'), fields[i].record...), `":`...)
			s.Details = append(s.Details, v...)
		}
	}
	if s.Details != nil {
		s.Details = append(s.Details, '}')
	}
	_, err = d.ReadToken()
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

// maxItem is the maximum number of bytes of one server in a JSON answer, of the data
// before or after the array of servers, and of a line of NDJSON.
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

// readJSON reads one or more answers of the Web API, each of the form
// {"response":{"servers":[…]}}, or only the array of servers. It returns ErrRefused if
// an answer reports a failure, and ErrMalformed for anything else. Errors of handle
// and of the reader pass through explainJSON. handle receives each server, or the reason
// why an entry has no usable address; the Server is valid until handle returns.
func readJSON(in *budget, handle func(s *Server, bad error) error) (err error) {
	d := newDecoder(in)
	// If the value of a member comes next, name is the member's name followed by a colon.
	name := ""
	answers, begun, inList, refused := 0, false, false, false
	for err == nil {
		switch kind, depth := d.PeekKind(), d.StackDepth(); {
		case inList && kind != ']':
			in.item = 0
			var s *Server
			var bad error
			if s, bad, err = readServer(d); err == nil {
				err = handle(s, bad)
			}
		case kind == '}' || kind == ']':
			if _, err = d.ReadToken(); err == nil && depth == 1 {
				in.item = 0
				answers++
				if !begun {
					err = ErrMalformed
				}
			}
			inList, name = false, ""
		case depth == 0 && kind == '{':
			_, err = d.ReadToken()
			begun = false
		case depth == 0 && kind == '[' && answers == 0, depth == 2 && name == "servers:" && kind == '[':
			_, err = d.ReadToken()
			begun, inList = true, true
		case depth == 0:
			switch _, err = d.ReadToken(); {
			case err == nil:
				err = ErrMalformed
			case err == io.EOF && answers == 0:
				return errNoAnswer
			case err == io.EOF && refused:
				return fmt.Errorf("%w: the answer reports a failure", ErrRefused)
			case err == io.EOF:
				return nil
			}
		case name == "":
			var t jsontext.Token
			if t, err = d.ReadToken(); err == nil {
				name = t.String() + ":"
			}
		case depth == 1 && name == "response:" && kind == '{':
			_, err = d.ReadToken()
			begun, name = true, ""
		case depth == 2 && name == "servers:":
			err = ErrMalformed
		default:
			refused = refused || depth == 2 && name == "success:" && kind == 'f'
			name, err = "", d.SkipValue()
		}
	}
	return explainJSON(err)
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
