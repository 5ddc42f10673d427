package wire

import "encoding/binary"

// DecodeChallenge returns the number of a challenge reply. Whatever is not
// exactly 'A' and four bytes is ErrMalformed: shorter ones occur (EC-8), and
// GoldSource servers answer another question with a text that begins with 'A'
// (EC-19). 0 is a number like any other (EC-10).
func DecodeChallenge(msg []byte) (Challenge, error) {
	b, err := fields(msg, KindChallenge)
	if err != 0 || len(b) != 4 {
		return 0, ErrMalformed
	}
	return Challenge(binary.LittleEndian.Uint32(b)), nil
}

// AppendChallenge appends a challenge reply.
func AppendChallenge(dst []byte, c Challenge) []byte {
	dst = appendHeader(dst, KindChallenge)
	return binary.LittleEndian.AppendUint32(dst, uint32(c))
}

// DecodePing returns the text of a ping reply, up to its first NUL. Any 'j' is
// a ping reply (EC-73): GoldSource servers send an empty text, Source servers
// fourteen zeros (document 000) or NULs (document 004). Another type byte is
// ErrUnexpected, none ErrMalformed. The text aliases msg.
func DecodePing(msg []byte) (payload []byte, err error) {
	b, e := fields(msg, KindPing)
	if e != 0 {
		return nil, e
	}
	return untilNUL(b), nil
}

// AppendPing appends a ping reply with the text payload, as far as its first
// NUL.
func AppendPing(dst, payload []byte) []byte {
	return appendText(appendHeader(dst, KindPing), payload)
}

// DecodeText returns the text of a KindBanned (EC-22) or KindLimited (EC-21)
// message, up to its first NUL or its end. Another type byte is ErrUnexpected,
// none ErrMalformed. The text aliases msg.
func DecodeText(msg []byte) (text []byte, err error) {
	b, e := fields(msg, KindBanned)
	if e == ErrUnexpected {
		b, e = fields(msg, KindLimited)
	}
	if e != 0 {
		return nil, e
	}
	return untilNUL(b), nil
}

// AppendText appends a message of kind KindBanned or KindLimited with its
// text, as far as its first NUL.
func AppendText(dst []byte, kind Kind, text []byte) []byte {
	return appendText(appendHeader(dst, kind), text)
}
