package main

import (
	"fmt"
	"iter"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/progress"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/shutdown"
	"github.com/a2sscan/a2sscan/scanner"
)

// dryRunShown is how many targets a dry run names.
const dryRunShown = 10

// dryRun says what would be asked.
func (j *job) dryRun() error {
	stop, ctx, end := shutdown.Listen(j.Terminal, j.hangupEnds())
	defer end()
	j.status = j.newStatus()
	err := j.load(stop)
	if err == nil {
		err = j.keep.Loaded(j.list)
	}
	if err != nil {
		j.bad.rest()
		return err
	}
	j.sayPlan()
	asked := uint64(0)
	for t := range j.left() {
		if asked++; asked <= dryRunShown {
			fmt.Fprintln(j.app.out, t.Addr)
		}
		if stop.Interrupted() || ctx.Err() != nil {
			return console.Fail(console.ExitInterrupted, "interrupted")
		}
	}
	j.bad.rest()
	j.sayLeft(asked)
	if !j.keep.Enabled || j.list.Err() != nil {
		if err := nothingToAsk(j.list); err != nil {
			return err
		}
	}
	if asked > dryRunShown {
		j.Say("the first %d of them are named", dryRunShown)
	}
	j.Say("%s would be asked: %s", console.Plural(asked, "target"), j.exactly(asked))
	j.Say("each would be asked %s; nothing was sent", &j.query)
	return tornInput(j.list)
}

// left are the targets that a run would ask: with a checkpoint, those that are
// not behind it.
func (j *job) left() iter.Seq[scanner.Target] {
	if !j.keep.Enabled {
		return j.list.All()
	}
	j.keep.Attach(j.checkpointed())
	return j.keep.Targets(j.list)
}

// sayLeft says where the targets of a list would go.
func (j *job) sayLeft(asked uint64) {
	s, behind := j.list.Stats(), ""
	if j.keep.Enabled {
		s = j.keep.ListTotal(s)
		behind = console.Grouped(s.Given-asked) + " that are behind + "
	}
	if j.keep.Enabled && j.keep.SilentTargets != nil {
		j.Say("%s would be asked once more", console.Plural(j.keep.Past.Silent.Waiting(), "silent target"))
	}
	l := ledger.OfList(s)
	j.Say("%s read = %s%s%s that would be asked", console.Grouped(s.Read), l.Accounted(), behind, console.Grouped(asked))
}

// exactly is the forecast for so many targets.
func (j *job) exactly(asked uint64) *progress.Forecast {
	size, known := j.list.Size()
	listed := float64(asked)
	if known {
		listed *= float64(j.list.Listed()) / float64(max(size, 1))
	}
	return j.forecast(listed, float64(asked)-listed)
}
