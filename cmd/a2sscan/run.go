package main

import (
	"context"
	"errors"
	"iter"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/checkpoint"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/flagvalue"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/geo"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/guard"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/metrics"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/output"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/progress"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ratecontrol"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/shutdown"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/tally"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/list"
	"github.com/a2sscan/a2sscan/sink"
)

// scan asks the targets and writes what they answer.
func (a *app) scan(f *scanFlags, args []string) error {
	if err := f.checkInputs(args); err != nil {
		return err
	}
	watched, err := a.openWindows(f)
	if err != nil {
		return err
	}
	defer watched.Close()
	keep, err := a.openCheckpoint(f)
	if err != nil {
		return err
	}
	defer keep.Close()
	j := &job{app: a, scanFlags: f, start: time.Now().UTC(), keep: keep, metrics: watched, dial: ratecontrol.New(float64(f.rate))}
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
func (a *app) openWindows(f *scanFlags) (*metrics.Server, error) {
	if f.dryRun {
		return metrics.Off(), nil
	}
	if err := a.openLog(&f.logFlags); err != nil {
		return nil, err
	}
	return a.serveMetrics(&f.metricsFlags, f.quiet)
}

// prepare does what can be done before anything is sent or written.
func (j *job) prepare(args []string) error {
	var err error
	if j.geo, err = geo.Open(j.mmdb); err != nil {
		return err
	}
	stdin := j.in
	if j.keep.Enabled {
		if err := j.resume(args); err != nil {
			return err
		}
		if ahead := j.order == flagvalue.Order(list.OrderInput); ahead && (len(args) > 0 || !isTerminal(stdin)) {
			if stdin, err = j.keep.HashLists(args, stdin); err != nil {
				return err
			}
		}
	}
	if j.exclusions, err = j.excludeFlags.open(j.waitingForWriter); err != nil {
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

// openCheckpoint opens the checkpoint that the flags name.
func (a *app) openCheckpoint(f *scanFlags) (*checkpoint.Checkpointer, error) {
	if f.checkpoint == "" {
		return checkpoint.Off(), nil
	}
	_, commit := buildVersion()
	return checkpoint.Open(a.Terminal, checkpoint.Options{
		Path: f.checkpoint, Fresh: f.fresh, LookOnly: f.dryRun,
		Program: self(), Args: a.args, Version: commit,
	})
}

// resume takes over what a checkpoint says, if there is one.
func (j *job) resume(args []string) error {
	past := j.keep.Past
	if past != nil && !j.seed.Given {
		j.seed.N = past.Plan.Seed
	}
	j.known, j.leaveOut = j.keep.HostNames(), j.keep.LeaveOut
	if past != nil && j.maxPerAddress > 0 {
		j.passed = j.keep.CountGiven
	}
	plan, err := j.scanPlan(args)
	if err != nil {
		return err
	}
	plan.Databases = databasesOf(j.geo)
	if j.scanID, err = j.keep.Inherit(plan, j.scanID); err != nil || past == nil {
		return err
	}
	j.start, j.tally = past.Start, past.Tally
	var ids []geo.ID
	for _, db := range past.Plan.Databases {
		ids = append(ids, geo.ID(db))
	}
	j.geo.Resume(ids, j.Terminal)
	j.keep.SetDatabases(databasesOf(j.geo))
	return nil
}

// databasesOf are the files of --mmdb as a checkpoint has them.
func databasesOf(bases geo.Databases) (all []checkpoint.Database) {
	for _, id := range bases.IDs() {
		all = append(all, checkpoint.Database(id))
	}
	return all
}

// planOutput returns the output, of which nothing is made or cut yet.
func (j *job) planOutput() (*output.Output, error) {
	o := j.planned(j.scanID)
	if j.rotate.On() {
		rotation := j.rotate.Plan(j.start)
		rotation.Hold = j.keep.Enabled
		o.Divide(rotation)
	}
	if j.keep.Resumes() {
		was := &j.keep.Past.Output
		o.Resume(output.Position{Offset: was.Offset, Parts: was.Parts, Records: was.Records})
	}
	if err := o.Check(); err != nil {
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
	return output.Failure(sink.Check(j.summary, sink.Options{Force: true}))
}

// thisBuild is the version of this program.
func thisBuild() ledger.Build {
	version, commit := buildVersion()
	return ledger.Build{Version: version, Commit: commit}
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
	geo        geo.Databases
	out        *output.Output
	keep       *checkpoint.Checkpointer
	metrics    *metrics.Server
	observer   observer
	tally      tally.Tally
	stop       *shutdown.Shutdown
	guard      *guard.Guard
	dial       *ratecontrol.Control
	reading    atomic.Pointer[list.List]       // nil: no list is read yet
	monitor    atomic.Pointer[scanner.Monitor] // nil: nobody is asked yet
	status     progress.Status
	whole      bool // every target was asked to the end

	written error // what went wrong with the output
	partial error // why the list of --master is not whole
	broken  error // what ended the scan before its time
}

// memoryLimit is what the garbage collector keeps the heap below where it can:
// without it, a heap of replies grows to twice the scan's byte budget.
const memoryLimit = scanner.DefaultByteBudget + 64<<20

// run scans and returns its numbers. The error is that of a run that asked
// nobody.
func (j *job) run(inputs []string) (*ledger.Summary, error) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit + j.geo.Bytes())
	}
	stop, ctx, end := shutdown.Listen(j.Terminal, j.hangupEnds())
	defer end()
	j.stop = stop
	j.out.OnFailure(stop.Cancel)
	j.metrics.Attach(j.metricsSource())
	j.logStart()
	j.guard = guard.New(j.guardFlags.limits(), stop.Drain, stop.Interrupted)
	defer j.guard.StartClock()()

	j.keep.Attach(j.checkpointed())
	j.reading.Store(j.list)
	j.status = j.newStatus()
	if err := j.load(stop); err != nil {
		j.bad.rest()
		return nil, j.guarded(err)
	}
	if err := j.keep.Loaded(j.list); err != nil {
		return nil, err
	}
	j.logLoaded()
	if !j.quiet {
		j.sayPlan()
	}
	stats, err := j.ask(ctx)
	j.bad.rest()
	kept := j.keep.Finish()
	if j.written = j.out.Close(); j.written == nil {
		j.written = kept
	}
	if err := j.early(err, &stats); err != nil {
		j.out.Remove()
		j.keep.Forget()
		return nil, err
	}

	own := stats
	listed := j.list.Stats()
	if j.stop.Drained.Err() != nil {
		listed = j.keep.Taken(listed, stats.Taken)
	}
	listed = j.keep.Total(listed, &stats)
	j.keep.AddExclusions(j.exclusions)
	l := ledger.New(listed, &stats)
	rest, known := j.unread(listed)
	if l.Unread = rest; known && l.Unfinished+rest == 0 {
		j.guard.AllFinished()
	}
	sum := ledger.NewSummary(&stats, l, thisBuild())
	sum.Scan, sum.Command, sum.Inputs = j.scanID, j.args, inputNotes(j.list, inputs, &j.from)
	sum.Config = j.configFile
	sum.Order, sum.Shard = j.order.String(), j.shard.String()
	if j.order == flagvalue.Order(list.OrderRandom) {
		sum.Seed = &j.seed.N
	}
	sum.Output, sum.Records = j.output, j.out.Count()
	sum.SetAnswers(&j.tally, j.schedule().Attempts())
	sum.Resumed = j.keep.TimesResumed()
	sum.Records += j.keep.Records()
	if j.written != nil {
		sum.Records = j.out.Complete()
	}
	for _, note := range j.geo.Notes() {
		sum.Databases = append(sum.Databases, ledger.Database(note))
	}
	sum.Exclusions = ledger.Exclusions(j.exclusions)
	sum.Start, sum.End = j.start, time.Now().UTC()
	if !errors.Is(err, context.Canceled) {
		j.broken = err
	}
	if sum.Ended = j.ended(); sum.Ended == ledger.EndedComplete || sum.Ended == ledger.EndedInput && j.list.Err() == nil {
		j.whole = true
		j.guard.JudgeFinal(&stats)
		j.written = j.out.NameParts(nil)
		sum.Ended = j.ended()
	}
	sum.Changes = j.dial.Changes()
	sum.Parts = j.out.Parts()
	j.observer.lookParts()
	sum.Guard = j.guard.Tripped()
	sum.Interrupted = stop.Interrupted()
	sum.CheckRecords(j.unanswered)
	j.status.End(own, sum.Ended)
	return sum, nil
}

// metricsSource is what the metrics are read from.
func (j *job) metricsSource() metrics.Source {
	return metrics.Source{
		List: j.list.Stats, Size: j.list.Size,
		Records: j.out.Taken, OutputFailed: j.out.Failed,
		Draining: j.stop.Draining,
		Resumed:  j.keep.Behind(), Start: j.start, Rate: j.rate.Limit(),
	}
}

// checkpointed is what the checkpoint reads of this scan.
func (j *job) checkpointed() checkpoint.Scan {
	return checkpoint.Scan{
		ID: j.scanID, Start: j.start, MaxTargets: j.maxTargets, MaxPerAddress: j.maxPerAddress,
		Replace: j.force, Output: j.out, Tally: j.tally.Clone, Excluded: j.exclusions.Stop,
	}
}

// ask scans with a status line.
func (j *job) ask(ctx context.Context) (scanner.Stats, error) {
	cfg := j.config()
	cfg.Excluded = j.exclusions.Excluded
	cfg.Monitor = new(scanner.Monitor)
	cfg.Drain = j.stop.Draining
	cfg.Rates = j.dial.Rates()
	if j.keep.Enabled {
		j.keep.Begin()
		cfg.Snapshot, cfg.Excluded = j.keep.Snapshot, j.keep.Excluded
		cfg.Asked = j.keep.Recount(j.list)
		cfg.Silent = j.keep.SilentTargets
	}
	j.monitor.Store(cfg.Monitor)
	defer j.guard.Watch(cfg.Monitor, j.Terminal)()
	defer j.observe(cfg.Monitor)()
	defer j.watchScan(cfg.Monitor)()
	defer j.metrics.End()
	return scanner.Scan(ctx, cfg, j.targets(), j.metrics.Begin(cfg.Monitor, j.handle))
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
	if !known || !j.keep.Resumes() {
		return 0
	}
	return float64(j.keep.Past.Place) / float64(max(n, 1))
}

// newTracker knows how far this scan is.
func (j *job) newTracker() *progress.Tracker {
	cfg := progress.Config{
		Input: j.list.Progress, Given: j.given, Begun: j.begun(),
		Silence: j.schedule().Silence(), Longest: progress.Longest(j.schedule(), scanner.Questions(j.query)),
		SecondPass: j.secondLook, Cooldown: j.cooldown,
		Draining: func() bool { return j.stop.Drained.Err() != nil },
	}
	if past := j.pastCheckpoint(); past != nil {
		cfg.Earlier = &past.Stats
	}
	return progress.NewTracker(cfg)
}

// newStatus shows how this scan is going.
func (j *job) newStatus() progress.Status {
	return progress.Status{Terminal: j.Terminal, Kind: j.statusKind(), Scan: j.scanID}
}

// watchScan shows status lines until stop is called, unless the records are on
// the screen.
func (j *job) watchScan(m *scanner.Monitor) (stop func()) {
	onScreen := j.Interactive && j.output == "-" && isTerminal(j.app.out.w)
	if onScreen && j.status.Kind == progress.Text {
		return func() {}
	}
	return j.status.WatchScan(m, j.newTracker(), j.rate.Limit())
}

// given is how many targets the list has given out: the scan reads ahead.
func (j *job) given() uint64 { return j.list.Stats().Given }

// targets are those of the list. The output is made when the first of them is
// taken: the socket is open then, and no packet was sent.
func (j *job) targets() iter.Seq[scanner.Target] {
	all := j.list.All()
	if j.keep.Enabled {
		all = j.keep.Targets(j.list)
	}
	return func(yield func(scanner.Target) bool) {
		opened := j.keep.Resumes() // it is cut back, whatever comes
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
	if err := j.keep.WriteFirst(); err != nil {
		return err
	}
	if err := j.out.Open(); err != nil {
		return err
	}
	checkpoint.Step("output.created")
	j.logOpened()
	j.sayCut()
	return nil
}

// sayCut says what --append took away of a file that ended within a record.
func (j *job) sayCut() {
	if n := j.out.CutOff(); n > 0 {
		j.Say("%s: torn: %d bytes after the last whole record cut off", console.Plain(j.output, 200), n)
	}
}

// handle takes what one target answered.
func (j *job) handle(r *scanner.Result) {
	silent := r.Status == scanner.StatusNoReply || r.Status == scanner.StatusUnreachable
	wanted := !silent || j.unanswered
	if wanted && j.geo != nil {
		j.geo.Fill(&r.Geo, r.Addr.Addr())
		j.geo.ReportDamage(j.Terminal)
	}
	j.tally.Add(r)
	if wanted {
		j.out.Write(r)
	}
}

// early is the error of a run that asked nobody.
func (j *job) early(err error, stats *scanner.Stats) error {
	switch {
	case stats.DatagramsSent() > 0 || j.keep.Resumes() && err == nil:
		return nil
	case err != nil && !errors.Is(err, context.Canceled):
		return j.source.Failure(err)
	case j.written != nil:
		return j.written
	case j.stop.Interrupted():
		return console.Fail(console.ExitInterrupted, "interrupted before the first packet")
	case j.guard.Tripped() != nil:
		return j.guarded(nil)
	}
	return nothingToAsk(j.list)
}

// ended says in a word why the scan is over.
func (j *job) ended() string {
	switch {
	case j.written != nil:
		return ledger.EndedOutput
	case j.broken != nil:
		return ledger.EndedBroken
	case j.guard.Tripped() != nil:
		return ledger.EndedGuard
	case j.stop.Interrupted():
		return ledger.EndedInterrupted
	case j.list.Err() != nil || j.partial != nil || tornInput(j.list) != nil:
		return ledger.EndedInput
	}
	return ledger.EndedComplete
}

// finish tells how the scan went and chooses the exit code.
func (j *job) finish(sum *ledger.Summary) error {
	if !j.quiet {
		sum.Say(j.Terminal)
	}
	sum.SayWrong(j.Terminal)
	path := j.summaryPath()
	if path != "" {
		if err := sum.WriteFile(path); err != nil {
			path = ""
			j.unsummed(err)
		}
	}
	if !j.quiet {
		j.sayFiles(sum, path)
	}
	verdict := j.verdict(sum)
	j.logFinished(sum, verdict)
	j.keep.Done(j.whole && j.written == nil, path)
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
func (j *job) verdict(sum *ledger.Summary) error {
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
		return console.Fail(console.ExitInterrupted, "interrupted: %s", sum.Targets.Undone())
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
	if j.rotate.On() {
		return summaryName(j.output, j.start)
	}
	if !output.IsFile(j.output) {
		return ""
	}
	return j.output + ".summary.json"
}

func (j *job) sayFiles(sum *ledger.Summary, summaryPath string) {
	if j.output != "-" {
		j.Say("written: %s to %s", console.Plural(sum.Records, "record"), j.out.Place())
	}
	if summaryPath != "" {
		j.Say("numbers of the run: %s", console.Plain(summaryPath, 200))
	}
}

// guarded is the error of a scan that a guard stopped, err if none did.
func (j *job) guarded(err error) error {
	if why := j.guard.Tripped(); why != nil {
		return console.Fail(console.ExitGuard, "%s", why)
	}
	return err
}

// turnRate changes the rate and reports that.
func (j *job) turnRate(up bool) {
	from, to, ok := j.dial.Step(up)
	signal, way := "SIGUSR1", "up"
	if !up {
		signal, way = "SIGUSR2", "down"
	}
	switch {
	case !ok:
		j.Say("%s: without a rate the scan governs itself, as fast as it goes", signal)
		j.Hint("--rate N sets one that can be turned up and down")
	case from == to:
		j.Say("%s: the rate is %s/s, and goes no further %s", signal, console.Short(to), way)
	default:
		j.Say("%s: rate turned %s from %s/s to %s/s, begun with %s/s", signal, way,
			console.Short(from), console.Short(to), console.Short(j.dial.Initial()))
	}
}
