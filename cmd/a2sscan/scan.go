package main

import (
	"os"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/flagvalue"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/inputs"
	"github.com/a2sscan/a2sscan/scanner"
)

// scanFlags are the flags of scan.
type scanFlags struct {
	out     outFlags
	rotate  flagvalue.Rotation
	saved   checkpointFlags
	summary string
	scanID  string

	from       scanMasterFlags
	ports      string
	targets    targetFlags
	exclude    excludeFlags
	maxTargets uint64

	query      flagvalue.Questions
	pace       paceFlags
	timeouts   timeoutFlags
	secondLook bool
	fallback   bool
	cooldown   time.Duration
	guard      guardFlags

	unanswered bool
	raw        bool
	mmdb       []string
	dryRun     bool
	quiet      bool
	status     flagvalue.StatusKind
	metrics    metricsFlags
	log        logFlags
}

// paceFlags choose the rate of a scan and its source address.
type paceFlags struct {
	rate          flagvalue.Rate
	total         flagvalue.Rate // of all shards; 0: not given
	addressRate   flagvalue.Rate
	maxPerAddress int
	inFlight      int
	noGSO         bool
	source        flagvalue.Source
}

// checkpointFlags choose the file in which a scan saves its progress.
type checkpointFlags struct {
	path  string
	fresh bool
}

func (a *app) scanCommand() *cobra.Command {
	f := &scanFlags{
		query: flagvalue.Questions(scanner.AskAll),
		pace:  paceFlags{rate: scanner.DefaultRate, addressRate: scanner.DefaultAddressRate},
	}
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
			if err := f.check(); err != nil {
				return err
			}
			if err := f.divideRate(cmd.Flags().Changed("rate")); err != nil {
				return err
			}
			if !cmd.Flags().Changed("fallback") {
				f.fallback = f.secondLook
			}
			return a.scan(f, args)
		},
	}
	f.add(cmd)
	return cmd
}

// add names the flags. Each says its unit; pflag adds the default.
func (f *scanFlags) add(cmd *cobra.Command) {
	f.out.add(cmd)
	fs := cmd.Flags()
	fs.Var(&f.rotate, "rotate", "write parts of that size or time, such as 1G or 1h, named PATH with start and number")
	fs.StringVar(&f.saved.path, "checkpoint", "", "keep in `FILE`, every second, where the scan stands: the same command again goes on from there")
	fs.BoolVar(&f.saved.fresh, "fresh", false, "discard the checkpoint that is there, and begin anew")
	fs.StringVar(&f.summary, "summary", "", "write the run's numbers to `FILE` as JSON (default with -o: PATH.summary.json)")
	fs.StringVar(&f.scanID, "scan-id", "", "`NAME` of the scan in every record (default its start: 20261120T030000Z)")
	fs.StringVarP(&f.ports, "port", "p", "", "ports for networks and bare addresses: a `LIST` such as 27015,27020-27030 (an ip alone: 27015)")
	f.targets.add(cmd)
	fs.Var(&f.query, "query", "what to ask: a `LIST` of info, players, rules, and ping beside them")
	fs.VarP(&f.pace.rate, "rate", "r", "datagrams a second, k and M are understood; 0: as fast as it goes")
	fs.Var(&f.pace.total, "rate-total", "datagrams a second of all shards together: with --shard I/N each sends an N-th of it (default: --rate for each)")
	fs.Var(&f.pace.addressRate, "per-address-rate", "datagrams a second to one address; 0: no limit")
	fs.IntVar(&f.pace.maxPerAddress, "max-per-address", 0, "`N` servers asked on one address at most; 0: all (default 0)")
	f.timeouts.add(cmd)
	fs.BoolVar(&f.secondLook, "second-look", false, "ask targets that stayed silent once more, when all others are finished")
	fs.BoolVar(&f.fallback, "fallback", false, "ask targets that ignore info once each for players and ping (default with --second-look)")
	fs.DurationVar(&f.cooldown, "cooldown", scanner.DefaultCooldown, "how long to listen for late replies, `D` such as 2s")
	fs.IntVar(&f.pace.inFlight, "in-flight", 0, "`N` targets open at once; 0: what rate and timeouts need (default 0)")
	fs.Var(&f.pace.source, "source", "address of this machine to send from (default: the system's choice)")
	fs.BoolVar(&f.pace.noGSO, "no-gso", false, "send each datagram by itself: let the kernel, or the network card, cut none in two (segmentation offload, Linux)")
	fs.BoolVar(&f.unanswered, "unanswered", false, "write a record for targets without any reply too")
	fs.BoolVar(&f.raw, "raw", false, "keep every datagram in the record, as base64")
	addGeoFlag(fs, &f.mmdb)
	f.exclude.add(cmd)
	f.guard.add(cmd)
	fs.Uint64VarP(&f.maxTargets, "max-targets", "n", 0, "`N` targets asked at most; 0: all (default 0)")
	fs.BoolVar(&f.dryRun, "dry-run", false, "say what would be asked and what that takes, send nothing, write no file")
	f.metrics.add(cmd)
	f.log.add(cmd)
	f.from.add(fs)
	fs.Var(&f.status, "status", "how the scan is going, on standard error: text, each second on a terminal and every 10s elsewhere; json, an object a line each second; none")
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "no status (unless --status asks for it) and no closing summary; errors and bad lines are still said")
}

