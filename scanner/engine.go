package scanner

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math"
	"math/bits"
	"time"

	"github.com/a2sscan/a2sscan/reasm"
	"github.com/a2sscan/a2sscan/scanner/udp"
	"github.com/a2sscan/a2sscan/wire"
)

// The loop's own limits.
const (
	batchLen     = 128                    // datagrams a system call
	requestLen   = 32                     // a request is at most 29 bytes
	maxDrain     = 16 * batchLen          // datagrams received before something is sent again
	maxUnhandled = 1 << 13                // results that wait for the caller before starting pauses
	maxAgain     = 500                    // tries to send what the kernel puts off
	againWait    = time.Millisecond       // between two of them
	maxBehind    = 2 * time.Second        // how long a socket that is not empty may hold up the rest
	pollWait     = 2 * time.Millisecond   // while a result, memory or the decompressor is waited for
	idleWait     = 100 * time.Millisecond // longest sleep: the Monitor wants news
	firstAnswer  = 2 << 10                // what an answer is believed to take before any came
	workerQueue  = 64                     // compressed replies that wait: 64 MiB if all are as large as may be
)

// engine is a scan that runs: one loop that owns the socket, the slots and
// all that is known of open targets. It receives a batch, wakes up who waited
// long enough, sends a batch, and sleeps only when there is neither. All
// others (the list's reader, the decompressor, the finisher) hand over blocks.
type engine struct {
	cfg   Config
	plan  plan
	start time.Time
	sock  transport

	feed  *feed
	block []Target // taken from feed
	pos   int      // next in block
	ended bool     // nothing follows block
	place uint64   // where the list goes on

	addrs  *addrs
	slots  *slots
	index  index
	recent recent
	turned time.Duration
	wheel  *wheel
	follow queue // slots with something due that is not a repetition
	repeat queue
	pace   *pace

	governor *governor     // of a scan that is as fast as it goes; nil: it has a rate
	free     bool          // nothing but the rate was in the way since the governor looked
	paced    bool          // it sleeps because of the pace
	charged  time.Duration // until when time is accounted for

	in      []udp.Packet
	empty   time.Duration // when the socket held nothing more
	seen    time.Duration // up to when all that came has been received, as far as is waited for
	behind  bool          // that is not now
	packets []udp.Packet  // the batch that is being sent
	out     []outgoing    // who sends what in packets
	joining joining
	request []byte     // the bytes of packets
	again   int        // tries of out[0]
	gone    [64]uint64 // unreachable, as the socket tells

	second  look
	pool    pool
	average float64 // bytes an answer takes
	table   *reasm.Table
	worker  *reasm.Worker
	scratch []byte
	info    wire.Info

	finisher  *finisher
	outcomes  []outcome // block that is being filled
	backlog   []block   // blocks that the finisher has no room for
	spare     [][]outcome
	unhandled int

	draining    bool
	quietEnd    time.Duration // when the cooldown is over; 0: it has not begun
	told        time.Duration // when the Monitor last heard
	allowed     float64       // datagrams, as in stats
	allowedAt   time.Duration // up to when they are added up
	allowedWait time.Duration // what was waited until then

	foreseen time.Duration // when it was last looked how long addresses hold it up; 0: they don't
	marked   time.Duration // when the last snapshot was taken
	stats    Stats
}

// outgoing is one datagram of a batch.
type outgoing struct {
	ref     ref
	q       wire.Question // that it is sent for
	request wire.Question // that it is: GETCHALLENGE may stand in for q
}

func newEngine(cfg Config, sock transport, handle func(*Result)) *engine {
	e := &engine{
		cfg: cfg,
		plan: plan{
			questions: cfg.Questions, schedule: cfg.schedule(),
			fallback: cfg.Fallback && !cfg.SecondLook,
		},
		start: time.Now(),
		sock:  sock,

		addrs: newAddrs(cfg.AddressRate, cfg.MaxPerAddress),
		slots: newSlots(),
		wheel: newWheel(),

		in:      make([]udp.Packet, batchLen),
		packets: make([]udp.Packet, 0, batchLen),
		out:     make([]outgoing, 0, batchLen),
		request: make([]byte, batchLen*requestLen),

		pool:    pool{budget: cfg.ByteBudget / 4 * 3},
		average: firstAnswer,
		table:   reasm.New(reasm.Config{MaxBytes: cfg.ByteBudget / 4}),
		worker:  reasm.NewWorker(workerQueue),
	}
	e.index.slots = e.slots
	e.addrs.asked(cfg.Asked)
	e.joining.off = cfg.NoJoin
	e.pace = newPace(cfg.Rate, e.start)
	if math.IsInf(cfg.Rate, 1) {
		e.governor = newGovernor(e.pace)
	}
	e.finisher = newFinisher(e.start, &e.cfg, handle)
	e.outcomes = make([]outcome, 0, blockLen)
	e.stats.Rate = cfg.Rate
	return e
}

