package scanrun

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/output"
	"github.com/a2sscan/a2sscan/sink/census"
)

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

// statsName returns the name under which the stats of the census belong beside it. It
// returns "" if there is no file of records.
func (s *Run) statsName(files []string) string {
	if len(files) == 0 || s.opts.Out.Columns() != "" {
		return ""
	}
	if s.uploads == nil {
		return census.StatsName(files[0])
	}
	return s.uploads.object(census.StatsName(filepath.Join(s.uploads.Spool, filepath.Base(files[0]))))
}

// onComplete runs the user's program if the census is complete. It does not use a
// shell. The program gets the names of the files in its environment, and its output
// goes to standard error. Nothing has written the stats yet: A2SSCAN_STATS is the name
// for a program that does.
func (s *Run) onComplete(sum *ledger.Summary, how outcome, summary string) error {
	if s.opts.OnComplete == "" || !how.complete || how.output != nil {
		return nil
	}
	files := written(s, sum)
	cmd := exec.Command(s.opts.OnComplete)
	cmd.Stdout, cmd.Stderr = s.term.Messages(), s.term.Messages()
	cmd.Env = append(os.Environ(),
		"A2SSCAN_SCAN="+sum.Scan, "A2SSCAN_ENDED="+sum.Ended, "A2SSCAN_CENSUS="+strings.Join(files, "\n"),
		"A2SSCAN_SUMMARY="+summary, "A2SSCAN_STATS="+s.statsName(files),
	)
	if err := cmd.Run(); err != nil {
		return console.Fail(console.ExitUsage, "--on-complete %s: %w", console.Plain(s.opts.OnComplete, 200), err).
			WithHint("the census is complete; only the command failed")
	}
	return nil
}
