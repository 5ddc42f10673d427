package main

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/censusfile"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/flags"
	"github.com/a2sscan/a2sscan/scanner"
)

type outFlags struct {
	output string
	append bool
	force  bool
}

func (f *outFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVarP(&f.output, "output", "o", "-",
		"write records to `PATH`, in the format of its suffix: .ndjson, .csv or .tsv; a further suffix .zst or .gz compresses the file; -: standard output")
	fs.BoolVar(&f.append, "append", false, "add to an existing output")
	fs.BoolVar(&f.force, "force", false, "replace an existing output")
}

func (f *outFlags) toFile() bool { return f.output != "-" && f.output != "" }

func (f *outFlags) choice() censusfile.Destination {
	return censusfile.Destination{Path: f.output, Append: f.append, Force: f.force}
}

func (f *outFlags) check() error {
	c := f.choice()
	return c.Check()
}

type formatFlags struct {
	format string
	fields []string
}

func (f *formatFlags) add(fs *pflag.FlagSet, byDefault string) {
	fs.StringVar(&f.format, "format", "", "format of the records: `WORD` is json, text, csv or tsv (default "+byDefault+")")
	fs.StringSliceVarP(&f.fields, "fields", "f", nil, "write only these fields: a `LIST` such as addr,people,info.map")
}

const rateUsage = "send `N` datagrams per second, such as 800, 5k or 1.5M; 0: as fast as possible; auto: find the highest rate that the path can carry, up to 50k; auto:20k: up to 20k"

type timeoutFlags struct {
	auto    flags.Auto
	retries int
}

func (f *timeoutFlags) add(cmd *cobra.Command) { addTimeouts(cmd.Flags(), &f.auto, &f.retries) }

func addTimeouts(fs *pflag.FlagSet, timeout *flags.Auto, retries *int) {
	timeout.On = true
	fs.Var(timeout, "timeout", "wait `D`, such as 800ms, for a reply to the first request; retries wait longer; auto: 1s, or less when a scan has measured round-trip times")
	fs.IntVar(retries, "retries", scanner.Config{}.Schedule().Attempts-1, "repeat an unanswered request `N` times; if a challenge or part of an answer arrived, repeat the request twice more")
}

// maxRetries is the largest value of --retries, because package scanner allows at most 101
// attempts.
const maxRetries = 100

// timeout returns the value of --timeout. For auto it returns scanner.DefaultTimeout,
// because only a scan can learn a timeout from round trips.
func (f *timeoutFlags) timeout() time.Duration { return f.auto.Or(scanner.DefaultTimeout) }

func (f *timeoutFlags) check() error { return checkTimeouts(&f.auto, f.retries) }

func checkTimeouts(timeout *flags.Auto, retries int) error {
	switch {
	case timeout.Or(scanner.DefaultTimeout) < time.Millisecond:
		return console.Fail(console.ExitUsage, "--timeout is below 1ms").
			WithHint("use a longer time, such as --timeout 800ms or --timeout 2s")
	case retries < 0:
		return console.Fail(console.ExitUsage, "--retries is negative").WithHint("use --retries 0 to send each request once")
	case retries > maxRetries:
		return console.Fail(console.ExitUsage, "--retries %d: at most %d retries are allowed", retries, maxRetries)
	}
	return nil
}

type logFlag struct{ file string }

func (f *logFlag) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.file, "log-file", "",
		"append one line per notable event to `FILE`; /dev/stderr: to standard error, beside the usual messages")
}

// check returns an error if the log would go to standard output, or to a file that another
// flag names. Its arguments are the files of these flags.
func (f *logFlag) check(others ...string) error {
	switch {
	case f.file == "-":
		return console.Fail(console.ExitUsage, "--log-file can't be standard output").
			WithHint("standard output is for records; to log to standard error, use --log-file %s -q", console.StandardError)
	case slices.ContainsFunc(others, func(other string) bool { return other != "" && censusfile.SamePath(f.file, other) }):
		return console.Fail(console.ExitUsage, "--log-file and another flag name the same file").WithHint("choose another file for the log")
	}
	return nil
}

