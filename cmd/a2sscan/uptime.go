package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/censusfile"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/flags"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/watch/db"
)

type uptimeFlags struct {
	state    string
	from, to time.Time
	fields   []string
	format   string
}

func uptimeCommand(a *app) *cobra.Command {
	f := &uptimeFlags{to: time.Now()}
	cmd := &cobra.Command{
		Use:   "uptime --state FILE",
		Short: "Show how long each server of a watch was up",
		Long: `Shows for each server of a watch how long it was up, down, unseen and in planned
maintenance, how often it went down, and how many people played on it. The share
of uptime covers only the time with checks: unseen and planned time never counts
as down. An outage also counts if --damp suppressed its event.

The text format has one line for each server and a total; PEOPLE is the mean
number of people, and MOST the largest. CSV, TSV and JSON give times in seconds,
and omit servers that never answered.

The watch may still be running. Periods are rounded to whole hours, or to whole
days where the database has only daily rows.`,
		Example: `  a2sscan uptime --state watch.db
  a2sscan uptime --state watch.db --from 2026-11-01 --to 2026-12-01 --format csv
  a2sscan uptime --state watch.db -f addr,up_share,outages --format json`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return f.run(a) },
	}
	fs := cmd.Flags()
	fs.SortFlags = false
	fs.StringVar(&f.state, "state", "", "database `FILE` of the watch")
	fs.Var(&flags.Value[time.Time]{To: &f.from, Parse: parseTime}, "from", "begin at `TIME`: 2026-11-20, 2026-11-20T03:00:00Z, or an age such as 24h (default: the first hour in the database)")
	fs.Var(&flags.Value[time.Time]{To: &f.to, Parse: parseTime}, "to", "end at `TIME` (default: now)")
	fs.StringVar(&f.format, "format", "", "`WORD` is text, csv, tsv or json (default text on a terminal, else json)")
	fs.StringSliceVarP(&f.fields, "fields", "f", nil, "write only these fields: a `LIST` of "+strings.Join(db.UptimeFields, ", "))
	return cmd
}

// parseTime parses a time or an age, such as 24h, which means 24 hours ago.
func parseTime(s string) (time.Time, error) {
	if age, err := time.ParseDuration(s); err == nil && age >= 0 {
		return time.Now().Add(-age), nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04", time.DateTime, time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, nil
		}
	}
	return time.Time{}, errors.New("use a time such as 2026-11-20, 2026-11-20T03:00:00Z (UTC), or 24h for a day ago")
}

func (f *uptimeFlags) run(a *app) error {
	if f.format == "" {
		f.format = map[bool]string{true: "text", false: "json"}[console.IsTerminal(a.out.w)]
	}
	people := f.format == "text" && len(f.fields) == 0
	if people {
		f.fields = []string{"label", "name", "addr", "up_s", "down_s", "unseen_s", "planned_s", "outages", "people_mean", "people_max", "status"}
	} else if len(f.fields) == 0 {
		f.fields = db.UptimeFields
	}
	unknown := slices.IndexFunc(f.fields, func(name string) bool { return !slices.Contains(db.UptimeFields, name) })
	err := console.FirstBroken(
		console.Rule{Broken: f.state == "", Err: "uptime needs the database of a watch", Hint: "a2sscan uptime --state watch.db"},
		console.Rule{Broken: unknown >= 0, Err: "--fields: there is no field " + console.Quoted(f.fields[max(unknown, 0)], 40), Hint: "choose from " + strings.Join(db.UptimeFields, ", ")},
		console.Rule{Broken: !slices.Contains(censusfile.Formats, censusfile.Format(f.format)), Err: "--format must be text, csv, tsv or json", Hint: "text is a table for people, and the other formats are for programs"},
		console.Rule{Broken: !f.from.Before(f.to), Err: "--from is not before --to", Hint: "choose an earlier --from; without --to, the period ends now"},
	)
	if err != nil {
		return err
	}
	var state *db.DB
	err = db.Retry(context.Background(), a.stateHeld(f.state), func() (err error) {
		state, err = db.Read(f.state)
		return err
	})
	if err != nil {
		return stateFailure(f.state, err)
	}
	out := bufio.NewWriter(a.out) // Flush returns the first error of all writes
	print, end := f.printer(out, people)
	err = db.Retry(context.Background(), a.stateHeld(f.state), func() error { return state.Uptime(f.from, f.to, people, f.fields, print) })
	if err = errors.Join(err, state.Close()); err != nil {
		return stateFailure(f.state, err)
	}
	end()
	return out.Flush()
}

