package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/flagvalue"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/list"
)

// scanFlags are the flags of scan.
type scanFlags struct {
	outFlags
	excludeFlags
	guardFlags
	patienceFlags
	metricsFlags
	logFlags
	rotate     flagvalue.Rotation
	checkpoint string
	fresh      bool
	summary    string
	scanID     string
	from       scanMasterFlags

	ports string
	targetFlags
	query      flagvalue.Questions
	maxTargets uint64

	rate          flagvalue.Rate
	addressRate   flagvalue.Rate
	maxPerAddress int
	secondLook    bool
	cooldown      time.Duration
	inFlight      int
	noGSO         bool
	source        flagvalue.Source

	unanswered bool
	raw        bool
	mmdb       []string
	dryRun     bool
	quiet      bool
	status     flagvalue.StatusKind
}

func (a *app) scanCommand() *cobra.Command {
	f := &scanFlags{
		query:       flagvalue.Questions(scanner.AskAll),
		rate:        scanner.DefaultRate,
		addressRate: scanner.DefaultAddressRate,
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
			return a.scan(f, args)
		},
	}
	f.add(cmd)
	return cmd
}

// add names the flags. Each says its unit; pflag adds the default.
func (f *scanFlags) add(cmd *cobra.Command) {
	f.outFlags.add(cmd)
	fs := cmd.Flags()
	fs.Var(&f.rotate, "rotate", "write parts of that size or time, such as 1G or 1h, named PATH with start and number")
	fs.StringVar(&f.checkpoint, "checkpoint", "", "keep in `FILE`, every second, where the scan stands: the same command again goes on from there")
	fs.BoolVar(&f.fresh, "fresh", false, "discard the checkpoint that is there, and begin anew")
	fs.StringVar(&f.summary, "summary", "", "write the run's numbers to `FILE` as JSON (default with -o: PATH.summary.json)")
	fs.StringVar(&f.scanID, "scan-id", "", "`NAME` of the scan in every record (default its start: 20261120T030000Z)")
	fs.StringVarP(&f.ports, "port", "p", "", "ports for networks and bare addresses: a `LIST` such as 27015,27020-27030 (an ip alone: 27015)")
	f.targetFlags.add(cmd)
	fs.Var(&f.query, "query", "what to ask: a `LIST` of info, players, rules")
	fs.VarP(&f.rate, "rate", "r", "datagrams a second, k and M are understood; 0: as fast as it goes")
	fs.Var(&f.addressRate, "per-address-rate", "datagrams a second to one address; 0: no limit")
	fs.IntVar(&f.maxPerAddress, "max-per-address", 0, "`N` servers asked on one address at most; 0: all (default 0)")
	f.patienceFlags.add(cmd)
	fs.BoolVar(&f.secondLook, "second-look", false, "ask targets that stayed silent once more, when all others are finished")
	fs.DurationVar(&f.cooldown, "cooldown", scanner.DefaultCooldown, "how long to listen for late replies, `D` such as 2s")
	fs.IntVar(&f.inFlight, "in-flight", 0, "`N` targets open at once; 0: what rate and timeouts need (default 0)")
	fs.Var(&f.source, "source", "address of this machine to send from (default: the system's choice)")
	fs.BoolVar(&f.noGSO, "no-gso", false, "send each datagram by itself: let the kernel, or the network card, cut none in two (segmentation offload, Linux)")
	fs.BoolVar(&f.unanswered, "unanswered", false, "write a record for targets without any reply too")
	fs.BoolVar(&f.raw, "raw", false, "keep every datagram in the record, as base64")
	addGeoFlag(fs, &f.mmdb)
	f.excludeFlags.add(cmd)
	f.guardFlags.add(cmd)
	fs.Uint64VarP(&f.maxTargets, "max-targets", "n", 0, "`N` targets asked at most; 0: all (default 0)")
	fs.BoolVar(&f.dryRun, "dry-run", false, "say what would be asked and what that takes, send nothing, write no file")
	f.metricsFlags.add(cmd)
	f.logFlags.add(cmd)
	f.from.add(fs)
	fs.Var(&f.status, "status", "how the scan is going, on standard error: text, each second on a terminal and every 10s elsewhere; json, an object a line each second; none")
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "no status (unless --status asks for it) and no closing summary; errors and bad lines are still said")
}