func (e *engine) clock() time.Duration { return time.Since(e.start) }

// scan runs the loop and what belongs to it.
func (e *engine) scan(ctx context.Context, targets iter.Seq[Target]) (Stats, error) {
	e.remember(e.cfg.Silent)
	e.feed = newFeed(e.sock.Interrupt)
	go e.feed.run(targets)
	ended := make(chan struct{})
	go e.watch(ctx, ended)

	err := e.loop(ctx)
	close(ended)
	e.feed.closeAndWait()
	e.worker.Close()
	e.stats.Wait = WaitOutput // which may take its time still
	e.tell()
	e.handOverAll()
	e.stats.Wait = WaitNothing
	e.stats.Elapsed = e.clock()
	e.abandon()
	e.tell()
	return e.stats, err
}

// watch wakes the loop up when it is to end.
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
		now, n, err := e.receiveAll(wait)
		if err != nil {
			return err
		}
		e.look(now, n)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		e.housekeeping(now)
		sent := e.send(now)
		if e.finished(now) {
			return nil
		}
		e.handOver(sent == 0)
		wait, e.paced = 0, false
		if n < maxDrain && sent < batchLen {
			wait = e.idle(now)
		}
	}
}

// receiveAll takes what the socket holds, and waits for something if there is
// nothing. While batches come full it goes on for a while before anything is
// sent: what is lost in the kernel costs more than what is sent a little later.
func (e *engine) receiveAll(wait time.Duration) (now time.Duration, total int, err error) {
	for total < maxDrain {
		n, err := e.sock.Recv(e.in, wait)
		now = e.clock()
		if err != nil {
			return now, total, err
		}
		for i := range e.in[:n] {
			e.receive(now, &e.in[i])
		}
		total += n
		if n < len(e.in) {
			break
		}
		wait = 0
	}
	return now, total, nil
}

// look notes up to when all that came has been received. A question whose
// answer may still be in the socket is not silent: timeouts count this time,
// not the clock's. A socket that is not empty for long stops nothing.
func (e *engine) look(now time.Duration, received int) {
	if received < maxDrain {
		e.empty = now
	}
	e.seen = max(e.empty, now-maxBehind)
	e.behind = e.empty < now && e.seen == e.empty
}

// housekeeping is what is done once a turn beside receiving and sending.
func (e *engine) housekeeping(now time.Duration) {
	e.collect(now)
	e.unreachable(now)
	e.wheel.advance(e.slots, e.seen, func(i int32) { e.fire(now, i) })
	e.addrs.forget(now)
	if e.cfg.Cooldown > 0 && now-e.turned >= e.cfg.Cooldown {
		e.turned = now
		e.recent.turn()
	}
	if !e.draining && e.cfg.Drain != nil {
		select {
		case <-e.cfg.Drain:
			e.draining = true
			e.feed.close()
		default:
		}
	}
	if e.cfg.Snapshot != nil && now-e.marked >= e.cfg.SnapshotEvery && e.unmarked() {
		e.marked = now
		e.seal(e.snapshot())
	}
	e.changeRate(now)
	if e.governor != nil && e.governor.due(now) {
		e.govern(now)
	}
	if now-e.told >= idleWait {
		e.told = now
		e.table.Expire(now)
		e.stats.Elapsed = now
		e.tell()
	}
}

