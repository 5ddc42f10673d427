package scanner

import (
	"math"
	"time"

	"github.com/a2sscan/a2sscan/reasm"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/scanner/internal/session"
	"github.com/a2sscan/a2sscan/wire"
)

// Decoder makes a Result from the datagrams of one server in a capture: complete replies
// and fragments, in any order. It decodes them just as a scan does. A question without a
// reply counts as not asked and has no error. The zero value is not ready to use; use
// NewDecoder.
type Decoder struct {
	table  *reasm.Table
	unpack reasm.Unpacker
	asm    assembler
	memory *session.Memory

	session session.Session
	result  Result
	// seen has the errors that each question had at some time, one bit per error.
	seen [wire.NumQuestions]uint32
	// faults has, for each question, the latest error from a reply to it or from a text
	// message (see wire.DecodeText).
	faults    [wire.NumQuestions]wire.Error
	truncated wire.Questions // questions whose stored list ends inside an entry
	// early has the questions whose stored list is not session.Sound and may have come
	// before its request.
	early   wire.Questions
	cut     [wire.NumQuestions][]byte // truncated lists, each replaced by a later list
	message []byte
	plain   []byte
}

// NewDecoder returns a Decoder that is ready for its first server.
func NewDecoder() *Decoder {
	d := &Decoder{table: reasm.New(0), memory: session.NewMemory(math.MaxInt64)}
	d.Reset()
	return d
}

// captured stands for the server's address. A Decoder needs none, since all its datagrams
// come from one server.
const captured = 1

// Reset makes the Decoder ready for another server.
func (d *Decoder) Reset() {
	d.table.Forget(captured)
	if d.session.Got != nil {
		d.memory.Recycle(d.session.Got)
	}
	d.seen, d.faults = [wire.NumQuestions]uint32{}, [wire.NumQuestions]wire.Error{}
	d.truncated, d.early, d.cut = 0, 0, [wire.NumQuestions][]byte{}
	d.session = session.Captured(d.memory.Answer())
}

// Add takes the next datagram. It copies what it needs, so the caller may reuse the
// memory.
func (d *Decoder) Add(datagram []byte) {
	a := d.session.Got
	a.Received++
	a.RecvBytes += uint64(len(datagram))
	a.KeepRaw(d.memory, datagram)
	// A capture does not show which questions are outstanding, so all open ones count as
	// outstanding.
	d.session.Agenda.Waiting = d.session.Agenda.Open
	switch {
	case wire.IsSingle(datagram):
		d.deliver(datagram)
	case wire.IsSplit(datagram):
		d.fragment(datagram)
	default:
		d.session.Junk(wire.ErrMalformed)
	}
	for q, code := range d.session.Agenda.Err {
		d.seen[q] |= 1 << code
	}
}

// deliver takes a complete message. d.faults gets the errors from Source INFO, PLAYER and
// RULES replies, and from text messages. Any other message may be a reply to any question.
func (d *Decoder) deliver(msg []byte) {
	before := d.session.Agenda.Err
	d.replace(msg)
	d.session.Message(d.memory, 0, msg)
	_, known := session.QuestionOf(wire.KindOf(msg))
	_, err := wire.DecodeText(msg)
	for q, code := range d.session.Agenda.Err {
		if code != before[q] && (known || err == nil) {
			d.faults[q] = code
		}
	}
}

// replace replaces the stored list with msg if msg is sound, and the stored list is
// truncated or seems to have come before its question (EC-65). This is a guess, because a
// capture does not show which questions had been asked.
func (d *Decoder) replace(msg []byte) {
	q, ok := session.QuestionOf(wire.KindOf(msg))
	if !ok || q == wire.QuestionInfo {
		return
	}
	place := d.session.Got.Place(q)
	switch {
	case *place == nil:
		d.judge(q, msg)
	case (d.truncated | d.early).Has(q) && session.Sound(q, msg):
		if d.truncated.Has(q) {
			d.cut[q] = *place
		}
		d.truncated &^= 1 << q
		d.early &^= 1 << q
		d.session.Got.Put(d.memory, place, msg)
	}
}

// judge is called with the first list for q. It records whether the list is truncated, and
// whether the list is unsound and may have come before its question.
func (d *Decoder) judge(q wire.Question, msg []byte) {
	d.truncated &^= 1 << q
	d.early &^= 1 << q
	exact, err := session.ReadList(q, msg)
	if err != nil {
		d.truncated |= 1 << q
	}
	unasked := d.session.Agenda.Open.Has(wire.QuestionInfo) && d.session.Got.Challenge() == wire.NoChallenge
	if unasked && (err != nil || !exact) {
		d.early |= 1 << q
		d.seen[q] |= 1 << wire.ErrMalformed
	}
}

