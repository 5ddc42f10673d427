package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"math"
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

// uptimeRow returns the values of all columns; nil: unknown.
func uptimeRow(u *watchdb.Uptime) []any {
	row := []any{
		u.Addr.String(), u.Game, u.Name, string(u.Status), u.Since.UTC().Format(time.RFC3339), nil, u.Up, u.Down, u.Unseen, u.Outages, nil, nil, nil,
	}
	if share, ok := u.Share(); ok {
		row[5] = math.Round(share*1e6) / 1e6
	}
	if p := u.People; p != nil {
		copy(row[10:], []any{p.Min, math.Round(p.Mean*10) / 10, p.Max})
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
	names := f.fields
	if names == nil {
		names = uptimeFields
	}
	var shown []int // columns
	for _, name := range names {
		i := slices.Index(uptimeFields, name)
		if i < 0 {
			return console.Fail(console.ExitUsage, "--fields: there is no %s", console.Quoted(name, 40)).
				WithHint("choose from %s", strings.Join(uptimeFields, ", "))
		}
		shown = append(shown, i)
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
	return printUptime(a, f.format, shown, servers)
}

// printUptime prints a row for each server.
func printUptime(a *app, format string, shown []int, servers []watchdb.Uptime) error {
	if format == "" {
		format = map[bool]string{true: "text", false: "json"}[console.IsTerminal(a.out.w)]
	}
	table, aligned, lines := csv.NewWriter(a.out), tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0), jsontext.NewEncoder(a.out)
	var write func(cells []string) error
	switch format {
	case "json":
	case "csv", "tsv":
		if format == "tsv" {
			table.Comma = '\t'
		}
		write = func(cells []string) error { return table.Write(each(cells, columns.Harmless)) }
	case "text":
		write = func(cells []string) error {
			plain := each(cells, func(s string) string { return console.Plain(s, 40) })
			_, err := fmt.Fprintln(aligned, strings.Join(plain, "\t"))
			return err
		}
	default:
		return console.Fail(console.ExitUsage, "--format %s: want text, csv, tsv or json", console.Quoted(format, 40))
	}
	titles := each(shown, func(i int) string { return uptimeFields[i] })
	var err error
	if write != nil {
		err = write(titles)
	}
	for i := range servers {
		row, object := uptimeRow(&servers[i]), map[string]any{}
		cells := each(shown, func(i int) string {
			object[uptimeFields[i]] = row[i]
			return strings.TrimPrefix(fmt.Sprint(row[i]), "<nil>")
		})
		if write != nil {
			err = errors.Join(err, write(cells))
		} else {
			err = errors.Join(err, json.MarshalEncode(lines, object, json.Deterministic(true)))
		}
	}
	table.Flush()
	return errors.Join(err, table.Error(), aligned.Flush())
}

// each returns what f makes of each element.
func each[T any](all []T, f func(T) string) (made []string) {
	for _, v := range all {
		made = append(made, f(v))
	}
	return made
}
