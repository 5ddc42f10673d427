package main

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/inputs"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/masterlist"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/shutdown"
	"github.com/a2sscan/a2sscan/scanner/list"
)

// scanMasterFlags are the flags of scan that have to do with masters.
type scanMasterFlags struct {
	masterFlags
	where string
	keep  bool
	fs    *pflag.FlagSet
}

// forMaster is the annotation of flags that are of use with --master only.
const forMaster = "with --master"

func (f *scanMasterFlags) add(fs *pflag.FlagSet) {
	fs.StringVar(&f.where, "master", "", "fetch the list of servers first: from the master server at `HOST:PORT`, from the Steam Web API (web), or from its URL")
	fs.BoolVar(&f.keep, "keep-master", false, "keep what the list says of each server, as master in its record")
	f.fs = pflag.NewFlagSet("", pflag.ContinueOnError)
	f.fs.SortFlags = false
	f.masterFlags.add(f.fs, "master-")
	f.fs.VisitAll(func(flag *pflag.Flag) { flag.Annotations = map[string][]string{forMaster: nil} })
	fs.AddFlagSet(f.fs)
}

// check refuses what makes no sense together, and reads where the master is.
func (f *scanMasterFlags) check(dryRun, checkpoint bool) error {
	if f.where == "" {
		var alone string
		f.fs.VisitAll(func(flag *pflag.Flag) {
			if flag.Changed && alone == "" {
				alone = flag.Name
			}
		})
		if alone != "" {
			return console.Fail(console.ExitUsage, "--%s without --master", alone).
				WithHint("it chooses servers of a master's list, or says how that is fetched")
		}
		return nil
	}
	if dryRun {
		return console.Fail(console.ExitUsage, "--dry-run and --master exclude each other").
			WithHint("fetch the list first: a2sscan master … | a2sscan scan --dry-run")
	}
	if checkpoint {
		return console.Fail(console.ExitUsage, "--checkpoint and --master exclude each other").
			WithHint("a scan goes on with the same list: fetch it into a file first, with a2sscan master -o FILE")
	}
	switch isURL := strings.Contains(f.where, "://"); {
	case isURL:
		f.URL = f.where
	case f.where != "web":
		f.UDP = f.where
	}
	if f.UDP != "" && f.KeyFile != "" {
		return console.Fail(console.ExitUsage, "--key-file without a Web API").WithHint("a master server wants no key")
	}
	return f.masterFlags.Check()
}

// into sets what the flags say.
func (f *scanMasterFlags) into(cfg *list.Config) {
	cfg.Formats = masterlist.Formats()
	cfg.KeepMaster = f.keep
}

// fetchedList is a list that was fetched before the scan.
type fetchedList struct {
	sources []list.Source
	err     error // why it is incomplete
}

// fetchFirst fetches the list that is to be scanned, if one is. What was
// fetched before an error of the master is scanned.
func (s *scanRun) fetchFirst() error {
	a, f, quiet := s.app, &s.flags.from, s.flags.quiet
	if f.where == "" {
		return nil
	}
	// An output that is refused is known before minutes have passed.
	if _, err := s.planOutput(); err != nil {
		return err
	}
	ctx, end := shutdown.Interruptible(s.flags.exclude.hangupEnds())
	defer end()
	sp, err := inputs.NewSpool(f.keep)
	if err != nil {
		return err
	}
	a.sends = true
	stats, err := f.FetchShown(ctx, a.term, masterlist.Handlers{Server: sp.Add}, quiet, func() error { return nil })
	if !quiet && stats.Requests > 0 {
		masterlist.Report(a.term, f.Source(), &stats)
	}
	switch {
	case stats.Servers == 0 && err == nil:
		return f.EmptyList(&stats)
	case stats.Servers == 0 || ctx.Err() != nil:
		return err
	case err != nil:
		s.fetched.err = err
		a.term.Say("the list is incomplete: scanning what was fetched, %s", console.Plural(int(stats.Servers), "server"))
		a.term.Report(err)
	case !quiet:
		a.term.Say("end: %v", stats.End)
	}
	source, err := sp.Source(f.Source())
	s.fetched.sources = []list.Source{source}
	return err
}
