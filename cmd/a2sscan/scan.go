package main

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/censusfile"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/flags"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/metrics"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/scan"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/wire"
)

type scanFlags struct {
	plan      scan.Plan
	out       outFlags
	how       formatFlags
	metrics   string // address; "": none
	log       logFlag
	targeting targetingFlags
	helpAll   bool
}

const scanLong = `Queries every target and writes one line of JSON for each server that answers.
On a terminal it prints a table instead. A TARGET is one of these:

  a file             a list of targets
  -                  a list from standard input; the default without TARGET
  203.0.113.7:27015  one server; the default port is 27015. IPv4 only: apart
                     from Xash3D and CoD4X, no server is known to answer over
                     IPv6
  play.example.com   a host name, unless a file has that name; scan
                     looks it up and queries all its IPv4 addresses
  198.51.100.0/24    a network, with --port or ports of its own:
                     198.51.100.0/24:27015-27020
  203.0.113.5-203.0.113.20
                     a range of addresses, with ports as for a network

A list has one target per line, or several of the same kind. Text after the
target becomes the tag of its record. A list may also be CSV or TSV with a
column of addresses, NDJSON such as an earlier census, the output of a2sscan
master, ZMap, masscan, nmap -oG, RustScan -g, naabu, gamedig, Shodan, Censys or
httpx, or a response of BattleMetrics or the Steam Web API. It may be compressed
with gzip or zstd. Host names in lists need --resolve.
With --master, scan first fetches the list of a master server.

The scan reads all lists first. Then it queries every target once, in random
order. With --order input it queries targets while it reads. With --shard,
several machines share a list.

With --timeout auto, the default, the scan learns from round-trip times how long
to wait for a reply: 150ms to 1s. After a short wait it still listens for late
replies, and continues to query a server that sends one. So servers have as much
time to reply as with --timeout 1s, except at the end of the scan.

With --rate auto, the scan finds the rate that the network path can carry. It
slows down if it loses more datagrams at a higher rate than at a lower one, but
not if it loses as many at both.

Records go to standard output or to --output, everything else to standard error.
After the first Ctrl-C (SIGINT) or SIGTERM, the scan starts no new targets and
finishes those in progress; the second ends the scan at once. SIGHUP acts like
the first Ctrl-C, but is ignored under nohup; with --exclude-file, it makes the
scan read the exclusions again instead. On Unix, SIGUSR1 and SIGUSR2 raise and
lower the rate by a tenth, and SIGQUIT prints the progress.`

func (a *app) scanCommand() *cobra.Command {
	f := &scanFlags{plan: scan.Plan{
		Query:     flags.Questions(wire.AskAll),
		Selection: scan.Selection{Order: "random"},
		Asking:    scan.Asking{Cooldown: flags.Auto{On: true}},
	}}
	cmd := &cobra.Command{
		Use:   "scan [TARGET…]",
		Short: "Query servers and write one record for each",
		Long:  scanLong,
		Example: `  a2sscan scan servers.txt -o census.ndjson.zst
  a2sscan scan 203.0.113.7:27015 | jq .info.name
  cut -f 1 master.tsv | a2sscan scan --query info -r 20k > names.ndjson`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.helpAll {
				return cmd.Help()
			}
			a.term.Structured = f.plan.StatusKind() == scan.StatusJSON
			args = append(args, f.targeting.lists...)
			f.plan.Seeded, f.plan.RateGiven = cmd.Flags().Changed("seed"), cmd.Flags().Changed("rate")
			if err := f.check(a, args); err != nil {
				return err
			}
			return a.scan(f, args)
		},
	}
	f.add(cmd)
	return cmd
}

