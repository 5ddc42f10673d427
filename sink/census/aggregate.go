package census

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/wire"
)

// Aggregate reads a census and returns its statistics. If servers seem to share lists
// of players, it reads the census again to compare the lists.
func Aggregate(c *Census) (*Stats, error) {
	t, err := c.load(newTexts())
	if err != nil {
		return nil, err
	}
	farms, err := findFarms(c, t)
	if err != nil {
		return nil, err
	}
	s := t.stats(farms)
	s.Run = c.run()
	return s, nil
}

// stats returns the statistics of a table, except for Run.
func (t *table) stats(farms *farmFinding) *Stats {
	s := &Stats{
		Schema: StatsSchema, Scans: t.scans(), Records: uint64(len(t.rows)), Duplicates: t.duplicates,
		Statuses: map[string]uint64{}, Flags: map[string]uint64{},
	}
	for _, word := range statusWords[1:] {
		s.Statuses[word] = 0
	}
	g := newGrouper(t)
	for i, r := range t.rows {
		s.addTime(r.at)
		s.Statuses[statusWords[r.status]]++
		if r.status.answered() {
			s.addAnswer(r, farms.of(i) >= 0)
			g.add(r, farms.of(i) >= 0)
		}
	}
	delete(s.Statuses, "")
	g.fill(s)
	s.RoundTrips, s.Capacity, s.Fill = t.roundTrips(), t.capacities(), t.fills()
	s.Farms = farms.report(t)
	s.Stacks, s.Accounts = t.stacks(), t.accounts()
	return s
}

// scans returns the names of the scans in the table, sorted, at most maxScans.
func (t *table) scans() []string {
	seen := map[uint32]bool{}
	names := []string{}
	for _, r := range t.rows {
		if r.scan != 0 && !seen[r.scan] {
			seen[r.scan] = true
			names = append(names, t.text(r.scan))
		}
	}
	slices.Sort(names)
	return names[:min(len(names), maxScans)]
}

// maxScans is the maximum number of scan names in Stats.
const maxScans = 100

func (s *Stats) addTime(at int64) {
	if at == 0 {
		return
	}
	t := time.UnixMilli(at).UTC()
	if s.First == nil || t.Before(*s.First) {
		s.First = &t
	}
	if s.Last == nil || t.After(*s.Last) {
		s.Last = &t
	}
}

// addAnswer adds a server that answered.
func (s *Stats) addAnswer(r *row, farmed bool) {
	s.All.add(r)
	if !farmed {
		s.WithoutFarms.add(r)
	}
	for i := range game.NumFlags {
		if r.flags&(1<<i) != 0 {
			s.Flags[game.FlagWord(i)]++
		}
	}
	has := [numQuestions]bool{r.has&answeredInfo != 0, r.has&answeredPlayers != 0, r.has&hasRules != 0}
	for q, to := range []*Question{&s.Questions.Info, &s.Questions.Players, &s.Questions.Rules} {
		to.add(has[q], r.errors[q], r.open&(1<<q) != 0)
	}
}

// add adds a server to the sums.
func (s *Sums) add(r *row) {
	s.Servers++
	s.People += uint64(r.people)
	s.Bots += uint64(r.bots)
	s.Places += uint64(r.capacity)
	if r.people > 0 {
		s.Occupied++
	}
}

// plus adds o to s.
func (s *Sums) plus(o *Sums) {
	s.Servers += o.Servers
	s.Occupied += o.Occupied
	s.People += o.People
	s.Bots += o.Bots
	s.Places += o.Places
}

// add counts how a server answered a question. code is the error, 0 if there was
// none; open means that the server demanded no challenge.
func (q *Question) add(answered bool, code uint8, open bool) {
	if q.Errors == nil {
		q.Errors = map[string]uint64{}
	}
	switch {
	case code != 0:
		q.Errors[errorWord(code)]++
	case answered:
		q.Answered++
	default:
		q.NotAsked++
	}
	if open {
		q.Unchallenged++
	}
}

func errorWord(code uint8) string {
	if code >= wire.NumErrors {
		return "other"
	}
	return wire.Error(code).String()
}

// grouper sums up servers by game, map and the other properties.
type grouper struct {
	t                            *table
	games, maps, versions, modes groups
	systems, countries, networks groups
	names                        map[uint64]uint64 // servers by game (higher half) and the game's name
	open                         map[uint32]uint64 // unchallenged servers by game
}

func newGrouper(t *table) *grouper {
	return &grouper{t: t, names: map[uint64]uint64{}, open: map[uint32]uint64{}}
}

// groups sums up servers by the value of one property. For a string, the value is
// its number in texts; if the string has a meaning only within its game, the higher
// 32 bits are the number of the game's ID.
type groups struct {
	by      map[uint64]*groupSums
	unknown Sums
}

type groupSums struct{ all, farmed Sums }