// check refuses what makes no sense together or by itself.
func (f *scanFlags) check() error {
	if err := f.outFlags.check(); err != nil {
		return err
	}
	if err := f.checkCheckpoint(); err != nil {
		return err
	}
	if err := f.guardFlags.check(); err != nil {
		return err
	}
	if err := f.patienceFlags.check(); err != nil {
		return err
	}
	if err := f.targetFlags.check(); err != nil {
		return err
	}
	if err := f.logFlags.check(f.output, f.summary, f.checkpoint); err != nil {
		return err
	}
	if err := f.from.check(f.dryRun, f.checkpoint != ""); err != nil {
		return err
	}
	rules := []struct {
		bad       bool
		err, hint string
	}{
		{f.rotate.On() && !f.toFile(), "--rotate without --output",
			"the parts are named after it: -o census.ndjson.zst"},
		{f.rotate.On() && f.append, "--rotate and --append exclude each other",
			"parts are files of their own"},
		{f.summary == "-", "--summary can't go to standard output",
			"name a file: records have standard output for themselves"},
		{f.toFile() && same(f.summary, f.output), "--summary and --output name the same file",
			"leave --summary away: it goes to PATH.summary.json"},
		{f.cooldown < 0, "--cooldown is negative", "--cooldown 0 does not wait for late replies"},
		{f.maxPerAddress < 0, "--max-per-address is negative", "--max-per-address 0 asks all"},
		{f.inFlight < 0, "--in-flight is negative", "--in-flight 0 follows rate and timeouts"},
		{0 < f.rate && f.rate < 0.001, "--rate is below one datagram in 1000 seconds",
			"--rate 0 is as fast as it goes"},
		{len(f.scanID) > 200, "--scan-id is longer than 200 bytes",
			"it stands in every record"},
		{!utf8.ValidString(f.scanID), "--scan-id is not UTF-8", "it stands in every record"},
	}
	for _, r := range rules {
		if r.bad {
			return console.Fail(console.ExitUsage, "%s", r.err).WithHint("%s", r.hint)
		}
	}
	return nil
}

