package scan

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/ledger"
	"github.com/a2sscan/a2sscan/scanner/list"
)

// exclusionFailure adds an exit code, and usually a hint, to an error in the exclusions. A
// scan that can't read all exclusions sends nothing.
func exclusionFailure(err error) error {
	var path *fs.PathError
	arg, isArg := errors.AsType[*list.ArgError](err)
	switch {
	case err == nil:
		return nil
	case errors.As(err, new(list.Invalid)):
		return console.Fail(console.ExitInput, "%w", err).WithHint(
			"a line must be an address, a network or a range, with an optional reason after a #; nothing was sent")
	case errors.As(err, &path):
		return console.Fail(console.ExitInput, "--exclude-file: %w", err)
	case isArg:
		return console.Fail(console.ExitUsage, "--exclude: %s: %s", arg.Arg, arg.Problem).WithHint("%s", arg.Hint)
	}
	return console.Fail(console.ExitInput, "%w", err)
}

// Truncated returns an error if the compressed data of a list is truncated.
func Truncated(list *list.List) error {
	for _, in := range list.Inputs() {
		if in.Truncated {
			return console.Fail(console.ExitInput, "%s can't be read completely: its compressed data ends early", console.Plain(in.Name, 100)).
				WithHint("up to this point, the list has %s; with --strict, scan rejects such a list before it sends anything", console.Plural(in.Targets, "target"))
		}
	}
	return nil
}

// TargetFailure adds an exit code and a hint to an error in the targets: an unreadable
// input or a wrong argument.
func TargetFailure(err error) *console.Failure {
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

// ParsePorts parses a list of ports. The error begins with the name of the flag.
func ParsePorts(flag, text string) ([]uint16, error) {
	ports, err := list.ParsePorts(text)
	if err != nil {
		return ports, console.Fail(console.ExitUsage, "%s: %w", flag, err).
			WithHint("use numbers and ranges, such as 27015,27020-27030")
	}
	return ports, nil
}

// NothingToAsk returns an error with the reason if the list could not be read, or has
// yielded no target. Otherwise it returns nil.
func NothingToAsk(l *list.List, x *list.Exclusions) error {
	if err := l.Err(); err != nil {
		return LoadFailure(err)
	}
	s := l.Stats()
	if s.Given > 0 {
		return nil
	}
	counts := console.Grouped(s.Read) + " read"
	if s.Read > 0 {
		counts += " = " + strings.TrimSuffix(ledger.OfList(s).Accounted(), " + ")
	}
	rows, format := uint64(0), ""
	for _, in := range l.Inputs() {
		rows += in.Skipped
		if in.Invalid > 0 && in.Format != "text" {
			format = in.Format
		}
	}
	var most list.Exclusion // the exclusion that matched the most targets
	ipv6 := false
	for _, from := range x.Counts() {
		ipv6 = ipv6 || from.Network == "::/0" && from.Targets > 0
		if !from.Unscannable && from.Targets > most.Targets {
			most = from
		}
	}
	hint := "correct the input: no server can have the addresses in it"
	switch {
	case rows > 0 && s.Read == 0:
		hint = fmt.Sprintf("skipped %s for TCP, closed ports or banners: A2S uses UDP", console.Plural(rows, "row"))
	case s.Read == 0:
		hint = "the input is empty: write one ip:port per line"
	case strings.HasPrefix(most.Source, "RFC "):
		hint = "to query special-purpose networks, too, use --allow-reserved"
	case s.Excluded > 0:
		hint = "the exclusion that matched the most targets is " + strings.TrimPrefix(most.Network+", "+most.Source, ", ")
	case format != "":
		hint = fmt.Sprintf("the list was read as %s; if it is plain text, write one ip:port per line", format)
	case s.Invalid > 0:
		hint = "write one ip:port per line, such as 203.0.113.7:27015"
	case s.OtherShard > 0:
		hint = "all addresses belong to other shards"
	case ipv6:
		hint = "use IPv4 addresses; only Xash3D and CoD4X are known to answer over IPv6 as well"
	}
	return console.Fail(console.ExitInput, "nothing left to query: %s", counts).WithHint("%s", hint)
}

// LoadFailure adds an exit code, and usually a hint, to an error from reading the lists. It
// returns nil if err is nil.
func LoadFailure(err error) error {
	switch bad, isLine := errors.AsType[list.Invalid](err); {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return console.Fail(console.ExitInterrupted, "interrupted before the first packet")
	case isLine:
		return console.Fail(console.ExitInput, "%s:%d: %w: %s", console.Plain(bad.File, 100), bad.Line, bad.Err, console.Quoted(bad.Text, 60)).
			WithHint("correct the line, or omit --strict to count and skip such lines")
	}
	f := TargetFailure(err)
	f.Code = console.ExitInput
	return f
}
