package wire

import "encoding/binary"

// The four bytes that begin a datagram (document 000, "Protocol"). The protocol
// defines these values; they must not be changed.
const (
	singleHeader uint32 = 0xFFFFFFFF // -1: a complete message follows
	splitHeader  uint32 = 0xFFFFFFFE // -2: a fragment follows

	headerLen = 4
)

func startsWith(b []byte, header uint32) bool {
	return len(b) >= headerLen && binary.LittleEndian.Uint32(b) == header
}

// IsSingle reports whether the datagram begins with FF FF FF FF, that is, holds a
// complete message.
func IsSingle(datagram []byte) bool { return startsWith(datagram, singleHeader) }

// IsSplit reports whether the datagram begins with FE FF FF FF, that is, holds a
// fragment of a message.
func IsSplit(datagram []byte) bool { return startsWith(datagram, splitHeader) }

// Body returns msg without its headers, so that the result begins with the type byte. The
// result is empty if nothing follows the headers. A message usually has one header, FF FF
// FF FF; a message reassembled from fragments may have none (EC-113) or two (EC-114).
func Body(msg []byte) []byte {
	if !startsWith(msg, singleHeader) {
		return msg
	}
	if msg = msg[headerLen:]; startsWith(msg, singleHeader) {
		msg = msg[headerLen:]
	}
	return msg
}

// HeaderNotes returns NoteHeaderMissing if the message has no header,
// NoteHeaderTwice if it has two, and 0 if it has the usual single header. The
// decoders do not set these notes.
func HeaderNotes(msg []byte) Notes {
	switch len(msg) - len(Body(msg)) {
	case 0:
		return NoteHeaderMissing
	case headerLen:
		return 0
	}
	return NoteHeaderTwice
}

// KindOf returns the type byte of a message, or 0 if it has none.
func KindOf(msg []byte) Kind {
	if body := Body(msg); len(body) > 0 {
		return Kind(body[0])
	}
	return 0
}

// IsRequest reports whether the datagram has the header and the type byte of a
// request: one of the three questions, a request for a challenge, or a ping.
func IsRequest(datagram []byte) bool {
	switch KindOf(datagram) {
	case KindInfoRequest, KindPlayersRequest, KindRulesRequest,
		KindChallengeRequest, KindPingRequest:
		return IsSingle(datagram)
	}
	return false
}

// IsReply reports whether the datagram is one that servers send: a fragment, or a message
// of a kind that only servers send. A KindRedirect message counts only if DecodeText
// accepts it.
func IsReply(datagram []byte) bool {
	switch KindOf(datagram) {
	case KindInfo, KindGoldSource, KindPlayers, KindRules,
		KindChallenge, KindPing, KindBanned, KindLimited:
		return IsSingle(datagram)
	// Some servers also send game messages that begin with '9' (EC-23).
	case KindRedirect:
		_, err := DecodeText(datagram)
		return err == nil && IsSingle(datagram)
	}
	return IsSplit(datagram)
}

// fields returns the bytes of msg after its type byte. The error is ErrMalformed if
// there is no type byte, and ErrUnexpected if the type byte is not k.
func fields(msg []byte, k Kind) ([]byte, Error) {
	body := Body(msg)
	if len(body) == 0 {
		return nil, ErrMalformed
	}
	if Kind(body[0]) != k {
		return nil, ErrUnexpected
	}
	return body[1:], 0
}

func appendHeader(dst []byte, k Kind) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, singleHeader)
	return append(dst, byte(k))
}
