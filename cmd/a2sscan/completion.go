package main

import (
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func completable(cmd *cobra.Command) {
	if len(cmd.ValidArgs) == 0 && !strings.Contains(cmd.Use, "FILE") && !takesTargets(cmd) {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
	cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) {
		// RegisterFlagCompletionFunc fails only if the flag already has a completion
		// function.
		_ = cmd.RegisterFlagCompletionFunc(flag.Name,
			func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
				return completions(flag, typed)
			})
	})
}

// completions returns the values of the flag that begin with the text that the user typed.
// In a comma-separated list, it completes the last word. If the flag takes a file, the
// returned directive makes the shell complete file names.
func completions(flag *pflag.Flag, typed string) (words []string, how cobra.ShellCompDirective) {
	before, how := "", cobra.ShellCompDirectiveNoFileComp
	if isList(flag) {
		before, how = typed[:strings.LastIndexByte(typed, ',')+1], how|cobra.ShellCompDirectiveNoSpace
	}
	var all []string // the words in the flag's help that the flag accepts; trying a word changes the flag
	if flag.Value.Type() != "bool" && flag.Value.Set("no such word") != nil {
		for _, word := range helpWord.FindAllString(flag.Usage, -1) {
			if !slices.Contains(all, word) && flag.Value.Set(word) == nil {
				all = append(all, word)
			}
		}
	}
	for _, word := range all {
		if strings.HasPrefix(before+word, typed) && !slices.Contains(strings.Split(before, ","), word) {
			words = append(words, before+word)
		}
	}
	name, _ := pflag.UnquoteUsage(flag)
	switch {
	case len(all) > 0:
		return words, how
	case strings.Contains(name, "FILE") || strings.Contains(name, "PATH"):
		return nil, cobra.ShellCompDirectiveDefault
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

var helpWord = regexp.MustCompile(`[a-z][a-z0-9-]+`)
