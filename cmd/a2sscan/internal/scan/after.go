package scan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/sink/census"
	"github.com/a2sscan/a2sscan/sink/disk"
)

// stepAfter returns the variables for the environment of the --on-complete program. They
// contain the names of the census files, but not of pipes and devices. The file that
// A2SSCAN_STATS names need not exist: the program may write statistics to it.
func (s *Run) stepAfter(sum *ledger.Summary, summary string) Step {
	var files []string
	gone := 0
	for _, file := range s.files() {
		files = append(files, file.Name)
		if missing(file.Name) {
			gone++
		}
	}
	if gone > 0 {
		s.term.Say("missing from the output: %s, which --on-complete can't read", console.Plural(gone, "complete part"))
	}
	stats := ""
	if len(files) > 0 && s.plan.Out.Columns() == "" {
		stats = census.Beside(files[0], ".stats.json")
	}
	return Step{
		"A2SSCAN_SCAN=" + sum.Scan, "A2SSCAN_ENDED=" + sum.Ended, "A2SSCAN_CENSUS=" + strings.Join(files, "\n"),
		"A2SSCAN_SUMMARY=" + summary, "A2SSCAN_STATS=" + stats,
	}
}

// completeEarlier runs the --on-complete program again if there is a step, because then the
// program did not succeed after the previous scan. If the program fails again,
// completeEarlier removes the step, and the new scan begins anyway. But if the program
// fails after a signal, the step remains.
func (s *Run) completeEarlier() error {
	step := s.checkpoint.Step
	if step == nil {
		return nil
	}
	if s.plan.OnComplete != "" {
		s.term.Say("running --on-complete again: the program did not succeed after the last scan")
		signalled, err := s.runStep(step)
		if signalled {
			if err == nil {
				s.checkpoint.StepDone()
			}
			return cmp.Or(err, error(console.Fail(console.ExitInterrupted, "interrupted before the first packet")))
		}
		if err != nil {
			s.term.Say("%v; starting the scan anyway", err)
		}
	}
	signal.Reset(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP) // after runStep they have no effect
	s.checkpoint.StepDone()
	return nil
}

// runStep runs the --on-complete program without a shell, and adds step to its
// environment. The output of the program goes to standard error. The second signal kills
// the program and all processes in its group; SIGHUP has no effect. The first result
// reports whether a signal other than SIGHUP arrived.
func (s *Run) runStep(step Step) (signalled bool, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	name := console.Plain(s.plan.OnComplete, 200)
	cmd := exec.CommandContext(ctx, s.plan.OnComplete)
	cmd.Stdout, cmd.Stderr = s.term.Messages(), s.term.Messages()
	cmd.Env = append(os.Environ(), step...)
	cmd.WaitDelay = time.Second // a process that has left the group may still hold the output open
	ownGroup(cmd)
	end := HandleSignals(func(sig os.Signal) {
		switch {
		case sig == syscall.SIGHUP:
		case signalled:
			cancel()
		default:
			signalled = true
			s.term.Say("interrupted: waiting for --on-complete %s", name)
			s.term.Hint("interrupt again to kill the program of --on-complete")
		}
	}, interruptions(true)...)
	err = cmd.Run()
	end()
	disk.Step("step.ended")
	switch {
	case err == nil || errors.Is(err, exec.ErrWaitDelay):
		return signalled, nil
	case ctx.Err() != nil:
		err = fmt.Errorf("interrupted: stopped --on-complete %s", name)
	case signalled: // whoever sent the signal may have sent it to the program, too
		err = fmt.Errorf("interrupted: --on-complete %s: %w", name, err)
	}
	if signalled {
		return true, console.Fail(console.ExitInterrupted, "%w", err).
			WithHint("the census is complete; if the scan had --checkpoint, repeat the scan command to run the program again")
	}
	return signalled, console.Fail(console.ExitUsage, "--on-complete %s: %w", name, err).
		WithHint("the census is complete; only the program of --on-complete failed")
}
