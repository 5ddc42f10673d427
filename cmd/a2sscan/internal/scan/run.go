package scan

import (
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"net/netip"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/censusfile"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/flags"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/metrics"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/list"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/disk"
	"github.com/a2sscan/a2sscan/wire"
)

// Run is one run of the scan command: its settings, its components and its counts.
type Run struct {
	term    *console.Terminal
	program *Program
	plan    *Plan
	inputs  []string  // the arguments of the command
	id      string    // the name of the scan
	start   time.Time // when the scan's first run began

	list       *list.List
	bad        *BadLines
	fetched    fetchedList // with --master
	exclusions *list.Exclusions
	geo        censusfile.Databases
	tally      ledger.Tally
	names      *PlayerKey
	out        *sink.Output
	earlier    []sink.Scan // with --append: the scans whose records the output already has
	checkpoint *Checkpointer

	shutdown *Shutdown
	guard    *guard
	rate     *rateControl
	observer *ledger.Observer
	status   Status

	unopened  error       // the error of opening the output; nil: none
	unsaved   atomic.Bool // saving the checkpoint failed
	away      atomic.Bool // before the scan, the run reported an outage of the network
	exhausted bool        // all targets were taken from the lists
	how       outcome     // how the scan ended

	reading atomic.Pointer[list.List]       // nil: the lists are not open yet
	monitor atomic.Pointer[scanner.Monitor] // nil: the scanner has not started yet
}

// Scan queries the targets that args name and writes their answers as records. A
// dry run only prints what the scan would query.
func Scan(t *console.Terminal, p *Program, o *Plan, args []string) (err error) {
	s := newRun(t, p, o, args)
	if o.Saved.Path != "" {
		if s.checkpoint, err = OpenCheckpoint(t, p, o); err != nil {
			return err
		}
		defer s.checkpoint.Close()
	}
	if !o.DryRun {
		if err := s.completeEarlier(); err != nil {
			return err
		}
		defer controls(s.turnRate, s.sayState)()
	}
	if err := s.prepare(); err != nil {
		return err
	}
	if o.DryRun {
		return s.dryRun()
	}
	sum, err := s.census()
	if err != nil {
		return err
	}
	return s.report(sum)
}

// Demo scans without a checkpoint or a summary file, and returns the summary.
func Demo(t *console.Terminal, p *Program, o *Plan, args []string) (*ledger.Summary, error) {
	s := newRun(t, p, o, args)
	if err := s.prepare(); err != nil {
		return nil, err
	}
	sum, err := s.census()
	if err != nil {
		return nil, err
	}
	sum.SayWrong(t)
	return sum, s.verdict(sum)
}

func newRun(t *console.Terminal, p *Program, o *Plan, args []string) *Run {
	rate := float64(o.Rate.Rate)
	if o.Rate.On {
		rate = 0 // with --rate auto, signals can't change the rate
	}
	return &Run{
		term: t, program: p, plan: o, inputs: args, id: o.ScanID, start: time.Now().UTC(),
		checkpoint: &Checkpointer{plan: o}, rate: newRateControl(rate),
	}
}

