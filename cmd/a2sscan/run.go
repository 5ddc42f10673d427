package main

import (
	"context"
	"errors"
	"iter"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/list"
	"github.com/a2sscan/a2sscan/sink"
)

// scan asks the targets and writes what they answer.
func (a *app) scan(f *scanFlags, args []string) error {
	if err := f.checkInputs(args); err != nil {
		return err
	}
	meter, err := a.openWindows(f)
	if err != nil {
		return err
	}
	defer meter.close()
	keep, err := a.openKeeper(f)
	if err != nil {
		return err
	}
	defer keep.close()
	j := &job{app: a, scanFlags: f, start: time.Now().UTC(), keep: keep, meter: meter, dial: newDial(f.rate)}
	if !f.dryRun {
		defer j.controls()()
	}
	if err := j.prepare(args); err != nil {
		return err
	}
	if f.dryRun {
		return j.dryRun()
	}
	a.sends = true
	defer reloadOnHangup(a.Terminal, j.exclusions, f.excludeFlags.files)()
	sum, err := j.run(args)
	if err != nil {
		return err
	}
	return j.finish(sum)
}

// openWindows opens what a scan is watched by: its log and its metrics. A dry
// run has neither.
func (a *app) openWindows(f *scanFlags) (*meter, error) {
	if f.dryRun {
		return nil, nil
	}
	if err := a.openLog(&f.logFlags); err != nil {
		return nil, err
	}
	return a.serveMetrics(&f.metricsFlags, f.quiet)
}

// prepare does what can be done before anything is sent or written.
func (j *job) prepare(args []string) error {
	var err error
	if j.geo, err = openGeo(j.mmdb); err != nil {
		return err
	}
	stdin := j.in
	if j.keep != nil {
		if err := j.goOn(args); err != nil {
			return err
		}
		if stdin, err = j.keep.readAhead(j.order, args, stdin); err != nil {
			return err
		}
	}
	if j.exclusions, err = j.excludeFlags.open(); err != nil {
		return err
	}
	if j.scanID == "" {
		j.scanID = scanName(j.start)
	}
	if err := j.fetchFirst(); err != nil {
		return err
	}
	j.partial = j.from.partial
	if j.list, j.bad, err = j.openTargets(j.scanFlags, j.exclusions, args, stdin); err != nil {
		return err
	}
	j.out, err = j.planOutput()
	return err
}

// goOn takes over what a checkpoint says, if there is one.
func (j *job) goOn(args []string) error {
	j.keep.seed(&j.seed)
	j.known, j.leaveOut = &j.keep.names, j.keep.walked.leaveOut
	if j.keep.resumes() && j.maxPerAddress > 0 {
		j.passed = j.keep.passed
	}
	plan, err := j.scanPlan(args)
	if err != nil {
		return err
	}
	plan.Databases = j.geo.ids()
	if err := j.keep.inherit(j.scanFlags, plan); err != nil {
		return err
	}
	if past := j.keep.past; past != nil {
		j.start, j.tally, j.known.known = past.Start, past.Tally, past.Names
		j.geo.goOn(past.Plan.Databases, j.Terminal)
		j.keep.plan.Databases = j.geo.ids()
	}
	return nil
}