// add adds the flags. Each help text has the unit; pflag appends the default.
func (f *scanFlags) add(cmd *cobra.Command) {
	f.out.add(cmd)
	fs := cmd.Flags()
	fs.Lookup("output").Usage = "write records to `PATH`, in the format of its suffix: .ndjson, .csv or .tsv; a further suffix .zst or .gz compresses the file; -: standard output"
	f.how.add(fs, "text on a terminal; else by the suffix of --output, or json")
	fs.Var(&flags.Value[sink.Rotation]{To: &f.plan.Rotate, Parse: flags.ParseRotation, Word: "SIZE|TIME"}, "rotate", "split the output into files of this size or duration, such as 1G or 1h; the name of a file is PATH with the start time of the scan and a number")
	fs.StringVar(&f.plan.Saved.Path, "checkpoint", "", "save the progress in `FILE` every second; the same command resumes the scan")
	fs.BoolVar(&f.plan.Saved.Fresh, "fresh", false, "discard the checkpoint and start again")
	fs.StringVar(&f.plan.Summary, "summary", "", "write the summary of the run to `FILE` as JSON (default with -o: PATH.summary.json)")
	fs.StringVar(&f.plan.OnComplete, "on-complete", "", "when the census is complete, run the program `FILE` without a shell and without arguments; its environment has A2SSCAN_CENSUS, _SUMMARY, _STATS, _SCAN and _ENDED; with --checkpoint, the next run first repeats a program that was interrupted or failed")
	fs.StringVar(&f.plan.ScanID, "scan-id", "", "name the scan `NAME` in every record (default: its start time, such as 20261120T030000Z)")
	fs.Var(&flags.Value[string]{To: &f.plan.Order, Parse: flags.ParseOrder, Text: "random", Word: "ORDER"}, "order", "order of the queries: random, or input (the order of the lists); with input, the scan starts before it has read all lists")
	fs.Uint64Var(&f.plan.Seed, "seed", 0, "number `N` that determines the random order; the same targets and seed give the same order (default: random)")
	fs.Var(&flags.Value[string]{To: &f.plan.Shard, Parse: flags.ParseShard}, "shard", "query only shard `I/N` of the addresses, I from 0 to N-1; auto/N takes I from JOB_COMPLETION_INDEX (Kubernetes) or SLURM_ARRAY_TASK_ID (default all)")
	fs.BoolVar(&f.plan.Strict, "strict", false, "if a list has a bad line, or an address that no server can have, stop before sending anything")
	fs.Var(&f.plan.Query, "query", "questions to ask: a `LIST` of info, players, rules and ping")
	fs.Var(&f.plan.Total, "rate-total", "`N` datagrams per second for all shards together; each shard gets an equal share (default: each shard uses --rate)")
	fs.VarP(&flags.Value[flags.Rate]{To: &f.plan.Bandwidth, Parse: flags.ParseBandwidth}, "bandwidth", "B", "set the rate in `BITS` per second on the wire, such as 10M; a datagram counts as 760 bits")
	fs.IntVar(&f.plan.MaxPerAddress, "max-per-address", 0, "query at most `N` servers on one address; 0: all (default 0)")
	fs.BoolVar(&f.plan.SecondLook, "second-look", false, "query silent targets once more when all other targets are finished")
	fs.BoolVar(&f.plan.Fallback, "fallback", false, "send a players and a ping request to each target that does not answer info (default: the last request to a silent target asks for players, except in scans of networks)")
	fs.Var(&f.plan.Cooldown, "cooldown", "listen for late replies for `D` after the last target; auto: 2s, or less when the scan has measured round-trip times")
	fs.IntVar(&f.plan.InFlight, "in-flight", 0, "query at most `N` targets at a time; 0: as many as the rate and the timeout require (default 0)")
	fs.BoolVar(&f.plan.NoGSO, "no-gso", false, "never let the kernel or the network card split a buffer into datagrams (segmentation offload, Linux)")
	fs.BoolVar(&f.plan.Unanswered, "unanswered", false, "also write records for silent targets")
	fs.BoolVar(&f.plan.Raw, "raw", false, "store every datagram in the record, as base64")
	fs.BoolVar(&f.plan.NoNames, "no-player-names", false, "write keyed hashes instead of player names; equal names have equal hashes")
	fs.StringVar(&f.plan.PlayerKey, "player-key", "", "read the key for --no-player-names from `FILE`; scan creates FILE if it does not exist (default: "+scan.DefaultPlayerKey+" beside the output)")
	addGeoFlag(fs, &f.plan.Databases)
	fs.Var(&flags.Value[float64]{To: &f.plan.Guard.MinHitrate, Parse: flags.ParseShare, Word: "SHARE"}, "min-hitrate", "stop if less than this share of the targets answers, such as 2% or 0.02; the first check is after 1,000 targets, the last at the end; after such a stop, the next run starts anew (default off)")
	fs.Int64Var(&f.plan.Guard.MaxSendErrors, "max-send-errors", -1, "stop when more than `N` datagrams could not be sent; -1: never")
	fs.DurationVar(&f.plan.Guard.MaxRuntime, "max-runtime", 0, "stop after `D`, such as 6h; 0: never (default 0)")
	fs.DurationVar(&f.plan.Guard.MaxOutage, "max-outage", 10*time.Minute, "if the network of this machine is away, wait up to `D`, then stop; the scan can be resumed; 0: wait forever")
	fs.Uint64VarP(&f.plan.MaxTargets, "max-targets", "n", 0, "query at most `N` targets; 0: all (default 0)")
	fs.Uint64VarP(&f.plan.MaxResults, "max-results", "N", 0, "stop when `N` servers have answered, counting all runs of a resumed scan; the scan still finishes targets in progress; 0: never (default 0)")
	fs.BoolVar(&f.plan.DryRun, "dry-run", false, "show what would be queried and how long it would take; send nothing, write no file")
	fs.Var(&flags.Value[string]{To: &f.metrics, Parse: flags.ParseListen, Word: "[ADDRESS:]PORT"}, "metrics", "serve Prometheus metrics over HTTP at this port of 127.0.0.1, or at ADDRESS:PORT; port 0: any free port (default off)")
	f.log.add(cmd)
	fs.BoolVar(&f.plan.KeepMaster, "keep-master", false, "store the master's data about a server in the server's record, under the key \"master\"")
	f.targeting.add(cmd, &f.plan.Targeting, "query")
	f.plan.Rate.Rate = scanner.DefaultRate
	fs.VarP(&f.plan.Rate, "rate", "r", rateUsage)
	fs.Var(&flags.Value[scan.StatusKind]{To: &f.plan.Status, Parse: scan.ParseStatusKind, Text: "text", Word: "KIND"}, "status", "progress on standard error: text (every second on a terminal, else every 10s), json (one object per second) or none")
	fs.BoolVarP(&f.plan.Verbose, "verbose", "v", false, "print all counts at the end")
	fs.BoolVar(&f.helpAll, helpAllFlag, false, "show all flags")
	fs.BoolVarP(&f.plan.Quiet, "quiet", "q", false, "print no progress (unless --status asks for it) and no closing summary; errors and bad lines are still reported")
}