// prepare opens all inputs, takes over the state in the checkpoint, fetches the list of a
// master, and plans the output. It sends nothing to targets and writes no file.
func (s *Run) prepare() (err error) {
	if s.geo, err = censusfile.OpenDatabases(s.plan.Databases); err != nil {
		return err
	}
	if s.plan.NoNames {
		if s.names, err = OpenPlayerKey(s.plan.PlayerKey, s.plan.Out.Path); err != nil {
			return err
		}
	}
	s.plan.Found = Found{
		Targets: NotFiles(s.inputs), Columns: s.plan.Out.Columns(), KeyID: s.names.ID(), Types: s.geo.Types(), Parts: s.plan.Rotate.On(),
	}
	if s.plan.Output, err = filepath.Abs(s.plan.Out.Path); err != nil {
		return err
	}
	stdin := s.program.Stdin
	past, plan := &s.checkpoint.Past, s.plan
	if s.checkpoint.Resumes && !plan.Seeded {
		plan.Seed = past.Plan.Seed
	}
	if s.id, err = s.checkpoint.Inherit(s.id); err != nil {
		return err
	}
	if s.checkpoint.Resumes {
		s.start, s.tally = past.Start, past.Tally
	}
	if s.checkpoint.Enabled && plan.InOrder() && (len(s.inputs) > 0 || !console.IsTerminal(stdin)) {
		if stdin, err = s.checkpoint.HashLists(s.inputs, stdin); err != nil {
			return err
		}
	}
	if s.exclusions, err = s.plan.Exclude.Open(func(note string) { s.term.Say("%s", note) }); err != nil {
		return err
	}
	reloadOnHangup(s.term, s.exclusions, s.plan.Exclude.Files)
	if s.id == "" {
		s.id = s.start.Format("20060102T150405Z")
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

func (s *Run) openTargets(stdin io.Reader) error {
	cfg, err := s.plan.ListConfig(s.inputs, stdin)
	if err != nil {
		return err
	}
	s.bad = &BadLines{Terminal: s.term, Resolves: s.plan.Resolve}
	cfg.Resolve = s.lookUp
	cfg.Exclusions, cfg.Invalid, cfg.Note = s.exclusions, s.bad.Add, func(note string) { s.term.Say("%s", note) }
	cfg.Sources = append(slices.Clone(s.fetched.sources), cfg.Sources...)
	if s.checkpoint.Enabled {
		if s.checkpoint.Resumes && s.plan.MaxPerAddress > 0 {
			cfg.Passed = s.checkpoint.CountGiven
		}
		cfg.Resolve = s.checkpoint.Names.Resolver(cfg.Resolve)
	}
	if cfg.OnlyArgs { // with --resolve, lists may have too many names to print
		cfg.Resolve = ReportAddrs(s.term, cfg.Resolve)
	}
	if s.list, err = list.Open(cfg); err != nil {
		return TargetFailure(err)
	}
	return nil
}

// planOutput returns the output. It does not create or truncate a file yet.
func (s *Run) planOutput() (*sink.Output, error) {
	o := s.plan.Out.Options()
	o.NameKey = s.names.Key()
	o.Failed = func() { s.shutdown.Cancel() }
	if s.plan.Rotate.On() {
		o.Rotate = &sink.Rotation{Start: s.start, Size: s.plan.Rotate.Size, Every: s.plan.Rotate.Every, Hold: s.checkpoint.Enabled}
	}
	if s.checkpoint.Resumes {
		was := s.checkpoint.Past.Output
		o.Replace, o.Resume = was.Replace, &was.Position
		o.Progress = censusfile.ReadProgress(s.term)
	}
	s.earlier = s.plan.earlier()
	out := sink.New(s.plan.Out.Path, o)
	err := out.Check()
	if err == nil && s.plan.Summary != "" {
		err = sink.New(s.plan.Summary, sink.Options{Replace: true}).Check()
	}
	return out, censusfile.WriteFailure(err)
}

// MemoryLimit is the soft limit on the memory of the Go runtime, in bytes. Without this
// limit, a heap full of replies would grow to twice the scan's byte budget.
const MemoryLimit = scanner.DefaultByteBudget + 64<<20

// census runs the scan, and returns the summary. It returns an error only if it queried
// no target.
func (s *Run) census() (*ledger.Summary, error) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(MemoryLimit + s.geo.Bytes())
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(30) // a scan allocates so little that three times as many collections cost almost nothing
	}
	ctx, end := s.listen()
	defer end()
	if err := s.load(); err != nil {
		s.bad.Close()
		return nil, err
	}
	own, err := s.ask(ctx)
	s.bad.Close()
	saved := s.checkpoint.Finish()
	s.how.output = cmp.Or(censusfile.WriteFailure(cmp.Or(s.out.Close(), s.unopened)), saved)
	if !errors.Is(err, context.Canceled) {
		s.how.broken = err
	}
	var nobody error // the reason why no target was queried
	switch {
	case own.DatagramsSent() > 0 || s.checkpoint.Resumes && err == nil:
	case s.how.broken != nil:
		nobody = flags.SourceFailure(s.plan.Source, err)
	case s.how.output != nil:
		nobody = s.how.output
	case s.shutdown.Interrupted():
		nobody = console.Fail(console.ExitInterrupted, "interrupted before the first packet")
	case s.exhausted && s.emptyShard(): // an empty census, which merge needs
	default:
		nobody = guarded(s.guard, NothingToAsk(s.list, s.exclusions))
	}
	if nobody != nil {
		if s.out.Count() == 0 {
			s.out.Discard() // the run reports a more serious error than Discard
		}
		s.checkpoint.Forget()
		return nil, nobody
	}
	counts := s.account(own)
	s.conclude(&own, counts.Scan)
	sum := s.summarize(counts)
	s.status.End(own, sum.Ended)
	return sum, nil
}

