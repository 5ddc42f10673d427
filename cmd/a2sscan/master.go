package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/progress"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/shutdown"
	"github.com/a2sscan/a2sscan/scanner/master"
)

// masterCommandFlags are the flags of master.
type masterCommandFlags struct {
	masterFlags
	outFlags
	logFlags
	web   bool
	json  bool
	raw   bool
	most  uint64
	quiet bool
}

func (a *app) masterCommand() *cobra.Command {
	f := &masterCommandFlags{}
	cmd := &cobra.Command{
		Use:   "master (--udp HOST:PORT | --web)",
		Short: "Fetch a list of servers from a master server or the Web API",
		Long: `Fetches the list of those servers that meet all of the filters, from a master
server over UDP or from the Steam Web API, and writes one ip:port a line: what
scan reads. A master answers page by page and punishes haste, so a long list
takes minutes: 100,000 servers some 36 over UDP. The Web API gives 10,000
servers an answer; a longer list is asked for in parts, and what can't be is
said.

The list is written as it comes. An interrupt, or an error of the master,
leaves what was fetched. With --force a list that is there is replaced when the
new one is whole; one that is not stays beside it, as PATH.part. The key of the
Web API is read from --key-file or the variable
` + keyVariable + `, and shown to nobody.`,
		Example: `  a2sscan master --udp ` + master.DefaultUDP + ` --app 440 -o tf2.txt
  a2sscan master --web --key-file key.txt --app 730 --json -o cs2.ndjson.zst
  a2sscan master --web --map cp_dustbowl --nor empty | a2sscan scan > tf.ndjson`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := f.check(); err != nil {
				return err
			}
			if err := a.openLog(&f.logFlags); err != nil {
				return err
			}
			return a.master(f)
		},
	}
	f.add(cmd)
	return cmd
}

func (f *masterCommandFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&f.udp, "udp", "", "ask the master server at `HOST:PORT`")
	fs.BoolVar(&f.web, "web", false, "ask the Steam Web API, which needs a key")
	fs.StringVar(&f.url, "url", "", "another `URL` than Valve's for the Web API")
	fs.StringVarP(&f.output, "output", "o", "-",
		"write the list to `PATH`, compressed if it ends in .zst; -: standard output")
	fs.BoolVar(&f.force, "force", false, "replace an existing output, when the new list is whole")
	fs.BoolVar(&f.json, "json", false, "write NDJSON, with all that the master knows of a server")
	fs.BoolVar(&f.raw, "raw", false, "write the pages as they came, in binary (--udp only)")
	fs.Uint64VarP(&f.most, "max-servers", "n", 0, "`N` servers fetched at most; 0: all (default 0)")
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "no status and no closing lines; errors are still said")
	f.logFlags.add(cmd)
	f.masterFlags.add(fs, "")
}

// check refuses what makes no sense together.
func (f *masterCommandFlags) check() error {
	rules := []struct {
		bad       bool
		err, hint string
	}{
		{f.udp == "" && !f.web, "no master: --udp HOST:PORT or --web is needed",
			"--udp " + master.DefaultUDP + " is Valve's; --web needs a key and knows more"},
		{f.udp != "" && f.web, "--udp and --web exclude each other", "ask one after the other"},
		{f.url != "" && !f.web, "--url without --web", "--url is the address of a Web API"},
		{f.keyFile != "" && !f.web, "--key-file without --web", "a master server wants no key"},
		{f.raw && !(f.udp != ""), "--raw without --udp", "--json keeps what the Web API says"},
		{f.raw && f.json, "--raw and --json exclude each other", "scan reads either"},
	}
	for _, r := range rules {
		if r.bad {
			return console.Fail(console.ExitUsage, "%s", r.err).WithHint("%s", r.hint)
		}
	}
	if err := f.outFlags.check(); err != nil {
		return err
	}
	if err := f.logFlags.check(f.output); err != nil {
		return err
	}
	return f.masterFlags.check()
}

// listRun is one run of master.
type listRun struct {
	*masterCommandFlags
	*listOutput
	line []byte
	n    uint64
}

