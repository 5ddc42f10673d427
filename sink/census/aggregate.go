package census

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/a2sscan/a2sscan/scanner"
	"github.com/a2sscan/a2sscan/scanner/game"
	"github.com/a2sscan/a2sscan/wire"
)

// Stats returns the aggregates of the census.
func (c *Census) Stats() *Stats {
	s := &Stats{
		Schema: statsSchema, Scans: c.scans[:min(len(c.scans), maxScans)], Run: c.run(), Lost: c.Lost, Duplicates: c.duplicates,
		Statuses: map[string]uint64{}, Flags: map[string]uint64{},
	}
	for status := scanner.StatusOK; status < scanner.NumStatuses; status++ {
		s.Statuses[status.String()] = 0
	}
	c.findFarms()
	var group sync.WaitGroup
	group.Go(func() { c.addServers(s) })
	c.addGroups(s, &group)
	group.Go(func() { c.addFarms(s) })
	group.Go(func() { s.Stacks = c.stacks() })
	group.Go(func() { s.Accounts = c.accounts() })
	group.Wait()
	return s
}

func (c *Census) addServers(s *Stats) {
	var trips, places, fill []float64
	first, last := int64(math.MaxInt64), int64(0)
	for _, one := range c.loaded {
		if one.other {
			continue
		}
		s.Records++
		if one.at != 0 {
			first, last = min(first, one.at), max(last, one.at)
		}
		if one.unasked {
			s.Statuses[scanner.StatusError.String()]++
		} else if one.Status != 0 {
			s.Statuses[one.Status.String()]++
		}
		if !one.answered() {
			continue
		}
		s.addAnswer(one)
		if one.RTT > 0 {
			trips = append(trips, float64(one.RTT.Microseconds())/1000)
		}
		if one.HasPlaces() {
			places = append(places, float64(one.MaxPlayers))
		}
		if one.MaxPlayers > 0 && one.knows(wire.HasPlayers, game.KeyPlayers) {
			fill = append(fill, round6(float64(one.People)*100/float64(one.MaxPlayers)))
		}
	}
	if last != 0 {
		s.First, s.Last = &Moment{time.UnixMilli(first).UTC()}, &Moment{time.UnixMilli(last).UTC()}
	}
	s.RoundTrips = distribution(trips, roundTripBounds)
	s.Capacity, s.Fill = distribution(places, capacityBounds), distribution(fill, fillBounds)
}

const maxScans = 100

func (s *Stats) addAnswer(one *Server) {
	s.All.add(one)
	if one.farm == 0 {
		s.WithoutFarms.add(one)
		switch {
		case one.Flags&game.DoubtfulPeople != 0:
			s.Flagged.Doubtful.add(one)
		case one.Flags != 0:
			s.Flagged.Unusual.add(one)
		}
	}
	for _, word := range one.Flags.Words() {
		s.Flags[word]++
	}
	for q, to := range []*Question{&s.Questions.Info, &s.Questions.Players, &s.Questions.Rules} {
		if to.Errors == nil {
			to.Errors = map[string]uint64{}
		}
		switch {
		case one.replies.errors[q] != 0:
			to.Errors[one.replies.errors[q].String()]++
		case one.replies.complete.Has(wire.Question(q)):
			to.Answered++
		default:
			to.NotAsked++
		}
		if one.replies.open.Has(wire.Question(q)) {
			to.Unchallenged++
		}
	}
}

func (s *Sums) add(one *Server) {
	s.Servers++
	s.People += uint64(one.People)
	s.Bots += uint64(one.Bots)
	s.Places += uint64(one.MaxPlayers)
	if one.People > 0 {
		s.Occupied++
	}
}

// answers yields the servers that answered and that the Options choose, in no useful order.
func (c *Census) answers() iter.Seq[*Server] {
	return func(yield func(*Server) bool) {
		for _, s := range c.loaded {
			if s.answered() && !s.other && !yield(s) {
				return
			}
		}
	}
}

type label struct {
	id, name, game string
	named          bool // the name is known, even if it is empty
}