// emptyShard reports whether all targets of the complete lists belong to other shards, and
// the census has a file. If there are few addresses, some shards have none.
func (s *Run) emptyShard() bool {
	l := s.list.Stats()
	return s.plan.Out.ToFile() && s.list.Err() == nil && l.Given == 0 && l.OtherShard > 0
}

// listen sets up the signal handler, the metrics and the guard. Its second result stops the
// signal handler and the timer of --max-runtime.
func (s *Run) listen() (ctx context.Context, end func()) {
	o, build := s.plan, s.program.Build
	sd, ctx, stopListening := NewShutdown(s.term, o.Exclude.hangupEnds(), func() { abandonOutput(s.term, s.out) })
	s.shutdown = sd
	s.program.Metrics.Attach(metrics.Source{
		Fill: func(to *ledger.Source) {
			to.List, to.Records, to.Start = s.list.Stats(), s.out.Count(), s.start
			to.Resumed = s.checkpoint.Behind()
			if n, known := s.list.Size(); known {
				to.Expected = float64(n)
			}
			if to.Scan.Rate == 0 { // the scanner has not reported its rate yet
				to.Scan.Rate = o.Rate.Rate.Limit()
			}
		},
		OutputFailed: func() bool { return s.out.Err() != nil || s.unsaved.Load() },
		Draining:     s.shutdown.Drained.Done(),
	})
	attrs := []any{"scan", s.id, "version", build.Version, "commit", build.Commit}
	attrs = append(append(attrs, ledger.LogAttrs(o)...), "output", o.Out.Path, "checkpoint", o.Saved.Path)
	s.term.Log.Info("scan started", attrs...)
	s.guard = &guard{limits: o.Guard, drain: s.shutdown.Drain, interrupted: s.shutdown.Interrupted}
	end = stopListening
	if o.Guard.MaxRuntime > 0 {
		clock := time.AfterFunc(o.Guard.MaxRuntime, func() { s.sayTrip(s.guard.stop(maxRuntime, "the time limit of %v was reached", o.Guard.MaxRuntime)) })
		end = func() { clock.Stop(); stopListening() }
	}
	return ctx, end
}

// abandonOutput ends the program if a write to the output blocks, because nothing else can
// interrupt the write.
func abandonOutput(t *console.Terminal, out *sink.Output) {
	n, writing := out.Waiting()
	if n == 0 && !writing {
		return
	}
	err := console.Fail(console.ExitInterrupted, "interrupted: the reader of the output stopped reading")
	if n > 0 {
		err = console.Fail(console.ExitInterrupted, "%w, and did not read the last %s", err, console.Plural(n, "record"))
	}
	t.Report(err)
	t.LogEnd(err)
	os.Exit(console.ExitInterrupted)
}

