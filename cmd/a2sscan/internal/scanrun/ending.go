package scanrun

import (
	"cmp"
	"context"
	"errors"
	"os"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/checkpoint"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/guard"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/inputs"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/output"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/list"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/census"
)

// outcome says how a scan ended.
type outcome struct {
	ended    string // a word of the summary: complete, interrupted …
	complete bool   // every target was either finished or excluded
	stopped  bool   // a signal has ended the scan before every target was finished
	output   error  // the error of the output; nil: none
	broken   error  // the error that ended the scan early; nil: none
}

// closeOutput completes the checkpoint and closes the output of a scan that
// returned err. It sets broken to err, unless the scan was canceled.
func (s *Run) closeOutput(err error) outcome {
	var how outcome
	saved := s.checkpoint.Finish()
	if how.output = output.Failure(cmp.Or(s.out.Close(), s.unopened)); how.output == nil {
		how.output = saved
	}
	if !errors.Is(err, context.Canceled) {
		how.broken = err
	}
	return how
}

// askedNobody returns the error of a run that has sent no datagram. It returns nil
// if datagrams were sent, or if a resumed scan ended without an error.
func (s *Run) askedNobody(err error, how outcome, stats *scanner.Stats) error {
	switch {
	case stats.DatagramsSent() > 0 || s.checkpoint.Resumes && err == nil:
		return nil
	case how.broken != nil:
		return s.opts.Pace.Source.Failure(err)
	case how.output != nil:
		return how.output
	case s.shutdown.Interrupted():
		return console.Fail(console.ExitInterrupted, "interrupted before the first packet")
	case s.guard.Tripped() != nil:
		return guarded(s.guard, nil)
	}
	return inputs.NothingToAsk(s.list, s.exclusions)
}

// account adds the counts of earlier runs to own, and returns the sums and what the
// summary counts. It tells the guard if every target is finished.
func (s *Run) account(own scanner.Stats) (all scanner.Stats, counts *ledger.Source) {
	all = own
	listed := s.list.Stats()
	if s.shutdown.Drained.Err() != nil {
		listed = s.checkpoint.Taken(listed, own.Taken)
	}
	listed = s.checkpoint.ListTotal(listed)
	all.Add(&s.checkpoint.Past.Stats)
	rest, known := s.unread(listed)
	counts = &ledger.Source{Scan: &all, List: listed, Unread: rest}
	if s.allFinished = all.Unfinished == 0 && (s.exhausted || known && rest == 0); s.allFinished {
		s.guard.AllFinished()
	}
	return all, counts
}

// unread returns how many targets the list has beyond those that listed counts. The
// number is unknown for a list that is read during the scan, and for a shard.
func (s *Run) unread(listed list.Stats) (n uint64, known bool) {
	n, known = s.list.Size()
	if !known || s.opts.Targets.Shard.Count > 1 {
		return 0, false
	}
	read := listed.Read - listed.Invalid - listed.Duplicate
	n -= min(n, read)
	if s.opts.MaxTargets > 0 {
		n = min(n, s.opts.MaxTargets-min(s.opts.MaxTargets, listed.Given))
	}
	return n, true
}

// conclude decides how the scan ended, and gives the files of a complete census
// their final names.
func (s *Run) conclude(how outcome, all *scanner.Stats) outcome {
	how.stopped = s.shutdown.Interrupted() && !s.allFinished // a signal from here on changes nothing
	how.ended = s.ended(how)
	truncated := how.ended == ledger.EndedInput && s.list.Err() == nil
	if how.ended != ledger.EndedComplete && !truncated {
		s.out.Keep()
		return s.setAside(how)
	}
	how.complete = true
	s.guard.JudgeFinal(all)
	if s.guard.Tripped() != nil && s.out.File().Name != s.opts.Out.Path {
		s.out.Keep() // the old census is better than one with which a guard found fault
	} else {
		how.output = output.Failure(s.out.Commit())
	}
	how.ended = s.ended(how)
	return s.setAside(how)
}

