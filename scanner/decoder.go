package scanner

import (
	"time"

	"github.com/a2sscan/a2sscan/reasm"
	"github.com/a2sscan/a2sscan/wire"
)

// Decoder makes a Result from the datagrams that one server sent, as a capture
// holds them: complete replies and fragments, in any order. It reads them just as a
// scan does. A question without a reply counts as not asked and has no error. The
// zero value is not ready to use; use NewDecoder.
type Decoder struct {
	table  *reasm.Table
	unpack reasm.Unpacker
	asm    assembler
	info   wire.Info

	session   session
	answer    answer
	result    Result
	seen      [wire.NumQuestions]uint32     // for each question, a bit for each error that it had at some time
	faults    [wire.NumQuestions]wire.Error // what a reply of the question's own kind, or to all questions, said last
	truncated Questions                     // lists that end inside an item
	early     Questions                     // unsound lists that came when perhaps only INFO had been asked
	cut       [wire.NumQuestions][]byte     // truncated lists that a later list has replaced
	whole     []byte
	plain     []byte
}

// NewDecoder returns a Decoder that is ready for its first server.
func NewDecoder() *Decoder {
	d := &Decoder{table: reasm.New(reasm.Config{})}
	d.Reset()
	return d
}

// captured is the source that a Decoder uses for all datagrams, since they come
// from one server.
const captured = 1

// Reset makes the Decoder ready for another server.
func (d *Decoder) Reset() {
	d.table.Forget(captured)
	a := &d.answer
	a.empty()
	d.seen, d.faults = [wire.NumQuestions]uint32{}, [wire.NumQuestions]wire.Error{}
	d.truncated, d.early, d.cut = 0, 0, [wire.NumQuestions][]byte{}
	d.session = session{agenda: agenda{open: AskAll, asked: AskAll, waiting: AskAll}, beside: besidePing}
	d.session.begin(a, wire.NoChallenge)
}

// Add takes the next datagram. It copies what it needs: the caller may reuse the
// memory.
func (d *Decoder) Add(datagram []byte) {
	a := &d.answer
	a.received++
	a.recvBytes += uint64(len(datagram))
	a.keepRaw(nil, datagram)
	d.session.agenda.waiting = d.session.agenda.open // a capture does not show what was waited for
	switch {
	case wire.IsSingle(datagram):
		d.deliver(datagram)
	case wire.IsSplit(datagram):
		d.fragment(datagram)
	default:
		d.session.onJunk(wire.ErrMalformed)
	}
	for q := range d.seen {
		d.seen[q] |= 1 << d.session.agenda.err[q]
	}
}

// deliver takes a complete message. What it says of a question is a fault of that
// question: a datagram without a kind, such as a fragment that is too short, may have
// been a reply to any question, even to one that nobody asked.
func (d *Decoder) deliver(msg []byte) {
	before := d.session.agenda.err
	d.replace(msg)
	d.answer.deliver(&d.session, nil, 0, msg, &d.info)
	_, known := questionOf(wire.KindOf(msg))
	_, err := wire.DecodeText(msg)
	for q, code := range d.session.agenda.err {
		if code != before[q] && (known || err == nil) {
			d.faults[q] = code
		}
	}
}

// replace replaces a truncated list, or one that came too early, by msg if msg is
// sound. A scan does so only if nothing but INFO had been asked (EC-65); a capture
// does not show what had been asked.
func (d *Decoder) replace(msg []byte) {
	q, ok := questionOf(wire.KindOf(msg))
	if !ok || q == wire.QuestionInfo {
		return
	}
	place := d.answer.place(q)
	switch {
	case *place == nil:
		d.judge(q, msg)
	case (d.truncated | d.early).Has(q) && sound(q, msg):
		if d.truncated.Has(q) {
			d.cut[q] = *place
		}
		d.truncated &^= 1 << q
		d.early &^= 1 << q
		d.answer.put(nil, place, msg)
	}
}

// judge records whether the first list for q is truncated, and whether it came too
// early and is unsound.
func (d *Decoder) judge(q wire.Question, msg []byte) {
	d.truncated &^= 1 << q
	d.early &^= 1 << q
	exact, err := readList(q, msg)
	if err != nil {
		d.truncated |= 1 << q
	}
	unasked := d.session.agenda.open.Has(wire.QuestionInfo) && d.answer.challenges.current == wire.NoChallenge
	if unasked && (err != nil || !exact) {
		d.early |= 1 << q
		d.seen[q] |= 1 << wire.ErrMalformed
	}
}

