package scanrun

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/checkpoint"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/output"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/shutdown"
	"github.com/a2sscan/a2sscan/sink/census"
	"github.com/a2sscan/a2sscan/sink/disk"
)

// written returns the files of the census, without pipes and devices.
func written(s *Run, sum *ledger.Summary) (files []string) {
	for _, part := range sum.Parts {
		files = append(files, part.Name)
	}
	if name := s.out.File().Name; !s.opts.Rotate.On() && s.opts.Out.ToFile() && output.IsFile(name) {
		files = append(files, name)
	}
	return files
}

// stepAfter returns the environment of the program of --on-complete: the names of the
// files of the census. Nothing has written the stats yet: A2SSCAN_STATS is the name for
// a program that does.
func (s *Run) stepAfter(sum *ledger.Summary, summary string) checkpoint.Step {
	files, stats := written(s, sum), ""
	if len(files) > 0 && s.opts.Out.Columns() == "" {
		stats = census.Beside(files[0], ".stats.json")
	}
	return checkpoint.Step{
		"A2SSCAN_SCAN=" + sum.Scan, "A2SSCAN_ENDED=" + sum.Ended, "A2SSCAN_CENSUS=" + strings.Join(files, "\n"),
		"A2SSCAN_SUMMARY=" + summary, "A2SSCAN_STATS=" + stats,
	}
}

func newSteps(s *Run) *steps { return &steps{s.term, s.opts.OnComplete, s.checkpoint} }

// steps runs the program of --on-complete. The checkpoint keeps a step until the program
// has succeeded.
type steps struct {
	term    *console.Terminal
	program string // path; empty: there is none
	saved   *checkpoint.Checkpointer
}

// complete runs the program after a complete scan.
func (r *steps) complete(step checkpoint.Step) error {
	_, err := r.run(step)
	if err == nil {
		r.saved.StepDone()
	}
	return err
}

// completeEarlier runs the step that an earlier run of the command did not complete.
// If it fails again, this scan begins anyway, and nobody tries the step a third time.
func (r *steps) completeEarlier() error {
	step := r.saved.Step
	if step == nil {
		return nil
	}
	if r.program != "" {
		r.term.Say("running --on-complete again: it was not completed after the last scan")
		signalled, err := r.run(step)
		if signalled {
			return cmp.Or(err, error(console.Fail(console.ExitInterrupted, "interrupted before the first packet")))
		}
		if err != nil {
			r.term.Say("%v; the scan begins", err)
		}
	}
	r.saved.StepDone()
	return nil
}

// run runs the program without a shell, with step in its
// environment. Its output goes to standard error. The second signal ends the program
// with all processes of its group; a session that closes does not. signalled reports
// whether a signal arrived.
func (r *steps) run(step checkpoint.Step) (signalled bool, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	name := console.Plain(r.program, 200)
	cmd := exec.CommandContext(ctx, r.program)
	cmd.Stdout, cmd.Stderr = r.term.Messages(), r.term.Messages()
	cmd.Env = append(os.Environ(), step...)
	cmd.WaitDelay = time.Second // a process that left the group may keep its output open
	ownGroup(cmd)
	end := shutdown.Handle(func(sig os.Signal) {
		switch {
		case sig == syscall.SIGHUP:
		case signalled:
			cancel()
		default:
			signalled = true
			r.term.Say("interrupted: waiting for --on-complete %s", name)
			r.term.Hint("interrupt again to end it")
		}
	}, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err = cmd.Run()
	end()
	disk.Step("step.ended")
	switch {
	case err == nil || errors.Is(err, exec.ErrWaitDelay):
		return signalled, nil
	case ctx.Err() != nil:
		return true, console.Fail(console.ExitInterrupted, "interrupted: --on-complete %s was ended", name).
			WithHint("the census is complete; with --checkpoint, the same command runs the program again")
	}
	return signalled, console.Fail(console.ExitUsage, "--on-complete %s: %w", name, err).
		WithHint("the census is complete; only the command failed")
}
