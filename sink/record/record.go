package record

import (
	"encoding/base64"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/wire"
)

// MaxSize is the length of the longest record, its newline included.
const MaxSize = 8 << 20

// Encoder appends records. The zero value is ready. It holds scratch memory
// that it uses again, so that appending allocates nothing but what dst has to
// grow; it serves one goroutine at a time.
type Encoder struct {
	names   table
	inexact bool // the rules object doesn't say all that the pairs said
	left    parts
	size    [numParts]int
	clock   clock
}

// AppendRecord appends the record of r to dst, as Encoder.Append does. It
// allocates scratch memory for a record of more than 256 rules: a loop should
// own an Encoder.
func Append(dst []byte, scan string, r *scanner.Result) []byte {
	var e Encoder
	return e.Append(dst, scan, r)
}

// Append appends the record of r to dst: one line of JSON with the newline at
// its end, at most MaxSize bytes. The package documentation describes its
// keys. Scan is the name of the scan, absent from the record if empty; it is
// the caller's to keep it short.
func (e *Encoder) Append(dst []byte, scan string, r *scanner.Result) []byte {
	start := len(dst)
	e.left = 0
	if rawLen(r.Raw) > MaxSize {
		e.left = 1 << partRaw
	}
	if len(r.Master) > MaxSize {
		e.left |= 1 << partMaster
	}
	told := e.left
	dst = e.record(dst, scan, r)
	if over := len(dst) - start - MaxSize; over > 0 {
		e.leaveOut(over)
	}
	if e.left != told {
		dst = e.record(dst[:start], scan, r)
	}
	return dst
}

// record appends the record of r without the parts in e.left.
func (e *Encoder) record(dst []byte, scan string, r *scanner.Result) []byte {
	dst = append(dst, `{"schema":1,`...)
	if scan != "" {
		dst = appendText(dst, `"scan":`, scan)
	}
	if r.Addr.IsValid() {
		dst = appendAddr(dst, `"ip":`, r.Addr.Addr())
		dst = appendUint(dst, `"port":`, uint64(r.Addr.Port()))
		dst = appendAddrPort(dst, `"addr":`, r.Addr)
	}
	dst = e.part(dst, partTag, r)
	if !r.Time.IsZero() {
		dst = e.clock.append(dst, `"time":`, r.Time)
	}
	if r.Status != 0 {
		dst = appendWord(dst, `"status":`, r.Status.String())
	}
	dst = appendErrors(dst, r)
	dst = e.appendNotes(dst, r)
	dst = e.part(dst, partMessage, r)
	dst = appendTraffic(dst, r)
	for p := partInfo; p < numParts; p++ {
		dst = e.part(dst, p, r)
	}
	dst[len(dst)-1] = '}'
	return append(dst, '\n')
}

// appendErrors appends what was wrong with which question.
func appendErrors(dst []byte, r *scanner.Result) []byte {
	if r.Err == [wire.NumQuestions]wire.Error{} {
		return dst
	}
	dst = append(dst, `"errors":{`...)
	for q, key := range [wire.NumQuestions]string{`"info":`, `"players":`, `"rules":`} {
		if r.Err[q] != 0 {
			dst = appendWord(dst, key, r.Err[q].String())
		}
	}
	return end(dst, '}')
}

// appendNotes appends the oddities of the answers, and then what was left out
// of this record.
func (e *Encoder) appendNotes(dst []byte, r *scanner.Result) []byte {
	notes := r.Notes
	if notes == 0 && e.left == 0 {
		return dst
	}
	dst = append(dst, `"notes":[`...)
	for i := range wire.NumNotes {
		if notes&(1<<i) != 0 {
			dst = appendWord(dst, "", wire.NoteWord(i))
		}
	}
	for p, word := range partNotes {
		if e.left&(1<<p) != 0 {
			dst = appendWord(dst, "", word)
		}
	}
	return end(dst, ']')
}

// appendTraffic appends times and counts. Of a capture nobody knows what was
// sent: nothing was, as far as the Result goes, and yet there is a reply, or
// no time at which it was waited for.
func appendTraffic(dst []byte, r *scanner.Result) []byte {
	capture := r.Sent == 0 && (r.Received > 0 || r.Time.IsZero())
	if r.RTT > 0 {
		dst = appendMillis(dst, `"rtt_ms":`, r.RTT)
	}
	dst = appendRoundTrips(dst, r)
	if !capture || r.Took > 0 {
		dst = appendMillis(dst, `"took_ms":`, r.Took)
	}
	if !capture {
		dst = appendUint(dst, `"sent":`, uint64(r.Sent))
	}
	if !capture || r.Received > 0 {
		dst = appendUint(dst, `"received":`, uint64(r.Received))
	}
	if !capture {
		dst = appendUint(dst, `"sent_bytes":`, r.SentBytes)
	}
	if !capture || r.Received > 0 {
		dst = appendUint(dst, `"received_bytes":`, r.RecvBytes)
	}
	return appendHashes(appendPing(appendUnchallenged(dst, r.Unchallenged), r), r)
}

// appendPing appends the answer to a ping.
func appendPing(dst []byte, r *scanner.Result) []byte {
	if !r.HasPing {
		return dst
	}
	dst = append(dst, `"ping":{`...)
	dst = appendText(dst, `"payload":`, r.Ping)
	if r.PingRTT > 0 {
		dst = appendMillis(dst, `"rtt_ms":`, r.PingRTT)
	}
	return end(dst, '}')
}

// appendUnchallenged appends the questions that were answered to a request
// without a challenge.
func appendUnchallenged(dst []byte, set scanner.Questions) []byte {
	if set == 0 {
		return dst
	}
	dst = append(dst, `"unchallenged":[`...)
	for q := range wire.Question(wire.NumQuestions) {
		if set.Has(q) {
			dst = appendWord(dst, "", q.String())
		}
	}
	return end(dst, ']')
}

// appendRaw appends the datagrams as they came.
func appendRaw(dst []byte, raw [][]byte) []byte {
	if len(raw) == 0 {
		return dst
	}
	dst = append(dst, `"raw":[`...)
	for _, datagram := range raw {
		dst = append(dst, '"')
		dst = base64.StdEncoding.AppendEncode(dst, datagram)
		dst = append(dst, '"', ',')
	}
	return end(dst, ']')
}

// rawLen is the length that appendRaw would append, about.
func rawLen(raw [][]byte) (n int) {
	for _, datagram := range raw {
		n += base64.StdEncoding.EncodedLen(len(datagram)) + len(`"",`)
	}
	return n
}
