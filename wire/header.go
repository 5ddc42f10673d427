package wire

import "encoding/binary"

// The four bytes that begin a datagram (document 000, "Protocol"). These are
// the protocol's and must not be changed.
const (
	singleHeader uint32 = 0xFFFFFFFF // -1: a complete message follows
	splitHeader  uint32 = 0xFFFFFFFE // -2: a fragment follows

	headerLen = 4
)

// startsWith reports whether b begins with the four bytes of header.
func startsWith(b []byte, header uint32) bool {
	return len(b) >= headerLen && binary.LittleEndian.Uint32(b) == header
}

// IsSingle reports whether the datagram begins with FF FF FF FF: it holds a
// complete message.
func IsSingle(datagram []byte) bool { return startsWith(datagram, singleHeader) }

// IsSplit reports whether the datagram begins with FE FF FF FF: it holds a
// fragment of a message.
func IsSplit(datagram []byte) bool { return startsWith(datagram, splitHeader) }

// Body returns msg without its headers, so that it begins with the type byte;
// it is empty where nothing follows them. A message has one FF FF FF FF; those
// that were reassembled from fragments may have none (EC-113) or two (EC-114).
func Body(msg []byte) []byte {
	if !startsWith(msg, singleHeader) {
		return msg
	}
	if msg = msg[headerLen:]; startsWith(msg, singleHeader) {
		msg = msg[headerLen:]
	}
	return msg
}

// HeaderNotes returns NoteHeaderMissing or NoteHeaderTwice for a message
// without a header or with two, and 0 for one with the usual one. The notes of
// the decoders do not hold these.
func HeaderNotes(msg []byte) Notes {
	switch len(msg) - len(Body(msg)) {
	case 0:
		return NoteHeaderMissing
	case headerLen:
		return 0
	}
	return NoteHeaderTwice
}

// KindOf returns the type byte of a message, 0 if it has none.
func KindOf(msg []byte) Kind {
	if body := Body(msg); len(body) > 0 {
		return Kind(body[0])
	}
	return 0
}

// IsRequest reports whether a client sends such a datagram: one of the three
// questions, a request for a challenge, or a ping.
func IsRequest(datagram []byte) bool {
	if !IsSingle(datagram) {
		return false
	}
	switch KindOf(datagram) {
	case KindInfoRequest, KindPlayersRequest, KindRulesRequest,
		KindChallengeRequest, KindPingRequest:
		return true
	}
	return false
}

// IsReply reports whether a server sends such a datagram: a fragment, or a
// message of a kind that only servers send. The traffic of a game has other
// headers.
func IsReply(datagram []byte) bool {
	if IsSplit(datagram) {
		return true
	}
	if !IsSingle(datagram) {
		return false
	}
	switch KindOf(datagram) {
	case KindInfo, KindGoldSource, KindPlayers, KindRules,
		KindChallenge, KindPing, KindBanned, KindLimited:
		return true
	}
	return false
}

// fields returns what follows the type byte k in msg. It fails where there is
// no type byte or another one.
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

// appendHeader appends FF FF FF FF and the type byte k.
func appendHeader(dst []byte, k Kind) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, singleHeader)
	return append(dst, byte(k))
}
