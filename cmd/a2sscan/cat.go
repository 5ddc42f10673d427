package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/censusfile"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner/game"
)

type catFlags struct {
	how       formatFlags
	color     string
	databases []string
	sort      string
	most      int
	print     censusfile.Printing
}

func (a *app) catCommand() *cobra.Command {
	f := &catFlags{}
	cmd := &cobra.Command{
		Use:   "cat FILE…",
		Short: "Print the records of census files",
		Long: `Prints the records of census files, plain or compressed: as a table on a
terminal, otherwise as one line of JSON per record. --format chooses another
format, and --fields the fields. FILE - is standard input. In the table, the
name of a server is followed by its tag in brackets. The tag is the text after
the server's address in the list of targets.

--fields also accepts the fields people, capacity, bots and farm, which cat
computes. The first three come from the game's own numbers (the record's key
"game") if there are any, and otherwise from the key "info". The field people
does not count bots, but info.players does. The field farm is the ID of the
server's farm, a group of servers that seem to be fake. A farm keeps its ID from
night to night while most of its servers keep their game and name. But if several
farms have the same game and name, only the largest keeps its ID. a2sscan schema
json describes all other fields. For example, game.started is the time of the
last wipe, when the world of the server began.

--sort compares numbers and addresses by their value, not as text. Servers with
the same value come in the order of their addresses. Servers without the field
come last. With -n N, sorting keeps N records in memory; without -n, it keeps
the chosen fields of all records. To find farms, cat first reads the files once,
and keeps a few facts about each server in memory, as stats does.

If a file is truncated or damaged, or lacks records that the summary beside it
counts, cat prints the remaining records, reports the problem, and exits with 8.
With -n but without --sort, cat may stop before it reaches the damage. A record
counts as damaged if a field that cat prints has a value of the wrong type. Of
records that it prints unchanged, cat checks only that they are JSON, or that
the checksum of a .zst file is right, and that no number such as 1e400 is too
large. a2sscan verify checks everything.

With --fields, each line of JSON is flat: jq reads a field as ."info.map".

On a terminal, and in text, csv and tsv, cat shows invisible characters and line
breaks in names as escapes such as \u202e or \n. A list of words, such as flags,
has blanks between them. In csv and tsv an apostrophe precedes text that a
spreadsheet would take for a formula. For the exact text, use --format json.

--mmdb adds the location or network of each address, and replaces a location or
network that the scan recorded.

In a record, the key "flags" lists what is suspicious about the answers.
--fakes chooses servers by farm and by flag: --fakes count_mismatch prints the
servers with this flag. --fakes without,unflagged prints the servers that are in
no farm and have no flag, and --fakes without,flagged prints the servers that are
in no farm but have a flag.
These flags contradict the number or the list of players:

` + flagMeanings(game.DoubtfulPeople) + `

These flags say that the server answers in an unusual way:

` + flagMeanings(^game.DoubtfulPeople),
		Example: `  a2sscan cat census.ndjson.zst --sort -people -n 100 \
      --fakes without,unflagged \
      -f addr,people,info.name --format csv
  a2sscan cat census.ndjson.zst --fakes without,count_mismatch \
      -f addr,people,flags,info.name
  a2sscan cat census.ndjson.zst --game rust --sort -people --format json \
      -f addr,people,game.started,info.name | jq -c 'select(.people > 100)'`,
		Args: wantArgs(1, 0, "cat needs a file", "a2sscan cat census.ndjson.zst"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(a, cmd.Flags(), args) },
	}
	f.how.add(cmd.Flags(), "text on a terminal, else json")
	cmd.Flags().StringVar(&f.color, "color", "auto", "use colours: `WORD` is auto (on a terminal), always or never")
	addGeoFlag(cmd.Flags(), &f.databases)
	addGameFlag(cmd.Flags(), &f.print.Choice.Games)
	fs := cmd.Flags()
	fs.StringVar(&f.sort, "sort", "", "sort by `FIELD`, such as info.name; a minus, as in -people, puts the largest values first")
	fs.IntVarP(&f.most, "number", "n", 0, "print at most `N` records; 0 means all")
	fs.StringSliceVar(&f.print.Choice.Statuses, "only", nil, "print only records with these `STATUSES`, such as ok,partial")
	fs.StringArrayVar(&f.print.Choice.Farms, "farm", nil, "print only the members of the farm with this `ID`; a2sscan stats lists the IDs; may be repeated")
	fs.StringSliceVar(&f.print.Choice.Fakes, "fakes", nil, "print only servers that match all of these `WORDS`: \"without\" = in no farm, \"only\" = in a farm, \"flagged\" = with a flag, \"unflagged\" = without flags, or the name of a flag such as count_mismatch")
	return cmd
}

func (f *catFlags) run(a *app, fs *pflag.FlagSet, args []string) (err error) {
	if !slices.Contains(console.Colors, f.color) {
		return console.Fail(console.ExitUsage, "--color: use auto, always or never").
			WithHint("to switch colours off for every command, set NO_COLOR=1 in the environment")
	}
	if f.print.Databases, err = censusfile.OpenDatabases(f.databases); err != nil {
		return err
	}
	f.print.Table, err = censusfile.TableFor(a.out.w, censusfile.Format(f.how.format), f.how.fields, console.UseColor(f.color, a.out.w))
	if err != nil {
		return err
	}
	for name, words := range map[string][]string{"only": f.print.Choice.Statuses, "fakes": f.print.Choice.Fakes} {
		if fs.Changed(name) && len(words) == 0 {
			return console.Fail(console.ExitUsage, "--%s needs a word", name).WithHint("omit --%s to print all records", name)
		}
	}
	if f.print.Order, err = censusfile.ParseOrder(f.sort, f.most); err != nil {
		return err
	}
	f.print.Visible = console.IsTerminal(a.out.w)
	err = censusfile.Print(a.term, a.out, args, &f.print)
	if f.print.Table != nil && len(f.print.Databases) == 0 && f.print.Table.LacksGeo() {
		a.term.Say("no record has a geo field: name a database of locations with --mmdb FILE")
	}
	return err
}

func flagMeanings(flags game.Flags) string {
	var rows []string
	for i := range game.FlagRules {
		if r := &game.FlagRules[i]; flags&(1<<i) != 0 {
			rows = append(rows, console.Wrap(fmt.Sprintf("  %-18s%s", r.Word, r.Rule), 80, 20)...)
		}
	}
	return strings.Join(rows, "\n")
}

func addGeoFlag(fs *pflag.FlagSet, files *[]string) {
	fs.StringArrayVar(files, "mmdb", nil, "add the location or network of each address from the database in `FILE`, in MaxMind's format (GeoLite2, DB-IP, IPinfo); may be repeated")
}