// load reads as much of the lists as the scan needs before its first target, and compares
// the lists with the checkpoint. For a resumed scan it also opens the output, even if no
// targets are left. Opening truncates the output at the checkpoint's offset. If the output
// differs from what the checkpoint describes, load sends nothing, changes no file and
// returns an error.
func (s *Run) load() error {
	s.checkpoint.Scan = RunningScan{
		ID: s.id, Start: s.start, Output: s.out, Tally: s.tally.Clone,
		Failed: func() { s.unsaved.Store(true); s.shutdown.Cancel() },
	}
	s.reading.Store(s.list)
	s.status = Status{Terminal: s.term, Kind: s.plan.StatusKind(), Scan: s.id}
	stop := s.status.WatchTargets(Reading, s.list.Progress)
	err := s.list.Load(s.shutdown.Drained)
	if stop(); err != nil {
		return guarded(s.guard, LoadFailure(err))
	}
	if err := s.checkpoint.Loaded(s.list); err != nil {
		return err
	}
	ledger.Loaded(s.term.Log, s.list)
	if !s.plan.Quiet {
		s.printPlan()
	}
	if s.checkpoint.Resumes && !s.plan.DryRun {
		return censusfile.WriteFailure(s.openOutput())
	}
	return nil
}

const judgedEvery = 100 * time.Millisecond

func (s *Run) ask(ctx context.Context) (scanner.Stats, error) {
	cfg := s.plan.Config()
	cfg.Excluded = s.exclusions.Excluded
	if cfg.Tuning.TryPlayers = !NamesNetworks(s.inputs); len(s.fetched.sources) == 0 {
		cfg.Tuning.SweepPort = sweepPort(s.plan.Ports, s.inputs)
	}
	cfg.Control.Monitor = new(scanner.Monitor)
	cfg.Control.Drain = s.shutdown.Drained.Done()
	cfg.Control.Rates = s.rate.rates
	if s.checkpoint.Enabled {
		s.checkpoint.Begin()
		cfg.Resume.Snapshot = s.checkpoint.Snapshot
		cfg.Resume.Asked = s.checkpoint.Recount(s.list)
		cfg.Resume.Silent = s.checkpoint.SilentTargets
	}
	if s.enoughResults() {
		s.shutdown.Drain() // starts no new targets
	}
	limit := s.plan.Rate.Rate.Limit()
	s.observer = &ledger.Observer{Log: s.term.Log, Rate: limit, Parts: s.out.Parts, Reported: len(s.checkpoint.Past.Output.Parts)}
	s.monitor.Store(cfg.Control.Monitor)
	defer console.Every(judgedEvery, func() {
		now := cfg.Control.Monitor.Stats()
		if now.Away != 0 && now.Elapsed == 0 { // the socket can't be opened
			s.sayAway(time.Unix(now.Away, 0), flags.SourceFailure(s.plan.Source, syscall.EADDRNOTAVAIL))
		}
		all := now
		all.Add(&s.checkpoint.Past.Stats)
		s.sayTrip(s.guard.judge(&now, &all, true))
	})()
	defer s.observer.Watch(cfg.Control.Monitor)()
	defer s.status.WatchScan(cfg.Control.Monitor, s.newTracker(), limit)()
	defer s.program.Metrics.End()
	return scanner.Scan(ctx, cfg, s.targets(), s.program.Metrics.Begin(cfg.Control.Monitor, s.handle))
}

// NamesNetworks reports whether an argument is a network, a range, or an address without a
// port. Most of the addresses in such arguments have no server.
func NamesNetworks(args []string) bool {
	return slices.ContainsFunc(NotFiles(args), func(arg string) bool {
		host, _, port := strings.Cut(arg, ":")
		numeric := host != "" && strings.Trim(host, "0123456789./-") == "" // a host name has a letter
		return numeric && (!port || strings.ContainsAny(host, "/-"))
	})
}