func (d *Decoder) fragment(datagram []byte) {
	// A capture has no times: each datagram counts as one nanosecond after the
	// last.
	now := time.Duration(d.answer.received)
	msg, outcome, err := d.table.Add(now, captured, datagram, d.whole[:0])
	d.whole = msg
	d.session.flags |= flagSplit
	switch {
	case err != nil:
		d.session.onJunk(codeOf(err))
	case outcome == reasm.Whole:
		d.deliver(msg)
	case outcome == reasm.Packed:
		d.plain, err = d.unpack.Unpack(d.plain[:0], msg)
		if err != nil {
			d.session.onJunk(codeOf(err))
			d.sawHard(codeOf(err))
			// With a wrong checksum, the content is in the memory behind d.plain.
			if q, ok := questionOf(wire.KindOf(d.plain[:cap(d.plain)])); ok && err == wire.ErrChecksum {
				d.faults[q] = wire.ErrChecksum
			}
			return
		}
		d.deliver(d.plain)
	}
}

// sawHard records the errors that a scan may have reported for a compressed reply that
// can't be unpacked: which error it reported depends on whether the decompressor
// reached its time limit first.
func (d *Decoder) sawHard(code wire.Error) {
	faults := uint32(1 << wire.ErrTooLarge)
	if code == wire.ErrTooLarge {
		faults |= 1<<wire.ErrMalformed | 1<<wire.ErrChecksum
	}
	for q := range d.seen {
		d.seen[q] |= faults
	}
}

// Result returns the Result of the datagrams since the last Reset. Its Received and
// RecvBytes count them; it has no address, no times, and nothing about requests. It
// is valid until the Decoder is used again.
func (d *Decoder) Result() *Result {
	a, r := &d.answer, &d.result
	if d.session.flags&flagSplit != 0 {
		d.whole = keepLeading(d.table, captured, d.whole, a, nil)
	}
	*r = Result{Raw: r.Raw[:0]}
	r.Received, r.RecvBytes = a.received, a.recvBytes
	a.eachRaw(func(b []byte) { r.Raw = append(r.Raw, b) })
	var m replies
	a.replies(&m)
	m.evidence = evidence{}
	for q := range each(AskAll) {
		if len(*a.place(q)) > 0 || q == wire.QuestionInfo && a.gold != nil {
			r.Asked |= 1 << q
		}
	}
	d.keepFaults(r, &m)
	d.asm.allHashes = false
	d.asm.assemble(r, &m)
	if a.suspicion.conflict {
		r.doubt()
		r.Disputed = a.disputed
	}
	return r
}

// Redecode returns the Result of a scan, decoded again from the datagrams that the
// scan received, which must have been added since the last Reset. It copies from known
// what the datagrams do not contain: address, tag, the master's data, location, times,
// counts, which questions were asked, which of them were answered without a challenge,
// which fields are disputed, and why an unanswered question was given up. It is valid until the Decoder is used
// again.
//
// If known has an error that only a datagram can have caused, and none of the
// datagrams causes it, the error that the datagrams do cause takes its place.
func (d *Decoder) Redecode(known *Result) *Result {
	a, r := &d.answer, &d.result
	if d.session.flags&flagSplit != 0 {
		d.whole = keepLeading(d.table, captured, d.whole, a, nil)
		d.dropLeading(known)
	}
	*r = Result{
		Raw: r.Raw[:0], Addr: known.Addr, Tag: known.Tag, Master: known.Master, Geo: known.Geo, Time: known.Time,
		RTT: known.RTT, RTTs: known.RTTs, Took: known.Took, Sent: known.Sent, SentBytes: known.SentBytes,
		Received: known.Received, RecvBytes: known.RecvBytes,
		Asked: known.Asked, Unchallenged: known.Unchallenged, PingRTT: known.PingRTT, Disputed: known.Disputed,
	}
	a.eachRaw(func(b []byte) { r.Raw = append(r.Raw, b) })
	d.retake(known)
	var m replies
	a.replies(&m)
	for q := range each(r.Asked.status()) {
		m.err[q] = d.session.agenda.err[q] // a reply that answers nothing sets the error of every open question
		switch code := known.Err[q]; {
		case silent[code] || d.seen[q]&(1<<code) != 0:
			m.err[q] = code
		case m.err[q] == 0:
			m.err[q] = wire.ErrTimeout // no reply explains the lack of an answer
		}
	}
	m.evidence = evidence{}
	d.asm.allHashes = true
	d.asm.assemble(r, &m)
	for q, hash := range known.Hashes {
		if hash == 0 && (wire.Question(q) != wire.QuestionPlayers || len(r.Players) == 0) {
			r.Hashes[q] = 0 // most scans hash only players
		}
	}
	r.Flags |= known.Flags & evidenceFlags
	if a.suspicion.conflict || known.Notes&wire.NoteInfoConflict != 0 {
		r.doubt()
	}
	return r
}

