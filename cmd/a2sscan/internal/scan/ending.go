package scan

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/censusfile"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/list"
	"github.com/a2sscan/a2sscan/sink"
)

type outcome struct {
	finished bool  // every target of the lists is finished
	complete bool  // no signal, limit or error ended the scan early
	stopped  bool  // a signal ended the scan before every target was finished
	output   error // the error of the output; nil: none
	broken   error // the error that ended the scan early; nil: none
	unsent   bool  // no datagram could be sent; broken has the error
}

// account returns the counts of all runs together, for the summary. Its argument has
// the counts of this run. If every target is finished, account calls guard.allFinished.
func (s *Run) account(own scanner.Stats) *ledger.Source {
	listed := s.list.Stats()
	if s.shutdown.Drained.Err() != nil {
		listed = s.checkpoint.Taken(listed, own.Taken)
	}
	listed = s.checkpoint.ListTotal(listed)
	own.Unfinished += s.checkpoint.LeftOpen(&own)
	own.Add(&s.checkpoint.Past.Stats)
	rest, known := s.unread(listed)
	if s.how.finished = own.Unfinished == 0 && (s.exhausted || known && rest == 0); s.how.finished {
		s.guard.allFinished()
	}
	return &ledger.Source{Scan: &own, List: listed, Unread: rest}
}

// unread returns how many targets of the list are not yet in the counts of its argument.
// The number is unknown for a list that is read during the scan, and for a shard.
func (s *Run) unread(listed list.Stats) (n uint64, known bool) {
	n, known = s.list.Size()
	if !known || s.plan.Part().Count > 1 {
		return 0, false
	}
	read := listed.Read - listed.Invalid - listed.Duplicate
	n -= min(n, read)
	if s.plan.MaxTargets > 0 {
		n = min(n, s.plan.MaxTargets-min(s.plan.MaxTargets, listed.Given))
	}
	return n, true
}

// conclude decides how the scan ended, and renames the files of a complete census to their
// final names. If the next run of the command starts a new census, conclude sets the
// files of this census aside. Its arguments are the counts of this run and of all runs.
func (s *Run) conclude(own, all *scanner.Stats) {
	how := &s.how
	how.stopped = s.shutdown.Interrupted() && !how.finished // a signal that arrived when all targets were finished does not count
	ended := s.ended()
	how.complete = ended == ledger.EndedComplete || ended == ledger.EndedInput && s.list.Err() == nil
	if how.complete {
		s.guard.judge(own, all, false)
	}
	if how.complete && s.guard.tripped() == nil && all.DatagramsSent() == 0 && all.SendErrors > 0 {
		how.complete, how.unsent = false, true
		how.broken = fmt.Errorf("no target was queried, because no datagram could be sent; %s failed", console.Plural(all.SendErrors, "attempt"))
	}
	if how.complete && (s.guard.tripped() == nil || s.out.File().Name == s.plan.Out.Path) {
		how.output = censusfile.WriteFailure(s.out.Commit())
	} else {
		s.out.Keep() // an incomplete census does not replace an old one
	}
	if how.output == nil && s.startsAnew() {
		how.output = censusfile.WriteFailure(s.out.SetAside())
	}
}

// startsAnew reports whether the next run of the command begins a new census, although
// there is a checkpoint. If a scan could send nothing, or too few targets answered, the
// machine may have had no network. Then the targets that seemed silent must not become part
// of a later census.
func (s *Run) startsAnew() bool {
	trip := s.guard.tripped()
	return s.checkpoint.Enabled && (s.how.unsent || trip != nil && trip.Flag == minHitrate)
}

// ended returns the summary's word for why the scan ended.
func (s *Run) ended() string {
	switch {
	case s.how.output != nil:
		return ledger.EndedOutput
	case s.how.broken != nil:
		return ledger.EndedBroken
	case s.guard.tripped() != nil:
		return ledger.EndedGuard
	case s.how.stopped:
		return ledger.EndedInterrupted
	case s.list.Err() != nil || s.fetched.err != nil || Truncated(s.list) != nil:
		return ledger.EndedInput
	}
	return ledger.EndedComplete
}

func (s *Run) summarize(counts *ledger.Source) *ledger.Summary {
	sum, plan := ledger.NewSummary(counts, s.program.Build), *s.plan
	sum.Scan, sum.Command, sum.Inputs = s.id, s.program.Args, s.inputNotes()
	sum.Config, sum.Names = s.program.ConfigFile, s.names.ID()
	sum.Order, sum.Shard = plan.Order, plan.Shard
	if !plan.InOrder() {
		sum.Seed = &plan.Seed
	}
	plan.Lists, plan.Excluded, plan.Shard = []string{}, s.exclusions.Digest(), plan.Part().String()
	for _, in := range s.list.Inputs() {
		plan.Lists = append(plan.Lists, in.SHA256)
	}
	sum.Plan = ledger.Select(plan, "shards")
	sum.Resumed = s.checkpoint.TimesResumed
	sum.Start, sum.End = s.start, time.Now().UTC()
	sum.SetAnswers(&s.tally, s.plan.Config().Schedule().Requests())
	sum.Databases = s.geo.Notes()
	sum.Exclusions = slices.DeleteFunc(s.exclusions.Counts(), func(x list.Exclusion) bool { return x.Targets+x.Stopped == 0 })
	_, sum.Changes = s.rate.state()
	sum.Records = s.out.Count() + s.checkpoint.Past.Records
	if s.how.output != nil {
		sum.Records = censusfile.ReadableRecords(s.files(), s.plan.Out.Options().Header != nil)
	}
	sum.Earlier = s.earlier
	file := s.out.File()
	sum.Output, sum.Parts = file.Name, s.out.Parts()
	sum.Bytes, sum.Sum = file.Bytes, file.Sum
	s.observer.LogParts()
	sum.Ended, sum.Guard, sum.Interrupted = s.ended(), s.guard.tripped(), s.how.stopped
	sum.CheckRecords(s.plan.Unanswered)
	return sum
}

