package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/flags"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/masterlist"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/scan"
	"github.com/a2sscan/a2sscan/scanner/master"
)

// ofMasters are the flags that addMasterFlags adds.
var ofMasters = []string{"region", "app", "not-empty", "filter", "key-file"}

func addMasterFlags(fs *pflag.FlagSet, f *masterlist.Options) {
	f.Region = master.World
	fs.Var(&flags.Value[master.Region]{To: &f.Region, Parse: master.ParseRegion, Text: f.Region.String()}, "region", "only servers in the region `NAME`: us-east, us-west, south-america, europe, asia, australia, middle-east, africa or world")
	fs.Uint32Var(&f.App, "app", 0, "only servers of the game with the Steam application `ID`, such as 440; 0: all (default 0)")
	fs.BoolVar(&f.NotEmpty, "not-empty", false, "only servers with players")
	fs.Var(&f.Filter, "filter", "only servers that meet the conditions in `TEXT`, in the syntax of master servers, such as '\\map\\cp_dustbowl\\linux\\1'; may be repeated")
	fs.StringVar(&f.KeyFile, "key-file", "", "read the key of the Web API from `FILE` (default: the variable "+masterlist.KeyVariable+")")
}

type masterCommandFlags struct {
	masterlist.Options
	outFlags
	logFlag
	json  bool
	most  uint64
	quiet bool
}

func (a *app) masterCommand() *cobra.Command {
	f := &masterCommandFlags{}
	cmd := &cobra.Command{
		Use:   "master",
		Short: "Fetch a list of servers from the Web API or a master server",
		Long: `Fetches a list of servers from the Steam Web API or, with --udp, from a master
server. Writes one ip:port per line, as input for scan. --app, --not-empty,
--region and --filter select servers; a server must match all of them.

The Web API returns at most 10,000 servers per answer, for some games 20,000.
master fetches a longer list in parts, and reports any part that is still too
long. Master servers send the list page by page and limit how many pages a
client may request in a minute: 100,000 servers take about 36 minutes. Valve's
own master server has been silent since October 2025.

While the list arrives, master writes it to PATH.part. When the list is complete,
PATH.part becomes PATH; with --force, it replaces an old list. After an interrupt
or an error, PATH.part remains and has all servers fetched so far. master reads
the key of the Web API from --key-file or from the variable
` + masterlist.KeyVariable + `, and never shows it.`,
		Example: `  a2sscan master --key-file key.txt --app 730 --json -o cs2.ndjson.zst
  a2sscan master --not-empty --filter '\map\cp_dustbowl' |
    a2sscan scan > dustbowl.ndjson
  a2sscan master --udp 203.0.113.5:27011 --app 440 -o tf2.txt`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := f.check(); err != nil {
				return err
			}
			if err := a.openLog(&f.logFlag); err != nil {
				return err
			}
			return a.master(f)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&f.UDP, "udp", "", "fetch from the master server at `HOST:PORT` instead of the Web API")
	fs.StringVar(&f.URL, "url", "", "fetch from the Web API at `URL` instead of Valve's")
	fs.StringVarP(&f.output, "output", "o", "-",
		"write the list to `PATH`, compressed if it ends in .zst or .gz; -: standard output")
	fs.BoolVar(&f.force, "force", false, "replace an existing output once the new list is complete")
	fs.BoolVar(&f.json, "json", false, "write NDJSON with all data that the master sends about each server")
	fs.Uint64VarP(&f.most, "max-servers", "n", 0, "fetch at most `N` servers; 0: all (default 0)")
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "print no status and no closing lines, only errors")
	f.logFlag.add(cmd)
	addMasterFlags(fs, &f.Options)
	return cmd
}

func (f *masterCommandFlags) check() error {
	err := console.FirstBroken(
		console.Rule{Broken: f.UDP != "" && f.URL != "", Err: "--udp and --url exclude each other", Hint: "omit one of the two flags: --url is for a Web API, and --udp for a master server"},
		console.Rule{Broken: f.UDP != "" && f.KeyFile != "", Err: "--udp and --key-file exclude each other", Hint: "omit --key-file: a master server needs no key"},
	)
	if err != nil {
		return err
	}
	if err := f.outFlags.check(); err != nil {
		return err
	}
	if err := f.logFlag.check(f.output); err != nil {
		return err
	}
	return f.Options.Check()
}

func (a *app) master(f *masterCommandFlags) error {
	toScreen := !f.toFile() && console.IsTerminal(a.out.w)
	out, err := masterlist.NewWriter(f.output, f.force, a.out)
	if err != nil {
		return err
	}
	ctx, end := scan.Interruptible(true)
	defer end()
	out.JSON, out.Most = f.json, f.most
	quiet := f.quiet || a.term.Interactive && toScreen
	a.sends = true
	stats, err := f.Fetch(ctx, a.term, out.Add, quiet)
	if e := out.Close(err == nil); err == nil || e != nil {
		err = e
	}
	if !f.quiet && (err == nil || stats.Requests > 0) {
		masterlist.Report(a.term, f.Source(), &stats)
	}
	t, n := a.term, out.Count
	switch {
	case err != nil && n > 0 && !a.out.cut():
		t.Say("the list is not complete: %s fetched so far, %s", console.Plural(int(n), "server"), out.Kept())
		return err
	case err != nil:
		return err
	case n == 0:
		return f.EmptyList(&stats)
	case f.quiet:
		return nil
	case f.most > 0 && n == f.most:
		t.Say("ended at --max-servers %d", n)
	default:
		t.Say("end: %s", stats.End)
	}
	if f.toFile() {
		t.Say("written: %s to %s", console.Plural(int(n), "server"), console.Plain(f.output, 200))
	}
	return nil
}