// check refuses what makes no sense together or by itself.
func (f *scanFlags) check() error {
	for _, check := range []func() error{
		f.out.check, f.checkCheckpoint, f.guard.check, f.timeouts.check, f.targets.check,
		func() error { return f.log.check(f.out.output, f.summary, f.saved.path) },
		func() error { return f.from.check(f.dryRun, f.saved.path != "") },
		f.checkOutputs, f.checkNumbers, f.checkScanID,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// rule is a combination of flags that is refused.
type rule struct {
	broken    bool
	err, hint string
}

// firstBroken returns the error of the first rule that is broken.
func firstBroken(rules ...rule) error {
	for _, r := range rules {
		if r.broken {
			return console.Fail(console.ExitUsage, "%s", r.err).WithHint("%s", r.hint)
		}
	}
	return nil
}

func (f *scanFlags) checkOutputs() error {
	return firstBroken(
		rule{f.rotate.On() && !f.out.toFile(), "--rotate without --output",
			"the parts are named after it: -o census.ndjson.zst"},
		rule{f.rotate.On() && f.out.append, "--rotate and --append exclude each other",
			"each part is a new file"},
		rule{f.summary == "-", "--summary can't go to standard output",
			"name a file: standard output is for records"},
		rule{f.out.toFile() && inputs.SamePath(f.summary, f.out.output), "--summary and --output name the same file",
			"omit --summary: it goes to PATH.summary.json"},
	)
}

func (f *scanFlags) checkNumbers() error {
	return firstBroken(
		rule{f.cooldown < 0, "--cooldown is negative", "--cooldown 0 does not wait for late replies"},
		rule{f.pace.maxPerAddress < 0, "--max-per-address is negative", "--max-per-address 0 asks all"},
		rule{f.pace.inFlight < 0, "--in-flight is negative", "--in-flight 0 follows rate and timeouts"},
		rule{0 < f.pace.rate && f.pace.rate < 0.001, "--rate is below one datagram in 1000 seconds",
			"--rate 0 is as fast as it goes"},
	)
}

// divideRate makes the rate of this shard from that of all shards.
func (f *scanFlags) divideRate(rateGiven bool) error {
	if f.pace.total == 0 {
		return nil
	}
	if rateGiven {
		return console.Fail(console.ExitUsage, "--rate and --rate-total exclude each other").
			WithHint("--rate is of this scan, --rate-total of all shards together")
	}
	f.pace.rate = f.pace.total / flagvalue.Rate(max(f.targets.shard.Count, 1))
	return f.checkNumbers()
}

func (f *scanFlags) checkScanID() error {
	const hint = "it stands in every record"
	return firstBroken(
		rule{len(f.scanID) > 200, "--scan-id is longer than 200 bytes", hint},
		rule{!utf8.ValidString(f.scanID), "--scan-id is not UTF-8", hint},
	)
}

// checkCheckpoint refuses a checkpoint that no scan could resume from.
func (f *scanFlags) checkCheckpoint() error {
	info, err := os.Stat(f.out.output)
	switch {
	case f.saved.path == "" && f.saved.fresh:
		return console.Fail(console.ExitUsage, "--fresh without --checkpoint").
			WithHint("--force replaces an output that is there")
	case f.saved.path == "":
		return nil
	case !f.out.toFile():
		return console.Fail(console.ExitUsage, "--checkpoint needs a file to write to").
			WithHint("name one with -o PATH: what went to a pipe can't be cut back")
	case err == nil && !info.Mode().IsRegular() && !info.IsDir():
		return console.Fail(console.ExitUsage, "--checkpoint needs a file to write to, and %s is none", console.Plain(f.out.output, 100)).
			WithHint("what went to a pipe or a device can't be cut back")
	case f.out.append:
		return console.Fail(console.ExitUsage, "--checkpoint and --append exclude each other").
			WithHint("give the scan a file of its own: a2sscan cat reads several")
	}
	for _, own := range checkpointFiles(f.saved.path) {
		if inputs.SamePath(own, f.out.output) || inputs.SamePath(own, f.summary) {
			return console.Fail(console.ExitUsage, "--checkpoint names the file of another flag").
				WithHint("the checkpoint is a file of its own, and so are .lock, .silent and .tmp beside it")
		}
	}
	return nil
}

// checkpointFiles are all files that a scan with a checkpoint may make beside
// its output, and remove.
func checkpointFiles(path string) []string {
	return []string{path, path + ".lock", path + ".silent", path + ".tmp"}
}

func (f *scanFlags) config() scanner.Config {
	return scanner.Config{
		Questions:     scanner.Questions(f.query),
		Rate:          f.pace.rate.Limit(),
		AddressRate:   f.pace.addressRate.Limit(),
		MaxPerAddress: f.pace.maxPerAddress,
		Timeout:       f.timeouts.timeout,
		Retries:       flagvalue.OrOff(f.timeouts.retries),
		SecondPass:    f.secondLook,
		Fallback:      f.fallback,
		Cooldown:      flagvalue.OrOff(f.cooldown),
		InFlight:      f.pace.inFlight,
		NoGSO:         f.pace.noGSO,
		Raw:           f.raw,
		Source:        f.pace.source.AddrPort(),
	}
}

// isTerminal reports whether r is a terminal.
func isTerminal(r any) bool {
	f, ok := r.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