// check completes the plan from the flags. It returns an error if a flag is invalid
// or flags contradict each other.
func (f *scanFlags) check(a *app, args []string) error {
	f.plan.Out = f.out.choice()
	f.plan.Out.Format, f.plan.Out.Fields = censusfile.Format(f.how.format), f.how.fields
	f.plan.Out.Screen = &censusfile.Screen{Terminal: a.term, Color: console.UseColor("auto", a.out.w)}
	if err := f.targeting.check(); err != nil {
		return err
	}
	if err := f.log.check(f.out.output, f.plan.Summary, f.plan.Saved.Path); err != nil {
		return err
	}
	if err := censusfile.Overwritten("--log-file", f.log.file, slices.Concat(args, f.plan.Exclude.Files, f.plan.Databases)); err != nil {
		return err
	}
	return f.plan.Check(args)
}

func (a *app) scan(f *scanFlags, args []string) error {
	p := a.program()
	isPlace := func(field string) bool { return strings.HasPrefix(field, "geo.") }
	if len(f.plan.Databases) == 0 && slices.ContainsFunc(f.how.fields, isPlace) && !f.plan.Quiet {
		a.term.Say("the records will have no locations: name a database with --mmdb FILE")
	}
	if f.how.format == "" && !f.plan.Quiet {
		// Users may expect another format in a file with one of these suffixes.
		name := strings.TrimSuffix(strings.TrimSuffix(f.out.output, ".zst"), ".gz")
		switch strings.ToLower(filepath.Ext(name)) {
		case ".json":
			a.term.Hint("each line of %s is a JSON object; use the suffix .ndjson, or make one array with this command: jq -s .", f.out.output)
		case ".txt":
			a.term.Hint("each line of %s is a JSON object; use the suffix .ndjson, or write a table with scan --format text", f.out.output)
		}
	}
	if !f.plan.DryRun {
		if err := a.openLog(&f.log); err != nil {
			return err
		}
		if f.metrics != "" {
			var err error
			if p.Metrics, err = metrics.Listen(a.term, f.metrics, thisBuild()); err != nil {
				return err
			}
			defer p.Metrics.Close()
			if !f.plan.Quiet {
				a.term.Say("metrics: %s", p.Metrics.URL())
			}
		}
		a.sends = true
	}
	return scan.Scan(a.term, p, &f.plan, args)
}

func (a *app) program() *scan.Program {
	return &scan.Program{
		Name: self(), Args: a.args, Stdin: a.in, Stdout: a.out,
		Build: thisBuild(), ConfigFile: a.configFile,
	}
}
