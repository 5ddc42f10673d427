package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/report"
)

func (a *app) diffCommand() *cobra.Command {
	var o report.DiffOptions
	var result report.Result
	var asJSON bool
	var moreOld, moreNew []string
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Show what changed between two censuses",
		Long: `Compares two censuses and shows what changed: which servers are new, gone, back
or moved, which have a new name, map, version, capacity, mode, mods, rules or
flags, and which started or stopped demanding a challenge. On a terminal it
prints a readable overview; otherwise one line of JSON per change, with the
values before and after.

A server counts as gone if the new scan queried it and got no answer. diff knows
this if the new scan ran with --unanswered. Otherwise a missing server counts as
not_asked. If a server answered a question in only one of the censuses, diff
does not compare the answers. If the new scan lost datagrams, diff estimates how
many of the gone servers still exist.

Player counts change all the time, and so do the maps of games that rotate them.
diff counts these changes, but lists them only with --volatile. It ignores rules
that change by themselves, such as clocks and frame rates.

OLD and NEW are files. If a census has several files, because scan ran with
--rotate or --shard, name the other files with --old and --new, in any order.`,
		Example: `  a2sscan diff monday.ndjson.zst tuesday.ndjson.zst
  a2sscan diff --kind gone,moved --game rust old.ndjson.zst new.ndjson.zst
  a2sscan diff --stat --exit-code monday.ndjson.zst tuesday.ndjson.zst`,
		Args: wantArgs(2, 2, "diff needs two censuses", "a2sscan diff monday.ndjson.zst tuesday.ndjson.zst"),
		RunE: func(_ *cobra.Command, args []string) error {
			o.Old, o.New = append(args[:1:1], moreOld...), append(args[1:2:2], moreNew...)
			o.PageWidth = a.term.Width()
			result.Stdout, result.Kind = a.out, report.DiffFile
			return result.Write(append(o.Old, o.New...), func(out io.Writer) error {
				o.JSON = asJSON || !o.Stat && (out != a.out || !console.IsTerminal(a.out.w))
				return report.Diff(a.term, out, o)
			})
		},
	}
	fs := cmd.Flags()
	fs.BoolVar(&asJSON, "json", false, "print one line of JSON per change, even on a terminal; with --stat, print the numbers as JSON")
	fs.BoolVar(&o.Stat, "stat", false, "print only how many changes there are")
	fs.BoolVarP(&o.Quiet, "quiet", "q", false, "print nothing; exit with 9 if something changed")
	fs.BoolVar(&o.ExitCode, "exit-code", false, "exit with 9 if something changed")
	fs.StringVarP(&result.Name, "output", "o", "-", "write to `FILE`, as lines of JSON; -: standard output")
	fs.BoolVar(&result.Force, "force", false, "replace an existing FILE even if diff did not write it")
	fs.StringSliceVar(&o.Kinds, "kind", nil, "show only these `KINDS` of change: "+strings.Join(report.KindWords(), ", "))
	addGameFlag(fs, &o.Games)
	fs.StringSliceVar(&o.Networks, "network", nil, "show only servers in these `NETWORKS`, such as 203.0.113.0/24 or AS64496")
	fs.BoolVar(&o.Volatile, "volatile", false, "also list changes of player counts, and map changes in games that rotate maps")
	fs.StringArrayVar(&moreOld, "old", nil, "another `FILE` of the old census, if the census has several files; may be repeated")
	fs.StringArrayVar(&moreNew, "new", nil, "another `FILE` of the new census, if the census has several files; may be repeated")
	fs.StringArrayVar(&o.OldSums, "old-summary", nil, "read the summary of an old scan from `FILE`; may be repeated (default: the summaries beside the census files)")
	fs.StringArrayVar(&o.NewSums, "new-summary", nil, "read the summary of a new scan from `FILE`; may be repeated (default: the summaries beside the census files)")
	return cmd
}