// planOutput returns the output, of which nothing is made or cut yet.
func (j *job) planOutput() (*output, error) {
	o := j.planned(j.scanID)
	if j.rotate.on() {
		o.rotation = j.rotate.plan(j.start)
		o.rotation.Hold = j.keep != nil
	}
	if j.keep.resumes() {
		o.resume(&j.keep.past.Output)
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	return o, j.checkSummary()
}

// checkSummary refuses a place for the run's numbers where no file can be:
// nobody is asked when they would be lost.
func (j *job) checkSummary() error {
	if j.summary == "" {
		return nil
	}
	return writeFailure(sink.Check(j.summary, sink.Options{Force: true}))
}

// scanName is the name of a scan that has no other: its start.
func scanName(start time.Time) string { return start.Format("20060102T150405Z") }

// job is one run of scan.
type job struct {
	*app
	*scanFlags
	start time.Time
	list  *list.List
	bad   *badLines

	exclusions *list.Exclusions
	geo        geoBases
	out        *output
	keep       *keeper // nil: no checkpoint
	meter      *meter  // nil: no metrics
	observer   observer
	tally      tally
	stop       *stopper
	guard      *guard
	dial       *dial                           // nil: nobody can turn the rate
	reading    atomic.Pointer[list.List]       // nil: no list is read yet
	monitor    atomic.Pointer[scanner.Monitor] // nil: nobody is asked yet
	progress   *progress                       // of the status lines in JSON; nil: there are none
	whole      bool                            // every target was asked to the end

	written error // what went wrong with the output
	partial error // why the list of --master is not whole
	broken  error // what ended the scan before its time
}

// memoryLimit is what the garbage collector keeps the heap below where it can:
// without it, a heap of replies grows to twice the scan's byte budget.
const memoryLimit = scanner.DefaultByteBudget + 64<<20

// run scans and returns its numbers. The error is that of a run that asked
// nobody.
func (j *job) run(inputs []string) (*summary, error) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit + j.geo.bytes())
	}
	stop, ctx, end := listen(j.Terminal, j.hangupEnds())
	defer end()
	j.stop = stop
	j.out.failed = stop.stop
	j.meter.attach(j)
	j.logStart()
	j.guard = &guard{guardFlags: &j.guardFlags, stop: stop.finish, ended: stop.interrupted}
	defer j.guard.begin()()

	j.reading.Store(j.list)
	if err := j.load(j.scanFlags, j.list, stop); err != nil {
		j.bad.rest()
		return nil, j.guarded(err)
	}
	if err := j.keep.loaded(j.list); err != nil {
		return nil, err
	}
	j.logLoaded()
	if !j.quiet {
		j.sayPlan()
	}
	stats, err := j.ask(ctx)
	j.bad.rest()
	kept := j.keep.end()
	if j.written = j.out.close(); j.written == nil {
		j.written = kept
	}
	if err := j.early(err, &stats); err != nil {
		j.out.remove()
		j.keep.forget()
		return nil, err
	}

	own := stats
	listed := j.list.Stats()
	if j.stop.first.Err() != nil {
		listed = j.keep.taken(listed, stats.Taken)
	}
	listed = j.keep.total(listed, &stats)
	j.keep.countLeftOut(j.exclusions)
	l := newLedger(listed, &stats)
	rest, known := j.unread(listed)
	if l.Unread = rest; known && l.Unfinished+rest == 0 {
		j.guard.late()
	}
	sum := newSummary(&stats, l)
	sum.Scan, sum.Command, sum.Inputs = j.scanID, j.args, inputNotes(j.list, inputs, &j.from)
	sum.Config = j.configFile
	sum.Order, sum.Shard = j.order.String(), j.shard.String()
	if j.order == order(list.OrderRandom) {
		sum.Seed = &j.seed.n
	}
	sum.Output, sum.Records = j.output, j.out.count()
	sum.found(&j.tally, j.asks())
	sum.Resumed = j.keep.resumed()
	sum.Records += j.keep.records()
	if j.written != nil {
		sum.Records = j.out.whole()
	}
	sum.Databases = j.geo.notes()
	sum.Exclusions = exclusionsOf(j.exclusions)
	sum.Start, sum.End = j.start, time.Now().UTC()
	if !errors.Is(err, context.Canceled) {
		j.broken = err
	}
	if sum.Ended = j.ended(); sum.Ended == endedComplete || sum.Ended == endedInput && j.list.Err() == nil {
		j.whole = true
		j.guard.judge(&stats, 1)
		j.written = j.out.settle(nil)
		sum.Ended = j.ended()
	}
	sum.Changes = j.dial.turns()
	sum.Parts = j.out.parts()
	j.observer.lookParts()
	sum.Guard = j.guard.tripped()
	sum.Interrupted = stop.interrupted()
	sum.check(j.unanswered)
	j.lastStatus(own, sum.Ended)
	return sum, nil
}

