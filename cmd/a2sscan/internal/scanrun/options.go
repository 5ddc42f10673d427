package scanrun

import (
	"io"
	"os"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/flagvalue"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/guard"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/inputs"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/masterlist"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/metrics"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/output"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/sink/disk"
)

// Program is what a scan needs to know about the program that runs it.
type Program struct {
	Name       string   // how the user starts the program, for commands in hints
	Args       []string // the command line, without the program's name
	Stdin      io.Reader
	Stdout     io.Writer
	OnScreen   bool // Stdout is a terminal
	Build      ledger.Build
	ConfigFile *ledger.ConfigFile // nil: there is none
	Metrics    *metrics.Server
}

// Options are the questions, limits and outputs of a scan.
type Options struct {
	Out     output.Choice
	Rotate  flagvalue.Rotation
	Upload  Upload
	Saved   Saved
	Summary string // path of the summary file
	ScanID  string

	// OnComplete is the path of a program to run once the census is written; "": none.
	OnComplete string

	From       masterlist.Options
	Ports      string
	Targets    Targets
	Exclude    Exclude
	MaxTargets uint64
	MaxResults uint64 // end the scan after this many servers have answered; 0: never

	Query      flagvalue.Questions
	Pace       Pace
	Timeout    flagvalue.Auto
	Retries    int
	SecondLook bool
	Fallback   bool
	Cooldown   flagvalue.Auto
	Guard      guard.Limits

	Records   Records
	Databases []string // files of --mmdb
	DryRun    bool
	Quiet     bool
	Verbose   bool
	Status    flagvalue.StatusKind
}

// Records chooses which records a scan writes, and what they hold.
type Records struct {
	Unanswered bool   // write a record of each silent target, too
	Raw        bool   // every datagram, as base64
	NoNames    bool   // write hashes in place of player names
	PlayerKey  string // path of the file with the key of these hashes
}

// Pace holds the limits on sending, and the source address.
type Pace struct {
	Rate          flagvalue.Rate
	Find          bool           // find the rate that the path carries, up to Rate
	Total         flagvalue.Rate // the rate of all shards together, in place of Rate; 0: not given
	AddressRate   flagvalue.Rate
	MaxPerAddress int
	InFlight      int
	NoGSO         bool
	Source        flagvalue.Source
}

// Saved chooses the file in which a scan saves its progress.
type Saved struct {
	Path  string
	Fresh bool // discard an existing checkpoint
}