// report ends a scan whose census is written. Each step is needed even if an earlier one fails:
//
//	writeSummary      the summary file beside the census
//	sayEnd            the closing lines
//	verdict           the error that decides the exit code, and the log
//	checkpoint.Done   the checkpoint goes, or stays for the next run
//	runStep           the --on-complete program
func (s *Run) report(sum *ledger.Summary) error {
	path := s.writeSummary(sum)
	s.sayEnd(sum, path)
	verdict := s.verdict(sum)
	ledger.Finished(s.term.Log, sum, verdict)

	complete, anew := s.how.complete && s.how.output == nil, s.startsAnew()
	var step Step
	if complete && sum.Guard == nil && s.plan.OnComplete != "" {
		step = s.stepAfter(sum, path)
	}
	s.checkpoint.Done(complete || anew, step)
	if anew {
		s.term.Hint("the next run of this command begins a new census")
	}
	if step == nil {
		return verdict
	}
	s.program.Metrics.Close() // otherwise /healthz would report an ended scan for as long as the program runs
	_, err := s.runStep(step)
	if err == nil {
		s.checkpoint.StepDone()
	}
	return cmp.Or(verdict, err)
}

// writeSummary returns the path of the summary file, or "" if there is none.
func (s *Run) writeSummary(sum *ledger.Summary) string {
	path := cmp.Or(s.plan.Summary, s.plan.summaryPath(s.out.File().Name, s.start))
	if path == "" {
		return ""
	}
	err := sum.WriteFile(path)
	if err == nil {
		return path
	}
	err = console.Fail(console.ExitOutput, "summary: %w", err)
	if s.how.output != nil { // summary and output failed, for example because the disk is full
		s.term.Say("%v", err)
	}
	s.how.output = cmp.Or(s.how.output, err)
	return ""
}

func (s *Run) sayEnd(sum *ledger.Summary, path string) {
	switch {
	case s.plan.Quiet:
	case s.plan.StatusKind() == StatusJSON:
		s.term.JSON(struct {
			Time    time.Time       `json:"time"`
			Scan    string          `json:"scan"`
			Summary *ledger.Summary `json:"summary"`
		}{time.Now().UTC(), s.id, sum})
	default:
		name := s.out.File().Name
		c := ledger.Closing{Place: censusfile.FilesText(name, s.plan.Rotate.On(), s.out.Parts()), Summary: path, Verbose: s.plan.Verbose}
		if s.enoughResults() {
			c.Enough = s.plan.MaxResults
		}
		switch {
		case !s.plan.Out.ToFile():
			c.Place = "standard output"
		case name != s.plan.Out.Path && !s.startsAnew():
			c.Kept = s.plan.Out.Path
		}
		sum.Say(s.term, c)
	}
	sum.SayWrong(s.term)
}

// verdict returns the error that the run ends with. If there are several errors, it
// returns the most serious error.
func (s *Run) verdict(sum *ledger.Summary) error {
	switch {
	case s.how.output != nil:
		return s.how.output
	case s.how.unsent: // often because of a firewall, which the user can change
		return console.Fail(console.ExitGuard, "%w", s.how.broken)
	case s.how.broken != nil:
		return console.Fail(console.ExitUsage, "%w", s.how.broken)
	case !sum.Consistent:
		return console.Fail(console.ExitNumbers, "the counts of the scan do not add up")
	case sum.Guard != nil:
		return console.Fail(console.ExitGuard, "%s", sum.Guard)
	case sum.Interrupted:
		return console.Fail(console.ExitInterrupted, "interrupted: %s", sum.Targets.Undone())
	case s.list.Err() != nil:
		return LoadFailure(s.list.Err())
	case s.fetched.err != nil:
		return console.Fail(console.ExitInput, "the list was incomplete: %w", s.fetched.err)
	}
	return Truncated(s.list)
}

func guarded(g *guard, err error) error {
	if why := g.tripped(); why != nil {
		return console.Fail(console.ExitGuard, "%s", why)
	}
	return err
}

func (s *Run) files() []sink.Part {
	if s.plan.Rotate.On() || !censusfile.IsFile(s.out.File().Name) {
		return s.out.Parts()
	}
	return []sink.Part{s.out.File()}
}
