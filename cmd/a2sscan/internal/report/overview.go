package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/sink/census"
)

// rowsShown is the usual number of rows for each list in an overview. tableRows is the usual
// number of rows if only one list is shown.
const (
	rowsShown = 10
	tableRows = 20
)

// groupLists are the lists of groups in stats, with the word for each list. An overview
// shows the first five lists.
var groupLists = []struct {
	word string
	of   func(*census.Stats) *census.Groups
}{
	{"game", func(s *census.Stats) *census.Groups { return &s.Games }},
	{"map", func(s *census.Stats) *census.Groups { return &s.Maps }},
	{"country", func(s *census.Stats) *census.Groups { return &s.Countries }},
	{"network", func(s *census.Stats) *census.Groups { return &s.Networks }},
	{"system", func(s *census.Stats) *census.Groups { return &s.Systems }},
	{"mode", func(s *census.Stats) *census.Groups { return &s.Modes }},
	{"version", func(s *census.Stats) *census.Groups { return &s.Versions }},
}

// GroupWords returns the words for the lists of groups in stats, such as game and map.
func GroupWords() (words []string) {
	for _, list := range groupLists {
		words = append(words, list.word)
	}
	return words
}

func addTable(b *strings.Builder, word string, groups *census.Groups, most int) {
	rows := [][2]string{}
	for _, g := range groups.Top[:min(len(groups.Top), most)] {
		name := cmp.Or(console.Plain(cmp.Or(g.Name, g.ID), 40), "(empty)")
		if g.Game != "" {
			name += " (" + console.Plain(g.Game, 30) + ")"
		}
		rows = append(rows, [2]string{name, fmt.Sprintf("%10s %10s", console.Grouped(g.Servers), console.Grouped(g.People))})
	}
	if table(b, word, rows); int(groups.Distinct) > len(rows) {
		fmt.Fprintf(b, "and %s more; to list all: a2sscan stats CENSUS --by %s --top %d\n", console.Grouped(groups.Distinct-uint64(len(rows))), word, groups.Distinct)
	}
}

func overviewOf(s *census.Stats, width, most int) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", scansText(s.Scans), sumsText(&s.All))
	if s.Farms.Found > 0 {
		fmt.Fprintf(&b, "without %s: %s\n", console.Plural(s.Farms.Found, "farm"), sumsText(&s.WithoutFarms))
	}
	if flagged := &s.Flagged; flagged.Doubtful.Servers+flagged.Unusual.Servers > 0 {
		fmt.Fprintf(&b, "in no farm, but flagged: %s (the players are doubtful); %s with other flags\n",
			sumsText(&flagged.Doubtful), console.Plural(flagged.Unusual.Servers, "server"))
	}
	var statuses []string
	for _, word := range slices.Sorted(maps.Keys(s.Statuses)) {
		if n := s.Statuses[word]; n > 0 {
			statuses = append(statuses, strings.ReplaceAll(word, "_", " ")+" "+console.Grouped(n))
		}
	}
	fmt.Fprintf(&b, "%s: %s\n", console.Plural(s.Records, "record"), strings.Join(statuses, ", "))
	if run := s.Run; run != nil {
		fmt.Fprintf(&b, "%s asked, %.1f%% answered; end of the scan: %s\n", console.Plural(run.Asked, "target"), 100*run.HitRate, console.Plain(run.Ended, 40))
		if run.Missed != nil {
			fmt.Fprintf(&b, "live servers that stayed silent because datagrams were lost: about %.0f\n", *run.Missed)
		}
	}
	for _, list := range groupLists[:5] {
		addTable(&b, list.word, list.of(s), most)
	}
	rows := [][2]string{}
	for _, word := range slices.SortedFunc(maps.Keys(s.Flags), func(a, b string) int { return cmp.Compare(s.Flags[b], s.Flags[a]) }) {
		rows = append(rows, [2]string{console.Plain(word, 40), fmt.Sprintf("%10s", console.Grouped(s.Flags[word]))})
	}
	table(&b, "flag", rows)
	for i, f := range s.Farms.Top[:min(len(s.Farms.Top), most)] {
		if i == 0 {
			fmt.Fprintln(&b)
		}
		line := fmt.Sprintf("farm %s: %s on %s, %s, %s, named %s", f.ID, console.Plural(f.Servers, "server"),
			console.Plural(f.Addresses, "address"), console.Plural(f.People, "person"), console.Plain(f.Game, 40), console.Quoted(f.Name, 60))
		fmt.Fprintln(&b, strings.Join(console.Wrap(line, width, 2), "\n"))
		for _, sentence := range f.Evidence {
			fmt.Fprintln(&b, "  "+strings.Join(console.Wrap(console.Plain(sentence, 300), width-2, 2), "\n"))
		}
	}
	if n := uint64(most); s.Farms.Found > n {
		fmt.Fprintf(&b, "and %s; to list the servers of all: a2sscan cat CENSUS --fakes only -f farm,addr\n", console.Plural(s.Farms.Found-n, "more farm"))
	}
	fmt.Fprintln(&b, "\nIn a pipe or with -o FILE, stats prints all of this and more as JSON.")
	return []byte(b.String())
}

func scansText(scans []string) string {
	return cmp.Or(console.Plain(strings.Join(scans, ", "), 60), "a census without a name")
}

func sumsText(s *census.Sums) string {
	return fmt.Sprintf("%s, %s, %s", console.Plural(s.Servers, "server"), console.Plural(s.People, "person"), console.Plural(s.Bots, "bot"))
}

// Stats writes tableColumns at the end of the first line of a table of groups, and unknownGroup in
// place of a table without rows. StatsFile recognises files of stats by both: if one of them
// changes, StatsFile must also match what earlier versions wrote.
const (
	tableColumns = "   servers     people"
	unknownGroup = "no server has a known "
)

func table(b *strings.Builder, title string, rows [][2]string) {
	if len(rows) == 0 {
		return
	}
	head := [2]string{title, tableColumns}
	if len(rows[0][1]) < len(head[1]) {
		head[1] = "   servers"
	}
	wide := 0
	for _, row := range rows {
		wide = max(wide, console.Columns(row[0]))
	}
	wide = max(wide, console.Columns(title))
	fmt.Fprintln(b)
	for _, row := range append([][2]string{head}, rows...) {
		fmt.Fprintf(b, "%s %s\n", console.Pad(row[0], wide), row[1])
	}
}
