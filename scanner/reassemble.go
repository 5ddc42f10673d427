package scanner

import (
	"cmp"
	"math/bits"
	"time"

	"github.com/a2sscan/a2sscan/reasm"
	"github.com/a2sscan/a2sscan/wire"
)

// reassembly puts split replies together and passes compressed ones to the
// decompressor.
type reassembly struct {
	table   *reasm.Table
	worker  *reasm.Worker
	scratch []byte
}

// fragment handles a fragment of a split reply for the session in slot i.
func (r *receiver) fragment(now time.Duration, i int32, datagram []byte) delivery {
	sl := r.open.slots.at(i)
	msg, outcome, err := r.parts.table.Add(now, sl.source(), datagram, r.parts.scratch[:0])
	r.parts.scratch = msg[:0]
	switch {
	case err != nil:
		sl.session.onJunk(codeOf(err))
		return delivery{kind: replyFragment, class: classMalformed}
	case outcome == reasm.Conflict:
		r.stats.Conflicts++
		sl.session.got.conflicts++
		sl.session.onConflict()
		return delivery{kind: replyFragment, class: classMatched}
	case outcome == reasm.Duplicate:
		return delivery{kind: replyFragment, class: classDuplicate}
	}
	sl.session.onFragment()
	d := r.assembled(now, i, outcome, msg)
	if d.full { // it will be requested again: the table must not take the new reply for a duplicate
		r.parts.table.Forget(sl.source())
	}
	return d
}

// assembled handles the reply that a fragment has completed, if it completed one.
func (r *receiver) assembled(now time.Duration, i int32, outcome reasm.Outcome, msg []byte) delivery {
	t := &r.open.slots.at(i).session
	d := delivery{kind: replyFragment, class: classMatched}
	switch outcome {
	case reasm.Whole:
		reply := t.got.deliver(t, r.pool, now, msg, &r.info)
		d.class, d.full = reply.class, reply.full
		if reply.kind == replyText {
			d.kind = replyText
		}
	case reasm.Packed:
		d.full = !r.unpack(i, t, msg)
	}
	return d
}

// unpack hands a compressed reply to the decompressor. It returns false if the
// decompressor is full, or has unpacked enough replies for this server: a server
// that sends compressed replies without end would block all others, and its session
// would never end.
func (r *receiver) unpack(i int32, t *session, msg []byte) bool {
	a := t.got
	switch {
	case a.unpacking.unpacked >= maxUnpacked:
		t.agenda.fault(likelyPacked(t.agenda.waiting&t.agenda.open), cmp.Or(a.unpacking.err, wire.ErrTooLarge))
		return false
	case a.unpacking.packed >= maxPacked:
		return false
	}
	packed := append(make([]byte, 0, len(msg)), msg...)
	if !r.parts.worker.Submit(r.open.slots.ref(i).tag64(), packed) {
		a.unpacking.refused = true
		return false
	}
	a.unpacking.packed++
	a.unpacking.unpacked++
	return true
}

// collect takes replies back from the decompressor and calls changed for the
// session of each.
func (r *receiver) collect(now time.Duration, changed func(i int32)) {
	if r.parts.worker.Pending() == 0 {
		return
	}
	r.parts.worker.Poll(func(tag uint64, _, msg []byte, err error) {
		ref := refOf(tag)
		if sl := r.open.slots.alive(ref); sl != nil {
			r.unpacked(now, &sl.session, msg, err)
			changed(ref.slot)
		}
	})
}

// unpacked handles one reply from the decompressor, or its error.
func (r *receiver) unpacked(now time.Duration, t *session, msg []byte, err error) {
	t.got.unpacking.packed--
	if err == nil {
		t.got.deliver(t, r.pool, now, msg, &r.info)
		return
	}
	t.got.unpacking.err = codeOf(err)
	t.agenda.fault(likelyPacked(t.agenda.waiting&t.agenda.open), t.got.unpacking.err)
}

// likelyPacked returns the question of qs that an unreadable compressed reply
// most likely answers: only long replies are compressed, and rules are the
// longest (EC-95).
func likelyPacked(qs Questions) Questions {
	if qs == 0 {
		return 0
	}
	return 1 << (bits.Len8(uint8(qs)) - 1)
}

// keepParts keeps the beginnings of the replies that a finished session never got
// in full, and drops its fragments.
func (r *receiver) keepParts(sl *slot) {
	if sl.session.flags&flagSplit == 0 {
		return
	}
	r.parts.scratch = keepLeading(r.parts.table, sl.source(), r.parts.scratch, sl.session.got, r.pool)
	r.parts.table.Forget(sl.source())
}
