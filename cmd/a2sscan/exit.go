package main

import (
	"errors"
	"fmt"
	"strings"
)

// The exit codes. They are a promise to scripts. 2 is what the Go runtime and
// many shells use, so it is never ours.
const (
	exitOK          = 0
	exitUsage       = 1 // the command line makes no sense, or the network can't be used
	exitOutput      = 3 // results could not be written
	exitInterrupted = 4 // SIGINT or SIGTERM
	exitGuard       = 5 // a guard stopped the scan, or doctor found something bad
	exitInput       = 6 // input can't be read, a list is not whole, or there is nothing left to ask
	exitCheckpoint  = 7 // a checkpoint can't be used
	exitNumbers     = 8 // numbers that must add up do not

	exitPipe = 141 // who read standard output went away, and nothing is lost: as if SIGPIPE had ended it
)

// exits say when a run ends with which code.
var exits = []struct {
	code int
	when string
}{
	{exitOK, "complete (bad input lines are counted and said)"},
	{exitUsage, "the command line or a configuration is wrong, or nothing can be sent"},
	{exitOutput, "results could not be written (full disk, closed pipe, existing file)"},
	{exitInterrupted, "interrupted"},
	{exitGuard, "stopped by a guard such as --max-runtime; doctor: not ready"},
	{exitInput, "input can't be read, a list is not whole, or nothing is left to ask"},
	{exitCheckpoint, "the checkpoint can't be used"},
	{exitNumbers, "numbers that must add up do not"},
	{exitPipe, "who read standard output went away, and nothing is lost (cat | head)"},
}

// exitCodes is what the help says of them.
func exitCodes() string {
	var b strings.Builder
	b.WriteString("Exit codes:")
	for _, e := range exits {
		fmt.Fprintf(&b, "\n  %-3d  %s", e.code, e.when)
	}
	return b.String()
}

// failure is an error with its exit code and what can be done about it.
type failure struct {
	code int
	err  error
	hint string
	said bool // standard output has it, or nobody needs it
	cut  bool // whoever was to read standard output has gone away
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// fail makes an error that ends the program with code.
func fail(code int, format string, args ...any) *failure {
	return &failure{code: code, err: fmt.Errorf(format, args...)}
}

// hinting adds what can be done about it.
func (f *failure) hinting(format string, args ...any) *failure {
	f.hint = fmt.Sprintf(format, args...)
	return f
}

// exitCode says how a run with this error ends. An error that nobody gave a
// code is one of the command line: cobra's.
func exitCode(err error) int {
	var f *failure
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &f):
		return f.code
	}
	return exitUsage
}

// report says an error and its hint.
func (t *terminal) report(err error) {
	t.say("%v", err)
	var f *failure
	if errors.As(err, &f) && f.hint != "" {
		t.hint("%s", f.hint)
	}
}