// checkCheckpoint refuses a checkpoint that nobody could go on from.
func (f *scanFlags) checkCheckpoint() error {
	info, err := os.Stat(f.output)
	switch {
	case f.checkpoint == "" && f.fresh:
		return console.Fail(console.ExitUsage, "--fresh without --checkpoint").
			WithHint("--force replaces an output that is there")
	case f.checkpoint == "":
		return nil
	case !f.toFile():
		return console.Fail(console.ExitUsage, "--checkpoint needs a file to write to").
			WithHint("name one with -o PATH: what went to a pipe can't be cut back")
	case err == nil && !info.Mode().IsRegular() && !info.IsDir():
		return console.Fail(console.ExitUsage, "--checkpoint needs a file to write to, and %s is none", console.Plain(f.output, 100)).
			WithHint("what went to a pipe or a device can't be cut back")
	case f.append:
		return console.Fail(console.ExitUsage, "--checkpoint and --append exclude each other").
			WithHint("give the scan a file of its own: a2sscan cat reads several")
	}
	for _, own := range checkpointFiles(f.checkpoint) {
		if same(own, f.output) || same(own, f.summary) {
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

// same reports whether two paths name one file.
func same(a, b string) bool {
	x, err1 := filepath.Abs(a)
	y, err2 := filepath.Abs(b)
	return a != "" && err1 == nil && err2 == nil && x == y
}

func (f *scanFlags) config() scanner.Config {
	return scanner.Config{
		Questions:     scanner.Questions(f.query),
		Rate:          f.rate.Limit(),
		AddressRate:   f.addressRate.Limit(),
		MaxPerAddress: f.maxPerAddress,
		Timeout:       f.timeout,
		Retries:       flagvalue.OrOff(f.retries),
		SecondPass:    f.secondLook,
		Cooldown:      flagvalue.OrOff(f.cooldown),
		InFlight:      f.inFlight,
		NoGSO:         f.noGSO,
		Raw:           f.raw,
		Source:        f.source.AddrPort(),
	}
}

// open checks the targets.
func (a *app) openTargets(
	f *scanFlags, x *list.Exclusions, args []string, stdin io.Reader,
) (*list.List, *badLines, error) {
	cfg := list.Config{
		Args:            args,
		Stdin:           stdin,
		StdinIsTerminal: isTerminal(stdin),
		Exclusions:      x,
		Max:             f.maxTargets,
	}
	if f.ports != "" {
		ports, err := readPorts("--port", f.ports)
		if err != nil {
			return nil, nil, err
		}
		cfg.Ports = ports
	}
	f.targetFlags.into(&cfg)
	f.from.into(&cfg)
	cfg.Waiting = a.waitingForWriter
	bad := &badLines{Terminal: a.Terminal}
	cfg.Invalid = bad.add
	list, err := list.Open(cfg)
	if err != nil {
		return nil, nil, targetFailure(err)
	}
	return list, bad, nil
}

// waitingForWriter reports a named pipe that nothing writes to.
func (a *app) waitingForWriter(pipe string) { a.Say("waiting for a program to write to %s", pipe) }

// targetFailure gives an error of the targets its exit code: what can't be
// read is input, the rest was typed wrongly.
func targetFailure(err error) *console.Failure {
	arg, ok := errors.AsType[*list.ArgError](err)
	if !ok {
		return console.Fail(console.ExitUsage, "%w", err)
	}
	code := console.ExitUsage
	if _, unread := errors.AsType[*fs.PathError](err); unread {
		code = console.ExitInput
	}
	text := arg.Problem
	if arg.Arg != "" {
		text = arg.Arg + ": " + text
	}
	return console.Fail(code, "%s", text).WithHint("%s", arg.Hint)
}

// readPorts reads a flag's list of ports.
func readPorts(flag, text string) (list.Ports, error) {
	ports, err := list.ParsePorts(text)
	if err != nil {
		return ports, console.Fail(console.ExitUsage, "%s: %w", flag, err).
			WithHint("ports are numbers and ranges of them, such as 27015,27020-27030")
	}
	return ports, nil
}

// isTerminal reports whether r is a terminal.
func isTerminal(r any) bool {
	f, ok := r.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// badLines says which lines of the input are no targets: the first few of
// them, so that a file of another kind does not scroll everything away.
type badLines struct {
	*console.Terminal
	n     uint64
	hosts bool // some of them name hosts, which nobody looked up
}

// namesHost finds lines that begin with the name of a host.
var namesHost = regexp.MustCompile(`^([A-Za-z0-9_-]+\.)+[A-Za-z][A-Za-z0-9-]*(:[0-9]+)?([\s,;]|$)`)

// maxBadLines is how many are named.
const maxBadLines = 20

func (b *badLines) add(line list.Invalid) {
	b.n++
	b.hosts = b.hosts || line.Err == list.FaultAddress && namesHost.MatchString(line.Text)
	if b.n <= maxBadLines {
		b.Log.Warn("no target", "file", line.File, "line", line.Line, "error", line.Err, "text", line.Text)
	}
	if b.n <= maxBadLines {
		b.Say("%s:%d: %v: %s", console.Plain(line.File, 100), line.Line, line.Err, console.Quoted(line.Text, 60))
	}
}

// rest counts those that were not named.
func (b *badLines) rest() {
	if b.n > maxBadLines {
		b.Log.Warn("more lines that are no targets", "lines", b.n-maxBadLines)
		b.Say("no target in %s", console.Plural(b.n-maxBadLines, "more line"))
	}
	if b.hosts {
		b.Hint("host names are looked up with --resolve")
	}
}

// nothingToAsk is the error of a list that gave out no target, and says why.
func nothingToAsk(list *list.List) error {
	if err := list.Err(); err != nil {
		return loadFailure(err)
	}
	s := list.Stats()
	if s.Given > 0 {
		return nil
	}
	f := console.Fail(console.ExitInput, "nothing left to ask: %s read", console.Grouped(s.Read))
	if l := ledger.OfList(s); s.Read > 0 {
		f = console.Fail(console.ExitInput, "%w = %s", f.Err, strings.TrimSuffix(l.Accounted(), " + "))
	}
	switch {
	case s.Read == 0:
		return f.WithHint("the input is empty: one ip:port a line is wanted")
	case s.Excluded > 0:
		return f.WithHint("%s", excludedHint(list))
	case s.Invalid > 0:
		return f.WithHint("one ip:port a line is wanted, such as 203.0.113.7:27015")
	}
	if s.OtherShard > 0 {
		return f.WithHint("all addresses are in other parts than that of --shard")
	}
	return f.WithHint("no server can have these addresses")
}

// excludedHint says by which rule most was left out.
func excludedHint(l *list.List) string {
	var most list.Rule
	for _, r := range l.LeftOut() {
		if !r.Unscannable && r.Targets > most.Targets {
			most = r
		}
	}
	if strings.HasPrefix(most.Source, "RFC ") {
		return "--allow-reserved asks addresses in special-purpose networks too"
	}
	return fmt.Sprintf("most of them by %s, %s", most.Network, most.Source)
}