// silent holds the errors that leave no trace in the datagrams.
var silent = [wire.NumErrors]bool{
	wire.ErrTimeout: true, wire.ErrIncomplete: true, wire.ErrChallengeLoop: true,
	wire.ErrUnreachable: true, wire.ErrSendFailed: true, wire.ErrExcluded: true,
}

// retake restores the scan's choice between several lists: if the scan reported a
// list as truncated, retake uses that one; and if the scan rejected a list that
// came unasked and was unsound, retake drops it.
func (d *Decoder) retake(known *Result) {
	for q := range each(AskPlayers | AskRules) {
		place := d.answer.place(q)
		switch code := known.Err[q]; {
		case code == wire.ErrTruncated && d.cut[q] != nil:
			*place = d.cut[q]
		case d.early.Has(q) && code != 0 && code != wire.ErrTruncated:
			*place = nil
		}
	}
}

// dropLeading drops the beginnings of replies that the scan no longer held when it
// gave up the question. The datagrams do not show how long the scan held them.
func (d *Decoder) dropLeading(known *Result) {
	a := &d.answer
	for q := range each(a.partial) {
		if known.Err[q] != wire.ErrIncomplete {
			*a.place(q) = nil
			a.partial &^= 1 << q
		}
	}
}

// keepFaults records the errors of replies that could not be used, and counts their
// questions as asked. If all three questions have the same error, it says nothing
// about any of them and is left out, unless it is ErrBanned.
func (d *Decoder) keepFaults(r *Result, m *replies) {
	f := &d.faults
	if f[0] == f[1] && f[1] == f[2] && f[0] != wire.ErrBanned {
		return
	}
	for q := range each(AskAll &^ r.Asked) {
		if f[q] != 0 {
			m.err[q] = f[q]
			r.Asked |= 1 << q
		}
	}
}

// keepLeading takes the incomplete groups of a source, up to their first gap, as
// partial answers to questions that have no other answer. An answer is complete if only
// a last, empty fragment can be missing (EC-149). keepLeading returns scratch, possibly
// grown.
func keepLeading(t *reasm.Table, from uint64, scratch []byte, a *answer, pool *pool) []byte {
	return t.Leading(from, scratch[:0], func(msg []byte, full bool) {
		q, ok := questionOf(wire.KindOf(msg))
		if !ok || *a.place(q) != nil || q == wire.QuestionInfo && a.gold != nil {
			return
		}
		kept := a.put(pool, a.place(q), msg)
		if q == wire.QuestionInfo && a.info != nil {
			a.inCode, _ = a.in.Decode(a.info).(wire.Error)
			full = full && a.inCode == 0
		} else {
			full = full && sound(q, msg)
		}
		if kept && !full {
			a.partial |= 1 << q
		}
	})
}

// questionOf returns the question that a message of kind k answers.
func questionOf(k wire.Kind) (wire.Question, bool) {
	switch k {
	case wire.KindInfo:
		return wire.QuestionInfo, true
	case wire.KindPlayers:
		return wire.QuestionPlayers, true
	case wire.KindRules:
		return wire.QuestionRules, true
	}
	return 0, false
}

// codeOf returns err as a code, or ErrMalformed if err is not a wire.Error.
func codeOf(err error) wire.Error {
	if code, ok := err.(wire.Error); ok {
		return code
	}
	return wire.ErrMalformed
}