// receive takes one datagram.
func (e *engine) receive(now time.Duration, p *udp.Packet) {
	if e.cfg.Trace != nil {
		e.cfg.Trace(now, false, udp.Unpack(p.Addr), p.Data)
	}
	e.stats.RecvBytes += uint64(len(p.Data))
	i := e.index.get(p.Addr)
	if i < 0 {
		e.stats.Received[e.stranger(p.Addr)]++
		return
	}
	sl := e.slots.at(i)
	a := sl.talk.got
	if a == nil {
		a = e.pool.answer()
		a.firstAt = now
		a.ask = sl.talk.quiet + 1 + uint8(e.askedBefore())
		sl.talk.begin(a)
	}
	a.lastAt = now
	a.received++
	a.recvBytes += uint64(len(p.Data))
	if e.cfg.Raw {
		a.keepRaw(&e.pool, p.Data)
	}
	var d delivery
	before := a.rtt
	switch {
	case wire.IsSingle(p.Data):
		d = a.deliver(&sl.talk, &e.pool, now, p.Data, &e.info)
	case wire.IsSplit(p.Data):
		d = e.fragment(now, i, sl, p.Data)
	default:
		sl.talk.onJunk(wire.ErrMalformed)
		d = delivery{kind: ReplyOther, class: ClassMalformed}
	}
	e.account(now, sl, d)
	if e.governor != nil && before == 0 && a.rtt > 0 {
		e.governor.roundTrip(a.rtt)
	}
	e.settle(now, i)
}

// stranger says what a datagram is that comes from no open target.
func (e *engine) stranger(addr uint64) Class {
	if e.recent.has(addr) {
		return ClassLate
	}
	return ClassForeign
}

func (e *engine) account(now time.Duration, sl *slot, d delivery) {
	e.stats.Received[d.class]++
	if d.class == ClassMatched {
		e.stats.Kinds[d.kind]++
	}
	if d.kind == ReplyText && sl.talk.flags&flagLimited != 0 {
		e.addrs.slowDown(now, sl.source())
	}
}

// fragment takes a part of a split reply.
func (e *engine) fragment(now time.Duration, i int32, sl *slot, datagram []byte) delivery {
	d := delivery{kind: ReplyFragment, class: ClassMatched}
	msg, outcome, err := e.table.Add(now, sl.source(), datagram, e.scratch[:0])
	e.scratch = msg[:0]
	switch {
	case err != nil:
		d.class = ClassMalformed
		sl.talk.onJunk(codeOf(err))
		return d
	case outcome == reasm.Conflict:
		e.stats.Conflicts++
		sl.talk.onConflict()
		return d
	case outcome == reasm.Duplicate:
		d.class = ClassDuplicate
		return d
	}
	sl.talk.onFragment()
	switch outcome {
	case reasm.Whole:
		whole := sl.talk.got.deliver(&sl.talk, &e.pool, now, msg, &e.info)
		d.class, d.full = whole.class, whole.full
		if whole.kind == ReplyText {
			d.kind = ReplyText
		}
	case reasm.Packed:
		d.full = !e.decompress(i, &sl.talk, msg)
	}
	if d.full { // it will be asked for again: the table must not know it as whole
		e.table.Forget(sl.source())
	}
	return d
}

// decompress hands a compressed reply to the decompressor. It reports false
// where that has no room, or has done enough for this server: one that sends
// them without end would keep it from all others, and never be finished.
func (e *engine) decompress(i int32, t *talk, msg []byte) bool {
	a := t.got
	switch {
	case a.unpacked >= maxUnpacked:
		t.fault(likelyPacked(t.waiting&t.open), cmp.Or(a.unpackErr, wire.ErrTooLarge))
		return false
	case a.packed >= maxPacked:
		return false
	}
	packed := append(make([]byte, 0, len(msg)), msg...)
	if !e.worker.Submit(e.slots.ref(i).tag64(), packed) {
		return false
	}
	a.packed++
	a.unpacked++
	return true
}

// collect takes back what the decompressor and the finisher are done with.
func (e *engine) collect(now time.Duration) {
	if e.worker.Pending() > 0 {
		e.worker.Poll(func(tag uint64, _, msg []byte, err error) { e.unpacked(now, tag, msg, err) })
	}
	for {
		select {
		case block := <-e.finisher.back:
			e.recycle(block)
		default:
			return
		}
	}
}

// unreachable ends the waiting for servers that ICMP says can't be reached.
func (e *engine) unreachable(now time.Duration) {
	for n := len(e.gone); n == len(e.gone); {
		n = e.sock.Unreachable(e.gone[:])
		for _, addr := range e.gone[:n] {
			if i := e.index.get(addr); i >= 0 {
				e.slots.at(i).talk.onUnreachable()
				e.settle(now, i)
			}
		}
	}
}

