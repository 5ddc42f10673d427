package main

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/compare"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
)

// diffFlags are the flags of diff.
type diffFlags struct {
	options compare.Options
	output  string
	json    bool
	old     []string
	new     []string
}

func (a *app) diffCommand() *cobra.Command {
	f := &diffFlags{}
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Show what changed between two censuses",
		Long: `Compares two censuses and shows what changed: servers that are new, gone,
back or moved, and those with another name, map, version, capacity, mode, mods,
rules, flags or demand for challenges. On a terminal it prints a page, elsewhere
one line of JSON per change, with the values before and after.

A server is gone only if the new scan asked it and got nothing: scan
--unanswered records that, or --targets names the list of the scan, whose
summary proves that nothing was left out. Otherwise it is not_asked. A question
that was not answered on one of the nights yields no change. If the scan lost
datagrams, diff says how many of the gone are probably there.

Numbers of people, maps of games that rotate them, and rules that change by
themselves (times, frames per second) are counted, not listed; --volatile lists
the first two. OLD and NEW are files; --old and --new add parts and shards, in
any order.`,
		Example: `  a2sscan diff monday.ndjson.zst tuesday.ndjson.zst
  a2sscan diff --kind gone,moved --game rust old.ndjson.zst new.ndjson.zst
  a2sscan diff --stat --exit-code monday.ndjson.zst tuesday.ndjson.zst`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return console.Fail(console.ExitUsage, "diff needs two censuses").
					WithHint("a2sscan diff monday.ndjson.zst tuesday.ndjson.zst")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.diff(f, args) },
	}
	f.add(cmd)
	return cmd
}

func (f *diffFlags) add(cmd *cobra.Command) {
	fs, o := cmd.Flags(), &f.options
	fs.SortFlags = false
	fs.BoolVar(&f.json, "json", false, "print one line of JSON per change, also on a terminal; with --stat the numbers")
	fs.BoolVar(&o.Stat, "stat", false, "print numbers only")
	fs.BoolVarP(&o.Quiet, "quiet", "q", false, "print nothing, and end with exit code 9 if something changed")
	fs.BoolVar(&o.ExitCode, "exit-code", false, "end with exit code 9 if something changed")
	fs.StringVarP(&f.output, "output", "o", "-", "write lines of JSON to `FILE` or s3://BUCKET/KEY; -: standard output")
	fs.StringSliceVar(&o.Kinds, "kind", nil, "only these `KINDS` of changes: new, gone, not_asked, back, moved, renamed, map, version, capacity, mode, mods, rules, flags, challenge, farm, players")
	fs.StringSliceVar(&o.Games, "game", nil, "only `GAMES`, by word or name: rust, app:730")
	fs.StringSliceVar(&o.Networks, "network", nil, "only `NETWORKS` such as 203.0.113.0/24 or AS64496")
	fs.BoolVar(&o.Volatile, "volatile", false, "also list numbers of people, and maps of games that rotate them")
	fs.StringArrayVar(&o.Targets, "targets", nil, "the `LIST` that the new census was asked for: who is not in the census is gone")
	fs.StringVarP(&o.Ports, "port", "p", "", "ports of networks and bare addresses in --targets, as scan had them")
	fs.StringArrayVar(&f.old, "old", nil, "another `FILE` of the old census: a part or a shard")
	fs.StringArrayVar(&f.new, "new", nil, "another `FILE` of the new census")
	fs.StringArrayVar(&o.OldSums, "old-summary", nil, "`FILE` with the numbers of the old scan (default: beside the census)")
	fs.StringArrayVar(&o.NewSums, "new-summary", nil, "`FILE` with the numbers of the new scan")
}

// diff compares two censuses.
func (a *app) diff(f *diffFlags, args []string) error {
	o := f.options
	o.Old, o.New = append(args[:1:1], f.old...), append(args[1:2:2], f.new...)
	toFile := f.output != "-" && f.output != ""
	o.JSON = f.json || !o.Stat && (toFile || !console.IsTerminal(a.out.w))
	o.PageWidth = a.term.Width()
	if !toFile {
		return compare.Diff(a.term, a.out, o)
	}
	return compare.ToFile(f.output, append(o.Old, o.New...), func(out *os.File) error { return compare.Diff(a.term, out, o) })
}
