package wire

import (
	"bytes"
	"encoding/binary"
)

// infoRequest is the INFO request without a challenge (document 000, A2S_INFO). The
// protocol defines it; it must not be changed.
const infoRequest = "\xFF\xFF\xFF\xFFTSource Engine Query\x00"

// Request is a decoded request.
type Request struct {
	Kind      Kind      // the type byte
	Challenge Challenge // NoChallenge if the request has none
	// Whether the request has a challenge. NoChallenge does not count, because it only asks
	// the server for a challenge.
	HasChallenge bool
}

// DecodeRequest reads a request. It is as strict as the strictest servers: INFO
// must have 25 bytes, or 29 with a challenge; PLAYER and RULES 9; ping and
// GETCHALLENGE 5 (EC-16). The error is ErrUnexpected if the type byte is not that
// of a request, and ErrMalformed for any other fault.
func DecodeRequest(datagram []byte) (Request, error) {
	if len(datagram) <= headerLen || !IsSingle(datagram) {
		return Request{}, ErrMalformed
	}
	r := Request{Kind: Kind(datagram[headerLen]), Challenge: NoChallenge}
	rest := datagram[headerLen+1:]
	switch r.Kind {
	case KindInfoRequest:
		var found bool
		if rest, found = bytes.CutPrefix(datagram, []byte(infoRequest)); !found {
			return Request{}, ErrMalformed
		}
		if len(rest) == 0 {
			return r, nil
		}
	case KindPlayersRequest, KindRulesRequest:
	case KindPingRequest, KindChallengeRequest:
		if len(rest) == 0 {
			return r, nil
		}
		rest = nil // more bytes are an error: these requests have no challenge
	default:
		return Request{}, ErrUnexpected
	}
	if len(rest) != 4 {
		return Request{}, ErrMalformed
	}
	r.Challenge = Challenge(binary.LittleEndian.Uint32(rest))
	r.HasChallenge = r.Challenge != NoChallenge
	return r, nil
}

// AppendRequest appends the request for question q. An INFO request has 25 bytes with
// NoChallenge and 29 with any other challenge (document 000). A PLAYER or RULES request
// has 9 bytes; with NoChallenge it asks for a challenge (EC-11). A ping and
// GETCHALLENGE have 5 bytes and no challenge; most servers ignore both (EC-18). For an
// unknown q AppendRequest appends nothing.
func AppendRequest(dst []byte, q Question, c Challenge) []byte {
	switch q {
	case QuestionInfo:
		dst = append(dst, infoRequest...)
		if c == NoChallenge {
			return dst
		}
	case QuestionPlayers:
		dst = appendHeader(dst, KindPlayersRequest)
	case QuestionRules:
		dst = appendHeader(dst, KindRulesRequest)
	case QuestionPing:
		return appendHeader(dst, KindPingRequest)
	case QuestionChallenge:
		return appendHeader(dst, KindChallengeRequest)
	default:
		return dst
	}
	return binary.LittleEndian.AppendUint32(dst, uint32(c))
}
