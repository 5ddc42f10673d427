package main

import (
	"fmt"
	"iter"

	"github.com/a2sscan/a2sscan/scanner"
)

// dryRunShown is how many targets a dry run names.
const dryRunShown = 10

// dryRun says what would be asked.
func (j *job) dryRun() error {
	stop, ctx, end := j.listen(j.hangupEnds())
	defer end()
	err := j.load(j.scanFlags, j.list, stop)
	if err == nil {
		err = j.keep.loaded(j.list)
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
		if stop.interrupted() || ctx.Err() != nil {
			return fail(exitInterrupted, "interrupted")
		}
	}
	j.bad.rest()
	j.sayLeft(asked)
	if j.keep == nil || j.list.Err() != nil {
		if err := nothingToAsk(j.list); err != nil {
			return err
		}
	}
	if asked > dryRunShown {
		j.say("the first %d of them are named", dryRunShown)
	}
	j.say("%s would be asked: %s", plural(asked, "target"), j.exactly(asked))
	j.say("each would be asked %s; nothing was sent", &j.query)
	return tornInput(j.list)
}

// left are the targets that a run would ask: with a checkpoint, those that are
// not behind it.
func (j *job) left() iter.Seq[scanner.Target] {
	if j.keep == nil {
		return j.list.All()
	}
	j.keep.job = j
	j.keep.walked.inherit(j.keep.past)
	return j.keep.targets(j.list)
}

// sayLeft says where the targets of a list would go.
func (j *job) sayLeft(asked uint64) {
	s, behind := j.list.Stats(), ""
	if j.keep != nil {
		s = j.keep.walked.total(s)
		behind = grouped(s.Given-asked) + " that are behind + "
	}
	if j.keep != nil && j.keep.waiting != nil {
		j.say("%s would be asked once more", plural(j.keep.past.Silent.waiting(), "silent target"))
	}
	l := listLedger(s)
	j.say("%s read = %s%s%s that would be asked", grouped(s.Read), l.without(), behind, grouped(asked))
}

// exactly is the forecast for so many targets.
func (j *job) exactly(asked uint64) *forecast {
	size, known := j.list.Size()
	listed := float64(asked)
	if known {
		listed *= float64(j.list.Listed()) / float64(max(size, 1))
	}
	return j.newForecast(listed, float64(asked)-listed)
}
