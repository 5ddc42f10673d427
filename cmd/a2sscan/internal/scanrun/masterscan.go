package scanrun

import (
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/shutdown"
	"github.com/a2sscan/a2sscan/scanner/list"
)

// fetchedList is a list that was fetched before the scan.
type fetchedList struct {
	sources []list.Source
	err     error // why the list is incomplete; nil: it is complete
}

// checkMaster returns an error for flags that contradict --master.
func (o *Options) checkMaster() error {
	switch {
	case o.From.Where != "" && o.DryRun:
		return console.Fail(console.ExitUsage, "--dry-run and --master exclude each other").
			WithHint("fetch the list first: a2sscan master … | a2sscan scan --dry-run")
	case o.From.Where != "" && o.Saved.Path != "":
		return console.Fail(console.ExitUsage, "--checkpoint and --master exclude each other").
			WithHint("to resume, a scan needs the same list: fetch it into a file first, with a2sscan master -o FILE")
	}
	return o.From.Check()
}

// fetchFirst fetches the list to scan if --master is given. If the master fails
// before the end of its list, the servers fetched so far are scanned.
func (s *Run) fetchFirst() error {
	if s.opts.From.Where == "" {
		return nil
	}
	// Check the output now: fetching may take minutes, and a bad --output must be
	// reported before that.
	if _, err := s.planOutput(); err != nil {
		return err
	}
	ctx, end := shutdown.Interruptible(s.opts.Exclude.hangupEnds())
	defer end()
	source, stats, err := s.opts.From.Load(ctx, s.term, s.opts.Quiet)
	switch {
	case source == nil:
		return err
	case err != nil:
		s.fetched.err = err
		s.term.Say("the list is incomplete: scanning what was fetched, %s", console.Plural(int(stats.Servers), "server"))
		s.term.Report(err)
	}
	s.fetched.sources = []list.Source{*source}
	return nil
}
