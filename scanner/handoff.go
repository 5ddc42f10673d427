package scanner

import (
	"time"

	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/scanner/internal/session"
	"github.com/a2sscan/a2sscan/scanner/thread"
	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// outcome is a finished target on its way from the loop to the caller's function.
type outcome struct {
	addr   uint64
	label  *Target         // nil if the target has none
	answer *session.Answer // nil if the server sent nothing
	err    [wire.NumQuestions]wire.Error

	infoAttempts uint8 // attempts at INFO, not counting challenge rounds
	sent         uint16
	sentBytes    uint16
	firstAt      time.Duration // when the first datagram was sent
	lastAt       time.Duration // when the last datagram was sent
	endAt        time.Duration // when the target was finished
	// shift is how far the scan's clock was behind real time when the first reply came or,
	// without a reply, at endAt. Outages stop the clock.
	shift time.Duration
}

// block is a group of outcomes that the loop hands over at once. It may end with a
// snapshot, taken after the last outcome.
type block struct {
	outcomes []outcome
	snapshot *Snapshot
	counts   resultCounts // what the finisher has processed so far
}

type resultCounts struct {
	finished [NumStatuses]uint64    // targets by Status
	unheard  uint64                 // targets with StatusError and without a reply
	errors   [wire.NumErrors]uint64 // errors of questions, by code
}

func (c *resultCounts) add(r *Result) {
	c.finished[r.Status]++
	if r.Status == StatusError && !r.Answered() {
		c.unheard++
	}
	for _, code := range r.Err {
		if code != 0 {
			c.errors[code]++
		}
	}
}

const (
	blockLen  = 128
	maxBlocks = 2 * (maxInFlight + maxListening) / blockLen // enough for all open targets, if InFlight has its default
)

// handoff passes outcomes from the loop to the finisher's goroutine, in blocks, without
// making the loop wait. It also takes back the blocks that the finisher has processed.
type handoff struct {
	filling   *block
	counts    resultCounts // the finisher's counts, up to the last block that came back
	waiting   int          // outcomes that the caller's function has not processed
	limit     int          // from this number of waiting outcomes on, no new target is started
	snapshots int          // snapshots that the caller's function has not processed
	spare     []*block

	given chan *block // blocks for the finisher
	back  chan *block // blocks that the finisher has processed
}

func newHandoff(limit int) *handoff {
	return &handoff{
		filling: new(block), limit: limit,
		given: make(chan *block, maxBlocks), back: make(chan *block, maxBlocks),
	}
}

func (h *handoff) full() bool { return h.waiting >= h.limit }

// add appends an empty outcome, which the caller fills in place to avoid a copy.
func (h *handoff) add() *outcome {
	if len(h.filling.outcomes) == blockLen {
		h.give(nil)
	}
	h.waiting++
	h.filling.outcomes = append(h.filling.outcomes, outcome{})
	return &h.filling.outcomes[len(h.filling.outcomes)-1]
}

// give passes the block that is being filled to the finisher, together with the snapshot,
// which may be nil. A snapshot covers the outcomes up to the end of the block.
func (h *handoff) give(snapshot *Snapshot) {
	if snapshot != nil {
		h.snapshots++
	}
	h.filling.snapshot = snapshot
	h.given <- h.filling
	if n := len(h.spare); n > 0 {
		h.filling, h.spare = h.spare[n-1], h.spare[:n-1]
	} else {
		h.filling = &block{outcomes: make([]outcome, 0, blockLen)}
	}
}

func (h *handoff) recycle(b *block, m *session.Memory) {
	for i := range b.outcomes {
		if a := b.outcomes[i].answer; a != nil {
			m.Recycle(a)
		}
	}
	if b.snapshot != nil {
		h.snapshots--
	}
	b.snapshot = nil
	h.counts = b.counts
	h.waiting -= len(b.outcomes)
	clear(b.outcomes)
	b.outcomes = b.outcomes[:0]
	h.spare = append(h.spare, b)
}

// end passes on the remaining outcomes and then the last snapshot. It returns when the
// caller's functions have processed all of them.
func (h *handoff) end(last *Snapshot, m *session.Memory) {
	h.give(last)
	close(h.given)
	for b := range h.back {
		h.recycle(b, m)
	}
}

// finisher turns outcomes into Results and passes them to the caller's function. It
// has its own goroutine, on Linux with a lower priority than the loop.
type finisher struct {
	start     time.Time
	questions wire.Questions
	handle    func(*Result)
	snapshot  func(*Snapshot)
	raw       bool

	asm     assembler
	result  Result
	nothing session.Answer // used as the answer of a silent target
}

func (f *finisher) run(h *handoff) {
	defer close(h.back)
	thread.Lower()
	var counts resultCounts
	for b := range h.given {
		for i := range b.outcomes {
			r := f.make(&b.outcomes[i])
			counts.add(r)
			f.handle(r)
		}
		b.counts = counts
		if b.snapshot != nil {
			s := &b.snapshot.Stats
			s.Finished, s.Unheard, s.Errors = counts.finished, counts.unheard, counts.errors
			f.snapshot(b.snapshot)
		}
		h.back <- b
	}
}

// Round trips of longTrip or more are truncated to tenths of a millisecond, because more
// digits reveal nothing about the path.
const longTrip = 10 * time.Millisecond

// make turns an outcome into a Result, which is valid until the next call.
func (f *finisher) make(o *outcome) *Result {
	r, raw, last := &f.result, f.result.Raw[:0], o.lastAt
	*r = Result{} // a literal that sets the fields below would be copied
	r.Addr, r.Asked, r.Raw = udp.Unpack(o.addr), f.questions, raw
	r.Sent, r.SentBytes = uint32(o.sent), uint64(o.sentBytes)
	r.Time = f.start.Add(o.endAt + o.shift)
	if o.label != nil {
		r.Tag, r.Master = o.label.Tag, o.label.Master
		if o.label.InfoOnly {
			r.Asked &= wire.AskInfo
		}
	}
	a, facts := o.answer, game.Facts{}
	if a == nil {
		a = &f.nothing
	} else {
		last = max(last, a.LastAt)
		r.Time = f.start.Add(a.FirstAt + o.shift)
		r.RTT, r.PingRTT = a.RTT, a.PingRTT
		for q, d := range a.RTTs {
			if r.RTTs[q] = d; d >= longTrip {
				r.RTTs[q] = d.Truncate(time.Millisecond / 10)
			}
		}
		r.Received, r.RecvBytes, r.Attempt = a.Received, a.RecvBytes, a.Attempt
		r.Unchallenged = a.Unchallenged()
		if f.raw {
			r.Raw = a.AppendRaw(r.Raw)
		}
		if c := a.Challenge(); c != wire.NoChallenge {
			r.Challenge = uint32(c)
		}
		facts = game.Facts{
			InfoRequests: int(o.infoAttempts) + a.InfoRounds(), InfoReplies: int(a.InfoReplies),
			Conflict: a.Conflict || a.Conflicts > 0,
		}
	}
	r.Took = last - o.firstAt
	f.asm.assemble(r, a, o.err, facts)
	return r
}