// Check completes the options with the rate of one shard, the seed and the spool
// folder. It returns an error if options contradict each other or the arguments.
func (o *Options) Check(args []string) error {
	if o.Pace.Total > 0 {
		o.Pace.Rate = o.Pace.Total / flagvalue.Rate(max(o.Targets.Shard.Count, 1))
	}
	for _, check := range []func() error{
		o.Out.Check, o.useStore, o.Out.CheckFormat, o.checkCheckpoint, o.Guard.Check, o.Targets.check,
		o.checkMaster,
		o.checkOutputs, o.checkNumbers, o.checkScanID,
		func() error { return o.checkInputs(args) },
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (o *Options) checkOutputs() error {
	return console.FirstBroken(
		console.Rule{Broken: o.Rotate.On() && !o.Out.ToFile(), Err: "--rotate without --output",
			Hint: "the parts are named after it: -o census.ndjson.zst"},
		console.Rule{Broken: o.Rotate.On() && o.Out.Append, Err: "--rotate and --append exclude each other",
			Hint: "each part is a new file"},
		console.Rule{Broken: o.Records.NoNames && o.Records.Raw, Err: "--no-player-names and --raw exclude each other",
			Hint: "the datagrams hold the names: omit one of them"},
		console.Rule{Broken: o.Records.PlayerKey != "" && !o.Records.NoNames, Err: "--player-key without --no-player-names",
			Hint: "the key is for the hashes that stand in for names"},
		console.Rule{Broken: o.Records.NoNames && o.Records.PlayerKey == "" && !o.Out.ToFile(), Err: "--no-player-names without --output needs a place for its key",
			Hint: "name a file: --player-key FILE"},
		console.Rule{Broken: o.OnComplete != "" && !o.Out.ToFile(), Err: "--on-complete without --output",
			Hint: "the command gets the names of files: -o census.ndjson.zst"},
		console.Rule{Broken: o.Quiet && o.Verbose, Err: "--quiet and --verbose exclude each other", Hint: "choose one"},
		console.Rule{Broken: o.Summary == "-", Err: "--summary can't go to standard output",
			Hint: "name a file: standard output is for records"},
		console.Rule{Broken: o.Out.ToFile() && inputs.SamePath(o.Summary, o.Out.Path), Err: "--summary and --output name the same file",
			Hint: "omit --summary: it goes to PATH.summary.json"},
	)
}

func (o *Options) checkNumbers() error {
	return console.FirstBroken(
		console.Rule{Broken: o.Cooldown.D < 0, Err: "--cooldown is negative", Hint: "--cooldown 0 does not wait for late replies"},
		console.Rule{Broken: o.Pace.MaxPerAddress < 0, Err: "--max-per-address is negative", Hint: "--max-per-address 0 asks all"},
		console.Rule{Broken: o.Pace.InFlight < 0, Err: "--in-flight is negative", Hint: "--in-flight 0 follows rate and timeouts"},
		console.Rule{Broken: 0 < o.Pace.Rate && o.Pace.Rate < 0.001, Err: "--rate is below one datagram in 1000 seconds",
			Hint: "--rate 0 is as fast as possible"},
	)
}

func (o *Options) checkScanID() error {
	const hint = "it stands in every record"
	return console.FirstBroken(
		console.Rule{Broken: len(o.ScanID) > 200, Err: "--scan-id is longer than 200 bytes", Hint: hint},
		console.Rule{Broken: !utf8.ValidString(o.ScanID), Err: "--scan-id is not UTF-8", Hint: hint},
	)
}

// checkCheckpoint returns an error for options with which a checkpoint could not
// resume the scan.
func (o *Options) checkCheckpoint() error {
	info, err := os.Stat(o.Out.Path)
	switch {
	case o.Saved.Path == "" && o.Saved.Fresh:
		return console.Fail(console.ExitUsage, "--fresh without --checkpoint").
			WithHint("--force replaces an output that is there")
	case o.Saved.Path == "":
		return nil
	case !o.Out.ToFile():
		return console.Fail(console.ExitUsage, "--checkpoint needs a file to write to").
			WithHint("name one with -o PATH: what went to a pipe can't be cut back")
	case err == nil && !info.Mode().IsRegular() && !info.IsDir():
		return console.Fail(console.ExitUsage, "--checkpoint needs a file to write to, and %s is none", console.Plain(o.Out.Path, 100)).
			WithHint("what went to a pipe or a device can't be cut back")
	case o.Out.Append:
		return console.Fail(console.ExitUsage, "--checkpoint and --append exclude each other").
			WithHint("give the scan a file of its own: a2sscan cat reads several")
	}
	for _, own := range o.checkpointFiles() {
		if inputs.SamePath(own, o.Out.Path) || inputs.SamePath(own, o.Summary) {
			return console.Fail(console.ExitUsage, "--checkpoint names the file of another flag").
				WithHint("the checkpoint is a file of its own, and so are .lock, .silent and .part beside it")
		}
	}
	return nil
}

// checkpointFiles returns all files that a scan with a checkpoint may create, and
// remove, besides its output.
func (o *Options) checkpointFiles() []string {
	path := o.Saved.Path
	if path == "" {
		return nil
	}
	return []string{path, path + ".lock", path + ".silent", path + disk.PartSuffix}
}

// checkInputs returns an error if the scan would overwrite a file that it reads.
// With --order input, the scan would otherwise truncate a list while reading it,
// and nobody would notice.
func (o *Options) checkInputs(args []string) error {
	read := slices.Concat(args, o.Exclude.Files, o.Databases)
	if err := inputs.Overwritten("--summary", o.Summary, read); err != nil {
		return err
	}
	for _, own := range o.checkpointFiles() {
		if err := inputs.Overwritten("--checkpoint", own, read); err != nil {
			return err
		}
	}
	if o.Out.Force || o.Out.Append && bool(o.Targets.Order) {
		return inputs.Overwritten("--output", o.Out.Path, read)
	}
	return nil
}

// cooldown returns the value of scanner.Config.Cooldown. It is 0, for the default,
// if the flag is "auto".
func (o *Options) cooldown() time.Duration {
	if o.Cooldown.On {
		return 0
	}
	return flagvalue.OrOff(o.Cooldown.D)
}

func (o *Options) config() scanner.Config {
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
		Cooldown:      o.cooldown(),
		InFlight:      o.Pace.InFlight,
		NoGSO:         o.Pace.NoGSO,
		Raw:           o.Records.Raw,
		Source:        o.Pace.Source.AddrPort(),
	}
}
