package scanner

import (
	"sync"
	"time"

	"github.com/a2sscan/a2sscan/scanner/internal/session"
	"github.com/a2sscan/a2sscan/scanner/thread"
	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// outcome is a finished target on its way from the loop to the caller's function.
type outcome struct {
	addr   uint64
	label  *label          // nil: the list gives none
	answer *session.Answer // nil: nothing came
	err    [wire.NumQuestions]wire.Error

	asked     Questions
	infoAsks  uint8 // how many times INFO was asked, not counting challenge rounds
	sent      uint16
	sentBytes uint16
	firstAt   time.Duration // when the first datagram was sent
	lastAt    time.Duration // when the last datagram was sent
	endAt     time.Duration // when the target was finished
}

// block is a number of outcomes that the loop hands over at once. It may end with a
// snapshot, taken after the last of them.
type block struct {
	outcomes []outcome
	snapshot *Snapshot
}

const blockLen = 128

// handoff takes outcomes from the loop to the finisher's goroutine, in blocks, without
// ever making the loop wait. It also returns the memory of the blocks and of their
// answers to the loop.
type handoff struct {
	memory    *session.Memory
	outcomes  []outcome // the block that is being filled
	waiting   int       // outcomes that the caller's function has not processed
	limit     int       // maximum of waiting; when it is reached, no new target is started
	snapshots int       // snapshots that the caller's function has not processed
	spare     [][]outcome

	mu    sync.Mutex
	work  sync.Cond
	given []block // for the finisher
	back  []block // processed
	ended bool    // no block follows
	done  chan struct{}
}

func newHandoff(memory *session.Memory, limit int) *handoff {
	h := &handoff{memory: memory, limit: limit, done: make(chan struct{})}
	h.work.L = &h.mu
	return h
}

// full reports whether too many outcomes wait for the caller's function.
func (h *handoff) full() bool { return h.waiting >= h.limit }

// add appends an outcome to the block that is being filled.
func (h *handoff) add(o outcome) {
	h.outcomes = append(h.outcomes, o)
	h.waiting++
	if len(h.outcomes) == blockLen {
		h.give(nil)
	}
}

// give passes the block that is being filled to the finisher, with the snapshot unless
// that is nil. The snapshot covers the outcomes up to the end of the block.
func (h *handoff) give(snapshot *Snapshot) {
	if len(h.outcomes) == 0 && snapshot == nil {
		return
	}
	if snapshot != nil {
		h.snapshots++
	}
	h.mu.Lock()
	h.given = append(h.given, block{h.outcomes, snapshot})
	h.mu.Unlock()
	h.work.Signal()
	if n := len(h.spare); n > 0 {
		h.outcomes, h.spare = h.spare[n-1], h.spare[:n-1]
	} else {
		h.outcomes = make([]outcome, 0, blockLen)
	}
}

// collect takes back the memory of the blocks that the finisher has processed. Their
// outcomes no longer count as waiting.
func (h *handoff) collect() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, b := range h.back {
		for i := range b.outcomes {
			if a := b.outcomes[i].answer; a != nil {
				h.memory.Recycle(a)
			}
		}
		if b.snapshot != nil {
			h.snapshots--
		}
		h.waiting -= len(b.outcomes)
		clear(b.outcomes)
		h.spare = append(h.spare, b.outcomes[:0])
	}
	clear(h.back)
	h.back = h.back[:0]
}

// end passes everything that is left to the finisher, and the last snapshot after it.
// It returns when the caller's function has processed everything.
func (h *handoff) end(last *Snapshot) {
	h.give(last)
	h.mu.Lock()
	h.ended = true
	h.mu.Unlock()
	h.work.Signal()
	<-h.done
	h.collect()
}

// next returns the next block for the finisher, and takes back the last one. It waits
// until there is a block; ok is false if none follows.
func (h *handoff) next(last *block) (b block, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if last != nil {
		h.back = append(h.back, *last)
	}
	for len(h.given) == 0 {
		if h.ended {
			return block{}, false
		}
		h.work.Wait()
	}
	b = h.given[0]
	n := copy(h.given, h.given[1:])
	h.given[n] = block{}
	h.given = h.given[:n]
	return b, true
}

// finisher turns outcomes into Results and passes them to the caller's function. It
// has its own goroutine with a lower priority than the loop, which never waits for
// it.
type finisher struct {
	start    time.Time
	handle   func(*Result)
	snapshot func(*Snapshot)
	raw      bool

	asm    assembler
	result Result

	mu       sync.Mutex
	finished [NumStatuses]uint64
	errors   [wire.NumErrors]uint64
}

func newFinisher(start time.Time, cfg *Config, handle func(*Result)) *finisher {
	return &finisher{start: start, handle: handle, snapshot: cfg.Snapshot, raw: cfg.Raw}
}

// run processes the blocks of h until none follows.
func (f *finisher) run(h *handoff) {
	defer close(h.done)
	thread.Lower()
	for b, ok := h.next(nil); ok; b, ok = h.next(&b) {
		var finished [NumStatuses]uint64
		var errs [wire.NumErrors]uint64
		for i := range b.outcomes {
			r := f.make(&b.outcomes[i])
			finished[r.Status]++
			for _, code := range r.Err {
				errs[code]++
			}
			f.handle(r)
		}
		f.mu.Lock()
		for i, n := range finished {
			f.finished[i] += n
		}
		for i, n := range errs[1:] {
			f.errors[i+1] += n
		}
		f.mu.Unlock()
		if b.snapshot != nil {
			b.snapshot.Stats.Finished, b.snapshot.Stats.Errors = f.counts()
			f.snapshot(b.snapshot)
		}
	}
}

// counts returns the number of finished targets by Status, and that of errors by
// code.
func (f *finisher) counts() (finished [NumStatuses]uint64, errs [wire.NumErrors]uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.finished, f.errors
}

// make turns an outcome into a Result, which is valid until the next call.
func (f *finisher) make(o *outcome) *Result {
	r := &f.result
	last := o.lastAt
	*r = Result{
		Addr: udp.Unpack(o.addr), Asked: o.asked,
		Sent: uint32(o.sent), SentBytes: uint64(o.sentBytes),
		Time: f.start.Add(o.endAt), Raw: r.Raw[:0],
	}
	if o.label != nil {
		r.Tag, r.Master = o.label.tag, o.label.master
	}
	m := replies{err: o.err}
	if a := o.answer; a != nil {
		last = max(last, a.LastAt)
		r.Time = f.start.Add(a.FirstAt)
		r.RTT, r.PingRTT = a.RTT, a.PingRTT
		for q, d := range a.RTTs {
			r.RTTs[q] = cutRoundTrip(d)
		}
		r.Received, r.RecvBytes, r.Ask = a.Received, a.RecvBytes, a.Attempt
		r.Unchallenged = a.Unchallenged()
		if f.raw {
			r.Raw = a.AppendRaw(r.Raw)
		}
		if c := a.Challenge(); c != wire.NoChallenge {
			r.Challenge = uint32(c)
		}
		m.from(a)
		m.evidence.infoRequests = int(o.infoAsks) + a.InfoRounds()
	}
	r.Took = last - o.firstAt
	f.asm.assemble(r, &m)
	if o.answer != nil && o.answer.Conflict {
		r.doubt()
		r.Disputed = o.answer.Disputed
	}
	return r
}
