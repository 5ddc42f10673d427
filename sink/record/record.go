package record

import (
	"encoding/base64"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/wire"
)

// MaxSize is the maximum length of a record in bytes, including its newline.
const MaxSize = 8 << 20

// Encoder appends records. The zero value is ready to use. An Encoder reuses its
// scratch memory: Append allocates only when dst or that memory has to grow. Only
// one goroutine at a time may use an Encoder.
type Encoder struct {
	// Names replaces the names of players by hashes, and makes the hash of their
	// list a keyed one; nil: names are written as they are.
	Names *NameHasher

	names   table
	inexact bool // the rules object does not hold all rules exactly
	dropped parts
	size    [numParts]int
	clock   clock
}

// Append appends the record of r to dst, like Encoder.Append. It may allocate
// scratch memory if r has more than 256 rules, so a loop should own an Encoder.
func Append(dst []byte, scan string, r *scanner.Result) []byte {
	var e Encoder
	return e.Append(dst, scan, r)
}

// Append appends the record of r to dst: one line of JSON with its newline, at most
// MaxSize bytes. The package documentation describes its keys. scan is the name of
// the scan; if it is empty, the record has no such key. The caller must keep it
// short: Append never drops it.
func (e *Encoder) Append(dst []byte, scan string, r *scanner.Result) []byte {
	start := len(dst)
	e.dropped = 0
	if rawLen(r.Raw) > MaxSize {
		e.dropped = 1 << partRaw
	}
	if len(r.Master) > MaxSize {
		e.dropped |= 1 << partMaster
	}
	before := e.dropped
	dst = e.record(dst, scan, r)
	if over := len(dst) - start - MaxSize; over > 0 {
		e.dropLongest(over)
	}
	if e.dropped != before {
		dst = e.record(dst[:start], scan, r)
	}
	return dst
}

// record appends the record of r without the parts in e.dropped.
func (e *Encoder) record(dst []byte, scan string, r *scanner.Result) []byte {
	e.size = [numParts]int{}
	dst = append(dst, `{"schema":1,`...)
	if scan != "" {
		dst = appendText(dst, `"scan":`, scan)
	}
	if r.Addr.IsValid() {
		dst = appendAddress(dst, r.Addr)
	}
	if r.Tag != "" {
		dst = e.part(dst, partTag, r)
	}
	if !r.Time.IsZero() {
		dst = e.clock.append(dst, `"time":`, r.Time)
	}
	if r.Status != 0 {
		dst = appendWord(dst, `"status":`, r.Status.String())
	}
	dst = appendErrors(dst, r)
	dst = e.appendNotes(dst, r)
	if len(r.Message) > 0 {
		dst = e.part(dst, partMessage, r)
	}
	dst = e.appendTraffic(dst, r)
	dst = e.appendLists(dst, r)
	dst[len(dst)-1] = '}'
	return append(dst, '\n')
}

// appendErrors appends the errors of the questions.
func appendErrors(dst []byte, r *scanner.Result) []byte {
	if r.Err == [wire.NumQuestions]wire.Error{} {
		return dst
	}
	dst = append(dst, `"errors":{`...)
	for q, code := range r.Err {
		if code != 0 {
			dst = appendWord(dst, questionKeys[q], code.String())
		}
	}
	return end(dst, '}')
}

// appendNotes appends the notes about the answers, then those about the parts that
// were dropped from this record.
func (e *Encoder) appendNotes(dst []byte, r *scanner.Result) []byte {
	notes := r.Notes
	if notes == 0 && e.dropped == 0 {
		return dst
	}
	dst = append(dst, `"notes":[`...)
	for i := range wire.NumNotes {
		if notes&(1<<i) != 0 {
			dst = appendWord(dst, "", wire.NoteWord(i))
		}
	}
	for p, word := range partNotes {
		if e.dropped&(1<<p) != 0 {
			dst = appendWord(dst, "", word)
		}
	}
	return end(dst, ']')
}

// appendTraffic appends the keys from rtt_ms to hashes. A capture does not show
// what was sent: a Result comes from a capture if nothing was sent and it has a
// reply or no time.
func (e *Encoder) appendTraffic(dst []byte, r *scanner.Result) []byte {
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
	dst = appendUnchallenged(dst, r.Unchallenged)
	dst = appendWords(dst, `"disputed":[`, uint32(r.Disputed), fieldKey)
	return e.appendHashes(appendPing(dst, r), r)
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

// appendUnchallenged appends the questions that the server answered without a
// challenge.
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

// appendRaw appends the datagrams in the order of their arrival.
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

// rawLen returns about how many bytes appendRaw appends.
func rawLen(raw [][]byte) (n int) {
	for _, datagram := range raw {
		n += base64.StdEncoding.EncodedLen(len(datagram)) + len(`"",`)
	}
	return n
}