// sweepPort returns the port of all targets if no address can occur twice: there is only
// one port, and the arguments are networks that do not overlap. Otherwise it returns 0. It
// also returns 0 for more than maxSweep addresses, because the scan needs one bit of
// memory per address.
func sweepPort(port string, args []string) uint16 {
	const maxSweep = 1 << 28
	ports, err := list.ParsePorts(port)
	if err != nil || len(ports) != 1 {
		return 0
	}
	var nets []netip.Prefix
	size := 0
	for _, arg := range args {
		net, err := netip.ParsePrefix(arg)
		if err != nil || !net.Addr().Is4() || slices.ContainsFunc(nets, net.Overlaps) {
			return 0
		}
		nets = append(nets, net)
		size += 1 << (32 - net.Bits())
	}
	if len(nets) == 0 || size > maxSweep {
		return 0
	}
	return ports[0]
}

func (s *Run) newTracker() *Tracker {
	f := s.plan
	input := func() (part float64, known bool) { // fraction of the targets that the list has yielded or skipped
		_, part, known = s.list.Progress()
		return part, known
	}
	cfg := TrackerConfig{
		Input: input, Given: func() uint64 { return s.list.Stats().Given },
		Questions: wire.Questions(f.Query), Schedule: f.Config().Schedule(), Fallback: f.Fallback,
		Draining: func() bool { return s.shutdown.Drained.Err() != nil },
	}
	if n, known := s.list.Size(); known {
		cfg.Begun = float64(s.checkpoint.Past.Place) / float64(max(n, 1))
	}
	if s.checkpoint.Resumes {
		cfg.Earlier = &s.checkpoint.Past.Stats
	}
	return NewTracker(cfg)
}

// targets returns the targets of the list. When the scanner takes the first target,
// targets creates the output of a new scan: by then the socket is open, but no packet has
// been sent.
func (s *Run) targets() iter.Seq[scanner.Target] {
	return func(yield func(scanner.Target) bool) {
		opened := s.checkpoint.Resumes
		for t := range s.checkpoint.Targets(s.list) {
			if !opened && s.openOutput() != nil {
				return
			}
			opened = true
			if !yield(t) {
				return
			}
		}
		if s.exhausted = true; !opened && s.emptyShard() {
			_ = s.openOutput() // the output keeps the error
		}
	}
}

// openOutput stores a new player key and the first checkpoint. Then it creates the output
// of a new scan, or opens the output of a resumed scan.
func (s *Run) openOutput() error {
	if s.unopened = s.names.Store(); s.unopened != nil {
		return s.unopened
	}
	if err := s.checkpoint.WriteFirst(); err != nil {
		return err
	}
	if err := s.out.Open(); err != nil {
		return err
	}
	disk.Step("output.created")
	attrs := []any{"path", s.plan.Out.Path}
	if s.checkpoint.Resumes {
		attrs = append(attrs, "resumed_at_byte", s.checkpoint.Past.Output.Offset)
	}
	if n := s.out.Cut(); n > 0 {
		attrs = append(attrs, "cut_bytes", n)
		s.term.Say("%s: removed %s after the last complete record", console.Plain(s.plan.Out.Path, 200), console.Plural(uint64(n), "byte"))
	}
	s.term.Log.Info("output opened", attrs...)
	return nil
}

func (s *Run) handle(r *scanner.Result) {
	silent := r.Status == scanner.StatusNoReply || r.Status == scanner.StatusUnreachable
	wanted := !silent || s.plan.Unanswered
	if wanted && s.geo != nil {
		s.geo.Fill(&r.Geo, r.Addr.Addr())
		s.geo.ReportDamage(s.term)
	}
	s.tally.Add(r)
	if s.enoughResults() {
		s.shutdown.Drain() // starts no new targets
	}
	if wanted {
		s.out.Write(s.id, r)
	}
}

func (s *Run) enoughResults() bool {
	return s.plan.MaxResults > 0 && s.tally.Servers >= s.plan.MaxResults
}
