package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/report"
)

func (a *app) reportCommand() *cobra.Command {
	var o report.Options
	var r report.Result
	cmd := &cobra.Command{
		Use:   "report CENSUS…",
		Short: "Show a census as an HTML page",
		Long: `Writes one HTML page about a census: servers and people by game, map, version,
operating system, country and network; how full, how large and how far away
servers are; groups of servers that seem to be fake (farms) and other suspicious
answers (flags); how well the scan went; and a table of servers to search and
sort. --before adds what changed since another census. --history adds earlier
scans, from their stats in a folder.

The page is a single file of at most about 3 MB. It loads nothing from the
network and sends nothing. It contains no player names. It counts servers that
answer without a challenge, but does not list them.

report reads several files as one census: name all files that scan --rotate or
--shard wrote, in any order.`,
		Example: `  a2sscan report census.ndjson.zst -o report.html
  a2sscan report tuesday.ndjson.zst --before monday.ndjson.zst -o report.html
  a2sscan report census/census-*.zst --history census -o report.html`,
		Args: wantArgs(1, 0, "report needs a census", "a2sscan report census.ndjson.zst -o report.html"),
		RunE: func(_ *cobra.Command, args []string) error {
			o.Files, o.Program = args, "a2sscan "+thisBuild().Version
			if r.Name == "" && console.IsTerminal(a.out.w) {
				return console.Fail(console.ExitUsage, "report does not write a page to a terminal").
					WithHint("write the page to a file with -o FILE")
			}
			r.Stdout, r.Kind = a.out, report.ReportFile
			return r.Write(append(o.Files, o.Before...), func(out io.Writer) error { return report.Make(a.term, out, o) })
		},
	}
	fs := cmd.Flags()
	fs.StringVarP(&r.Name, "output", "o", "", "write the page to `FILE`; -: standard output")
	fs.BoolVar(&r.Force, "force", false, "replace an existing FILE even if report did not write it")
	fs.StringArrayVar(&o.Before, "before", nil, "show what changed since the census in `FILE`; may be repeated, once for each file of that census")
	fs.StringVar(&o.History, "history", "", "show the nightly scans whose stats (*.stats.json) are in `DIR`")
	fs.StringVar(&o.Title, "title", "", "use `TEXT` as the title of the page (default: the date)")
	addGameFlag(fs, &o.Games)
	fs.StringArrayVar(&o.Summaries, "summary", nil, "read the summary of a scan from `FILE`; may be repeated (default: the summaries beside the census files)")
	return cmd
}
