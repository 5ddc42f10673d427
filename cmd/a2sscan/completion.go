package main

import (
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/a2sscan/a2sscan/bench/fleet"
	"github.com/a2sscan/a2sscan/bench/fleet/games"
)

// completable sets up shell completion for a command. It completes words if a flag
// accepts only certain words, file names if it accepts a file, and nothing otherwise.
// It derives all of this from the flags.
func completable(cmd *cobra.Command) {
	if len(cmd.ValidArgs) == 0 && !strings.Contains(cmd.Use, "FILE") && !takesTargets(cmd) {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
	cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) {
		// RegisterFlagCompletionFunc fails only if the flag has such a function
		// already.
		_ = cmd.RegisterFlagCompletionFunc(flag.Name,
			func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
				return completions(cmd, flag, typed)
			})
	})
}

// completions returns the possible values of a flag that begin with typed.
func completions(cmd *cobra.Command, flag *pflag.Flag, typed string) ([]string, cobra.ShellCompDirective) {
	words := flagWords(cmd, flag)
	name, _ := pflag.UnquoteUsage(flag)
	switch {
	case isList(flag) && len(words) > 0:
		return completeList(words, typed), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	case len(words) > 0:
		return beginning(words, typed), cobra.ShellCompDirectiveNoFileComp
	case strings.Contains(name, "FILE") || strings.Contains(name, "PATH"):
		return nil, cobra.ShellCompDirectiveDefault
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// completeList completes the last word of a list that is separated by commas.
func completeList(words []string, typed string) (lists []string) {
	before := typed[:strings.LastIndexByte(typed, ',')+1]
	for _, word := range words {
		if !slices.Contains(strings.Split(before, ","), word) {
			lists = append(lists, before+word)
		}
	}
	return beginning(lists, typed)
}

// beginning returns the words that begin with typed.
func beginning(words []string, typed string) []string {
	return slices.DeleteFunc(words, func(word string) bool { return !strings.HasPrefix(word, typed) })
}

// flagWords returns the words that a flag accepts. It returns nil if the flag also
// accepts other values.
func flagWords(cmd *cobra.Command, flag *pflag.Flag) []string {
	if of := checkedLater[cmd.Name()+" "+flag.Name]; of != nil {
		return of()
	}
	return helpWords(flag)
}

// checkedLater has the words for flags whose Set accepts any string because the value
// is checked later.
var checkedLater = map[string]func() []string{
	"fleet kinds":         func() []string { return kindNames(fleet.HonestKinds()) },
	"fleet hostile-kinds": func() []string { return kindNames(fleet.HostileKinds()) },
	"fleet fake-kinds":    func() []string { return kindNames(fleet.FakerKinds()) },
	"fleet games":         games.Titles,
	"fleet master-faults": fleet.MasterFaultWords,
}

func kindNames(kinds []fleet.Kind) (names []string) {
	for _, k := range kinds {
		names = append(names, k.String())
	}
	return names
}

var helpWord = regexp.MustCompile(`[a-z][a-z0-9-]+`)

// helpWords returns those words of a flag's help that the flag accepts. It returns none
// if the flag accepts any string or is a bool.
func helpWords(flag *pflag.Flag) (words []string) {
	if flag.Value.Type() == "bool" || flag.Value.Set("no such word") == nil {
		return nil
	}
	for _, word := range helpWord.FindAllString(flag.Usage, -1) {
		if !slices.Contains(words, word) && flag.Value.Set(word) == nil {
			words = append(words, word)
		}
	}
	return words
}
