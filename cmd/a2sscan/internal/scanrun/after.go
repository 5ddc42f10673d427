package scanrun

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/compare"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/output"
)

// After chooses what happens once the census is written.
type After struct {
	NoStats bool
	Farms   bool   // print the server farms
	Command string // path of a program to run; "": none
}

// keepStats writes the stats beside the census and returns the name of their file,
// or "" if it wrote none. It reads the census again instead of counting during the
// scan: that does not slow the scan down, takes a second or two per million
// servers, and is right after a resume. It writes no stats for an interrupted scan,
// because they would cover only a part of the census; the run that completes the
// scan writes them.
func (s *Run) keepStats(sum *ledger.Summary, how outcome, summary string) (string, error) {
	files := written(s, sum)
	if s.opts.After.NoStats || s.opts.Out.Columns() != "" || len(files) == 0 || how.output != nil || how.ended == ledger.EndedInterrupted {
		return "", nil
	}
	beside := files[0]
	if s.uploads != nil {
		beside = filepath.Join(s.uploads.Spool, filepath.Base(beside))
	}
	stats, name, err := compare.Keep(files, summary, beside)
	if err != nil {
		return "", err
	}
	if s.opts.After.Farms {
		compare.SayFarms(s.term, &stats.Farms)
	}
	return name, nil
}

// written returns the files of the census, without pipes and devices.
func written(s *Run, sum *ledger.Summary) (files []string) {
	for _, part := range sum.Parts {
		files = append(files, part.Name)
	}
	if name := s.out.Name(); !s.opts.Rotate.On() && s.opts.Out.ToFile() && output.IsFile(name) {
		files = append(files, name)
	}
	return files
}

// onComplete runs the user's program if the census is complete. It does not use a
// shell. The program gets the names of the files in its environment, and its output
// goes to standard error.
func (s *Run) onComplete(sum *ledger.Summary, how outcome, summary, stats string) error {
	if s.opts.After.Command == "" || !how.complete || how.output != nil {
		return nil
	}
	cmd := exec.Command(s.opts.After.Command)
	cmd.Stdout, cmd.Stderr = s.term.Messages(), s.term.Messages()
	cmd.Env = append(os.Environ(),
		"A2SSCAN_SCAN="+sum.Scan, "A2SSCAN_ENDED="+sum.Ended,
		"A2SSCAN_CENSUS="+strings.Join(written(s, sum), "\n"),
		"A2SSCAN_SUMMARY="+summary, "A2SSCAN_STATS="+stats,
	)
	if err := cmd.Run(); err != nil {
		return console.Fail(console.ExitUsage, "--on-complete %s: %w", console.Plain(s.opts.After.Command, 200), err).
			WithHint("the census is complete; only the command failed")
	}
	return nil
}