// unpacked takes a reply out of the decompressor.
func (e *engine) unpacked(now time.Duration, tag uint64, msg []byte, err error) {
	r := refOf(tag)
	sl := e.slots.alive(r)
	if sl == nil {
		return
	}
	sl.talk.got.packed--
	if err != nil {
		code := codeOf(err)
		sl.talk.got.unpackErr = code
		sl.talk.fault(likelyPacked(sl.talk.waiting&sl.talk.open), code)
	} else {
		sl.talk.got.deliver(&sl.talk, &e.pool, now, msg, &e.info)
	}
	e.settle(now, r.slot)
}

// likelyPacked says which of qs a compressed reply answers that can't be
// read: only long ones are compressed, and rules are the longest (EC-95).
func likelyPacked(qs Questions) Questions {
	if qs == 0 {
		return 0
	}
	return 1 << (bits.Len8(uint8(qs)) - 1)
}

// recycle takes the memory of a block's answers back.
func (e *engine) recycle(block []outcome) {
	for i := range block {
		if a := block[i].answer; a != nil {
			e.pool.recycle(a)
		}
		block[i] = outcome{}
	}
	e.unhandled -= len(block)
	e.spare = append(e.spare, block[:0])
}

// fire wakes a slot up.
func (e *engine) fire(now time.Duration, i int32) {
	t := &e.slots.at(i).talk
	e.heardPair(t)
	t.tick(&e.plan, now)
	e.settle(now, i)
}

// heardPair takes the end of the first wait after a pair was sent.
func (e *engine) heardPair(t *talk) {
	if t.flags&flagJoined != 0 && e.joining.waited(t) {
		e.stats.Unjoined++
	}
}

// settle lets a conversation decide what is next, and does it.
func (e *engine) settle(now time.Duration, i int32) {
	sl := e.slots.at(i)
	t := &sl.talk
	t.settle(&e.plan, now)
	switch {
	case t.flags&flagDone != 0:
		e.finish(now, i)
	case t.due != 0:
		e.enqueue(i, t)
	case t.wake() > now:
		e.wheel.file(e.slots, i)
	}
}

func (e *engine) enqueue(i int32, t *talk) {
	if t.flags&flagQueued != 0 {
		return
	}
	t.flags |= flagQueued
	if t.flags&flagRepeat != 0 {
		e.repeat.push(e.slots.ref(i))
	} else {
		e.follow.push(e.slots.ref(i))
	}
}

// finish ends a target: its place is free again, and its outcome on its way.
func (e *engine) finish(now time.Duration, i int32) {
	sl := e.slots.at(i)
	t := &sl.talk
	e.heardPair(t)
	if t.flags&flagSplit != 0 {
		e.scratch = keepLeading(e.table, sl.source(), e.scratch, sl.talk.got, &e.pool)
		e.table.Forget(sl.source())
	}
	if lb := e.slots.labels.get(i); !e.park(sl, lb) {
		sent, sentBytes := e.sentBefore()
		e.outcomes = append(e.outcomes, outcome{
			addr: sl.source(), label: lb, answer: t.got, err: t.err,
			asked: e.plan.questions, sent: sent + sl.sent, sentBytes: sentBytes + sl.sentBytes,
			firstAt: t.firstAt, lastAt: t.lastAt(), endAt: now,
		})
		e.unhandled++
	}
	e.learn(t.got)
	e.addrs.settle(now, sl.source(), int(sl.sent))
	e.wheel.remove(e.slots, i)
	e.index.remove(sl.source())
	if e.cfg.Cooldown > 0 {
		e.recent.add(sl.source())
	}
	e.slots.release(i)
	if len(e.outcomes) == blockLen {
		e.seal(nil)
	}
}

// learn keeps the average size of an answer, by which it is decided how many
// targets the byte budget has room for.
func (e *engine) learn(a *answer) {
	size := 0.0
	if a != nil {
		size = float64(cap(a.data) + cap(a.raw))
	}
	e.average += (size - e.average) / 64
}

// seal closes the block of outcomes that is being filled.
func (e *engine) seal(snapshot *Snapshot) {
	if len(e.outcomes) == 0 && snapshot == nil {
		return
	}
	e.backlog = append(e.backlog, block{e.outcomes, snapshot})
	if n := len(e.spare); n > 0 {
		e.outcomes = e.spare[n-1]
		e.spare = e.spare[:n-1]
	} else {
		e.outcomes = make([]outcome, 0, blockLen)
	}
}

