package censusfile

import (
	"slices"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/sink/census"
	"github.com/a2sscan/a2sscan/sink/record"
)

// Choice chooses records.
type Choice struct {
	Games        []string // nil means all games
	Farm         string   // ID of the farm whose servers are chosen; "" means all servers
	WithoutFarms bool     // choose only servers that are in no farm
}

// Keep returns a function that reports whether a line is a record that c chooses, or nil
// if c chooses all lines. To find farms, it reads the files.
func (c *Choice) Keep(files []string) (func(line []byte) bool, error) {
	farms := c.Farm != "" || c.WithoutFarms
	switch {
	case c.Farm != "" && c.WithoutFarms:
		return nil, console.Fail(console.ExitUsage, "--farm and --without-farms exclude each other").WithHint("choose one")
	case farms && slices.Contains(files, "-"):
		return nil, console.Fail(console.ExitUsage, "finding farms needs to read the census twice, but standard input can be read only once").
			WithHint("write the census to a file first")
	case !farms && len(c.Games) == 0:
		return nil, nil
	}
	chosen, err := (&census.Options{Games: c.Games}).Filter()
	if err != nil {
		return nil, err
	}
	keep := func(s *census.Server) bool { return chosen(s) }
	if farms {
		all, err := census.Open(files, census.Options{})
		if err != nil {
			return nil, Failure(err)
		}
		members := all.Farm(c.Farm)
		if c.Farm != "" && len(members) == 0 {
			return nil, console.Fail(console.ExitInput, "there is no farm %s", console.Plain(c.Farm, 40)).
				WithHint("a2sscan stats lists the farms of a census")
		}
		keep = func(s *census.Server) bool { return chosen(s) && members[s.Addr()] != c.WithoutFarms }
	}
	reader := record.NewReader("addr", "info", "game")
	return func(line []byte) bool {
		r, err := reader.Read(line)
		if err != nil {
			return false
		}
		s := census.NewServer(&r.Result)
		return keep(&s)
	}, nil
}
