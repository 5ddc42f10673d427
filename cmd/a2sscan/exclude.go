package main

import (
	"errors"
	"io/fs"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner/list"
)

// excludeFlags say which addresses are sent nothing.
type excludeFlags struct {
	allowReserved bool
	networks      []string
	files         []string
}

func (f *excludeFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringSliceVar(&f.networks, "exclude", nil,
		"send nothing to `NETS`: addresses, networks or ranges such as 203.0.113.5-203.0.113.20, commas between them; may be repeated")
	fs.StringArrayVar(&f.files, "exclude-file", nil,
		"send nothing to the networks in `FILE`, one a line with its reason behind a #; may be repeated; read again on SIGHUP, which ends a scan without this flag")
	fs.BoolVar(&f.allowReserved, "allow-reserved", false,
		"ask addresses in special-purpose networks too (private, loopback, documentation …)")
}

// open reads the files.
func (f *excludeFlags) open(waiting func(pipe string)) (*list.Exclusions, error) {
	x, err := list.NewExclusions(list.ExclusionConfig{
		AllowReserved: f.allowReserved, Networks: f.networks, Files: f.files, Waiting: waiting,
	})
	if err != nil {
		return nil, exclusionFailure(err)
	}
	return x, nil
}

// hangupEnds reports whether SIGHUP has no other use than to end the scan.
func (f *excludeFlags) hangupEnds() bool { return len(f.files) == 0 }

// exclusionFailure gives an error of the exclusions its exit code: nothing is
// sent before all of them are understood.
func exclusionFailure(err error) error {
	var line *list.LineError
	var arg *list.ArgError
	var path *fs.PathError
	switch {
	case errors.As(err, &line):
		return console.Fail(console.ExitInput, "%w", err).WithHint(
			"a line is an address, a network or a range, and a reason behind a #; nothing was sent")
	case errors.As(err, &path):
		return console.Fail(console.ExitInput, "--exclude-file: %w", err)
	case errors.As(err, &arg):
		return console.Fail(console.ExitUsage, "--exclude: %s: %s", arg.Arg, arg.Problem).WithHint("%s", arg.Hint)
	}
	return console.Fail(console.ExitInput, "%w", err)
}

// reloadOnHangup reads the files of exclusions again whenever SIGHUP comes,
// until end is called. Without files it is a signal that ends the scan.
func reloadOnHangup(t *console.Terminal, x *list.Exclusions, files []string) (end func()) {
	if len(files) == 0 {
		return func() {}
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range signals {
			reloadExclusions(t, x)
		}
	}()
	return func() {
		signal.Stop(signals)
		close(signals)
		<-done
	}
}

// reload reads the files again and says how that went.
func reloadExclusions(t *console.Terminal, x *list.Exclusions) {
	if err := x.Reload(); err != nil {
		t.Log.Warn("exclusions not reloaded", "error", err)
		t.Say("exclusions: %v", err)
		t.Hint("the exclusions stay as they were: correct the file and send SIGHUP again")
		return
	}
	t.Log.Info("exclusions reloaded", "rules", x.Len())
	t.Say("exclusions: read again, %d rules hold", x.Len())
}
