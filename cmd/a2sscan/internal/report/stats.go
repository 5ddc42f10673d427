package report

import (
	"cmp"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/censusfile"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/sink/census"
)

// StatsOptions choose what Stats reads and prints.
type StatsOptions struct {
	census.Options
	Databases censusfile.Databases // nil means to use the locations in the records
	By        string               // if not empty, print only this list: one of GroupWords
	Overview  bool                 // print an overview instead of JSON
}

// Stats prints the stats of a census: an overview, one table, or JSON.
func Stats(t *console.Terminal, out io.Writer, files []string, o StatsOptions) error {
	if o.By != "" && !slices.Contains(GroupWords(), o.By) {
		return console.Fail(console.ExitUsage, "--by: %s is not a group", console.Quoted(o.By, 40)).
			WithHint("choose from %s", strings.Join(GroupWords(), ", "))
	}
	if o.Top < 0 {
		return console.Fail(console.ExitUsage, "--top: the number of rows can't be negative")
	}
	if o.Databases != nil {
		o.Locate = o.Databases.Lookup
	}
	c, err := OpenCensus(t, files, o.Options)
	if err != nil {
		return err
	}
	o.Databases.ReportDamage(t)
	var text []byte
	switch stats := c.Stats(); {
	case o.By != "":
		var b strings.Builder
		for _, list := range groupLists {
			if list.word == o.By {
				addTable(&b, o.By, list.of(stats), cmp.Or(o.Top, tableRows))
			}
		}
		text = fmt.Appendf(nil, unknownGroup+"%s\n", o.By)
		if b.Len() > 0 {
			text = []byte(b.String()[1:]) // without the empty line before the table
		}
	case o.Overview:
		text = overviewOf(stats, t.Width(), cmp.Or(o.Top, rowsShown))
	default:
		text, err = console.JSON(stats, " ")
	}
	if err == nil {
		_, err = out.Write(text)
	}
	if err != nil {
		return err
	}
	return censusfile.Incomplete(c.Lost)
}

// OpenCensus reads a census, and prints what is damaged or missing.
func OpenCensus(t *console.Terminal, files []string, o census.Options) (*census.Census, error) {
	if _, err := o.Filter(); err != nil {
		return nil, console.Fail(console.ExitUsage, "%s", console.Plain(err.Error(), 300)).
			WithHint("give --game the ID or name of a game, and --network a value such as 203.0.113.0/24 or AS64496")
	}
	c, err := census.Open(files, o)
	debug.SetGCPercent(censusfile.SpareMemory)
	if err != nil {
		return nil, censusfile.Failure(err)
	}
	if len(o.Games) > 0 {
		censusfile.SayUnknown(t, o.Games, c.Games())
	}
	_ = censusfile.SayLost(t, c.Lost) // the command returns this error at the end
	return c, nil
}
