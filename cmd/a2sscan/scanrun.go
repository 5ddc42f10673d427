package main

import (
	"context"
	"io"
	"iter"
	"os"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/census"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/checkpoint"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/flagvalue"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/geo"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/guard"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/inputs"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/metrics"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/output"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/progress"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ratecontrol"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/scanlog"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/shutdown"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/tally"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/list"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/disk"
)

// scanRun is one run of scan: its settings, its parts and its numbers.
type scanRun struct {
	app    *app
	flags  *scanFlags
	inputs []string  // the arguments
	id     string    // name of the scan
	start  time.Time // of its first part

	list       *list.List
	bad        *inputs.BadLines
	fetched    fetchedList // with --master
	exclusions *list.Exclusions
	geo        geo.Databases
	tally      tally.Tally
	out        *output.Output
	checkpoint *checkpoint.Checkpointer

	shutdown *shutdown.Shutdown
	guard    *guard.Guard
	rate     *ratecontrol.Control
	metrics  *metrics.Server
	observer *scanlog.Observer
	status   progress.Status
	late     lateConflicts
	reading  atomic.Pointer[list.List]       // nil: no list is read yet
	monitor  atomic.Pointer[scanner.Monitor] // nil: no target is asked yet
}

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
	saved, err := a.openCheckpoint(f)
	if err != nil {
		return err
	}
	defer saved.Close()
	s := a.newScan(f, args)
	s.checkpoint, s.metrics = saved, watched
	if !f.dryRun {
		defer s.controls()()
	}
	if err := s.prepare(); err != nil {
		return err
	}
	if f.dryRun {
		return s.dryRun()
	}
	a.sends = true
	defer inputs.ReloadOnHangup(a.term, s.exclusions, f.exclude.files)()
	sum, how, err := s.census()
	if err != nil {
		return err
	}
	return s.report(sum, how)
}

// newScan returns a scan that saves no checkpoint and is not watched.
func (a *app) newScan(f *scanFlags, args []string) *scanRun {
	return &scanRun{
		app: a, flags: f, inputs: args, id: f.scanID, start: time.Now().UTC(),
		checkpoint: checkpoint.Off(), metrics: metrics.Off(), rate: ratecontrol.New(float64(f.pace.rate)),
	}
}

// openWindows opens the log and the metrics of a scan. A dry
// run has neither.
func (a *app) openWindows(f *scanFlags) (*metrics.Server, error) {
	if f.dryRun {
		return metrics.Off(), nil
	}
	if err := a.openLog(&f.log); err != nil {
		return nil, err
	}
	return a.serveMetrics(&f.metrics, f.quiet)
}

// openCheckpoint opens the checkpoint that the flags name.
func (a *app) openCheckpoint(f *scanFlags) (*checkpoint.Checkpointer, error) {
	if f.saved.path == "" {
		return checkpoint.Off(), nil
	}
	_, commit := buildVersion()
	return checkpoint.Open(a.term, checkpoint.Options{
		Path: f.saved.path, Fresh: f.saved.fresh, LookOnly: f.dryRun,
		Program: self(), Args: a.args, Version: commit,
	})
}

// thisBuild is the version of this program.
func thisBuild() ledger.Build {
	version, commit := buildVersion()
	return ledger.Build{Version: version, Commit: commit}
}

// prepare opens everything that can be opened before anything is sent or
// written.
func (s *scanRun) prepare() (err error) {
	if s.geo, err = geo.Open(s.flags.mmdb); err != nil {
		return err
	}
	stdin := s.app.in
	if s.checkpoint.Enabled {
		if stdin, err = s.resume(stdin); err != nil {
			return err
		}
	}
	if s.exclusions, err = s.flags.exclude.open(reportIdlePipe(s.app.term)); err != nil {
		return err
	}
	if s.id == "" {
		s.id = scanName(s.start)
	}
	if err := s.fetchFirst(); err != nil {
		return err
	}
	if err := s.openTargets(stdin); err != nil {
		return err
	}
	s.out, err = s.planOutput()
	return err
}

// resume takes over what the checkpoint says, if there is one. It returns what
// is to be read in place of stdin.
func (s *scanRun) resume(stdin io.Reader) (io.Reader, error) {
	past, seed := s.checkpoint.Past, &s.flags.targets.seed
	if past != nil && !seed.Given {
		seed.N = past.Plan.Seed
	}
	plan, err := s.flags.scanPlan(s.inputs)
	if err != nil {
		return nil, err
	}
	plan.Databases = databasesOf(s.geo)
	if s.id, err = s.checkpoint.Inherit(plan, s.id); err != nil {
		return nil, err
	}
	if past != nil {
		s.start, s.tally = past.Start, past.Tally
		resumeDatabases(s.geo, past.Plan.Databases, s.app.term)
		s.checkpoint.SetDatabases(databasesOf(s.geo))
	}
	inOrder := s.flags.targets.order == flagvalue.Order(list.OrderInput)
	if !inOrder || len(s.inputs) == 0 && isTerminal(stdin) {
		return stdin, nil
	}
	return s.checkpoint.HashLists(s.inputs, stdin)
}

