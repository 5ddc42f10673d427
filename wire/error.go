package wire

// Error is the fault of a message, or the reason why a question has no complete answer.
// The "errors" of a record, a line of a scan's output, contain the word that String
// returns. The zero value means no error. Error is a code and not a struct, so that a
// hostile datagram costs no allocation and an Error can index an array of counters.
type Error uint8

// The error codes. The decoders of this package return only ErrTruncated, ErrMalformed,
// ErrEmpty and ErrUnexpected. The other codes come from the packages that send,
// reassemble and wait for datagrams.
const (
	ErrTimeout       Error = iota + 1 // no answer came in time
	ErrIncomplete                     // fragments of a split reply are missing
	ErrTruncated                      // the message ends inside a field
	ErrMalformed                      // the bytes are not a message of the expected kind
	ErrChecksum                       // the CRC-32 of a compressed reply does not match
	ErrTooLarge                       // the reply exceeds a limit on its size
	ErrChallengeLoop                  // the server kept sending challenges and never an answer
	ErrRateLimited                    // the server said "too many requests" (EC-21)
	ErrBanned                         // the server said that we are banned (EC-22)
	ErrUnreachable                    // an ICMP message said that the address or port is unreachable
	ErrSendFailed                     // the request could not be sent
	ErrUnexpected                     // the reply is of another kind than requested (EC-23)
	ErrEmpty                          // the message ends after the type byte (EC-24)
	ErrExcluded                       // the address was excluded while it was queried
	ErrInternal                       // a fault of the scanner: it waited longer than its schedule allows

	NumErrors = iota + 1 // the number of codes, including 0
)

var errorWords = [NumErrors]string{
	ErrTimeout:       "timeout",
	ErrIncomplete:    "incomplete",
	ErrTruncated:     "truncated",
	ErrMalformed:     "malformed",
	ErrChecksum:      "bad_checksum",
	ErrTooLarge:      "too_large",
	ErrChallengeLoop: "challenge_loop",
	ErrRateLimited:   "rate_limited",
	ErrBanned:        "banned",
	ErrUnreachable:   "unreachable",
	ErrSendFailed:    "send_failed",
	ErrUnexpected:    "unexpected",
	ErrEmpty:         "empty",
	ErrExcluded:      "excluded",
	ErrInternal:      "internal",
}

// String returns the word that records use for e, "" for 0, and "unknown" if e is
// not one of the codes above.
func (e Error) String() string {
	if int(e) < len(errorWords) {
		return errorWords[e]
	}
	return "unknown"
}

// Error returns "a2s: " and the word that String returns.
func (e Error) Error() string { return "a2s: " + e.String() }
