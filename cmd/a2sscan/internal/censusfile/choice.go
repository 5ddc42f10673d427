package censusfile

import (
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/console"
	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/sink/census"
	"github.com/a2sscan/a2sscan/sink/record"
)

// Farms maps the address of each member of a farm to the ID of the farm.
type Farms map[netip.AddrPort]string

// Choice.Fakes may contain these words, and also the words of flags.
const (
	inFarm    = "only"
	inNoFarm  = "without"
	flagged   = "flagged"
	unflagged = "unflagged"
)

// Choice selects records.
type Choice struct {
	Games    []string // IDs or names; nil means all games
	Statuses []string // words of statuses; nil means all statuses
	Farms    []string // IDs of the farms whose servers are chosen; nil means all servers
	Fakes    []string // words about farms and flags; all of them must apply to a server

	farms    Farms // set by prepare, if it has read the farms
	chosen   func(*census.Server) bool
	statuses []scanner.Status
	flags    game.Flags // the flags among Fakes
	mu       sync.Mutex
	seen     map[string]bool // IDs and names of the games in the records read, in lower case
}

// prepare checks the flags. If they need the farms of the census, it reads the files.
func (how *Printing) prepare(files []string) (err error) {
	c := &how.Choice
	for _, word := range c.Statuses {
		all := console.Words(scanner.NumStatuses, scanner.Status.String)
		at := slices.Index(all, word)
		if at <= 0 {
			return console.Fail(console.ExitUsage, "--only: %s is not a status", console.Quoted(word, 40)).
				WithHint("choose from %s", strings.Join(all[1:], ", "))
		}
		c.statuses = append(c.statuses, scanner.Status(at))
	}
	shown := how.Order.Field == farm || how.Table != nil && slices.Contains(how.Table.fields, farm)
	all := append((^game.Flags(0)).Words(), inFarm, inNoFarm, flagged, unflagged)
	for _, word := range c.Fakes {
		at := slices.Index(all, word)
		if at < 0 {
			return console.Fail(console.ExitUsage, "--fakes does not accept the word %s", console.Quoted(word, 40)).
				WithHint("choose from %s", strings.Join(all, ", "))
		}
		if at < len(game.FlagRules) {
			c.flags |= 1 << at
		}
	}
	twice, once := shown || c.has(inFarm) || c.has(inNoFarm) || c.Farms != nil, census.ReadableOnce(files)
	switch {
	case c.has(inFarm) && c.has(inNoFarm), c.has(unflagged) && (c.has(flagged) || c.flags != 0), c.has(inNoFarm) && c.Farms != nil:
		return console.Fail(console.ExitUsage, "--fakes=%s chooses no server", strings.Join(c.Fakes, ",")).
			WithHint("a server is chosen only if all words and --farm apply to it")
	case twice && once != "":
		return console.Fail(console.ExitUsage, "to find farms, cat must read the census twice, but %s can be read only once", console.Plain(once, 200)).
			WithHint("write the census to a file first")
	}
	if c.chosen, err = (&census.Options{Games: c.Games}).Filter(); err != nil {
		return err
	}
	if c.seen = map[string]bool{}; !twice {
		return nil
	}
	read, err := census.Open(files, census.Options{})
	if err != nil {
		return Failure(err)
	}
	c.farms = read.Farms()
	for _, id := range c.Farms {
		if !slices.Contains(slices.Collect(maps.Values(c.farms)), id) {
			return console.Fail(console.ExitInput, "the census has no farm %s", console.Plain(id, 40)).
				WithHint("to list the farms of a census, run a2sscan stats")
		}
	}
	if how.Table != nil {
		how.Table.farms = c.farms
	}
	return nil
}

func (c *Choice) everything() bool {
	return len(c.Games)+len(c.Statuses)+len(c.Farms)+len(c.Fakes) == 0
}

func (c *Choice) has(word string) bool { return slices.Contains(c.Fakes, word) }

// keep returns a function that reports whether c chooses the record in a line.
func (c *Choice) keep() func(line []byte) (bool, error) {
	if c.everything() {
		return func([]byte) (bool, error) { return true, nil }
	}
	keys := []string{"addr", "status", "flags"}
	if len(c.Games) > 0 {
		keys = append(keys, "info", "game.id", "game.name")
	}
	reader, names := record.NewReader(keys...), map[string]bool{}
	return func(line []byte) (bool, error) {
		r, err := reader.Read(line)
		if err != nil {
			return false, err
		}
		if len(c.Games) > 0 {
			s := census.NewServer(&r.Result)
			if !names[s.Game] || !names[s.GameName] {
				names[s.Game], names[s.GameName] = true, true
				c.mu.Lock()
				c.seen[strings.ToLower(s.Game)], c.seen[strings.ToLower(s.GameName)] = true, true
				c.mu.Unlock()
			}
			if !c.chosen(&s) {
				return false, nil
			}
		}
		id := c.farms[r.Addr]
		switch {
		case c.statuses != nil && !slices.Contains(c.statuses, r.Status),
			c.has(inFarm) && id == "", c.has(inNoFarm) && id != "", c.Farms != nil && !slices.Contains(c.Farms, id),
			c.has(flagged) && r.Flags == 0, c.has(unflagged) && r.Flags != 0, r.Flags&c.flags != c.flags:
			return false, nil
		}
		return true, nil
	}
}

// SayUnknown warns about each of the games that no record has, and suggests similar names.
// The keys of seen are the IDs and names of the games in the records, in lower case.
func SayUnknown(t *console.Terminal, games []string, seen map[string]bool) {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(seen)), func(s string) bool { return s == "" })
	for _, name := range games {
		if seen[strings.ToLower(name)] {
			continue
		}
		var like []string
		left := slices.Clone(names)
		for range 3 {
			if nearest := console.Nearest(name, left); nearest != "" {
				like = append(like, console.Quoted(nearest, 60))
				left = slices.DeleteFunc(left, func(s string) bool { return s == nearest })
			}
		}
		t.Say("--game %s: no server of the census runs this game", console.Plain(name, 60))
		if len(like) > 0 {
			t.Hint("did you mean %s?", strings.Join(like, " or "))
		} else {
			t.Hint("to list the games of a census, run a2sscan stats --by game")
		}
	}
}
