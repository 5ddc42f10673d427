package scanrun

import (
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/inputs"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/masterlist"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/shutdown"
	"github.com/a2sscan/a2sscan/scanner/list"
)

// Master chooses a master server whose list is fetched before the scan.
type Master struct {
	masterlist.Options
	Where string // HOST:PORT of a master server, web, or the URL of a Web API; empty: no list is fetched
	Keep  bool   // keep the list's entry of a server in its record
}

// Check returns an error for flags that contradict each other. It derives URL or
// UDP from Where.
func (m *Master) Check(dryRun, checkpoint bool) error {
	if m.Where == "" {
		return nil
	}
	if dryRun {
		return console.Fail(console.ExitUsage, "--dry-run and --master exclude each other").
			WithHint("fetch the list first: a2sscan master … | a2sscan scan --dry-run")
	}
	if checkpoint {
		return console.Fail(console.ExitUsage, "--checkpoint and --master exclude each other").
			WithHint("to resume, a scan needs the same list: fetch it into a file first, with a2sscan master -o FILE")
	}
	switch isURL := strings.Contains(m.Where, "://"); {
	case isURL:
		m.URL = m.Where
	case m.Where != "web":
		m.UDP = m.Where
	}
	if m.UDP != "" && m.KeyFile != "" {
		return console.Fail(console.ExitUsage, "--key-file without a Web API").WithHint("a master server wants no key")
	}
	return m.Options.Check()
}

// Into sets the options of cfg that concern lists of masters.
func (m *Master) Into(cfg *list.Config) {
	cfg.Formats = masterlist.Formats()
	cfg.KeepMaster = m.Keep
}

// fetchedList is a list that was fetched before the scan.
type fetchedList struct {
	sources []list.Source
	err     error // why the list is incomplete; nil: it is complete
}

// fetchFirst fetches the list to scan if --master is given. If the master fails
// before the end of its list, the servers fetched so far are scanned.
func (s *Run) fetchFirst() error {
	f, quiet := &s.opts.From, s.opts.Quiet
	if f.Where == "" {
		return nil
	}
	// Check the output now: fetching may take minutes, and a bad --output must be
	// reported before that.
	if _, err := s.planOutput(); err != nil {
		return err
	}
	ctx, end := shutdown.Interruptible(s.opts.Exclude.hangupEnds())
	defer end()
	sp, err := inputs.NewSpool(f.Keep)
	if err != nil {
		return err
	}
	stats, err := f.Fetch(ctx, s.term, masterlist.Handlers{Server: sp.Add}, quiet)
	if !quiet && stats.Requests > 0 {
		masterlist.Report(s.term, f.Source(), &stats)
	}
	switch {
	case stats.Servers == 0 && err == nil:
		return f.EmptyList(&stats)
	case stats.Servers == 0 || ctx.Err() != nil:
		return err
	case err != nil:
		s.fetched.err = err
		s.term.Say("the list is incomplete: scanning what was fetched, %s", console.Plural(int(stats.Servers), "server"))
		s.term.Report(err)
	case !quiet:
		s.term.Say("end: %s", stats.End)
	}
	source, err := sp.Source(f.Source())
	s.fetched.sources = []list.Source{source}
	return err
}
