package wire

import (
	"bytes"
	"encoding/binary"
)

// textChallenge follows 'A' in the text with which a GoldSource server answers
// "getchallenge", a request of its game protocol (EC-19). It distinguishes that
// text from a challenge reply.
const textChallenge = "00000000 "

// DecodeChallenge returns the number of a challenge reply: the four bytes after
// 'A'. More bytes may follow (EC-138). The error is ErrMalformed if there are fewer
// than four bytes (EC-8), for a text that begins with textChallenge (EC-19), and for a
// message of another kind. 0 is a valid challenge (EC-10).
func DecodeChallenge(msg []byte) (Challenge, error) {
	b, err := fields(msg, KindChallenge)
	if err != 0 || len(b) < 4 || bytes.HasPrefix(b, []byte(textChallenge)) {
		return 0, ErrMalformed
	}
	return Challenge(binary.LittleEndian.Uint32(b)), nil
}

// AppendChallenge appends a challenge reply.
func AppendChallenge(dst []byte, c Challenge) []byte {
	dst = appendHeader(dst, KindChallenge)
	return binary.LittleEndian.AppendUint32(dst, uint32(c))
}

const redirectText = "ConnectRedirectAddress:"

// DecodeText returns the text of a KindPing, KindBanned (EC-22), KindLimited (EC-21) or
// KindRedirect (EC-140) message, up to its first NUL or its end. The text of a ping reply
// may be anything (EC-73): GoldSource servers send an empty text, and Source servers send
// fourteen digits 0 (document 000), or NULs (document 004). The error is ErrUnexpected for
// another type byte and for a KindRedirect with another text (EC-23), and ErrMalformed if
// there is no type byte. The text aliases msg.
func DecodeText(msg []byte) (text []byte, err error) {
	b := Body(msg)
	if len(b) == 0 {
		return nil, ErrMalformed
	}
	switch text = b[1:]; Kind(b[0]) {
	case KindPing, KindBanned, KindLimited:
		return untilNUL(text), nil
	case KindRedirect:
		if bytes.HasPrefix(text, []byte(redirectText)) {
			return untilNUL(text), nil
		}
	}
	return nil, ErrUnexpected
}

// AppendText appends a message of kind KindPing, KindBanned, KindLimited or
// KindRedirect. The text ends at its first NUL.
func AppendText(dst []byte, kind Kind, text []byte) []byte {
	return appendText(appendHeader(dst, kind), text)
}