// add adds a server to the sums of a value; value 0 means unknown.
func (g *groups) add(value uint64, r *row, farmed bool) {
	if value == 0 {
		g.unknown.add(r)
		return
	}
	one := g.by[value]
	if one == nil {
		if g.by == nil {
			g.by = map[uint64]*groupSums{}
		}
		one = &groupSums{}
		g.by[value] = one
	}
	one.all.add(r)
	if farmed {
		one.farmed.add(r)
	}
}

// ofGame returns the value in groups of the string with number id, which has a
// meaning only within r's game. It returns 0 if r does not have f.
func ofGame(r *row, f facts, id uint32) uint64 {
	if r.has&f == 0 {
		return 0
	}
	return uint64(r.game)<<32 | uint64(id)
}

func (g *grouper) add(r *row, farmed bool) {
	g.games.add(uint64(r.game), r, farmed)
	g.maps.add(ofGame(r, hasMap, r.level), r, farmed)
	g.versions.add(ofGame(r, hasVersion, r.version), r, farmed)
	g.modes.add(ofGame(r, hasMode, r.mode), r, farmed)
	system := uint64(0)
	if r.has&hasSystem != 0 {
		system = 1<<8 | uint64(r.system)
	}
	g.systems.add(system, r, farmed)
	g.countries.add(uint64(r.country[0])<<8|uint64(r.country[1]), r, farmed)
	g.networks.add(uint64(r.asn), r, farmed)
	if r.game != 0 {
		g.names[uint64(r.game)<<32|uint64(r.gameText)]++
		if r.open != 0 {
			g.open[r.game]++
		}
	}
}

// fill sets the lists of s.
func (g *grouper) fill(s *Stats) {
	names := g.gameNames()
	text := func(v uint64) string { return g.t.text(uint32(v)) }
	within := func(v uint64) Group { return Group{Name: shorten(text(v)), Game: text(v >> 32)} }
	s.Games = g.games.top(MaxGames, func(v uint64) Group {
		return Group{ID: text(v), Name: shorten(names[uint32(v)]), Unchallenged: g.open[uint32(v)]}
	})
	s.Maps, s.Versions = g.maps.top(MaxMaps, within), g.versions.top(MaxVersions, within)
	s.Modes = g.modes.top(MaxModes, within)
	s.Systems = g.systems.top(MaxSystems, func(v uint64) Group { return Group{Name: systemName(byte(v))} })
	s.Countries = g.countries.top(MaxCountries, func(v uint64) Group {
		return Group{ID: string([]byte{byte(v >> 8), byte(v)})}
	})
	s.Networks = g.networks.top(MaxNetworks, func(v uint64) Group {
		return Group{ID: networkName(uint32(v)), Name: shorten(text(uint64(g.t.orgs[uint32(v)])))}
	})
}

// gameNames returns each game's most frequent name.
func (g *grouper) gameNames() map[uint32]string {
	most, names := map[uint32]uint64{}, map[uint32]string{}
	for pair, n := range g.names {
		id, name := uint32(pair>>32), g.t.text(uint32(pair))
		if n > most[id] || n == most[id] && name < names[id] {
			most[id], names[id] = n, name
		}
	}
	return names
}

// top returns the n groups with the most servers, and the sums of the others.
func (g *groups) top(n int, describe func(uint64) Group) Groups {
	all := make([]Group, 0, len(g.by))
	for value, sums := range g.by {
		one := describe(value)
		if one.Sums = sums.all; sums.farmed.Servers > 0 {
			one.Farmed = &sums.farmed
		}
		all = append(all, one)
	}
	slices.SortFunc(all, compareGroups)
	out := Groups{Distinct: uint64(len(all)), Top: all, Unknown: g.unknown}
	if len(all) > n {
		out.Top = all[:n:n]
		for i := range all[n:] {
			out.Other.plus(&all[n+i].Sums)
		}
	}
	return out
}

func compareGroups(a, b Group) int {
	return cmp.Or(
		cmp.Compare(b.Servers, a.Servers), cmp.Compare(b.People, a.People),
		strings.Compare(a.Game, b.Game), strings.Compare(a.ID, b.ID), strings.Compare(a.Name, b.Name),
		cmp.Compare(b.Bots, a.Bots), cmp.Compare(b.Places, a.Places), cmp.Compare(b.Occupied, a.Occupied),
	)
}

// shorten cuts s to at most MaxNameBytes bytes.
func shorten(s string) string { return string(cut([]byte(s), MaxNameBytes)) }

func systemName(b byte) string {
	if word := wire.Environment(b); word != "" {
		return word
	}
	const digits = "0123456789abcdef"
	return string([]byte{'0', 'x', digits[b>>4], digits[b&15]})
}

func networkName(asn uint32) string { return "AS" + strconv.FormatUint(uint64(asn), 10) }

// round6 rounds to six decimals: further decimals depend on the order of summation.
func round6(v float64) float64 { return math.Round(v*1e6) / 1e6 }