// resumeDatabases takes over which databases earlier parts of the scan used.
func resumeDatabases(bases geo.Databases, past []checkpoint.Database, t *console.Terminal) {
	var ids []geo.ID
	for _, db := range past {
		ids = append(ids, geo.ID(db))
	}
	bases.Resume(ids, t)
}

// databasesOf are the files of --mmdb as a checkpoint has them.
func databasesOf(bases geo.Databases) (all []checkpoint.Database) {
	for _, id := range bases.IDs() {
		all = append(all, checkpoint.Database(id))
	}
	return all
}

// openTargets checks the targets.
func (s *scanRun) openTargets(stdin io.Reader) error {
	cfg, err := s.flags.listConfig(s.inputs, stdin)
	if err != nil {
		return err
	}
	s.bad = inputs.NewBadLines(s.app.term)
	cfg.Exclusions, cfg.Sources, cfg.Invalid = s.exclusions, s.fetched.sources, s.bad.Add
	cfg.Waiting = reportIdlePipe(s.app.term)
	if s.checkpoint.Enabled {
		cfg.LeftOut = s.checkpoint.LeaveOut
		if s.checkpoint.Resumes() && s.flags.pace.maxPerAddress > 0 {
			cfg.Passed = s.checkpoint.CountGiven
		}
		if cfg.Resolve != nil {
			cfg.Resolve = s.checkpoint.HostNames().Resolver(cfg.Resolve)
		}
	}
	if s.list, err = list.Open(cfg); err != nil {
		return inputs.TargetFailure(err)
	}
	return nil
}

// reportIdlePipe returns a function that reports a named pipe that no program
// writes to.
func reportIdlePipe(t *console.Terminal) func(pipe string) {
	return func(pipe string) { t.Say("waiting for a program to write to %s", pipe) }
}

// listConfig returns the list's configuration from the flags.
func (f *scanFlags) listConfig(args []string, stdin io.Reader) (list.Config, error) {
	cfg := list.Config{Args: args, Stdin: stdin, StdinIsTerminal: isTerminal(stdin), Max: f.maxTargets}
	if f.ports != "" {
		ports, err := inputs.ParsePorts("--port", f.ports)
		if err != nil {
			return cfg, err
		}
		cfg.Ports = ports
	}
	f.targets.into(&cfg)
	f.from.into(&cfg)
	return cfg, nil
}

// planOutput returns the output. It makes and cuts no file yet.
func (s *scanRun) planOutput() (*output.Output, error) {
	o := s.flags.out.planned(s.id)
	if s.flags.rotate.On() {
		rotation := s.flags.rotate.Plan(s.start)
		rotation.Hold = s.checkpoint.Enabled
		o.Divide(rotation)
	}
	if s.checkpoint.Resumes() {
		was := &s.checkpoint.Past.Output
		o.Resume(output.Position{
			Offset: was.Offset, Sum: was.Sum, Replace: was.Replace, Parts: was.Parts, Records: was.Records,
		})
		o.ShowProgress(census.ReadProgress(s.app.term))
	}
	if err := o.Check(); err != nil {
		return nil, err
	}
	return o, s.flags.checkSummary()
}

// checkSummary refuses a path where the summary can't be written, before any
// target is asked.
func (f *scanFlags) checkSummary() error {
	if f.summary == "" {
		return nil
	}
	return output.Failure(sink.Check(f.summary, sink.Options{Replace: true}))
}

// scanName is the default name of a scan: its start.
func scanName(start time.Time) string { return start.Format("20060102T150405Z") }

// memoryLimit is what the garbage collector keeps the heap below where it can:
// without it, a heap of replies grows to twice the scan's byte budget.
const memoryLimit = scanner.DefaultByteBudget + 64<<20

// limitMemory sets the limit, unless the user did. extra bytes are needed for
// something else.
func limitMemory(extra int64) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit + extra)
	}
}

