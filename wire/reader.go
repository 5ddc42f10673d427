package wire

import "encoding/binary"

// A reader moves fields from the front of r.b into the caller's variables, and adds each
// complete field to r.has. If r.b ends inside a field, the reader stores this field in
// r.cut and reads no further field. So the caller need check r.cut only once, at the end.
type reader struct {
	b      []byte
	has    Fields
	cut    Fields // the first incomplete field, or 0 if there is none
	tail   int    // how many bytes of the incomplete field the message has
	hidden int    // number of bytes after b that Explain hides from the reader
}

// left returns the bytes of the message that were not read.
func (r *reader) left() []byte {
	if r.cut != 0 {
		return nil
	}
	return r.b[:len(r.b)+r.hidden]
}

func (r *reader) fail(f Fields) {
	if r.cut == 0 {
		r.cut, r.tail = f, len(r.b)
	}
	r.b = nil
}

// take returns the next n bytes, which are the field f, and adds f to r.has. It returns
// nil if r.b has fewer bytes.
func (r *reader) take(n int, f Fields) []byte {
	if len(r.b) < n {
		r.fail(f)
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	r.has |= f
	return b
}

func (r *reader) u8(v *uint8, f Fields) {
	if b := r.take(1, f); b != nil {
		*v = b[0]
	}
}

func (r *reader) u16(v *uint16, f Fields) {
	if b := r.take(2, f); b != nil {
		*v = binary.LittleEndian.Uint16(b)
	}
}

func (r *reader) u32(v *uint32, f Fields) {
	if b := r.take(4, f); b != nil {
		*v = binary.LittleEndian.Uint32(b)
	}
}

func (r *reader) u64(v *uint64, f Fields) {
	if b := r.take(8, f); b != nil {
		*v = binary.LittleEndian.Uint64(b)
	}
}

func (r *reader) count(v *uint32, f Fields) {
	if b := r.take(1, f); b != nil {
		*v = uint32(b[0])
	}
}

// text reads a string terminated by a NUL. The result *v aliases the message.
func (r *reader) text(v *[]byte, f Fields) {
	i := indexNUL(r.b)
	if i < 0 {
		r.fail(f)
		return
	}
	*v = r.b[:i:i]
	r.b = r.b[i+1:]
	r.has |= f
}

// lastText reads a string that may be the last field. If the string has no NUL, *v gets the
// bytes up to the end of the message, and the message counts as truncated. If no byte is
// left, the field is missing.
func (r *reader) lastText(v *[]byte, f Fields) {
	b := r.b
	if r.text(v, f); r.cut == f && len(b) > 0 {
		*v = b[:len(b):len(b)]
		r.has |= f
	}
}

// untilNUL returns b up to its first NUL, or all of it.
func untilNUL(b []byte) []byte {
	i := indexNUL(b)
	if i < 0 {
		i = len(b)
	}
	return b[:i:i]
}

// appendText appends s and a NUL. If s contains a NUL, appendText drops the rest of s,
// because a string on the wire ends at its first NUL.
func appendText(dst, s []byte) []byte {
	dst = append(dst, untilNUL(s)...)
	return append(dst, 0)
}
