package scanrun

import (
	"fmt"
	"iter"
	"strings"
	"sync/atomic"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/inputs"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/progress"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/shutdown"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/list"
)

// dryRunShown is the maximum number of targets that a dry run lists.
const dryRunShown = 10

// dryRun prints which targets the scan would query.
func (s *Run) dryRun() error {
	stop, ctx, end := shutdown.Listen(s.term, s.opts.Exclude.hangupEnds())
	defer end()
	s.status = s.opts.newStatus(s.term, s.id)
	err := s.readLists(stop.Drained)
	if err == nil {
		err = s.checkpoint.Loaded(s.list)
	}
	if err != nil {
		s.bad.Close()
		return err
	}
	s.printPlan()
	asked, err := s.countTargets(func() bool { return stop.Interrupted() || ctx.Err() != nil })
	if err != nil {
		return err
	}
	s.bad.Close()
	sayLeft(s, asked)
	if !s.checkpoint.Enabled || s.list.Err() != nil {
		if err := inputs.NothingToAsk(s.list, s.exclusions); err != nil {
			return err
		}
	}
	if asked > dryRunShown {
		s.term.Say("the first %d are listed", dryRunShown)
	}
	s.term.Say("%s would be asked: %s", console.Plural(asked, "target"), s.opts.exactForecast(s.list, asked))
	s.term.Say("each would be asked for %s; nothing was sent", strings.ReplaceAll(s.opts.Query.String(), ",", ", "))
	return inputs.Truncated(s.list)
}

// countTargets prints the first dryRunShown targets that a run would query, and
// returns the number of all. It fails when interrupted returns true.
func (s *Run) countTargets(interrupted func() bool) (uint64, error) {
	var asked atomic.Uint64
	_, all, known := s.foresee()
	all /= uint64(max(1, s.opts.Targets.Shard.Count))
	stop := s.status.WatchTargets(progress.Counting, func() (uint64, float64, bool) {
		n := asked.Load()
		return n, min(1, float64(n)/float64(max(all, 1))), known
	})
	defer stop()
	for t := range s.left() {
		if asked.Add(1) <= dryRunShown {
			fmt.Fprintln(s.program.Stdout, t.Addr)
		}
		if interrupted() {
			return 0, console.Fail(console.ExitInterrupted, "interrupted")
		}
	}
	return asked.Load(), nil
}

// left returns the targets that a run would query. With a checkpoint, it omits
// those that earlier runs finished.
func (s *Run) left() iter.Seq[scanner.Target] {
	if !s.checkpoint.Enabled {
		return s.list.From(0)
	}
	s.checkpoint.Attach(checkpointed(s))
	return s.checkpoint.Targets(s.list)
}

// sayLeft prints how many list entries were read, how many of them a run would
// query, and why it would not query the others. asked is the number of targets that
// this run would query.
func sayLeft(s *Run, asked uint64) {
	now, behind := s.list.Stats(), ""
	if s.checkpoint.Enabled {
		now = s.checkpoint.ListTotal(now)
		behind = console.Grouped(now.Given-asked) + " that are behind + "
	}
	if s.checkpoint.Enabled && s.checkpoint.SilentTargets != nil {
		s.term.Say("%s would be asked once more", console.Plural(s.checkpoint.Past.Silent.Waiting(), "silent target"))
	}
	l := ledger.OfList(now)
	s.term.Say("%s read = %s%s%s that would be asked", console.Grouped(now.Read), l.Accounted(), behind, console.Grouped(asked))
}

// exactForecast returns the forecast for asked targets of the list.
func (o *Options) exactForecast(l *list.List, asked uint64) *progress.Forecast {
	size, known := l.Size()
	listed := float64(asked)
	if known {
		listed *= float64(l.Listed()) / float64(max(size, 1))
	}
	return o.forecast(listed, float64(asked)-listed)
}