// census scans, and returns the numbers and how the scan ended. The error is
// that of a run that asked no target.
func (s *scanRun) census() (*ledger.Summary, outcome, error) {
	limitMemory(s.geo.Bytes())
	ctx, end := s.listen()
	defer end()
	if err := s.load(); err != nil {
		return nil, outcome{}, err
	}
	if err := s.reopenOutput(); err != nil {
		s.bad.Close()
		return nil, outcome{}, err
	}
	stats, err := s.ask(ctx)
	s.bad.Close()
	how := s.closeOutput(err)
	if err := s.askedNobody(err, how, &stats); err != nil {
		s.out.Remove()
		s.checkpoint.Forget()
		return nil, how, err
	}
	all, l := s.account(stats)
	how = s.conclude(how, &all)
	sum := s.summarize(&all, l, how)
	s.status.End(stats, how.ended)
	return sum, how, nil
}

// listen starts what can end the scan early: signals and the guard.
func (s *scanRun) listen() (ctx context.Context, end func()) {
	sd, ctx, stopListening := shutdown.Listen(s.app.term, s.flags.exclude.hangupEnds())
	s.shutdown = sd
	s.out.OnFailure(s.shutdown.Cancel)
	s.shutdown.OnStuck(s.leave)
	s.metrics.Attach(s.metricsSource())
	logStart(s)
	s.guard = guard.New(s.flags.guard.limits(), s.shutdown.Drain, s.shutdown.Interrupted)
	stopClock := s.guard.StartClock()
	return ctx, func() { stopClock(); stopListening() }
}

// leave ends the program if the reader of a pipe takes no more records: nothing
// else ends a write that waits for it.
func (s *scanRun) leave() {
	n := s.out.Unwritten()
	if n == 0 {
		return
	}
	err := console.Fail(console.ExitInterrupted,
		"interrupted: the reader of the output stopped, and did not take the last %s", console.Plural(n, "record"))
	s.app.term.Report(err)
	s.app.logEnd(err)
	os.Exit(console.ExitInterrupted)
}

// load reads the lists.
func (s *scanRun) load() error {
	s.checkpoint.Attach(s.checkpointed())
	s.reading.Store(s.list)
	s.status = s.flags.newStatus(s.app.term, s.id)
	if err := s.readLists(s.shutdown.Drained); err != nil {
		s.bad.Close()
		return guarded(s.guard, err)
	}
	if err := s.checkpoint.Loaded(s.list); err != nil {
		return err
	}
	scanlog.Loaded(s.app.term.Log, s.list)
	if !s.flags.quiet {
		s.printPlan()
	}
	return nil
}

// readLists reads the lists, as far as they have to be read before the first
// target, with a status line. A signal ends it.
func (s *scanRun) readLists(ctx context.Context) error {
	defer s.status.WatchLoading(s.list.Loading)()
	return inputs.LoadFailure(s.list.Load(ctx))
}

// metricsSource returns the source of the metrics.
func (s *scanRun) metricsSource() metrics.Source {
	return metrics.Source{
		List: s.list.Stats, Size: s.list.Size,
		Records: s.out.Taken, OutputFailed: s.out.Failed,
		Draining: s.shutdown.Draining,
		Resumed:  s.checkpoint.Behind(), Start: s.start, Rate: s.flags.pace.rate.Limit(),
	}
}

// checkpointed is what the checkpoint reads of this scan.
func (s *scanRun) checkpointed() checkpoint.Scan {
	return checkpoint.Scan{
		ID: s.id, Start: s.start, MaxTargets: s.flags.maxTargets, MaxPerAddress: s.flags.pace.maxPerAddress,
		Replace: s.flags.out.force, Output: s.out, Tally: s.tally.Clone, Excluded: s.exclusions.Stop,
	}
}

// ask asks the targets, with a status line.
func (s *scanRun) ask(ctx context.Context) (scanner.Stats, error) {
	cfg := s.flags.config()
	cfg.Excluded = s.exclusions.Excluded
	cfg.LateConflict = s.late.add
	cfg.Monitor = new(scanner.Monitor)
	cfg.Drain = s.shutdown.Draining
	cfg.Rates = s.rate.Rates()
	if s.checkpoint.Enabled {
		s.checkpoint.Begin()
		cfg.Snapshot, cfg.Excluded = s.checkpoint.Snapshot, s.checkpoint.Excluded
		cfg.Asked = s.checkpoint.Recount(s.list)
		cfg.Silent = s.checkpoint.SilentTargets
	}
	s.observer = s.newObserver()
	s.monitor.Store(cfg.Monitor)
	defer s.guard.Watch(cfg.Monitor, s.app.term)()
	defer s.observer.Watch(cfg.Monitor)()
	defer s.watchScan(cfg.Monitor)()
	defer s.metrics.End()
	return scanner.Scan(ctx, cfg, s.targets(), s.metrics.Begin(cfg.Monitor, s.handle))
}

// newObserver logs what the scan does.
func (s *scanRun) newObserver() *scanlog.Observer {
	reported := 0
	if past := s.checkpoint.Past; past != nil {
		reported = len(past.Output.Parts)
	}
	return scanlog.New(s.app.term.Log, s.flags.pace.rate.Limit(), s.out.Parts, reported)
}