// startsAnew reports whether the next run of the command begins a new census, although
// there is a checkpoint. A scan in which too few targets answered may have had no
// network: its silent targets must not become part of a later census.
func (s *Run) startsAnew() bool {
	trip := s.guard.Tripped()
	return s.checkpoint.Enabled && trip != nil && trip.Flag == guard.MinHitrate
}

// setAside makes room for the next census if that starts anew.
func (s *Run) setAside(how outcome) outcome {
	if how.output == nil && s.startsAnew() {
		how.output = output.Failure(s.out.SetAside())
	}
	return how
}

// ended returns the summary's word for why the scan ended.
func (s *Run) ended(how outcome) string {
	switch {
	case how.output != nil:
		return ledger.EndedOutput
	case how.broken != nil:
		return ledger.EndedBroken
	case s.guard.Tripped() != nil:
		return ledger.EndedGuard
	case how.stopped:
		return ledger.EndedInterrupted
	case s.list.Err() != nil || s.fetched.err != nil || inputs.Truncated(s.list) != nil:
		return ledger.EndedInput
	}
	return ledger.EndedComplete
}

// summarize returns the summary of the scan.
func (s *Run) summarize(counts *ledger.Source, how outcome) *ledger.Summary {
	sum := ledger.NewSummary(counts, s.program.Build)
	s.describe(sum)
	sum.SetAnswers(&s.tally, s.opts.config().Schedule().Requests())
	for _, note := range s.geo.Notes() {
		sum.Databases = append(sum.Databases, ledger.Database(note))
	}
	sum.Exclusions = ledger.Exclusions(s.exclusions)
	sum.Datagrams.LateServers = s.late.list()
	sum.Changes = s.rate.Changes()
	sum.Records = s.out.Count() + s.checkpoint.Past.Records
	if how.output != nil {
		sum.Records = output.Readable(s.files(), s.opts.Out.Options().Header != nil)
	}
	file := s.out.File()
	sum.Output, sum.Parts = file.Name, s.out.Parts()
	sum.Bytes, sum.Sum = file.Bytes, file.Sum
	if s.opts.Upload.object() != "" {
		sum.Output = s.opts.Upload.object()
		for i := range sum.Parts {
			sum.Parts[i].Name = s.uploads.object(sum.Parts[i].Name)
		}
	}
	s.observer.Close()
	sum.Ended = how.ended
	sum.Guard = s.guard.Tripped()
	sum.Interrupted = how.stopped
	sum.CheckRecords(s.opts.Records.Unanswered)
	return sum
}

// describe fills in the fields of the summary that identify the scan and its
// inputs.
func (s *Run) describe(sum *ledger.Summary) {
	targets := &s.opts.Targets
	sum.Scan, sum.Command, sum.Inputs = s.id, s.program.Args, s.inputNotes()
	sum.Config, sum.Names = s.program.ConfigFile, s.names.ID()
	sum.Order, sum.Shard = targets.Order.String(), targets.Shard.String()
	if !targets.Order {
		sum.Seed = &targets.Seed.N
	}
	sum.Plan = s.plan(sum.Inputs)
	sum.Resumed = s.checkpoint.TimesResumed
	sum.Start, sum.End = s.start, time.Now().UTC()
}

// report writes the summary, prints how the scan went and returns the
// error that decides the exit code.
func (s *Run) report(sum *ledger.Summary, how outcome) error {
	how = s.uploads.ship(how, sum, s.files())
	path := s.opts.summaryPath(s.out.File().Name, s.start)
	var lost error
	if path != "" {
		if lost = sum.WriteFile(path); lost != nil {
			path = ""
		}
	}
	if !s.opts.Quiet {
		sum.Say(s.term, s.closing(sum, how, s.uploads.object(path)))
	}
	sum.SayWrong(s.term)
	if lost != nil {
		how = how.fileLost(s.term, "summary", lost)
	}
	if path != "" {
		how = s.uploads.ship(how, sum, []sink.Part{{Name: path}})
	}
	verdict := s.verdict(sum, how)
	ledger.Finished(s.term.Log, sum, verdict)
	complete := how.complete && how.output == nil
	var step checkpoint.Step
	if complete && s.opts.OnComplete != "" {
		step = s.stepAfter(sum, s.uploads.object(path))
	}
	s.checkpoint.Done(complete || s.startsAnew(), step)
	if s.startsAnew() {
		s.term.Hint("the next run of this command begins a new census")
	}
	if complete {
		s.uploads.clean()
		if s.opts.Upload.dir != "" {
			os.Remove(s.opts.Upload.dir) // fails if it still has files
		}
	}
	if step != nil {
		verdict = cmp.Or(verdict, newSteps(s).complete(step))
	}
	return verdict
}