// master fetches a list and writes it.
func (a *app) master(f *masterCommandFlags) error {
	if f.raw && !f.toFile() && isTerminal(a.out.w) {
		return console.Fail(console.ExitUsage, "--raw is binary, and standard output is a terminal").
			WithHint("name a file with -o PATH, or pipe it into a2sscan scan")
	}
	out, err := newListOutput(&f.outFlags, a.out)
	if err != nil {
		return err
	}
	ctx, end := shutdown.Interruptible(true)
	defer end()
	r := &listRun{masterCommandFlags: f, listOutput: out}
	quiet := f.quiet || a.Interactive && !f.toFile() && isTerminal(a.out.w)
	stats, err := a.fetch(ctx, &fetcher{masterFlags: &f.masterFlags, page: r.page(), handle: r.handle}, quiet, r.flush)
	if e := r.close(err == nil); err == nil || e != nil {
		err = e
	}
	if !f.quiet && (err == nil || stats.Requests > 0) {
		sayList(a.Terminal, f.who(), &stats)
	}
	return a.listEnd(r, &stats, err)
}

// fetch fetches a list with a status line. Between requests it calls flush.
func (a *app) fetch(ctx context.Context, f *fetcher, quiet bool, flush func() error) (master.Stats, error) {
	for _, key := range f.filter.Unknown() {
		a.Say("filter %s: no master is known to know it, and masters pass over what they don't know", console.Quoted(key, 40))
	}
	p := newListProgress()
	f.progress = func(now master.Progress) {
		p.tell(now)
		flush() // an error comes again with the next write
	}
	stop := func() {}
	if !quiet {
		stop = a.RepeatStatus(progress.Interval(a.Terminal), p.line)
	}
	defer stop()
	a.sends = true
	a.Log.Info("list begun", "from", f.who())
	stats, err := f.fetch(ctx)
	if err != nil {
		a.Log.Warn("list not whole", "from", f.who(), "servers", stats.Servers, "requests", stats.Requests, "error", err)
	} else {
		a.Log.Info("list fetched", "from", f.who(), "servers", stats.Servers, "requests", stats.Requests, "end", stats.End.String())
	}
	return stats, err
}

// page is told the pages as they came, where those are wanted.
func (r *listRun) page() func([]byte) error {
	if !r.raw {
		return nil
	}
	return r.write
}

// handle writes one server.
func (r *listRun) handle(s *master.Server) error {
	r.n++
	err := r.writeServer(s)
	if err == nil && r.n == r.most {
		return errEnough
	}
	return err
}

func (r *listRun) writeServer(s *master.Server) error {
	switch {
	case r.raw:
		return nil // its page was written
	case r.json:
		r.line = s.AppendLine(r.line[:0])
	default:
		r.line = append(s.Addr.AppendTo(r.line[:0]), '\n')
	}
	return r.write(r.line)
}

// listEnd says how the list ended and chooses the exit code.
func (a *app) listEnd(r *listRun, s *master.Stats, err error) error {
	f, n := r.masterCommandFlags, r.n
	switch {
	case err != nil && n > 0 && a.out.cut():
		return err // nobody has what was fetched
	case err != nil && n > 0:
		a.Say("the list is not whole: %s fetched before, %s", console.Plural(int(n), "server"), r.kept())
		return err
	case err != nil:
		return err
	case n == 0:
		return emptyList(&f.masterFlags, s)
	case f.quiet:
	case f.most > 0 && n == f.most:
		a.Say("ended at --max-servers %d", n)
	default:
		a.Say("end: %v", s.End)
	}
	if f.toFile() && !f.quiet {
		a.Say("written: %s to %s", console.Plural(int(n), "server"), console.Plain(f.output, 200))
	}
	return nil
}

// emptyList is the error of a list with nobody on it.
func emptyList(f *masterFlags, s *master.Stats) error {
	return console.Fail(console.ExitInput, "%s: the list is empty", f.who()).WithHint("%s", emptyHint(f, s))
}

// emptyHint says why a list may be empty.
func emptyHint(f *masterFlags, s *master.Stats) string {
	switch {
	case s.Elsewhere > 0:
		return "all of the servers are in other regions: leave --region away"
	case s.Invalid > 0:
		return "all that came had no address: is it a master?"
	case len(f.filter) > 0 || master.Region(f.region) != master.World:
		return "nobody meets the filter: leave something of it away"
	}
	return "the master knows no servers, or does not tell"
}
