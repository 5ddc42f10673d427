package scan

import (
	"cmp"
	"io"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/censusfile"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/flags"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/masterlist"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/metrics"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/list"
	"github.com/a2sscan/a2sscan/sink"
	"github.com/a2sscan/a2sscan/sink/census"
	"github.com/a2sscan/a2sscan/sink/disk"
)

// Program is what a scan needs to know about the program that runs it.
type Program struct {
	Name       string   // how the user starts the program, for commands in hints
	Args       []string // the command line, without the program's name
	Stdin      io.Reader
	Stdout     io.Writer
	Build      ledger.Build
	ConfigFile *ledger.ConfigFile // nil: there is none
	Metrics    *metrics.Server
}

// Options are the questions, limits and outputs of a scan.
type Options struct {
	Out     censusfile.Destination
	Rotate  sink.Rotation     // its Size and Every
	Saved   CheckpointOptions // Path and Fresh
	Summary string            // path of the summary file
	ScanID  string

	// OnComplete is the path of a program to run once the census is written; "": none.
	OnComplete string

	From       masterlist.Options
	Ports      string
	Targets    Targets
	Exclude    Exclude
	MaxTargets uint64
	MaxResults uint64 // end the scan after this many servers have answered; 0: never

	Query      flags.Questions
	Pace       Pace
	Timeout    flags.Auto
	Retries    int
	SecondLook bool
	Fallback   bool
	Cooldown   flags.Auto
	Guard      Limits

	Records   Records
	Databases []string // files of --mmdb
	DryRun    bool
	Quiet     bool
	Verbose   bool
	Status    StatusKind // "": not given
}

// Records chooses which records a scan writes, and what the records contain.
type Records struct {
	Unanswered bool   // write a record of each silent target, too
	Raw        bool   // write every datagram, as base64
	NoNames    bool   // write hashes in place of player names
	PlayerKey  string // path of the file with the key of these hashes
}

// Pace holds the limits on sending, and the source address.
type Pace struct {
	Rate          flags.Rate
	Find          bool       // find the rate that the path carries, up to Rate
	Total         flags.Rate // the rate of all shards together, in place of Rate; 0: not given
	AddressRate   flags.Rate
	MaxPerAddress int
	InFlight      int
	NoGSO         bool
	Source        netip.AddrPort
}

// Targets selects the targets of the lists and their order.
type Targets struct {
	InOrder bool   // ask in the order of the input
	Seed    uint64 // seed of the random order
	Seeded  bool   // Seed is given
	Shard   list.Shard
	Strict  bool // refuse a list with a bad line
	Resolve bool // look up host names in lists, too
}

// order returns the name of the order: input or random.
func (t *Targets) order() string {
	if t.InOrder {
		return "input"
	}
	return "random"
}

// shard returns I/N, or "" if there is only one shard.
func (t *Targets) shard() string {
	if t.Shard.Count == 0 {
		return ""
	}
	return t.Shard.String()
}

// Exclude chooses addresses that the scan must send nothing to.
type Exclude struct {
	AllowReserved bool
	Networks      []string
	Files         []string
}

// Open reads the exclusion files and returns all exclusions. It calls note if it has to
// wait for the writer of a named pipe.
func (x *Exclude) Open(note func(string)) (*list.Exclusions, error) {
	all, err := list.NewExclusions(x.AllowReserved, x.Networks, x.Files, note)
	if err != nil {
		return nil, ExclusionFailure(err)
	}
	return all, nil
}

// hangupEnds reports whether SIGHUP ends the scan. If there are exclusion files, SIGHUP
// reloads these files instead.
func (x *Exclude) hangupEnds() bool { return len(x.Files) == 0 }

// Check completes the options with the rate of one shard and the seed. It returns an
// error if options contradict each other or the arguments.
func (o *Options) Check(args []string) error {
	if o.Pace.Total > 0 {
		o.Pace.Rate = o.Pace.Total / flags.Rate(max(o.Targets.Shard.Count, 1))
	}
	for _, check := range []func() error{
		o.Out.Check, o.Out.CheckFormat, o.checkCheckpoint,
		o.checkRules, o.From.Check, func() error { return o.checkInputs(args) },
	} {
		if err := check(); err != nil {
			return err
		}
	}
	if !o.Targets.Seeded {
		o.Targets.Seed = rand.Uint64N(1 << 32) // short enough to type again
	}
	return nil
}