// closing returns the places of the results for the closing lines. summary is the
// path or URL of the summary.
func (s *Run) closing(sum *ledger.Summary, how outcome, summary string) ledger.Closing {
	c := ledger.Closing{Place: output.Place(s.out.File().Name, s.opts.Rotate.On(), s.out.Parts()), Summary: summary, Verbose: s.opts.Verbose}
	if enoughResults(s) {
		c.Enough = s.opts.MaxResults
	}
	if !s.opts.Out.ToFile() {
		c.Place = "standard output"
	} else if s.uploads != nil {
		c.Place = s.uploads.place(c.Place, len(sum.Parts), how.output == nil)
	} else if name := s.opts.Out.Path; s.out.File().Name != name && !s.startsAnew() {
		c.Kept = name
	}
	return c
}

// fileLost records that a file beside the output could not be written. If the
// output failed too, as it does when the disk is full, the output's error remains
// and this one is only printed.
func (how outcome) fileLost(t *console.Terminal, what string, err error) outcome {
	lost := console.Fail(console.ExitOutput, "%s: %w", what, err)
	if how.output == nil {
		how.output = lost
		return how
	}
	t.Say("%v", lost)
	return how
}

// verdict returns the error with which the run ends. If there are several, it
// returns the most serious.
func (s *Run) verdict(sum *ledger.Summary, how outcome) error {
	switch {
	case how.output != nil:
		return how.output
	case how.broken != nil:
		return console.Fail(console.ExitUsage, "%w", how.broken)
	case !sum.Consistent:
		return console.Fail(console.ExitNumbers, "numbers do not add up")
	case sum.Guard != nil:
		return console.Fail(console.ExitGuard, "%s", sum.Guard)
	case sum.Interrupted:
		return console.Fail(console.ExitInterrupted, "interrupted: %s", sum.Targets.Undone())
	case s.list.Err() != nil:
		return inputs.LoadFailure(s.list.Err())
	case s.fetched.err != nil:
		return console.Fail(console.ExitInput, "the list was incomplete: %w", s.fetched.err)
	case sum.Datagrams.N("sent") == 0 && sum.Datagrams.N("send_errors") > 0:
		return console.Fail(console.ExitUsage, "nobody was asked: not one of %d datagrams could be sent", sum.Datagrams.N("send_errors"))
	}
	return inputs.Truncated(s.list)
}

// guarded returns the error of a scan that a guard ended, or err if no guard did.
func guarded(g *guard.Guard, err error) error {
	if why := g.Tripped(); why != nil {
		return console.Fail(console.ExitGuard, "%s", why)
	}
	return err
}

// summaryPath returns the path of the summary of a census at path, or "" if there
// is none. By default a pipe or a device has no summary.
func (o *Options) summaryPath(path string, start time.Time) string {
	switch {
	case o.Summary != "" || path == "-":
		return o.Summary
	case o.Rotate.On():
		return census.Beside(sink.PartName(path, start, 1), ".summary.json")
	case !output.IsFile(path):
		return ""
	}
	return census.Beside(path, ".summary.json")
}

// files returns the files of the census, under their names on this machine.
func (s *Run) files() []sink.Part {
	if s.opts.Rotate.On() || !output.IsFile(s.out.File().Name) {
		return s.out.Parts()
	}
	return []sink.Part{s.out.File()}
}
