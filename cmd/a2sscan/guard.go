package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/flagvalue"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/guard"
)

// guardFlags say when a guard stops the scan.
type guardFlags struct {
	minHitrate    flagvalue.Share
	maxSendErrors int64
	maxRuntime    time.Duration
}

func (f *guardFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.Var(&f.minHitrate, "min-hitrate", "stop if fewer of the targets answer: 2% or 0.02; judged after 1000 targets, and at the end (default off)")
	fs.Int64Var(&f.maxSendErrors, "max-send-errors", -1, "stop after more than `N` datagrams that could not be sent; -1: never")
	fs.DurationVar(&f.maxRuntime, "max-runtime", 0, "stop after `D` such as 6h; 0: never (default 0)")
}

func (f *guardFlags) check() error {
	switch {
	case f.maxSendErrors < -1:
		return console.Fail(console.ExitUsage, "--max-send-errors is negative").
			WithHint("--max-send-errors 0 stops at the first, -1 never")
	case f.maxRuntime < 0:
		return console.Fail(console.ExitUsage, "--max-runtime is negative").WithHint("--max-runtime 0 never stops a scan")
	}
	return nil
}

// limits is what the flags say as values.
func (f *guardFlags) limits() guard.Limits {
	return guard.Limits{MinHitrate: float64(f.minHitrate), MaxSendErrors: f.maxSendErrors, MaxRuntime: f.maxRuntime}
}