func (a *app) openLog(f *logFlag) error {
	if f.file == "" {
		return nil
	}
	return a.term.OpenLog(f.file)
}

func flagError(cmd *cobra.Command, err error) error {
	var missing *pflag.NotExistError
	var bad *pflag.InvalidValueError
	f := console.Fail(console.ExitUsage, "%w", err).WithHint("%s --help lists the flags", cmd.CommandPath())
	switch {
	case errors.As(err, &missing):
		if here := ourFlag(missing.GetSpecifiedName(), flagNames(cmd)); here != "" {
			f.WithHint("%s", here)
		} else if like := console.Nearest(missing.GetSpecifiedName(), flagNames(cmd)); like != "" {
			f.WithHint("did you mean --%s?", like)
		}
	case errors.As(err, &bad): // no hint: the message says what the flag accepts
		f.Hint = ""
		f.Err = errors.New(strings.Replace(err.Error(), bad.Unwrap().Error(), explained(bad.GetFlag(), bad.Unwrap()).Error(), 1))
	}
	return f
}

// explained returns the error to show for a bad value of the flag. It replaces the errors
// of Go's packages strconv and time, because they do not help a user. It returns any other
// err unchanged.
func explained(flag *pflag.Flag, err error) error {
	if text := err.Error(); strings.HasPrefix(text, "strconv.") || strings.HasPrefix(text, "time: ") {
		return errors.New(wanted[flag.Value.Type()])
	}
	return err
}

var wanted = map[string]string{
	"duration": "use a time such as 300ms, 5s or 2m",
	"auto|D":   "use auto, or a time such as 300ms, 5s or 2m",
	"int":      "use a whole number",
	"uint":     "use a whole number of at least 0",
	"uint32":   "use a whole number of at least 0",
	"uint64":   "use a whole number of at least 0",
	"int64":    "use a whole number",
	"float64":  "use a number such as 0.5",
	"bool":     "use true or false",
}

func flagNames(cmd *cobra.Command) (names []string) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return names
}

// wantArgs returns a function that checks the number of arguments. The parameters are the
// minimum, the maximum (0: no limit), and the text and the hint of the error.
func wantArgs(least, most int, missing, example string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch n := len(args); {
		case n < least:
			return console.Fail(console.ExitUsage, "%s", missing).WithHint("%s", example)
		case most > 0 && n > most:
			return console.Fail(console.ExitUsage, "%s, not %d arguments", missing, n).WithHint("%s", example)
		}
		return nil
	}
}

// checkNames returns an error if an argument or the value of a flag is an s3:// URL. The
// hint recommends rclone. The error omits the URL, which may contain a password.
func checkNames(cmd *cobra.Command, args []string) (err error) {
	isObject := func(name string) bool { return strings.HasPrefix(strings.ToLower(name), "s3://") }
	if slices.ContainsFunc(args, isObject) {
		return console.Fail(console.ExitUsage, "s3:// names an object in a store, but %s reads only files", cmd.CommandPath()).
			WithHint("fetch a folder with rclone copy, or read one object: rclone cat REMOTE:BUCKET/KEY | a2sscan cat -")
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		if f.Changed && slices.ContainsFunc(values, isObject) {
			err = console.Fail(console.ExitUsage, "--%s: s3:// names an object in a store, but %s reads and writes only files", f.Name, cmd.CommandPath()).
				WithHint("name a file: first fetch an input with rclone copy, or afterwards move the output to the store with rclone move FILE REMOTE:BUCKET/")
		}
	})
	return err
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return console.Fail(console.ExitUsage, "%s takes no arguments, got %s", cmd.Name(), console.Quoted(console.WithoutKeys(args[0]), 40)).
		WithHint("%s --help shows how the command is used", cmd.CommandPath())
}