// handOver gives the finisher the blocks that it has room for. A block that
// is not full goes only when there is nothing better to do.
func (e *engine) handOver(calm bool) {
	if calm {
		e.seal(nil)
	}
	n := 0
	for n < len(e.backlog) {
		select {
		case e.finisher.blocks <- e.backlog[n]:
			n++
			continue
		default:
		}
		break
	}
	left := copy(e.backlog, e.backlog[n:])
	clear(e.backlog[left:])
	e.backlog = e.backlog[:left]
}

// handOverAll gives the finisher all that is left and waits for it.
func (e *engine) handOverAll() {
	var last *Snapshot
	if e.cfg.Snapshot != nil {
		last = e.snapshot()
	}
	e.seal(last)
	for _, block := range e.backlog {
		for sent := false; !sent; {
			select {
			case e.finisher.blocks <- block:
				sent = true
			case b := <-e.finisher.back:
				e.recycle(b)
			}
		}
	}
	close(e.finisher.blocks)
	for {
		select {
		case b := <-e.finisher.back:
			e.recycle(b)
		case <-e.finisher.done:
			return
		}
	}
}

// finished reports whether nothing is left to do and the cooldown is over.
func (e *engine) finished(now time.Duration) bool {
	if e.slots.n > 0 || len(e.out) > 0 || !e.draining && e.more() {
		return false
	}
	if e.draining || e.cfg.Cooldown == 0 || e.stats.DatagramsSent() == 0 {
		return true
	}
	if e.quietEnd == 0 {
		e.quietEnd = now + e.cfg.Cooldown
	}
	e.stats.Wait = WaitCooldown
	return now >= e.quietEnd
}

// more reports whether there are targets that were not started.
func (e *engine) more() bool {
	return !e.ended || e.pos < len(e.block) || e.addrs.n > 0 || e.second.waiting() > 0
}

// abandon counts what was not finished.
func (e *engine) abandon() {
	rest := len(e.block) - e.pos
	if !e.ended {
		e.takeBlock() // what the list's reader had read already
		rest += len(e.block)
	}
	e.stats.Taken += uint64(rest)
	e.stats.Unfinished = uint64(rest + e.addrs.n + e.slots.n + e.second.waiting())
}

// idle is how long to sleep: until something can be done.
func (e *engine) idle(now time.Duration) time.Duration {
	d := idleWait
	if len(e.out) > 0 {
		return againWait
	}
	if e.unhandled > 0 || e.worker.Pending() > 0 || e.stats.Wait == WaitBudget {
		d = pollWait
	}
	if next := e.wheel.next(); next > 0 {
		d = min(d, next-now)
	}
	if next := e.addrs.next(); next > 0 && e.stats.Wait == WaitAddress {
		d = min(d, next-now)
	}
	if e.couldSend() {
		d = min(d, e.pace.wait(now))
		e.paced = d > 0
	}
	if e.quietEnd > 0 {
		d = min(d, e.quietEnd-now)
	}
	return max(d, 0)
}

// tell lets the Monitor know.
func (e *engine) tell() {
	s := &e.stats
	s.Finished, s.Errors = e.finisher.counts()
	s.Open, s.Held, s.HeldAddrs = e.slots.n, e.addrs.n, len(e.addrs.held)
	s.Silent = e.second.waiting()
	e.foresee(s.Elapsed)
	e.allow(s.Elapsed)
	s.Bytes = e.pool.used + e.table.Bytes()
	s.PeakBytes = max(s.PeakBytes, e.pool.peak)
	s.Socket, s.Reasm = e.sock.Stats(), e.table.Stats()
	if e.cfg.Monitor != nil {
		e.cfg.Monitor.set(*s)
	}
}

// foresee says about how long the limit of an address holds the scan up. It
// looks at all of them, so it is done once a second.
func (e *engine) foresee(now time.Duration) {
	s := &e.stats
	switch {
	case s.Wait != WaitAddress:
		s.HeldFor, e.foreseen = 0, 0
	case e.foreseen == 0 || now-e.foreseen >= time.Second:
		e.foreseen = now
		each := float64(addrBurst) // what is given back comes too late for the next one
		if done := s.TargetsFinished() + uint64(s.Silent); done > 0 {
			each = max(each, float64(s.DatagramsSent())/float64(done))
		}
		s.HeldFor = e.addrs.last(now, each) - now
	}
}

// isAgain reports whether an error of Send means to try again later.
func isAgain(err error) bool { return errors.Is(err, udp.ErrAgain) }