func (o *Options) checkRules() error {
	return console.FirstBroken(
		console.Rule{Broken: o.From.Where != "" && o.DryRun, Err: "--dry-run and --master exclude each other",
			Hint: "fetch the list first: a2sscan master … | a2sscan scan --dry-run"},
		console.Rule{Broken: o.From.Where != "" && o.Saved.Path != "", Err: "--checkpoint and --master exclude each other",
			Hint: "to resume, a scan needs the same list: fetch it into a file first, with a2sscan master -o FILE"},
		console.Rule{Broken: o.Targets.Seeded && o.Targets.InOrder, Err: "--seed with --order input",
			Hint: "only the random order uses a seed"},
		console.Rule{Broken: o.Rotate.On() && !o.Out.ToFile(), Err: "--rotate without --output",
			Hint: "the parts are named after the output: -o census.ndjson.zst"},
		console.Rule{Broken: o.Rotate.On() && o.Out.Append, Err: "--rotate and --append exclude each other",
			Hint: "each part is a new file"},
		console.Rule{Broken: o.Records.NoNames && o.Records.Raw, Err: "--no-player-names and --raw exclude each other",
			Hint: "the datagrams contain the names: omit one of the two flags"},
		console.Rule{Broken: o.Records.PlayerKey != "" && !o.Records.NoNames, Err: "--player-key without --no-player-names",
			Hint: "the key is for the hashes that replace names"},
		console.Rule{Broken: o.Records.NoNames && o.Records.PlayerKey == "" && !o.Out.ToFile(), Err: "--no-player-names without --output needs a file for its key",
			Hint: "name a file: --player-key FILE"},
		console.Rule{Broken: o.OnComplete != "" && !o.Out.ToFile(), Err: "--on-complete without --output",
			Hint: "the command needs the file of a census: -o census.ndjson.zst"},
		console.Rule{Broken: o.Quiet && o.Verbose, Err: "--quiet and --verbose exclude each other", Hint: "choose one"},
		console.Rule{Broken: o.Summary == "-", Err: "--summary can't go to standard output",
			Hint: "name a file: standard output is for records"},
		console.Rule{Broken: o.Out.ToFile() && censusfile.SamePath(o.Summary, o.Out.Path), Err: "--summary and --output name the same file",
			Hint: "omit --summary: it goes to PATH.summary.json"},
		console.Rule{Broken: censusfile.SamePath(o.Summary, o.Records.PlayerKey), Err: "--summary and --player-key name the same file",
			Hint: "choose another file for the summary: later censuses need the key"},
		console.Rule{Broken: o.Guard.MaxSendErrors < -1, Err: "--max-send-errors is negative",
			Hint: "--max-send-errors 0 stops at the first error, -1 never"},
		console.Rule{Broken: o.Guard.MaxOutage < 0, Err: "--max-outage is negative", Hint: "--max-outage 0 waits for ever"},
		console.Rule{Broken: o.Guard.MaxRuntime < 0, Err: "--max-runtime is negative", Hint: "--max-runtime 0 never stops a scan"},
		console.Rule{Broken: o.Cooldown.D < 0, Err: "--cooldown is negative", Hint: "--cooldown 0 does not wait for late replies"},
		console.Rule{Broken: o.Pace.MaxPerAddress < 0, Err: "--max-per-address is negative", Hint: "--max-per-address 0 queries all servers"},
		console.Rule{Broken: o.Pace.InFlight < 0, Err: "--in-flight is negative", Hint: "--in-flight 0 adapts to the rate and the timeouts"},
		console.Rule{Broken: 0 < o.Pace.Rate && o.Pace.Rate < 0.001, Err: "--rate is below one datagram in 1000 seconds",
			Hint: "--rate 0 is as fast as possible"},
		console.Rule{Broken: len(o.ScanID) > 200, Err: "--scan-id is longer than 200 bytes", Hint: "every record contains the ID"},
		console.Rule{Broken: !utf8.ValidString(o.ScanID), Err: "--scan-id is not UTF-8", Hint: "every record contains the ID"},
	)
}

// checkCheckpoint returns an error for options with which the scan could not be resumed
// from a checkpoint.
func (o *Options) checkCheckpoint() error {
	info, err := os.Stat(o.Out.Path)
	switch {
	case o.Saved.Path == "" && o.Saved.Fresh:
		return console.Fail(console.ExitUsage, "--fresh without --checkpoint").
			WithHint("to replace an existing output, use --force")
	case o.Saved.Path == "":
		return nil
	case !o.Out.ToFile():
		return console.Fail(console.ExitUsage, "--checkpoint needs a file to write to").
			WithHint("name a file with -o PATH: a pipe can't be truncated to the last checkpoint")
	case err == nil && !info.Mode().IsRegular() && !info.IsDir():
		return console.Fail(console.ExitUsage, "--checkpoint needs a file to write to, but %s is not a regular file", console.Plain(o.Out.Path, 100)).
			WithHint("a pipe or a device can't be truncated to the last checkpoint")
	case o.Out.Append:
		return console.Fail(console.ExitUsage, "--checkpoint and --append exclude each other").
			WithHint("write to a new file: a2sscan cat reads several files")
	}
	for _, own := range o.checkpointFiles() {
		if censusfile.SamePath(own, o.Out.Path) || censusfile.SamePath(own, o.Summary) || censusfile.SamePath(own, o.Records.PlayerKey) {
			return console.Fail(console.ExitUsage, "--checkpoint and another flag name the same file").
				WithHint("choose another file; the checkpoint also uses .lock, .silent and .part beside it")
		}
	}
	return nil
}

// checkpointFiles returns all files, other than its output, that a scan with a checkpoint
// may create and remove.
func (o *Options) checkpointFiles() []string {
	path := o.Saved.Path
	if path == "" {
		return nil
	}
	return []string{path, path + ".lock", path + ".silent", path + disk.PartSuffix}
}

