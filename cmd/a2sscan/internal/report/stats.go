package report

import (
	"io"
	"runtime/debug"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/censusfile"
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/sink/census"
)

// Stats prints the stats of a census: an overview for a person, or else JSON.
func Stats(t *console.Terminal, out io.Writer, files []string, o census.Options, overview bool) error {
	c, err := OpenCensus(t, files, o)
	if err != nil {
		return err
	}
	var text []byte
	if stats := c.Stats(); overview {
		text = overviewOf(stats, t.Width())
	} else {
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

// spareMemory is the argument of debug.SetGCPercent. The servers of a census stay in memory
// to the end. With Go's default of 100, garbage could take as much memory again.
const spareMemory = 15

// OpenCensus reads a census, and prints what is damaged or missing. It also sets spareMemory.
func OpenCensus(t *console.Terminal, files []string, o census.Options) (*census.Census, error) {
	if _, err := o.Filter(); err != nil {
		return nil, console.Fail(console.ExitUsage, "%s", console.Plain(err.Error(), 300)).
			WithHint("--game takes IDs or names of games, --network 203.0.113.0/24 or AS64496")
	}
	if _, err := census.ReadSummaries(files, o.Summaries); err != nil {
		return nil, console.Fail(console.ExitInput, "%s", console.Plain(err.Error(), 400)).
			WithHint("--summary names the summary file that scan wrote")
	}
	c, err := census.Open(files, o)
	debug.SetGCPercent(spareMemory)
	if err != nil {
		return nil, censusfile.Failure(err)
	}
	_ = censusfile.SayLost(t, c.Lost) // the command returns this error at the end
	return c, nil
}
