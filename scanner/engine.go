package scanner

import (
	"context"
	"iter"
	"time"

	"github.com/a2sscan/a2sscan/reasm"
	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// The loop's own limits.
const (
	batchLen     = 128                    // datagrams per system call
	requestLen   = 32                     // a request is at most 29 bytes
	maxDrain     = 16 * batchLen          // maximum number of datagrams received before the loop sends again
	maxUnhandled = 1 << 13                // maximum number of results that wait for the caller's function; then no target is started
	maxAgain     = 500                    // attempts to send a datagram that the kernel refuses with ErrAgain
	againWait    = time.Millisecond       // between two of these attempts
	maxBehind    = 2 * time.Second        // how long a socket that is never empty may delay timeouts
	pollWait     = 2 * time.Millisecond   // longest sleep while the loop waits for the caller's function, memory or the decompressor
	idleWait     = 100 * time.Millisecond // longest sleep in any case, since the Monitor shows new numbers
	firstAnswer  = 2 << 10                // assumed size of an answer until the first arrives
	workerQueue  = 64                     // compressed replies that wait: 64 MiB if all are as large as possible
)

// engine is a running scan: one loop that owns the socket and everything known about
// open targets. A turn of the loop receives a batch, wakes the sessions that have
// waited long enough, sends a batch, and sleeps if there was nothing to receive or
// send. The list's reader, the decompressor and the finisher run beside it and
// exchange data with it. The engine itself holds the order of these steps; each part
// has its own state.
type engine struct {
	cfg   Config
	start time.Time
	sock  transport
	stats Stats

	open    *sessions // targets that were started
	supply  *supply   // targets to start
	addrs   *addrs    // the limit of every address
	recv    receiver  // datagrams in
	sender  sender    // datagrams out
	pacer   pacer     // how many of them
	pool    *pool     // memory of replies
	handoff *handoff  // finished targets out
	report  reporter  // numbers out

	draining bool
	quietEnd time.Duration // when the cooldown is over; 0: it has not begun
}

func newEngine(cfg Config, sock transport, handle func(*Result)) *engine {
	e := &engine{
		cfg:    cfg,
		start:  time.Now(),
		sock:   sock,
		open:   newSessions(&cfg),
		addrs:  newAddrs(cfg.AddressRate, cfg.MaxPerAddress),
		sender: newSender(&cfg),
		pool:   newPool(cfg.ByteBudget / 4 * 3),
	}
	if cfg.SweepPort != 0 {
		e.addrs = newAddrs(Off, Off)
	}
	e.addrs.countBefore(cfg.Asked)
	e.pacer = newPacer(&cfg, e.start, &e.stats)
	e.sender.rate = e.pacer.finder
	e.handoff = newHandoff(newFinisher(e.start, &e.cfg, handle), e.pool, cfg.unhandled)
	e.supply = &supply{
		addrs: e.addrs, second: secondPass{wanted: cfg.SecondPass}, excluded: cfg.Excluded,
		open: e.open, handoff: e.handoff, stats: &e.stats,
	}
	e.sender.sock, e.sender.open, e.sender.addrs, e.sender.stats = sock, e.open, e.addrs, &e.stats
	e.sender.clock = e.clock
	e.recv = receiver{
		lately: make(lately, latelySize),
		batch:  make([]udp.Packet, batchLen),
		parts: reassembly{
			table:  reasm.New(reasm.Config{MaxBytes: cfg.ByteBudget / 4}),
			worker: reasm.NewWorker(workerQueue),
		},
		open: e.open, addrs: e.addrs, pool: e.pool, stats: &e.stats,
		raw: cfg.Raw, trace: cfg.Trace, lateConflict: cfg.LateConflict, rate: e.pacer.finder,
	}
	return e
}

func (e *engine) clock() time.Duration { return time.Since(e.start) }

// scan runs the loop and the goroutines beside it, and returns the final Stats.
func (e *engine) scan(ctx context.Context, targets iter.Seq[Target]) (Stats, error) {
	e.supply.second.remember(e.cfg.Silent)
	feed := newFeed(e.sock.Interrupt)
	e.supply.list.feed = feed
	go feed.run(targets)
	ended := make(chan struct{})
	go e.watch(ctx, ended)

	err := e.loop(ctx)
	close(ended)
	feed.closeAndWait()
	e.recv.parts.worker.Close()
	e.stats.Wait = WaitOutput // the caller's function may not have processed all results yet
	e.publish()
	e.handOverAll()
	e.stats.Wait = WaitNothing
	e.stats.Elapsed = e.clock()
	e.stats.Unfinished = uint64(e.supply.unstarted() + e.open.n() + e.open.listening.n)
	e.publish()
	return e.stats, err
}

// watch wakes the loop when ctx is done and when Config.Drain is closed. It returns
// when ctx is done or ended is closed.
func (e *engine) watch(ctx context.Context, ended chan struct{}) {
	drain := e.cfg.Drain
	for {
		select {
		case <-ctx.Done():
			e.sock.Interrupt()
			return
		case <-drain:
			drain = nil
			e.sock.Interrupt()
		case <-ended:
			return
		}
	}
}

// loop runs until every target is finished, or ctx is done.
func (e *engine) loop(ctx context.Context) error {
	var wait time.Duration
	for {
		now, n, err := e.receive(wait)
		if err != nil {
			return err
		}
		e.recv.drained.note(now, n)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		e.housekeeping(now)
		sent := e.send(now)
		if e.finished(now) {
			return nil
		}
		e.handoff.offer(sent == 0)
		wait, e.pacer.paced = 0, false
		if n < maxDrain && sent < batchLen {
			wait = e.idle(now)
		}
	}
}

// receive reads the socket, and waits if it is empty. While batches are full it reads
// on, up to maxDrain datagrams, before the loop sends anything: a datagram that the
// kernel drops costs more than one that is sent a little later. It returns the time of
// the last read and the number of datagrams.
func (e *engine) receive(wait time.Duration) (now time.Duration, total int, err error) {
	for total < maxDrain {
		n, err := e.sock.Recv(e.recv.batch, wait)
		read := time.Now()
		now = read.Sub(e.start)
		if err != nil {
			return now, total, err
		}
		wall := read.UnixNano()
		for i := range e.recv.batch[:n] {
			p := &e.recv.batch[i]
			if slot := e.recv.take(now, e.recv.drained.arrival(now, wall, p.Stamp), p); slot >= 0 {
				e.advance(now, slot)
			}
		}
		total += n
		if n < len(e.recv.batch) {
			break
		}
		wait = 0
	}
	return now, total, nil
}

// housekeeping does everything in a turn of the loop except receiving and sending.
func (e *engine) housekeeping(now time.Duration) {
	advance := func(i int32) { e.advance(now, i) }
	e.recv.collect(now, advance)
	e.recv.unreachable(e.sock, advance)
	e.handoff.collect()
	e.open.wheel.advance(e.open.slots, e.recv.drained.until, func(i int32) { e.fire(now, i) })
	e.learn(now)
	e.expire(now)
	e.open.forget(now)
	e.addrs.forget(now)
	e.drain()
	e.snapshotRegularly(now)
	e.changeRate(now)
	e.pacer.findRate(now, e.sock, e.charge)
	e.publishRegularly(now)
}

// drain ends the start of new targets once Config.Drain is closed.
func (e *engine) drain() {
	if e.draining || e.cfg.Drain == nil {
		return
	}
	select {
	case <-e.cfg.Drain:
		e.draining = true
		e.supply.list.feed.close()
	default:
	}
}

// changeRate adopts a new rate, if Config.Rates has one.
func (e *engine) changeRate(now time.Duration) {
	select {
	case r := <-e.cfg.Rates:
		e.charge(now)
		if e.pacer.change(now, r) {
			e.cfg.Rate = r
			e.cfg.fitInFlight()
		}
	default:
	}
}

// fire tells a session that its wake-up time has passed, and advances it.
func (e *engine) fire(now time.Duration, i int32) {
	t := &e.open.slots.at(i).session
	e.sender.gso.waited(t, &e.stats)
	e.open.plan.tick(t, now, e.open.timeout(e.open.slots.at(i)))
	e.advance(now, i)
}

// advance has the plan decide what a session does after an event, and finishes the
// session if it is done.
func (e *engine) advance(now time.Duration, i int32) {
	if e.open.advance(now, i) {
		e.finish(now, i)
	}
}

// finish ends a session and frees its slot. It hands off the outcome, unless the
// target is still listened for or waits for the second pass.
func (e *engine) finish(now time.Duration, i int32) {
	sl := e.open.slots.at(i)
	e.sender.gso.waited(&sl.session, &e.stats)
	if e.open.listens(now, &sl.session) {
		e.listen(now, i)
		return
	}
	e.recv.keepParts(sl)
	if lb := e.open.slots.labels.get(i); !e.supply.park(sl, lb) {
		e.handoff.add(e.outcome(now, sl, lb))
	}
	if a := sl.session.got; a != nil && a.suspicion.conflict {
		e.stats.InfoConflicts++
	}
	e.pool.learn(sl.session.got)
	e.addrs.refund(now, sl.source(), int(sl.sent))
	e.open.close(i)
}

// listen frees the slot of a silent target and goes on listening for it. If too many
// targets are listened for, it first finishes the oldest of them.
func (e *engine) listen(now time.Duration, i int32) {
	sl := e.open.slots.at(i)
	if e.open.listening.full() {
		e.stats.Timeouts.Dropped++
		e.handoff.add(e.open.expire(now))
	}
	e.pool.learn(nil)
	e.addrs.refund(now, sl.source(), int(sl.sent))
	e.open.listen(i)
}

// expire finishes the targets whose listening time is over, unless too many outcomes
// wait for the caller's function.
func (e *engine) expire(now time.Duration) {
	for !e.handoff.full() {
		if end := e.open.listenEnd(now); end == 0 || e.recv.drained.until < end {
			return
		}
		e.handoff.add(e.open.expire(now))
	}
}

// learn updates the timeouts from recent round trips. If they fell, or once the last
// target was started, sessions that are waiting may wait less.
func (e *engine) learn(now time.Duration) {
	l := e.open.learner
	if l == nil || !l.due(now) {
		return
	}
	shorter := l.update(now)
	if (e.draining || !e.supply.more()) && e.open.lastWaits() || shorter {
		e.open.retime()
	}
}

// cooldown returns how long to listen for late replies once every target is finished.
func (e *engine) cooldown() time.Duration {
	if e.cfg.coolAsLearned {
		return e.open.learner.cooldown(e.cfg.Cooldown)
	}
	return e.cfg.Cooldown
}

// outcome returns the outcome of a session that is done.
func (e *engine) outcome(now time.Duration, sl *slot, lb *label) outcome {
	t := &sl.session
	sent, sentBytes := e.open.plan.sentBefore()
	return outcome{
		addr: sl.source(), label: lb, answer: t.got, err: t.agenda.err, infoAsks: t.agenda.attempts[wire.QuestionInfo],
		asked: lb.questions(e.open.plan.questions), sent: sent + sl.sent, sentBytes: sentBytes + sl.sentBytes,
		firstAt: t.clock.firstAt, lastAt: t.clock.lastAt(), endAt: now,
	}
}

// handOverAll hands off everything that is left and waits for the caller's
// function.
func (e *engine) handOverAll() {
	var last *Snapshot
	if e.cfg.Snapshot != nil {
		last = e.snapshot()
	}
	e.handoff.end(last)
}

// finished reports whether nothing is left to do and the cooldown is over. There is no
// cooldown if Drain was closed or nothing was sent.
func (e *engine) finished(now time.Duration) bool {
	if e.open.n() > 0 || e.open.listening.n > 0 || len(e.sender.out) > 0 || !e.draining && e.supply.more() {
		return false
	}
	if e.draining || e.cfg.Cooldown == 0 || e.stats.DatagramsSent() == 0 {
		return true
	}
	if e.quietEnd == 0 {
		e.quietEnd = now + e.cooldown()
	}
	e.stats.Wait = WaitCooldown
	return now >= e.quietEnd
}

// idle returns how long to sleep: until something can be done, but at most idleWait.
func (e *engine) idle(now time.Duration) time.Duration {
	if len(e.sender.out) > 0 {
		return againWait
	}
	d := idleWait
	if e.handoff.waiting > 0 || e.recv.parts.worker.Pending() > 0 || e.stats.Wait == WaitBudget {
		d = pollWait
	}
	if next := e.open.wheel.next(); next > 0 {
		d = min(d, next-now)
	}
	if next := e.open.listenEnd(now); next > 0 {
		d = min(d, next-now)
	}
	if next := e.addrs.next(); next > 0 && e.stats.Wait == WaitAddress {
		d = min(d, next-now)
	}
	if e.couldSend() {
		d = min(d, e.pacer.sleep(now))
	}
	if e.quietEnd > 0 {
		d = min(d, e.quietEnd-now)
	}
	return max(d, 0)
}