// ask scans with a status line.
func (j *job) ask(ctx context.Context) (scanner.Stats, error) {
	cfg := j.config()
	cfg.Excluded = j.exclusions.Excluded
	cfg.Monitor = new(scanner.Monitor)
	cfg.Drain = j.stop.drain
	cfg.Rates = j.dial.source()
	if j.keep != nil {
		j.keep.begin(j)
		cfg.Snapshot, cfg.Excluded = j.keep.snapshot, j.keep.excluded
		cfg.Asked = j.keep.recount(j.list)
		cfg.Silent = j.keep.waiting
	}
	j.monitor.Store(cfg.Monitor)
	defer j.guard.watch(cfg.Monitor, j.Terminal)()
	defer j.observe(cfg.Monitor)()
	defer j.watchScan(cfg.Monitor, j.newProgress())()
	defer j.meter.end()
	return scanner.Scan(ctx, cfg, j.targets(), j.meter.begin(cfg.Monitor, j.handle))
}

// unread is how many targets the list has beyond those that are counted in
// these numbers. It is not known of a list that is read as it comes, and of a
// part of one.
func (j *job) unread(listed list.Stats) (n uint64, known bool) {
	n, known = j.list.Size()
	if !known || j.shard.Count > 1 {
		return 0, false
	}
	read := listed.Read - listed.Invalid - listed.Duplicate
	n -= min(n, read)
	if j.maxTargets > 0 {
		n = min(n, j.maxTargets-min(j.maxTargets, listed.Given))
	}
	return n, true
}

// begun is how much of the list earlier parts of the scan passed by.
func (j *job) begun() float64 {
	n, known := j.list.Size()
	if !known || !j.keep.resumes() {
		return 0
	}
	return float64(j.keep.past.Place) / float64(max(n, 1))
}

// newProgress knows how far this scan is.
func (j *job) newProgress() *progress {
	p := &progress{
		input: j.list.Progress, given: j.given, begun: j.begun(),
		wait: j.silentFor(), longest: j.partlyFor(), again: j.secondLook, cooldown: j.cooldown,
		drained: func() bool { return j.stop.first.Err() != nil },
	}
	if past := j.pastCheckpoint(); past != nil {
		p.past = &past.Stats
	}
	return p
}

// given is how many targets the list has given out: the scan reads ahead.
func (j *job) given() uint64 { return j.list.Stats().Given }

// targets are those of the list. The output is made when the first of them is
// taken: the socket is open then, and no packet was sent.
func (j *job) targets() iter.Seq[scanner.Target] {
	all := j.list.All()
	if j.keep != nil {
		all = j.keep.targets(j.list)
	}
	return func(yield func(scanner.Target) bool) {
		opened := j.keep.resumes() // it is cut back, whatever comes
		if opened && j.openOutput() != nil {
			return
		}
		for t := range all {
			if !opened && j.openOutput() != nil {
				return
			}
			opened = true
			if !yield(t) {
				return
			}
		}
	}
}

func (j *job) openOutput() error {
	if err := j.keep.first(); err != nil {
		return err
	}
	if err := j.out.open(); err != nil {
		return err
	}
	step("output.created")
	j.logOpened()
	j.sayCut()
	return nil
}

// sayCut says what --append took away of a file that ended within a record.
func (j *job) sayCut() {
	if n := j.out.cut(); n > 0 {
		j.Say("%s: torn: %d bytes after the last whole record cut off", console.Plain(j.output, 200), n)
	}
}

