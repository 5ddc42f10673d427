package main

import (
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/flagvalue"
	"github.com/a2sscan/a2sscan/scanner"
)

// rateUsage describes --rate, which means the same in every command that has it.
const rateUsage = "`N` datagrams per second, such as 800, 5k or 1.5M; 0: as fast as possible; auto: the highest rate that the path can carry, up to 50k or, with auto:20k, 20k"

// timeoutFlags choose the timeout of a request and the number of retries.
type timeoutFlags struct {
	auto    flagvalue.Auto
	retries int
}

func (f *timeoutFlags) add(cmd *cobra.Command) { addTimeouts(cmd.Flags(), &f.auto, &f.retries) }

// addTimeouts adds --timeout and --retries.
func addTimeouts(fs *pflag.FlagSet, timeout *flagvalue.Auto, retries *int) {
	timeout.On = true
	fs.Var(timeout, "timeout", "wait `D` for a reply to the first request, such as 800ms; retries wait longer; auto: 1s, which a scan shortens once it knows the round-trip times")
	fs.IntVar(retries, "retries", scanner.DefaultAttempts-1, "repeat an unanswered request `N` times, and twice more if a challenge or part of an answer arrived")
}

// maxRetries is the largest value of --retries: package scanner allows 101 attempts.
const maxRetries = 100

// timeout returns the timeout of a command that queries too few servers to learn it
// from their round trips.
func (f *timeoutFlags) timeout() time.Duration { return f.auto.Or(scanner.DefaultTimeout) }

func (f *timeoutFlags) check() error { return checkTimeouts(f.auto, f.retries) }

func checkTimeouts(timeout flagvalue.Auto, retries int) error {
	switch {
	case timeout.Or(scanner.DefaultTimeout) < time.Millisecond:
		return console.Fail(console.ExitUsage, "--timeout is below 1ms").
			WithHint("durations have a unit: --timeout 800ms, --timeout 2s")
	case retries < 0:
		return console.Fail(console.ExitUsage, "--retries is negative").WithHint("--retries 0 asks once")
	case retries > maxRetries:
		return console.Fail(console.ExitUsage, "--retries %d: at most %d", retries, maxRetries)
	}
	return nil
}
