package wire

// Error says what is wrong with a message, or why a question has no complete
// answer. String returns the word that a record's "errors" uses for it. The zero
// value means no error. Error is a code and not a struct, so that a hostile
// datagram costs no allocation and an Error can index an array of counters.
type Error uint8

// The error codes; the words of a record's "errors" correspond to them one to one.
// The decoders of this package return only ErrTruncated, ErrMalformed, ErrEmpty,
// ErrUnexpected and ErrTooLarge; the others come from the packages that wait for,
// reassemble and send datagrams.
const (
	ErrTimeout       Error = iota + 1 // no answer came in time
	ErrIncomplete                     // fragments of a split reply are missing
	ErrTruncated                      // the message ends inside a field
	ErrMalformed                      // the bytes are not a message of that kind
	ErrChecksum                       // the CRC-32 of a compressed reply does not match
	ErrTooLarge                       // more bytes than we are willing to hold
	ErrChallengeLoop                  // challenge after challenge, never an answer
	ErrRateLimited                    // the server said "too many requests" (EC-21)
	ErrBanned                         // the server said that we are banned (EC-22)
	ErrUnreachable                    // ICMP said that nothing listens there
	ErrSendFailed                     // the request could not be sent
	ErrUnexpected                     // a reply of a kind that was not asked for (EC-23)
	ErrEmpty                          // the type byte and nothing else (EC-24)
	ErrExcluded                       // the address was excluded while it was being queried

	NumErrors = iota + 1 // how many codes there are, the zero value included
)

var errorWords = [NumErrors]string{
	0:                "",
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
}

// String returns the record's word for e.
func (e Error) String() string {
	if int(e) < len(errorWords) {
		return errorWords[e]
	}
	return "unknown"
}

// Error returns the word of e as used in records, prefixed with "a2s: ".
func (e Error) Error() string { return "a2s: " + e.String() }
