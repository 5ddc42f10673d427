package wire

import "encoding/binary"

// infoRequest is the INFO request without a challenge (document 000, A2S_INFO). The
// protocol defines it; it must not be changed.
const infoRequest = "\xFF\xFF\xFF\xFFTSource Engine Query\x00"

// The lengths of requests. Some servers drop requests of any other length (EC-16).
const (
	infoRequestLen          = len(infoRequest)     // 25
	infoChallengeRequestLen = len(infoRequest) + 4 // 29
	listRequestLen          = headerLen + 1 + 4    // PLAYER, RULES
	bareRequestLen          = headerLen + 1        // ping, GETCHALLENGE
)

// Request is a request as a server reads it.
type Request struct {
	Kind         Kind      // the type byte
	Challenge    Challenge // NoChallenge if the request has none
	HasChallenge bool      // false for NoChallenge, too, which only asks for a challenge
}

// DecodeRequest reads a request. It is as strict as the strictest servers: INFO
// must have 25 bytes, or 29 with a challenge; PLAYER and RULES 9; ping and
// GETCHALLENGE 5 (EC-16). The error is ErrUnexpected if the type byte is not that
// of a request, and ErrMalformed for any other fault.
func DecodeRequest(datagram []byte) (Request, error) {
	if len(datagram) < bareRequestLen || !IsSingle(datagram) {
		return Request{}, ErrMalformed
	}
	k := Kind(datagram[headerLen])
	switch k {
	case KindInfoRequest:
		return decodeInfoRequest(datagram)
	case KindPlayersRequest, KindRulesRequest:
		if len(datagram) == listRequestLen {
			return challenged(k, datagram[bareRequestLen:]), nil
		}
	case KindPingRequest, KindChallengeRequest:
		if len(datagram) == bareRequestLen {
			return Request{Kind: k, Challenge: NoChallenge}, nil
		}
	default:
		return Request{}, ErrUnexpected
	}
	return Request{}, ErrMalformed
}

func decodeInfoRequest(datagram []byte) (Request, error) {
	n := len(datagram)
	if n != infoRequestLen && n != infoChallengeRequestLen ||
		string(datagram[:infoRequestLen]) != infoRequest {
		return Request{}, ErrMalformed
	}
	if n == infoRequestLen {
		return Request{Kind: KindInfoRequest, Challenge: NoChallenge}, nil
	}
	return challenged(KindInfoRequest, datagram[infoRequestLen:]), nil
}

// challenged returns the request of kind k whose challenge is the four bytes b.
func challenged(k Kind, b []byte) Request {
	c := Challenge(binary.LittleEndian.Uint32(b))
	return Request{Kind: k, Challenge: c, HasChallenge: c != NoChallenge}
}

// AppendInfoRequest appends an INFO request: 25 bytes with NoChallenge, 29 with any
// other challenge (document 000).
func AppendInfoRequest(dst []byte, c Challenge) []byte {
	dst = append(dst, infoRequest...)
	if c == NoChallenge {
		return dst
	}
	return binary.LittleEndian.AppendUint32(dst, uint32(c))
}

// AppendPlayersRequest appends a PLAYER request, 9 bytes. With NoChallenge it
// asks for a challenge (EC-11).
func AppendPlayersRequest(dst []byte, c Challenge) []byte {
	dst = appendHeader(dst, KindPlayersRequest)
	return binary.LittleEndian.AppendUint32(dst, uint32(c))
}

// AppendRulesRequest appends a RULES request, 9 bytes. With NoChallenge it
// asks for a challenge.
func AppendRulesRequest(dst []byte, c Challenge) []byte {
	dst = appendHeader(dst, KindRulesRequest)
	return binary.LittleEndian.AppendUint32(dst, uint32(c))
}

// AppendRequest appends the request for question q with the challenge c, which ping
// and GETCHALLENGE do not use. For an unknown q it appends nothing.
func AppendRequest(dst []byte, q Question, c Challenge) []byte {
	switch q {
	case QuestionInfo:
		return AppendInfoRequest(dst, c)
	case QuestionPlayers:
		return AppendPlayersRequest(dst, c)
	case QuestionRules:
		return AppendRulesRequest(dst, c)
	case QuestionPing:
		return AppendPingRequest(dst)
	case QuestionChallenge:
		return AppendChallengeRequest(dst)
	}
	return dst
}

// AppendPingRequest appends a ping, 5 bytes; newer servers ignore it.
func AppendPingRequest(dst []byte) []byte {
	return appendHeader(dst, KindPingRequest)
}

// AppendChallengeRequest appends A2S_SERVERQUERY_GETCHALLENGE, 5 bytes; most
// servers ignore it (EC-18).
func AppendChallengeRequest(dst []byte) []byte {
	return appendHeader(dst, KindChallengeRequest)
}