// printer writes what precedes the rows. It returns a function that prints a row, given the
// values of its fields, and one that prints what follows the rows. If people is set, they
// print the default text table.
func (f *uptimeFlags) printer(out io.Writer, people bool) (print func([]any), end func()) {
	switch {
	case people:
		total := uptimeTotal{out: out}
		total.write(strings.Fields("SERVER UP DOWN UNSEEN PLANNED OUTAGES PEOPLE MOST"))
		return total.add, total.end
	case f.format == "json":
		lines := jsontext.NewEncoder(out)
		return func(values []any) {
			row := map[string]any{}
			for i, value := range values {
				row[f.fields[i]] = value
			}
			_ = json.MarshalEncode(lines, row, json.Deterministic(true))
		}, func() {}
	case f.format == "text":
		aligned := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		write := func(cells []string) { fmt.Fprintln(aligned, strings.Join(cells, "\t")) }
		write(f.fields)
		safe := func(cell string) string { return console.Plain(cell, 40) }
		return func(values []any) { write(cellsOf(values, safe)) }, func() { _ = aligned.Flush() }
	}
	table := csv.NewWriter(out)
	if f.format == "tsv" {
		table.Comma = '\t'
	}
	_ = table.Write(f.fields)
	return func(values []any) { _ = table.Write(cellsOf(values, censusfile.Harmless)) }, table.Flush
}

// cellsOf formats the values of a row. A field without a value becomes an empty cell.
func cellsOf(values []any, safe func(string) string) (cells []string) {
	for _, value := range values {
		cells = append(cells, safe(strings.TrimPrefix(fmt.Sprint(value), "<nil>")))
	}
	return cells
}

// nameColumns is the width, in terminal cells, of the SERVER column in the default text
// table.
const nameColumns = 22

// uptimeTotal writes the default text table: the lines of the servers, and at the end a
// line with sums.
type uptimeTotal struct {
	out     io.Writer
	servers int
	sum     db.Period
	mean    float64 // sum of the servers' mean numbers of people
}

// add writes the line of a server. Its argument has the values of the fields that
// uptimeFlags.run chooses for this table, in the same order.
func (t *uptimeTotal) add(values []any) {
	var names [3]string // the first that is not empty is shown
	for i := range names {
		names[i], _ = values[i].(string)
	}
	var p db.Period
	for i, to := range []*int64{&p.Up, &p.Down, &p.Unseen, &p.Planned, &p.Outages} {
		*to, _ = values[3+i].(int64)
	}
	mean, counted := values[8].(float64)
	most, _ := values[9].(int64)
	people := []string{"", ""}
	if counted {
		people = []string{fmt.Sprintf("%.1f", mean), fmt.Sprint(most)}
	}
	t.line(console.Shorten(cmp.Or(names[0], names[1], names[2]), nameColumns), values[10] == string(db.Unknown), &p, people)
	t.servers++
	t.sum.Add(&p)
	t.mean += mean
}

func (t *uptimeTotal) end() {
	t.line(console.Plural(t.servers, "server"), false, &t.sum, []string{fmt.Sprintf("%.1f", t.mean), ""})
}

// line writes a line of the table. Its second argument is true if the server has never
// answered.
func (t *uptimeTotal) line(name string, never bool, p *db.Period, people []string) {
	cells := []string{name, "–"} // the dash means that the share is unknown
	if share, asked := p.Share(); asked {
		cells[1] = console.PercentDown(share) + " %"
	} else if never {
		cells[1] = "never"
	}
	for _, seconds := range []int64{p.Down, p.Unseen, p.Planned} {
		cells = append(cells, compact(time.Duration(seconds)*time.Second))
	}
	t.write(append(append(cells, fmt.Sprint(p.Outages)), people...))
}

// write pads the cells to the widths of the columns.
func (t *uptimeTotal) write(cells []string) {
	line := console.Pad(cells[0], nameColumns+2)
	for i, cell := range cells[1:] {
		line += console.Pad(cell, []int{9, 8, 8, 9, 9, 8, 0}[i])
	}
	fmt.Fprintln(t.out, strings.TrimRight(line, " "))
}

// compact formats a duration as 20s, 12m5s, 3h12m or 5d3h.
func compact(d time.Duration) string {
	switch minutes := d.Round(time.Minute); {
	case minutes < time.Hour:
		return d.String()
	case minutes < 100*time.Hour:
		return strings.TrimSuffix(minutes.String(), "0s")
	}
	hours := int(d.Round(time.Hour).Hours())
	return fmt.Sprintf("%dd%dh", hours/24, hours%24)
}
