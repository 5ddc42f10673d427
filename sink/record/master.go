package record

import (
	"bytes"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// maxMasterDepth is the maximum nesting depth of objects and lists in the data of a master
// server. Some JSON parsers fail at a depth of 1000.
const maxMasterDepth = 32

// masterOptions are the decoder's options for the data of master servers, which may be
// hostile.
var masterOptions = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// masterValue is the data of a master server about the game server. If appendMaster can't
// append the data, put marks the key "master" as dropped.
type masterValue string

func (v *masterValue) put(e *Encoder, dst []byte, f *field) []byte {
	if *v == "" {
		return dst
	}
	start := len(dst)
	dst, ok := e.appendMaster(f.start(dst), string(*v))
	if !ok {
		e.drop(f)
		return dst[:start]
	}
	return dst
}

func (v *masterValue) set(_ *Reader, _ *field, s []byte) bool {
	*v = masterValue(s)
	return true
}

// appendMaster appends master, a JSON object, in the form that records have: on one line,
// without spaces, in valid UTF-8, with the escapes of the package documentation, and with
// a comma after it. It returns false if master is not a JSON object. It also returns false
// for a number beyond the range of a double, and for a depth above maxMasterDepth, because
// some parsers would reject these.
func (e *Encoder) appendMaster(dst []byte, master string) (_ []byte, ok bool) {
	if e.master == nil {
		e.master = jsontext.NewDecoder(&e.in)
	}
	e.copied = append(e.copied[:0], master...)
	e.in = *bytes.NewBuffer(e.copied)
	d := e.master
	d.Reset(&e.in, masterOptions...)
	if d.PeekKind() != '{' {
		return dst, false
	}
	for first := true; first || d.StackDepth() > 0; first = false {
		switch kind := d.PeekKind(); kind {
		case '{', '[', '}', ']':
			if _, err := d.ReadToken(); err != nil || d.StackDepth() > maxMasterDepth {
				return dst, false
			}
			if kind == '{' || kind == '[' {
				dst = append(dst, byte(kind))
			} else {
				dst = end(dst, byte(kind))
			}
			continue
		}
		v, err := d.ReadValue()
		if err != nil {
			return dst, false
		}
		switch v.Kind() {
		case '"':
			e.text, _ = jsontext.AppendUnquote(e.text[:0], v) // each byte that is not UTF-8 becomes U+FFFD
			dst, _ = appendString(dst, e.text)
		case '0':
			if _, err := strconv.ParseFloat(string(v), 64); err != nil {
				return dst, false
			}
			dst = append(dst, v...)
		default:
			dst = append(dst, v...)
		}
		if in, n := d.StackIndex(d.StackDepth()); in == '{' && n%2 == 1 {
			dst = append(dst, ':')
		} else {
			dst = append(dst, ',')
		}
	}
	_, err := d.ReadToken()
	return dst, err == io.EOF
}