// begun is how much of the list earlier parts of the scan did; past may be nil.
func begun(l *list.List, past *checkpoint.Checkpoint) float64 {
	n, known := l.Size()
	if !known || past == nil {
		return 0
	}
	return float64(past.Place) / float64(max(n, 1))
}

// newTracker knows how far this scan is.
func (s *scanRun) newTracker() *progress.Tracker {
	f := s.flags
	cfg := progress.Config{
		Input: s.list.Progress, Given: func() uint64 { return s.list.Stats().Given }, Begun: begun(s.list, s.checkpoint.Past),
		Silence: f.schedule().Silence(), Longest: progress.Longest(f.schedule(), scanner.Questions(f.query)),
		SecondPass: f.secondLook, Cooldown: f.cooldown,
		Draining: func() bool { return s.shutdown.Drained.Err() != nil },
	}
	if past := s.checkpoint.Past; past != nil {
		cfg.Earlier = &past.Stats
	}
	return progress.NewTracker(cfg)
}

// newStatus shows how a scan is going.
func (f *scanFlags) newStatus(t *console.Terminal, scan string) progress.Status {
	return progress.Status{Terminal: t, Kind: f.statusKind(), Scan: scan}
}

// watchScan shows status lines until stop is called, unless the records are on
// the screen.
func (s *scanRun) watchScan(m *scanner.Monitor) (stop func()) {
	onScreen := s.app.term.Interactive && s.flags.out.output == "-" && isTerminal(s.app.out.w)
	if onScreen && s.status.Kind == progress.Text {
		return func() {}
	}
	return s.status.WatchScan(m, s.newTracker(), s.flags.pace.rate.Limit())
}

// reopenOutput opens the output of a scan that is resumed, and cuts it back, even
// if no target follows. If it is not as the checkpoint left it, nothing is asked, and
// all files stay as they are.
func (s *scanRun) reopenOutput() error {
	if !s.checkpoint.Resumes() {
		return nil
	}
	return output.Failure(s.openOutput())
}

// targets are those of the list. The output of a new scan is made when the first of
// them is taken: the socket is open then, and no packet was sent.
func (s *scanRun) targets() iter.Seq[scanner.Target] {
	all := s.list.All()
	if s.checkpoint.Enabled {
		all = s.checkpoint.Targets(s.list)
	}
	return func(yield func(scanner.Target) bool) {
		opened := s.checkpoint.Resumes()
		for t := range all {
			if !opened && s.openOutput() != nil {
				return
			}
			opened = true
			if !yield(t) {
				return
			}
		}
	}
}

func (s *scanRun) openOutput() error {
	if err := s.checkpoint.WriteFirst(); err != nil {
		return err
	}
	if err := s.out.Open(); err != nil {
		return err
	}
	disk.Step("output.created")
	attrs := []any{"path", s.flags.out.output}
	if s.checkpoint.Resumes() {
		attrs = append(attrs, "resumed_at_byte", s.checkpoint.Past.Output.Offset)
	}
	if n := s.out.CutOff(); n > 0 {
		attrs = append(attrs, "cut_bytes", n)
		s.app.term.Say("%s: truncated: %d bytes after the last complete record cut off", console.Plain(s.flags.out.output, 200), n)
	}
	s.app.term.Log.Info("output opened", attrs...)
	return nil
}

// handle takes what one target answered.
func (s *scanRun) handle(r *scanner.Result) {
	silent := r.Status == scanner.StatusNoReply || r.Status == scanner.StatusUnreachable
	wanted := !silent || s.flags.unanswered
	if wanted && s.geo != nil {
		s.geo.Fill(&r.Geo, r.Addr.Addr())
		s.geo.ReportDamage(s.app.term)
	}
	s.tally.Add(r)
	if wanted {
		s.out.Write(r)
	}
}

// logStart tells what is going to be scanned, and how.
func logStart(s *scanRun) {
	version, commit := buildVersion()
	s.app.term.Log.Info("scan started", "scan", s.id, "version", version, "commit", commit,
		"seed", s.flags.targets.seed.N, "order", s.flags.targets.order.String(), "shard", s.flags.targets.shard.String(), "query", s.flags.query.String(),
		"rate", console.Short(s.flags.pace.rate.Limit()), "per_address_rate", console.Short(s.flags.pace.addressRate.Limit()),
		"timeout", s.flags.timeouts.timeout.String(), "retries", s.flags.timeouts.retries, "second_look", s.flags.secondLook,
		"output", s.flags.out.output, "checkpoint", s.flags.saved.path, "exclusion_rules", s.exclusions.Len())
}
