package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/habits"
)

// flagError returns the error for a flag that does not exist or has a bad value. It
// suggests a similar flag, or the help of the command.
func flagError(cmd *cobra.Command, err error) error {
	var missing *pflag.NotExistError
	var bad *pflag.InvalidValueError
	f := console.Fail(console.ExitUsage, "%w", err).WithHint("%s --help lists the flags", cmd.CommandPath())
	switch {
	case errors.As(err, &missing):
		if left, ok := wasFlag(cmd.Name(), missing.GetSpecifiedName()); ok {
			f.Err = fmt.Errorf("--%s is no longer a flag of %s", missing.GetSpecifiedName(), cmd.CommandPath())
			f.WithHint("%s", left.instead)
		} else if here := habits.Hint(missing.GetSpecifiedName(), flagNames(cmd)); here != "" {
			f.WithHint("%s", here)
		} else if like := console.Nearest(missing.GetSpecifiedName(), flagNames(cmd)); like != "" {
			f.WithHint("did you mean --%s?", like)
		}
	case errors.As(err, &bad) && forProgrammers(bad.Unwrap()):
		head, _, _ := strings.Cut(err.Error(), bad.Unwrap().Error())
		f.Err = errors.New(head + wanted[bad.GetFlag().Value.Type()])
	}
	return f
}

// forProgrammers reports whether an error comes from the Go library, whose messages
// do not help a user.
func forProgrammers(err error) bool {
	text := err.Error()
	return strings.HasPrefix(text, "strconv.") || strings.HasPrefix(text, "time: ")
}

// wanted describes the values that flags of the library's types accept.
var wanted = map[string]string{
	"duration": "want a time such as 300ms, 5s or 2m",
	"auto|D":   "want auto, or a time such as 300ms, 5s or 2m",
	"int":      "want a whole number",
	"uint":     "want a whole number from 0 on",
	"uint32":   "want a whole number from 0 on",
	"uint64":   "want a whole number from 0 on",
	"int64":    "want a whole number",
	"float64":  "want a number such as 0.5",
	"bool":     "want true or false",
}

// flagNames lists the flags of a command.
func flagNames(cmd *cobra.Command) (names []string) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return names
}