func (d *Decoder) fragment(datagram []byte) {
	// A capture has no times. Each datagram counts as received a nanosecond after the
	// previous one.
	now := time.Duration(d.session.Got.Received)
	msg, outcome, err := d.table.Add(now, captured, datagram, d.message[:0])
	d.message = msg
	d.session.Flags |= session.Split
	switch {
	case err != nil:
		d.session.Junk(codeOf(err))
	case outcome == reasm.Whole:
		d.deliver(msg)
	case outcome == reasm.Packed:
		d.plain, err = d.unpack.Unpack(d.plain[:0], msg)
		if err != nil {
			d.session.Junk(codeOf(err))
			// Unpacking has a time limit. So the scan may have reported ErrTooLarge where the
			// Decoder finds another error, and the reverse.
			faults := uint32(1 << wire.ErrTooLarge)
			if err == wire.ErrTooLarge {
				faults |= 1<<wire.ErrMalformed | 1<<wire.ErrChecksum
			}
			for q := range d.seen {
				d.seen[q] |= faults
			}
			// If the checksum is wrong, the content is in the spare capacity of d.plain.
			if q, ok := session.QuestionOf(wire.KindOf(d.plain[:cap(d.plain)])); ok && err == wire.ErrChecksum {
				d.faults[q] = wire.ErrChecksum
			}
			return
		}
		d.deliver(d.plain)
	}
}

// Result returns the Result of the datagrams since the last Reset. Received and RecvBytes
// count these datagrams; the Result has no address, no times, and nothing about requests.
// It is valid until the Decoder is used again.
func (d *Decoder) Result() *Result {
	a, r := d.session.Got, &d.result
	keepParts(&d.session, d.memory, d.table, captured, &d.message)
	*r = Result{Raw: r.Raw[:0]}
	r.Received, r.RecvBytes = a.Received, a.RecvBytes
	r.Raw = a.AppendRaw(r.Raw)
	for q := range wire.AskAll.Each() {
		if len(*a.Place(q)) > 0 || q == wire.QuestionInfo && a.Gold != nil {
			r.Asked |= 1 << q
		}
	}
	d.asm.assemble(r, a, d.keepFaults(r), game.Facts{})
	return r
}

// Redecode makes a Result of a scan anew, from the datagrams that the scan received.
// These datagrams must have been added since the last Reset. The argument is the scan's
// own Result. Redecode copies from it what the datagrams do not contain: address, tag,
// the master's data, location, times, counts, the questions that were asked, those that
// were answered without a challenge, and why a question has no answer. The new Result is
// valid until the Decoder is used again.
//
// Redecode keeps an error of the scan's Result if the datagrams cause the same error, or
// if the error leaves no trace in datagrams, as ErrTimeout does. It replaces any other
// error with the one that they cause.
func (d *Decoder) Redecode(known *Result) *Result {
	a, r := d.session.Got, &d.result
	keepParts(&d.session, d.memory, d.table, captured, &d.message)
	d.retake(known)
	*r = Result{
		Raw: r.Raw[:0], Addr: known.Addr, Tag: known.Tag, Master: known.Master, Geo: known.Geo, Time: known.Time,
		RTT: known.RTT, RTTs: known.RTTs, Took: known.Took, Sent: known.Sent, SentBytes: known.SentBytes,
		Received: known.Received, RecvBytes: known.RecvBytes,
		Asked: known.Asked, Unchallenged: known.Unchallenged, PingRTT: known.PingRTT,
	}
	r.Raw = a.AppendRaw(r.Raw)
	var errs [wire.NumQuestions]wire.Error
	for q := range (r.Asked & wire.AskAll).Each() {
		// The error of an open question is that of the last faulty reply.
		errs[q] = d.session.Agenda.Err[q]
		switch code := known.Err[q]; {
		case silent[code] || d.seen[q]&(1<<code) != 0:
			errs[q] = code
		case errs[q] == 0:
			errs[q] = wire.ErrTimeout // no datagram explains why there is no answer
		}
	}
	d.asm.assemble(r, a, errs, game.Facts{})
	r.Flags |= known.Flags & countedFlags
	return r
}

// silent is the set of errors that leave no trace in the datagrams.
var silent = [wire.NumErrors]bool{
	wire.ErrTimeout: true, wire.ErrIncomplete: true, wire.ErrChallengeLoop: true,
	wire.ErrUnreachable: true, wire.ErrSendFailed: true, wire.ErrExcluded: true, wire.ErrInternal: true,
}

// retake restores the scan's choice between several lists. If the scan reported a list as
// truncated, retake uses the truncated list. If the scan rejected a list that was unsound
// and came before its question, retake drops that list. It also drops the beginning of a
// reply for whose question the scan did not report ErrIncomplete, because the datagrams do
// not show how long the scan kept the fragments.
func (d *Decoder) retake(known *Result) {
	a := d.session.Got
	for q := range wire.AskAll.Each() {
		switch code := known.Err[q]; {
		case a.Partial.Has(q) && code != wire.ErrIncomplete:
			*a.Place(q) = nil
			a.Partial &^= 1 << q
		case code == wire.ErrTruncated && d.cut[q] != nil:
			*a.Place(q) = d.cut[q]
		case d.early.Has(q) && code != 0 && code != wire.ErrTruncated:
			*a.Place(q) = nil
		}
	}
}

// keepFaults returns the errors of questions whose replies could not be used, and adds
// these questions to r.Asked. If all three questions have the same error, and it is not
// ErrBanned, keepFaults returns no errors, because the reply may belong to any question.
func (d *Decoder) keepFaults(r *Result) (errs [wire.NumQuestions]wire.Error) {
	f := &d.faults
	if f[0] == f[1] && f[1] == f[2] && f[0] != wire.ErrBanned {
		return errs
	}
	for q := range (wire.AskAll &^ r.Asked).Each() {
		if f[q] != 0 {
			errs[q] = f[q]
			r.Asked |= 1 << q
		}
	}
	return errs
}