// addGroups sets the lists of s that have the type Groups, each in a goroutine of group.
func (c *Census) addGroups(s *Stats, group *sync.WaitGroup) {
	within := func(s *Server, known bool, value string) label {
		if !known {
			return label{}
		}
		return label{name: value, game: s.Game, named: true}
	}
	networks := map[uint32]string{} // only one goroutine uses this map
	for _, list := range []struct {
		to   *Groups
		most int
		of   func(*Server) label
	}{
		{&s.Games, maxGames, func(s *Server) label { return label{id: s.Game} }},
		{&s.Maps, maxMaps, func(s *Server) label { return within(s, s.knows(wire.HasMap, game.KeyMap), s.Map) }},
		{&s.Versions, maxVersions, func(s *Server) label { return within(s, s.knows(wire.HasVersion, game.KeyVersion), s.Version) }},
		{&s.Modes, maxModes, func(s *Server) label { return within(s, s.own.Has(game.KeyMode), s.Mode) }},
		{&s.Systems, maxSystems, func(s *Server) label {
			if s.fields&wire.HasEnvironment == 0 {
				return label{}
			}
			if word := wire.Environment(s.system); word != "" {
				return label{name: word}
			}
			return label{name: fmt.Sprintf("0x%02x", s.system)}
		}},
		{&s.Countries, maxCountries, func(s *Server) label { return label{id: s.Country} }},
		{&s.Networks, maxNetworks, func(s *Server) label {
			if s.asn == 0 {
				return label{}
			}
			if networks[s.asn] == "" {
				networks[s.asn] = fmt.Sprint("AS", s.asn)
			}
			return label{id: networks[s.asn], name: c.orgs[s.asn]}
		}},
	} {
		group.Go(func() {
			*list.to = c.groups(cmp.Or(c.top, list.most), list.of)
			if list.to == &s.Games {
				c.nameGames(s.Games.Top)
			}
		})
	}
}

// groups sums up the servers that answered by label, and lists the most groups with the most servers.
func (c *Census) groups(most int, of func(*Server) label) Groups {
	var out Groups
	by := map[label]*Group{}
	for s := range c.answers() {
		l := of(s)
		if l == (label{}) {
			out.Unknown.add(s)
			continue
		}
		g := by[l]
		if g == nil {
			g = &Group{ID: l.id, Name: shorten(l.name), Game: l.game}
			by[l] = g
		}
		g.Sums.add(s)
		if s.farm > 0 {
			if g.Farmed == nil {
				g.Farmed = &Sums{}
			}
			g.Farmed.add(s)
		}
	}
	out.Distinct, out.Top = uint64(len(by)), make([]Group, 0, len(by))
	for _, g := range by {
		out.Top = append(out.Top, *g)
	}
	slices.SortFunc(out.Top, func(a, b Group) int {
		return cmp.Or(
			cmp.Compare(b.Servers, a.Servers), cmp.Compare(b.People, a.People),
			strings.Compare(a.Game, b.Game), strings.Compare(a.ID, b.ID), strings.Compare(a.Name, b.Name),
			cmp.Compare(b.Bots, a.Bots), cmp.Compare(b.Places, a.Places), cmp.Compare(b.Occupied, a.Occupied),
		)
	})
	for i := min(most, len(out.Top)); i < len(out.Top); i++ {
		addCounts(&out.Other, &out.Top[i].Sums)
	}
	out.Top = slices.Clip(out.Top[:min(most, len(out.Top))])
	return out
}

// nameGames gives each game its most frequent name, and counts its servers that answer
// without a challenge.
func (c *Census) nameGames(games []Group) {
	by, names := map[string]*Group{}, map[label]uint64{}
	for i := range games {
		by[games[i].ID] = &games[i]
	}
	for s := range c.answers() {
		if g := by[s.Game]; g != nil {
			names[label{id: s.Game, name: s.GameName}]++
			if s.replies.open != 0 {
				g.Unchallenged++
			}
		}
	}
	most := map[string]uint64{}
	for l, n := range names {
		g, name := by[l.id], shorten(l.name)
		if n > most[l.id] || n == most[l.id] && name < g.Name {
			most[l.id], g.Name = n, name
		}
	}
}

func shorten(s string) string { return cut(s, maxNameBytes) }

// round6 rounds to six decimals, because further decimals depend on the order of summation.
func round6(v float64) float64 { return math.Round(v*1e6) / 1e6 }

// Lower bounds of the bins, in milliseconds, player slots and percent. The last bin
// has no upper bound.
var (
	roundTripBounds = []float64{0, 5, 10, 15, 20, 30, 40, 50, 60, 80, 100, 125, 150, 200, 250, 300, 400, 500, 750, 1000, 2000, 5000}
	capacityBounds  = []float64{0, 1, 2, 4, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 65, 80, 100, 128, 200, 256, 500, 1000}
	fillBounds      = []float64{0, 0.000001, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 100.000001}
)

func distribution(values []float64, bounds []float64) *Distribution {
	n := len(values)
	if n == 0 {
		return nil
	}
	slices.Sort(values)
	at := func(percent int) float64 { return values[max((n*percent+99)/100, 1)-1] }
	d := &Distribution{
		Servers: uint64(n), Min: values[0], Max: values[n-1],
		P10: at(10), P25: at(25), P50: at(50), P75: at(75), P90: at(90), P99: at(99),
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	d.Mean = round6(sum / float64(n))
	for i, from := range bounds {
		bin := Bin{From: from}
		end := n
		if i+1 < len(bounds) {
			bin.To = &bounds[i+1]
			end, _ = slices.BinarySearch(values, bounds[i+1])
		}
		start, _ := slices.BinarySearch(values, from)
		bin.Servers = uint64(end - start)
		d.Bins = append(d.Bins, bin)
	}
	return d
}