// checkInputs returns an error if the scan would overwrite a file that it reads. Without
// this check, a scan with --order input could truncate a list while reading it, and
// nobody would notice.
func (o *Options) checkInputs(args []string) error {
	read := slices.Concat(args, o.Exclude.Files, o.Databases, []string{o.Records.PlayerKey, o.From.KeyFile, o.OnComplete})
	if err := censusfile.Overwritten("--summary", o.Summary, read); err != nil {
		return err
	}
	for _, own := range o.checkpointFiles() {
		if err := censusfile.Overwritten("--checkpoint", own, read); err != nil {
			return err
		}
	}
	if o.Out.Force || o.Out.Append && o.Targets.InOrder {
		return censusfile.Overwritten("--output", o.Out.Path, read)
	}
	return nil
}

// ListConfig returns the configuration of the list that the flags describe.
func (o *Options) ListConfig(args []string, stdin io.Reader) (list.Config, error) {
	cfg := list.Config{Args: args, Stdin: stdin, StdinIsTerminal: console.IsTerminal(stdin), Max: o.MaxTargets}
	if o.Ports != "" {
		ports, err := ParsePorts("--port", o.Ports)
		if err != nil {
			return cfg, err
		}
		cfg.Ports = ports
	}
	t := &o.Targets
	cfg.InOrder, cfg.Seed, cfg.Shard, cfg.Strict = t.InOrder, t.Seed, t.Shard, t.Strict
	cfg.Resolve, cfg.OnlyArgs = Resolve, !t.Resolve
	cfg.Formats, cfg.KeepMaster = masterlist.Formats(), o.From.Keep
	return cfg, nil
}

// Config returns the configuration of the scanner.
func (o *Options) Config() scanner.Config {
	cooldown := o.Cooldown.D
	if cooldown == 0 && !o.Cooldown.On { // in scanner.Config, 0 means the default
		cooldown = scanner.Off
	}
	return scanner.Config{
		Questions:     scanner.Questions(o.Query),
		Rate:          o.Pace.Rate.Limit(),
		FindRate:      o.Pace.Find,
		AddressRate:   o.Pace.AddressRate.Limit(),
		MaxPerAddress: o.Pace.MaxPerAddress,
		Timeout:       o.Timeout.Or(0),
		Attempts:      1 + o.Retries,
		SecondPass:    o.SecondLook,
		Fallback:      o.Fallback,
		Cooldown:      cooldown,
		InFlight:      o.Pace.InFlight,
		NoGSO:         o.Pace.NoGSO,
		Raw:           o.Records.Raw,
		Source:        o.Pace.Source,
	}
}

// scanPlan returns the plan of this command for the checkpoint.
func (o *Options) scanPlan(args []string) (Plan, error) {
	output, err := filepath.Abs(o.Out.Path)
	return Plan{
		Targets: NotFiles(args), Ports: o.Ports,
		Order: o.Targets.order(), Seed: o.Targets.Seed, Shard: o.Targets.shard(), Resolve: o.Targets.Resolve,
		Query:      o.Query.String(),
		MaxTargets: o.MaxTargets, MaxPerAddress: o.Pace.MaxPerAddress,
		Raw: o.Records.Raw, KeepMaster: o.From.Keep, Unanswered: o.Records.Unanswered, Columns: o.Out.Columns(), Output: output, Rotate: o.Rotate.On(),
	}, err
}

// plan returns the plan of the scan for its summary. read has the inputs, excluded is the
// digest of the exclusions, and databases has the types of the databases.
func (o *Options) plan(read []ledger.Input, excluded string, databases []string) *ledger.Plan {
	p := &ledger.Plan{
		Lists: []string{}, Targets: []string{}, Ports: o.Ports, Questions: o.Query.String(),
		MaxTargets: o.MaxTargets, MaxPerAddress: o.Pace.MaxPerAddress,
		SecondLook: o.SecondLook, Fallback: o.Fallback, Resolve: o.Targets.Resolve,
		Unanswered: o.Records.Unanswered, Raw: o.Records.Raw, NoNames: o.Records.NoNames, KeepMaster: o.From.Keep,
		Databases: databases, Exclusions: excluded, Shard: o.Targets.Shard.String(),
	}
	for _, in := range read {
		if in.Format == ledger.Argument {
			p.Targets = append(p.Targets, in.Name)
		} else {
			p.Lists = append(p.Lists, in.SHA256)
		}
	}
	return p
}

// StatusKind returns how progress is shown: not at all with --quiet, unless
// --status is given.
func (o *Options) StatusKind() StatusKind {
	if o.Quiet && o.Status == "" {
		return StatusNone
	}
	return cmp.Or(o.Status, StatusText)
}

// summaryPath returns the default path of the summary of a census at path. For a pipe or
// a device it returns "", because these have no summary file.
func (o *Options) summaryPath(path string, start time.Time) string {
	switch {
	case o.Rotate.On():
		return census.Beside(sink.PartName(path, start, 1), ".summary.json")
	case path == "-" || !censusfile.IsFile(path):
		return ""
	}
	return census.Beside(path, ".summary.json")
}
