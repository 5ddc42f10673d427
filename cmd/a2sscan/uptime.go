package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/columns"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watchdb"
)

// uptimeFlags are the flags of uptime.
type uptimeFlags struct {
	state    string
	from, to string
	fields   []string
	format   string
}

func uptimeCommand(a *app) *cobra.Command {
	f := &uptimeFlags{}
	cmd := &cobra.Command{
		Use:   "uptime --state FILE",
		Short: "Show how long each server of a watch was up",
		Long: `Shows for each server that answered a watch how many minutes it was up, down and
unseen, how often it went down, and how many people played on it. The share of
uptime is that of the time in which the watch asked: unseen is never down.

The watch may still run. Periods are rounded to whole hours, or to whole days
where the watch no longer keeps hours.`,
		Example: `  a2sscan uptime --state watch.db
  a2sscan uptime --state watch.db --from 2026-11-01 --to 2026-12-01 --format csv
  a2sscan uptime --state watch.db -f addr,up_share,outages --format json`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return f.run(a) },
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&f.state, "state", "", "database `FILE` of the watch")
	fs.StringVar(&f.from, "from", "", "begin at `TIME`: 2026-11-20, 2026-11-20T03:00:00Z, or an age such as 24h (default: the first hour that is kept)")
	fs.StringVar(&f.to, "to", "", "end at `TIME` (default: now)")
	fs.StringVar(&f.format, "format", "", "`WORD` is text, csv, tsv or json (default text on a terminal, else json)")
	fs.StringSliceVarP(&f.fields, "fields", "f", nil, "write only these fields: a `LIST` of "+strings.Join(uptimeFields, ", "))
	return cmd
}

// uptimeFields are the names of the columns.
var uptimeFields = []string{
	"addr", "game", "name", "status", "since", "up_share", "up", "down", "unseen", "outages", "people_min", "people_mean", "people_max",
}

// uptimeRow returns the values of the columns; nil: unknown.
func uptimeRow(u *watchdb.Uptime) map[string]any {
	row := map[string]any{
		"addr": u.Addr.String(), "game": u.Game, "name": u.Name, "status": string(u.Status), "since": u.Since.UTC().Format(time.RFC3339),
		"up": u.Up, "down": u.Down, "unseen": u.Unseen, "outages": u.Outages,
		"up_share": nil, "people_min": nil, "people_mean": nil, "people_max": nil,
	}
	if share, ok := u.Share(); ok {
		row["up_share"] = float64(int(share*1e6+0.5)) / 1e6
	}
	if p := u.People; p != nil {
		row["people_min"], row["people_mean"], row["people_max"] = p.Min, float64(int(p.Mean*10+0.5))/10, p.Max
	}
	return row
}

// parseTime reads a time of a flag. An age counts back from now.
func parseTime(flag, s string, otherwise, now time.Time) (time.Time, error) {
	if s == "" {
		return otherwise, nil
	}
	if age, err := time.ParseDuration(s); err == nil && age >= 0 {
		return now.Add(-age), nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04", time.DateTime, time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, nil
		}
	}
	return now, console.Fail(console.ExitUsage, "%s %s is no time", flag, console.Quoted(s, 40)).
		WithHint("such as 2026-11-20, 2026-11-20T03:00:00Z (UTC), or 24h for a day ago")
}

// run prints the uptime of servers.
func (f *uptimeFlags) run(a *app) error {
	if f.state == "" {
		return console.Fail(console.ExitUsage, "uptime needs the database of a watch").WithHint("a2sscan uptime --state watch.db")
	}
	fields := f.fields
	for _, name := range fields {
		if !slices.Contains(uptimeFields, name) {
			return console.Fail(console.ExitUsage, "--fields: there is no %s", console.Quoted(name, 40)).
				WithHint("choose from %s", strings.Join(uptimeFields, ", "))
		}
	}
	if fields == nil {
		fields = uptimeFields
	}
	now := time.Now()
	from, err := parseTime("--from", f.from, now.AddDate(-100, 0, 0), now)
	if err != nil {
		return err
	}
	to, err := parseTime("--to", f.to, now, now)
	if err != nil {
		return err
	}
	if !from.Before(to) {
		return console.Fail(console.ExitUsage, "--from is not before --to")
	}
	db, err := watchdb.Read(f.state)
	if err != nil {
		return stateFailure(f.state, err)
	}
	_, _, servers, err := db.Uptime(from, to)
	if err = errors.Join(err, db.Close()); err != nil {
		return stateFailure(f.state, err)
	}
	return printUptime(a, f.format, fields, servers)
}

// printUptime prints a row for each server.
func printUptime(a *app, format string, fields []string, servers []watchdb.Uptime) error {
	onScreen := console.IsTerminal(a.out.w)
	if format == "" {
		format = map[bool]string{true: "text", false: "json"}[onScreen]
	}
	table, aligned := csv.NewWriter(a.out), tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	lines := jsontext.NewEncoder(a.out)
	var write func(cells []any) error
	switch format {
	case "json":
		write = func(cells []any) error {
			row := map[string]any{}
			for i, cell := range cells {
				row[fields[i]] = cell
			}
			return json.MarshalEncode(lines, row, json.Deterministic(true))
		}
	case "csv", "tsv":
		if format == "tsv" {
			table.Comma = '\t'
		}
		write = func(cells []any) error { return table.Write(asTexts(cells, columns.Harmless)) }
	case "text":
		write = func(cells []any) error {
			_, err := fmt.Fprintln(aligned, strings.Join(asTexts(cells, func(s string) string { return console.Plain(s, 40) }), "\t"))
			return err
		}
	default:
		return console.Fail(console.ExitUsage, "--format %s: want text, csv, tsv or json", console.Quoted(format, 40))
	}
	if format != "json" {
		var titles []any
		for _, f := range fields {
			titles = append(titles, f)
		}
		if err := write(titles); err != nil {
			return err
		}
	}
	for i := range servers {
		row, cells := uptimeRow(&servers[i]), []any{}
		for _, f := range fields {
			cells = append(cells, row[f])
		}
		if err := write(cells); err != nil {
			return err
		}
	}
	table.Flush()
	return errors.Join(table.Error(), aligned.Flush())
}

// asTexts returns cells of a table. A cell without a value is empty.
func asTexts(cells []any, plain func(string) string) (texts []string) {
	for _, cell := range cells {
		text := ""
		if cell != nil {
			text = plain(fmt.Sprint(cell))
		}
		texts = append(texts, text)
	}
	return texts
}
