package report

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/censusfile"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/sink/census"
)

// Options choose what Make reads and shows. Empty fields select the default: the summaries
// beside the files, all games, no history, and a title with the date.
type Options struct {
	Files     []string // files of the census
	Summaries []string // paths of the summaries
	Before    []string // files of the previous census
	Games     []string // IDs or names of games
	History   string   // directory with the stats of earlier nights
	Title     string
	Program   string // name and version of the program
}

// Make writes the page about a census.
func Make(t *console.Terminal, w io.Writer, o Options) error {
	all := slices.Concat(o.Files, o.Before)
	once := census.ReadableOnce(all)
	if slices.Contains(all, "-") || len(o.Before) > 0 && once != "" {
		return console.Fail(console.ExitUsage, "report reads a census twice, but %s can be read only once", console.Plain(once, 200)).
			WithHint("write the census to a file first")
	}
	in := &Input{Title: o.Title, Program: o.Program, Files: o.Files, Servers: &Servers{}}
	c, err := OpenCensus(t, o.Files, census.Options{Summaries: o.Summaries, Games: o.Games})
	if err != nil {
		return err
	}
	in.Stats = c.Stats()
	in.Servers.Farms = c.Farms()
	c.Servers(in.Servers.Add)
	if err := in.readHistory(t, o.History, o.Games); err != nil {
		return err
	}
	before, err := in.compare(t, c, &o)
	if err != nil {
		return err
	}
	size, listed, err := Write(w, in)
	if err != nil {
		return console.Fail(console.ExitOutput, "can't write the report: %w", console.WithoutPath(err))
	}
	t.Say("report: wrote %s, and listed %s of %s", console.Bytes(uint64(size)),
		console.Grouped(uint64(listed)), console.Plural(in.Stats.All.Servers, "server"))
	return censusfile.Incomplete(append(before, c.Lost...))
}

// compare finds the changes since the previous census, and returns what is damaged or missing
// there. Without one, the page compares only the sums with those of the night before.
func (in *Input) compare(t *console.Terminal, c *census.Census, o *Options) (lost []string, err error) {
	if len(o.Before) == 0 {
		in.Before = in.History.before(night(in.Stats))
		return nil, nil
	}
	before, err := OpenCensus(t, o.Before, census.Options{Games: o.Games})
	if err != nil {
		return nil, err
	}
	in.Changes, err = census.Diff(before, c, nil, false, func(one *census.Change) error { in.Important.Add(one); return nil })
	if err != nil {
		return nil, censusfile.Failure(err)
	}
	in.Before = &pastNight{all: in.Changes.Old.All, without: in.Changes.Old.WithoutFarms}
	return before.Lost, nil
}

// readHistory reads the stats of all nights in a directory and its subdirectories, and adds
// this night. It skips directories that it has no permission to read, and names stats that it
// can't use.
func (in *Input) readHistory(t *console.Terminal, folder string, games []string) error {
	var names, bad []string
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil && (folder == "" || path != folder && errors.Is(err, fs.ErrPermission)) {
			return nil
		}
		if err == nil && !e.IsDir() && (e.Name() == "stats.json" || strings.HasSuffix(e.Name(), ".stats.json")) {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		return console.OpenFailure(folder, err)
	}
	slices.Sort(names)
	for _, name := range names {
		text, err := census.ReadFile(name)
		if err != nil {
			return console.OpenFailure(name, err)
		}
		s, err := census.ParseStats(text)
		if err == nil {
			err = onlyGames(s, games)
		}
		if err != nil {
			bad = append(bad, fmt.Sprintf("%s: %v", filepath.Base(name), err))
			continue
		}
		in.History.Add(s)
	}
	if len(bad) > 0 {
		t.Say("ignored %s in %s, such as %s", console.Plural(len(bad), "file"), console.Plain(folder, 200), console.Plain(bad[0], 200))
	}
	if folder != "" && len(names) == 0 {
		t.Say("%s has no stats of other nights", console.Plain(folder, 200))
		t.Hint("to store the stats of a night, run: a2sscan stats CENSUS -o DIR/NAME.stats.json")
	}
	in.History.Add(in.Stats)
	return nil
}