// handle takes what one target answered.
func (j *job) handle(r *scanner.Result) {
	silent := r.Status == scanner.StatusNoReply || r.Status == scanner.StatusUnreachable
	wanted := !silent || j.unanswered
	if wanted && j.geo != nil {
		j.geo.fill(&r.Geo, r.Addr.Addr())
		j.geo.sayDamaged(j.Terminal)
	}
	j.tally.add(r)
	if wanted {
		j.out.write(r)
	}
}

// early is the error of a run that asked nobody.
func (j *job) early(err error, stats *scanner.Stats) error {
	switch {
	case stats.DatagramsSent() > 0 || j.keep.resumes() && err == nil:
		return nil
	case err != nil && !errors.Is(err, context.Canceled):
		return j.source.failure(err)
	case j.written != nil:
		return j.written
	case j.stop.interrupted():
		return console.Fail(console.ExitInterrupted, "interrupted before the first packet")
	case j.guard.tripped() != nil:
		return j.guarded(nil)
	}
	return nothingToAsk(j.list)
}

// ended says in a word why the scan is over.
func (j *job) ended() string {
	switch {
	case j.written != nil:
		return endedOutput
	case j.broken != nil:
		return endedBroken
	case j.guard.tripped() != nil:
		return endedGuard
	case j.stop.interrupted():
		return endedInterrupted
	case j.list.Err() != nil || j.partial != nil || tornInput(j.list) != nil:
		return endedInput
	}
	return endedComplete
}

// finish tells how the scan went and chooses the exit code.
func (j *job) finish(sum *summary) error {
	if !j.quiet {
		sum.say(j.Terminal)
	}
	sum.sayWrong(j.Terminal)
	path := j.summaryPath()
	if path != "" {
		if err := sum.write(path); err != nil {
			path = ""
			j.unsummed(err)
		}
	}
	if !j.quiet {
		j.sayFiles(sum, path)
	}
	verdict := j.verdict(sum)
	j.logFinished(sum, verdict)
	j.keep.done(j.whole && j.written == nil, path)
	return verdict
}

// unsummed says that the run's numbers could not be written. A full disk takes
// them away together with the output.
func (j *job) unsummed(err error) {
	lost := console.Fail(console.ExitOutput, "summary: %w", err)
	if j.written == nil {
		j.written = lost
		return
	}
	j.Say("%v", lost)
}

// verdict is the error with which the run ends, the gravest if there are
// several.
func (j *job) verdict(sum *summary) error {
	switch {
	case j.written != nil:
		return j.written
	case j.broken != nil:
		return console.Fail(console.ExitUsage, "%w", j.broken)
	case !sum.Consistent:
		return console.Fail(console.ExitNumbers, "numbers do not add up")
	case sum.Guard != nil:
		return j.guarded(nil)
	case sum.Interrupted:
		return console.Fail(console.ExitInterrupted, "interrupted: %s", sum.Targets.rest())
	case j.list.Err() != nil:
		return loadFailure(j.list.Err())
	case j.partial != nil:
		return console.Fail(console.ExitInput, "the list was not whole: %w", j.partial)
	case sum.Datagrams.Sent == 0 && sum.Datagrams.SendErrors > 0:
		return console.Fail(console.ExitUsage, "nobody was asked: not one of %d datagrams could be sent", sum.Datagrams.SendErrors)
	}
	return tornInput(j.list)
}

// summaryPath is where the numbers of the run go; empty: nowhere. A pipe or a
// device has no file beside it.
func (j *job) summaryPath() string {
	if j.summary != "" || j.output == "-" {
		return j.summary
	}
	if j.rotate.on() {
		return summaryName(j.output, j.start)
	}
	if !isFile(j.output) {
		return ""
	}
	return j.output + ".summary.json"
}

func (j *job) sayFiles(sum *summary, summaryPath string) {
	if j.output != "-" {
		j.Say("written: %s to %s", console.Plural(sum.Records, "record"), j.out.written())
	}
	if summaryPath != "" {
		j.Say("numbers of the run: %s", console.Plain(summaryPath, 200))
	}
}
