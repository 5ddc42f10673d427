package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/flagvalue"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/metrics"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/output"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/playerkey"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/scanrun"
	"github.com/a2sscan/a2sscan/scanner"
)

// scanFlags are the flags of scan.
type scanFlags struct {
	opts      scanrun.Options
	out       outFlags
	how       formatFlags
	timeouts  timeoutFlags
	metrics   metricsFlags
	log       logFlags
	ofMasters *pflag.FlagSet // flags that have an effect only with --master
	lists     []string
	bandwidth flagvalue.Bandwidth
	helpAll   bool
}

func (a *app) scanCommand() *cobra.Command {
	f := &scanFlags{opts: scanrun.Options{
		Query:  flagvalue.Questions(scanner.AskAll),
		Pace:   scanrun.Pace{Rate: scanner.DefaultRate, AddressRate: scanner.DefaultAddressRate},
		Upload: scanrun.Upload{Max: scanrun.DefaultSpoolMax},
	}}
	cmd := &cobra.Command{
		Use:   "scan [TARGET…]",
		Short: "Ask servers and write one JSON line for each",
		Long: `Asks every target and writes one JSON line for each that answered. A TARGET is
a file, - for standard input, ip:port, ip, a range such as
203.0.113.5-203.0.113.20 or a network such as 198.51.100.0/24 (both need
--port, or ports of their own: 198.51.100.0/24:27015-27020). Without any,
standard input is read.

A file holds one of these a line, and what follows it there becomes the
record's tag; or it is CSV or TSV with a column of addresses, NDJSON such as a
census of before, what a2sscan master writes, or answers of the Web API as they
came. It may be compressed with gzip or zstd. With --master the list of a
master is fetched first.

Lists are read first, and their targets asked in random order, each once; with
--order input they are asked while lists are read. With --shard several
machines share a list.

Results go to standard output or to --output, all else to standard error. The
first interrupt finishes what is open, the second ends at once; a session that
closes (SIGHUP) is a first one, unless that is ignored (nohup) or there is an
--exclude-file to read again. On Unix, SIGUSR1 and SIGUSR2 turn the rate up and
down by a tenth, and SIGQUIT says where the scan stands; it goes on.`,
		Example: `  a2sscan scan servers.txt -o census.ndjson.zst
  a2sscan scan 203.0.113.7:27015 | jq .info.name
  cut -f 1 master.tsv | a2sscan scan --query info -r 20k > names.ndjson`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.helpAll {
				return cmd.Help()
			}
			args = append(args, f.lists...)
			if !cmd.Flags().Changed("fallback") {
				f.opts.Fallback = f.opts.SecondLook
			}
			if err := f.chooseRate(cmd.Flags().Changed("rate")); err != nil {
				return err
			}
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
	fs.Lookup("output").Usage = "write records to `PATH`: .ndjson, .csv or .tsv, compressed if .zst or .gz follows; s3://BUCKET/KEY: in parts into an object store; -: standard output"
	f.how.add(fs, "text on a terminal; else by the suffix of --output, or json")
	fs.Var(&f.opts.Rotate, "rotate", "write parts of that size or time, such as 1G or 1h, named PATH with start and number")
	f.addUpload(fs)
	fs.StringVar(&f.opts.Saved.Path, "checkpoint", "", "keep in `FILE`, every second, where the scan stands: the same command again goes on from there")
	fs.BoolVar(&f.opts.Saved.Fresh, "fresh", false, "discard the checkpoint that is there, and begin anew")
	fs.StringVar(&f.opts.Summary, "summary", "", "write the run's numbers to `FILE` as JSON (default with -o: PATH.summary.json)")
	fs.BoolVar(&f.opts.After.NoStats, "no-stats", false, "don't sum the census up in PATH.stats.json when it is written")
	fs.BoolVar(&f.opts.After.Farms, "farms", false, "say which servers look made up by one hand: clones, and shared lists of players")
	fs.StringVar(&f.opts.After.Command, "on-complete", "", "run the program in `FILE` when the census is complete, with A2SSCAN_CENSUS, _SUMMARY, _STATS, _SCAN and _ENDED in its environment; no shell, no arguments")
	fs.StringVar(&f.opts.ScanID, "scan-id", "", "`NAME` of the scan in every record (default its start: 20261120T030000Z)")
	fs.StringVarP(&f.opts.Ports, "port", "p", "", "ports for networks and bare addresses: a `LIST` such as 27015,27020-27030 (an ip alone: 27015)")
	fs.StringArrayVarP(&f.lists, "list", "l", nil, "read targets from `FILE`, as an argument does; may be repeated (-iL, too)")
	f.addTargets(fs)
	fs.Var(&f.opts.Query, "query", "what to ask: a `LIST` of info, players, rules, and ping beside them")
	fs.VarP(&f.opts.Pace.Rate, "rate", "r", rateUsage)
	fs.Var(&f.opts.Pace.Total, "rate-total", "datagrams a second of all shards together: with --shard I/N each sends an N-th of it (default: --rate for each)")
	fs.VarP(&f.bandwidth, "bandwidth", "B", "the rate as bits per second on the wire, such as 10M: 760 for each datagram")
	fs.Var(&f.opts.Pace.AddressRate, "per-address-rate", "datagrams a second to one address; 0: no limit")
	fs.IntVar(&f.opts.Pace.MaxPerAddress, "max-per-address", 0, "`N` servers asked on one address at most; 0: all (default 0)")
	f.timeouts.add(cmd)
	fs.BoolVar(&f.opts.SecondLook, "second-look", false, "ask targets that stayed silent once more, when all others are finished")
	fs.BoolVar(&f.opts.Fallback, "fallback", false, "ask targets that ignore info once each for players and ping (default with --second-look)")
	fs.DurationVar(&f.opts.Cooldown, "cooldown", scanner.DefaultCooldown, "how long to listen for late replies, `D` such as 2s")
	fs.IntVar(&f.opts.Pace.InFlight, "in-flight", 0, "`N` targets open at once; 0: what rate and timeouts need (default 0)")
	fs.Var(&f.opts.Pace.Source, "source", "address of this machine to send from (default: the system's choice)")
	fs.BoolVar(&f.opts.Pace.NoGSO, "no-gso", false, "send each datagram by itself: let the kernel, or the network card, cut none in two (segmentation offload, Linux)")
	fs.BoolVar(&f.opts.Unanswered, "unanswered", false, "write a record for targets without any reply too")
	fs.BoolVar(&f.opts.Raw, "raw", false, "keep every datagram in the record, as base64")
	fs.BoolVar(&f.opts.NoNames, "no-player-names", false, "write hashes in place of player names, under a secret key: equal names stay equal")
	fs.StringVar(&f.opts.PlayerKey, "player-key", "", "`FILE` with that key, made if there is none (default: "+playerkey.DefaultName+" beside the output)")
	addGeoFlag(fs, &f.opts.Databases)
	f.addExclusions(fs)
	f.addGuard(fs)
	fs.Uint64VarP(&f.opts.MaxTargets, "max-targets", "n", 0, "`N` targets asked at most; 0: all (default 0)")
	fs.Uint64VarP(&f.opts.MaxResults, "max-results", "N", 0, "stop after `N` servers answered, in all runs of a resumed scan together, and finish those that are open; 0: never (default 0)")
	fs.BoolVar(&f.opts.DryRun, "dry-run", false, "say what would be asked and what that takes, send nothing, write no file")
	f.metrics.add(cmd)
	f.log.add(cmd)
	f.addMaster(fs)
	fs.Var(&f.opts.Status, "status", "how the scan is going, on standard error: text, each second on a terminal and every 10s elsewhere; json, an object a line each second; none")
	fs.BoolVarP(&f.opts.Verbose, "verbose", "v", false, "close with all counts, and with tables of games, maps, systems and versions")
	fs.BoolVar(&f.helpAll, helpAllFlag, false, "help with all flags")
	fs.BoolVarP(&f.opts.Quiet, "quiet", "q", false, "no status (unless --status asks for it) and no closing summary; errors and bad lines are still said")
}

// addUpload names the flags of an output in an object store.
func (f *scanFlags) addUpload(fs *pflag.FlagSet) {
	u := &f.opts.Upload
	fs.StringVar(&u.Spool, "spool", "", "with -o s3://…: `DIR` in which parts wait until the store has them (default: NAME.spool here)")
	fs.Var(&u.Max, "spool-max", "with -o s3://…: from half of that size on, waiting parts slow the scan down; at that size it stops")
	fs.DurationVar(&u.Wait, "store-wait", scanrun.DefaultStoreWait, "with -o s3://…: how long to wait for the store at the end, `D` such as 10m")
}

// chooseRate sets the rate from --bandwidth, and refuses more than one of the flags
// that set it.
func (f *scanFlags) chooseRate(rateGiven bool) error {
	bandwidth, total := f.bandwidth > 0, f.opts.Pace.Total > 0
	if bandwidth {
		f.opts.Pace.Rate = f.bandwidth.Rate()
	}
	return console.FirstBroken(
		console.Rule{Broken: bandwidth && rateGiven, Err: "--bandwidth and --rate exclude each other",
			Hint: "--bandwidth is the rate in other units"},
		console.Rule{Broken: bandwidth && total, Err: "--bandwidth and --rate-total exclude each other",
			Hint: "--bandwidth is of this scan, --rate-total of all shards together"},
		console.Rule{Broken: total && rateGiven, Err: "--rate and --rate-total exclude each other",
			Hint: "--rate is of this scan, --rate-total of all shards together"},
	)
}

// check completes the options from the flags and refuses flags that contradict each
// other.
func (f *scanFlags) check(a *app, args []string) error {
	f.opts.Out, f.opts.Timeout, f.opts.Retries = f.out.choice(), f.timeouts.timeout, f.timeouts.retries
	f.opts.Out.Format, f.opts.Out.Fields = f.how.chosen(), f.how.fields
	f.opts.Out.Screen = &output.Screen{Terminal: a.term, Color: console.UseColor(f.how.color, a.out.w)}
	if err := f.how.check(); err != nil {
		return err
	}
	if err := f.timeouts.check(); err != nil {
		return err
	}
	if err := f.log.check(f.out.output, f.opts.Summary, f.opts.Saved.Path); err != nil {
		return err
	}
	if err := f.checkMaster(); err != nil {
		return err
	}
	return f.opts.Check(args)
}

// scan asks the targets and writes their answers as records.
func (a *app) scan(f *scanFlags, args []string) error {
	p := a.program()
	if !f.opts.DryRun {
		if err := a.openLog(&f.log); err != nil {
			return err
		}
		var err error
		if p.Metrics, err = a.serveMetrics(&f.metrics, f.opts.Quiet); err != nil {
			return err
		}
		defer p.Metrics.Close()
		a.sends = true
	}
	return scanrun.Scan(a.term, p, &f.opts, args)
}

// program returns what a scan must know about this program.
func (a *app) program() *scanrun.Program {
	return &scanrun.Program{
		Name: self(), Args: a.args, Stdin: a.in, Stdout: a.out, OnScreen: console.IsTerminal(a.out.w),
		Build: thisBuild(), ConfigFile: a.configFile, Metrics: metrics.Off(),
	}
}

// addTargets adds the flags that choose the targets of a list and their order.
func (f *scanFlags) addTargets(fs *pflag.FlagSet) {
	t := &f.opts.Targets
	fs.Var(&t.Order, "order", "in which targets are asked: random, or input, which reads lists while it asks")
	fs.Var(&t.Seed, "seed", "number that chooses the random order: the same targets and seed, the same order (default: by chance)")
	fs.Var(&t.Shard, "shard", "ask only part `I/N` of all addresses, I from 0 to N-1; auto/N takes I from JOB_COMPLETION_INDEX (Kubernetes) or SLURM_ARRAY_TASK_ID (default all)")
	fs.BoolVar(&t.Strict, "strict", false, "refuse a list with a bad line, before anything is sent")
	fs.BoolVar(&t.Resolve, "resolve", false, "look up host names in lists, too, and ask all of their IPv4 addresses; names given as arguments are always looked up")
}

// addExclusions adds the flags that exclude addresses, so that nothing is sent to
// them.
func (f *scanFlags) addExclusions(fs *pflag.FlagSet) {
	x := &f.opts.Exclude
	fs.StringSliceVar(&x.Networks, "exclude", nil,
		"send nothing to `NETS`: addresses, networks or ranges such as 203.0.113.5-203.0.113.20, commas between them; may be repeated")
	fs.StringArrayVar(&x.Files, "exclude-file", nil,
		"send nothing to the networks in `FILE`, one a line with its reason behind a #; may be repeated; read again on SIGHUP, which ends a scan without this flag")
	fs.BoolVar(&x.AllowReserved, "allow-reserved", false,
		"ask addresses in special-purpose networks too (private, loopback, documentation …)")
}

// addGuard adds the flags for when a guard ends the scan.
func (f *scanFlags) addGuard(fs *pflag.FlagSet) {
	g := &f.opts.Guard
	fs.Var((*flagvalue.Share)(&g.MinHitrate), "min-hitrate", "stop if fewer of the targets answer: 2% or 0.02; judged after 1000 targets, and at the end (default off)")
	fs.Int64Var(&g.MaxSendErrors, "max-send-errors", -1, "stop after more than `N` datagrams that could not be sent; -1: never")
	fs.DurationVar(&g.MaxRuntime, "max-runtime", 0, "stop after `D` such as 6h; 0: never (default 0)")
}

// forMaster is the annotation of flags that have an effect only with --master.
const forMaster = "with --master"

// addMaster adds the flags about masters.
func (f *scanFlags) addMaster(fs *pflag.FlagSet) {
	fs.StringVar(&f.opts.From.Where, "master", "", "fetch the list of servers first: from the master server at `HOST:PORT`, from the Steam Web API (web), or from its URL")
	fs.BoolVar(&f.opts.From.Keep, "keep-master", false, "keep what the list says of each server, as master in its record")
	f.ofMasters = pflag.NewFlagSet("", pflag.ContinueOnError)
	f.ofMasters.SortFlags = false
	addMasterFlags(f.ofMasters, &f.opts.From.Options)
	f.ofMasters.VisitAll(func(flag *pflag.Flag) { flag.Annotations = map[string][]string{forMaster: nil} })
	fs.AddFlagSet(f.ofMasters)
}

// checkMaster refuses flags about masters if the scan has none.
func (f *scanFlags) checkMaster() (err error) {
	f.ofMasters.VisitAll(func(flag *pflag.Flag) {
		if flag.Changed && f.opts.From.Where == "" && err == nil {
			err = console.Fail(console.ExitUsage, "--%s without --master", flag.Name).
				WithHint("it chooses servers of a master's list, or says how that is fetched")
		}
	})
	return err
}
