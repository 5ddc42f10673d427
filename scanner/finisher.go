package scanner

import (
	"sync"
	"time"

	"github.com/a2sscan/a2sscan/scanner/thread"
	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// outcome is a finished target on its way from the loop to the caller's function.
type outcome struct {
	addr   uint64
	label  *label  // nil: the list gives none
	answer *answer // nil: nothing came
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

// Snapshot is the state of a scan from which another scan can resume.
type Snapshot struct {
	// Position is the number of targets that the scan has taken from the sequence. Each
	// of them is finished, in Open, in Silent, or was skipped.
	Position uint64
	// Place is where to resume the sequence: one more than the Place of the last
	// target taken from it.
	Place uint64
	// Open holds the targets that were taken and are neither finished nor waiting for
	// the second pass, in no particular order. Their Place is not set.
	Open []Target
	// Silent holds all targets so far that stayed silent in the first pass, as
	// address<<16 | port. Those before index SecondPassed have begun their second
	// pass and are finished or open. Later Snapshots share this memory and append
	// to it, so the elements must not be changed.
	Silent []uint64
	// SecondPassed is how many targets in Silent have begun their second pass.
	SecondPassed int
	// SilentLabels holds the labels of the targets in Silent that have one, ordered by
	// Index.
	SilentLabels []SilentLabel
	// Stats are the statistics at the time of the snapshot.
	Stats Stats
}

// finisher turns outcomes into Results and passes them to the caller's function. It
// has its own goroutine with a lower priority than the loop, which never waits for
// it. Outcomes travel in blocks. The blocks return to the loop with the memory of
// their answers.
type finisher struct {
	blocks chan block
	back   chan []outcome
	done   chan struct{}

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

const (
	blockLen   = 128
	blocksSent = 16   // blocks that wait for the caller's function
	blocksBack = 1024 // blocks that wait for the loop
)

func newFinisher(start time.Time, cfg *Config, handle func(*Result)) *finisher {
	f := &finisher{
		blocks:   make(chan block, blocksSent),
		back:     make(chan []outcome, blocksBack),
		done:     make(chan struct{}),
		start:    start,
		handle:   handle,
		snapshot: cfg.Snapshot,
		raw:      cfg.Raw,
	}
	go f.run()
	return f
}

func (f *finisher) run() {
	defer close(f.done)
	thread.Lower()
	for b := range f.blocks {
		f.finish(b.outcomes)
		if b.snapshot != nil {
			b.snapshot.Stats.Finished, b.snapshot.Stats.Errors = f.counts()
			f.snapshot(b.snapshot)
		}
		f.back <- b.outcomes
	}
}

// finish passes the Results of outcomes to the caller's function.
func (f *finisher) finish(outcomes []outcome) {
	var finished [NumStatuses]uint64
	var errs [wire.NumErrors]uint64
	for i := range outcomes {
		r := f.make(&outcomes[i])
		finished[r.Status]++
		for _, code := range r.Err {
			errs[code]++
		}
		f.handle(r)
	}
	f.count(&finished, &errs)
}

func (f *finisher) count(finished *[NumStatuses]uint64, errs *[wire.NumErrors]uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, n := range finished {
		f.finished[i] += n
	}
	for i, n := range errs[1:] {
		f.errors[i+1] += n
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
	o.label.mark(r)
	m := replies{err: o.err}
	if a := o.answer; a != nil {
		last = max(last, a.lastAt)
		r.Time = f.start.Add(a.firstAt)
		r.RTT, r.PingRTT = a.trips.first, a.pingRTT
		for q, d := range a.trips.each {
			r.RTTs[q] = cutRoundTrip(d)
		}
		r.Received, r.RecvBytes, r.Ask = a.received, a.recvBytes, a.attempt
		a.suspicion.withdraw()
		r.Unchallenged = a.suspicion.unchallenged
		if a.challenges.seen > 0 { // unsolicited replies may be forged
			r.Unchallenged &^= a.suspicion.unasked
		}
		if f.raw {
			a.eachRaw(func(b []byte) { r.Raw = append(r.Raw, b) })
		}
		if c := a.challenges.of(wire.QuestionInfo); c != wire.NoChallenge {
			r.Challenge = uint32(c)
		}
		a.replies(&m)
		m.evidence.infoRequests = int(o.infoAsks) + int(a.challenges.rounds[wire.QuestionInfo])
	}
	r.Took = last - o.firstAt
	f.asm.assemble(r, &m)
	if o.answer != nil && o.answer.suspicion.conflict {
		r.doubt()
		r.Disputed = o.answer.disputed
	}
	return r
}
