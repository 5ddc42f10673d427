package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/sink/census"
)

// gamesListed is the maximum number of games that writePage lists.
const gamesListed = 20

// writePage writes the comparison as text, not as JSON.
func writePage(out io.Writer, c *census.Comparison, o *DiffOptions, important *Important) {
	screen := max(o.PageWidth, 60)
	fmt.Fprintf(out, "before: %s\nafter:  %s\n\n", nightLine(&c.Old), nightLine(&c.New))
	width := 0
	for _, k := range census.Kinds {
		width = max(width, len(k.Kind))
	}
	for _, k := range census.Kinds {
		if c.Changes[k.Kind] > 0 {
			n, volatile, note := c.Changes[k.Kind]-c.Volatile[k.Kind], c.Volatile[k.Kind], ""
			if o.Volatile || slices.Contains(o.Kinds, string(k.Kind)) {
				n += volatile
			} else if volatile > 0 {
				note = fmt.Sprintf("  and %s more that --volatile lists", console.Grouped(volatile))
			}
			if k.Kind == "gone" && c.LikelyLost != nil && *c.LikelyLost >= 0.5 {
				note = fmt.Sprintf("  about %.0f of these servers probably seem gone only because datagrams were lost", *c.LikelyLost)
			}
			fmt.Fprintf(out, "  %-*s %12s%s\n", width, KindText(k.Kind), console.Grouped(n), note)
		}
	}
	if c.Unknown > 0 {
		fmt.Fprintf(out, "  %-*s %12s  new, or in the missing part of the old census\n", width, "unknown", console.Grouped(c.Unknown))
	}
	fmt.Fprintf(out, "  %-*s %12s  apart from people and map rotations\n\n", width, "unchanged", console.Grouped(c.Same))
	fmt.Fprintln(out, strings.Join(console.Wrap(routine(c), screen, 0), "\n"))
	if o.Stat {
		fmt.Fprintln(out)
	}
	games := mostChanged(c)
	full := false // whether a game may have more changes than are listed
	for _, id := range games[:min(len(games), gamesListed)] {
		var parts []string
		for _, k := range census.Kinds {
			if n := c.ByGame[id][k.Kind]; n > 0 {
				parts = append(parts, KindText(k.Kind)+" "+console.Grouped(n))
			}
		}
		name := console.Plain(id, 30)
		if id == "" {
			name = "other games"
		}
		if !o.Stat {
			fmt.Fprintln(out)
		}
		fmt.Fprintln(out, strings.Join(console.Wrap(name+": "+strings.Join(parts, ", "), screen, 2), "\n"))
		if !o.Stat {
			full = full || len(important.Of(id)) == changesKept
			for _, change := range important.Of(id) {
				fmt.Fprintf(out, "  %s\n", lineOf(&change, screen))
			}
		}
	}
	switch hidden := max(0, len(games)-gamesListed); {
	case o.Stat && hidden > 0:
		fmt.Fprintf(out, "and %s; to count the changes of all: a2sscan diff OLD NEW --stat --json\n", console.Plural(hidden, "more game"))
	case !o.Stat && (hidden > 0 || full):
		fmt.Fprintln(out, "\nThese are not all changes; to list all: a2sscan diff OLD NEW --json")
	}
}

func nightLine(n *census.Night) string {
	line := fmt.Sprintf("%s: %s, %s", scansText(n.Scans), console.Plural(n.All.Servers, "server"), console.Plural(n.All.People, "person"))
	if n.Farms > 0 {
		line += fmt.Sprintf("; without %s: %s, %s", console.Plural(n.Farms, "farm"),
			console.Plural(n.WithoutFarms.Servers, "server"), console.Plural(n.WithoutFarms.People, "person"))
	}
	if len(n.Lost) > 0 {
		line += "; damaged or not complete: " + console.Plain(n.Lost[0], 200)
	}
	if n.Summary && !n.Complete {
		line += "; the scan is not complete"
	}
	return line
}

// KindText returns a kind of change as pages show it.
func KindText(k census.Kind) string { return strings.ReplaceAll(string(k), "_", " ") }

// lineOf formats one change as a line. Its second argument is the width of the screen. On
// a wide screen, the name gets most of the additional columns.
func lineOf(c *census.Change, screen int) string {
	room := min(max((screen-48)*5/8, 20), 66)
	name := console.Pad(console.Shorten(console.Quoted(c.Name, room-2), room), room)
	s := fmt.Sprintf("%-9s %-21s %s", KindText(c.Kind), c.Addr, name)
	if c.LikelyLoss {
		s += " (likely loss)"
	}
	if what := Detail(c); what != "" {
		s += "  " + what
	}
	return console.Shorten(strings.TrimRight(s, " "), screen-2)
}

// Detail describes a change by the old and the new value. If a whole server is new, gone
// or back, it describes the change by the number of people. It returns "" if there is
// nothing to say.
func Detail(c *census.Change) string {
	if WholeServer(c.Kind) {
		if c.People > 0 {
			return console.Plural(uint64(c.People), "person")
		}
		return ""
	}
	before, after := factText(c.Before), factText(c.After)
	if before == "" && after == "" {
		return ""
	}
	return before + " → " + after
}

// WholeServer reports whether a kind of change is about the presence of a server: new,
// gone, not asked again, or back.
func WholeServer(k census.Kind) bool {
	return k == "new" || k == "gone" || k == "not_asked" || k == "back"
}

// factText describes facts in a few words.
func factText(f *census.Facts) string {
	if f == nil {
		return ""
	}
	var parts []string
	for _, text := range []*string{f.Name, f.Map, f.Version, f.Mode} {
		if text != nil {
			parts = append(parts, console.Quoted(*text, 30))
		}
	}
	if f.MaxPlayers != nil {
		parts = append(parts, console.Plural(uint64(*f.MaxPlayers), "place"))
	}
	if f.People != nil {
		parts = append(parts, console.Plural(uint64(*f.People), "person"))
	}
	if f.PVP != nil {
		parts = append(parts, fmt.Sprintf("PvP %t", *f.PVP))
	}
	if f.Addr != "" {
		parts = append(parts, f.Addr)
	}
	first := func(all []string) []string { return all[:min(len(all), 3)] }
	for _, mod := range first(f.Mods) {
		parts = append(parts, console.Plain(mod, 30))
	}
	for _, name := range first(slices.Sorted(maps.Keys(f.Rules))) {
		parts = append(parts, console.Plain(name, 30)+" "+console.Quoted(f.Rules[name], 20))
	}
	parts = append(parts, f.Flags...)
	if f.Farm != "" {
		parts = append(parts, "farm "+f.Farm)
	}
	return strings.Join(parts, ", ")
}
