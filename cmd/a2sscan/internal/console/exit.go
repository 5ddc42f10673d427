package console

import (
	"errors"
	"fmt"
)

// Exits explains these exit codes. The codes never change, because scripts rely on them.
// Code 2 is missing, because the Go runtime and many shells use it. ExitPipe is the code
// that shells report for a program that SIGPIPE has ended.
const (
	ExitOK          = 0
	ExitUsage       = 1
	ExitOutput      = 3
	ExitInterrupted = 4
	ExitGuard       = 5
	ExitInput       = 6
	ExitCheckpoint  = 7
	ExitNumbers     = 8
	ExitChanged     = 9

	ExitPipe = 141
)

// Exits lists the exit codes with their meanings.
var Exits = []struct {
	Code int
	When string
}{
	{ExitOK, "complete, even if bad input lines were reported and skipped"},
	{ExitUsage, "the command line or a configuration is wrong, or no socket can be opened"},
	{ExitOutput, "results could not be written (full disk, closed pipe, existing file)"},
	{ExitInterrupted, "interrupted"},
	{ExitGuard, "stopped by a guard such as --max-runtime, or nothing could be sent; doctor: not ready"},
	{ExitInput, "input can't be read, a list is incomplete, or nothing is left to query"},
	{ExitCheckpoint, "the checkpoint can't be used"},
	{ExitNumbers, "the counts of a scan do not add up, a census is damaged, or verify can't show that a census is complete"},
	{ExitChanged, "diff --exit-code: something changed"},
	{ExitPipe, "the reader closed the pipe, and nothing is lost (cat | head)"},
}

// Failure is an error with an exit code and a hint.
type Failure struct {
	Code       int
	Err        error
	Hint       string // empty: no hint
	Reported   bool   // package main must not print the error
	ReaderGone bool   // the reader closed the pipe
}

func (f *Failure) Error() string { return f.Err.Error() }
func (f *Failure) Unwrap() error { return f.Err }

// Fail returns an error that ends the program with the given exit code.
func Fail(code int, format string, args ...any) *Failure {
	return &Failure{Code: code, Err: fmt.Errorf(format, args...)}
}

// WithHint sets the hint and returns f.
func (f *Failure) WithHint(format string, args ...any) *Failure {
	f.Hint = fmt.Sprintf(format, args...)
	return f
}

// ExitCode returns the exit code for err. An error without a Failure comes from cobra, and
// means that the command line is wrong.
func ExitCode(err error) int {
	if err == nil {
		return ExitOK
	}
	if f, ok := errors.AsType[*Failure](err); ok {
		return f.Code
	}
	return ExitUsage
}

// Report prints an error, and the hint if the error has one.
func (t *Terminal) Report(err error) {
	t.Say("%v", err)
	if f, ok := errors.AsType[*Failure](err); ok && f.Hint != "" {
		t.Hint("%s", f.Hint)
	}
}

// Rule is a rule about the values of flags. Broken means that the flags break the rule.
type Rule struct {
	Broken    bool
	Err, Hint string
}

// FirstBroken returns the error of the first broken rule, or nil.
func FirstBroken(rules ...Rule) error {
	for _, r := range rules {
		if r.Broken {
			return Fail(ExitUsage, "%s", r.Err).WithHint("%s", r.Hint)
		}
	}
	return nil
}

// LogEnd logs the error that ends the program, unless err is nil.
func (t *Terminal) LogEnd(err error) {
	if err == nil {
		return
	}
	attrs := []any{"error", err, "exit_code", ExitCode(err)}
	if f, ok := errors.AsType[*Failure](err); ok && f.Hint != "" {
		attrs = append(attrs, "hint", f.Hint)
	}
	t.Log.Error("ended with an error", attrs...)
}
