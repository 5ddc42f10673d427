package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
)

// rateUsage describes --rate. It means the same in every command that has it.
const rateUsage = "`N` datagrams per second, such as 800, 5k or 1.5M; 0: as fast as possible"

// timeoutFlags choose the timeout of a request and the number of retries.
type timeoutFlags struct {
	timeout time.Duration
	retries int
}

func (f *timeoutFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.DurationVar(&f.timeout, "timeout", scanner.DefaultTimeout, "wait `D` for a reply to the first request, such as 800ms; retries wait longer")
	fs.IntVar(&f.retries, "retries", scanner.DefaultRetries, "repeat an unanswered request `N` times, and twice more if part of an answer or a challenge came")
}

func (f *timeoutFlags) check() error {
	switch {
	case f.timeout < time.Millisecond:
		return console.Fail(console.ExitUsage, "--timeout is below 1ms").
			WithHint("durations have a unit: --timeout 800ms, --timeout 2s")
	case f.retries < 0:
		return console.Fail(console.ExitUsage, "--retries is negative").WithHint("--retries 0 asks once")
	}
	return nil
}
