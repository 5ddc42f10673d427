package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/a2sscan/a2sscan/sink/census"
)

const (
	sparkNights  = 30
	historyGames = 5 // number of games in the chart
	nightDate    = "2 Jan 2006 15:04"
)

// History has the data of past nights that the page shows.
type History struct{ nights []pastNight }

type pastNight struct {
	time         time.Time
	all, without census.Sums
	distinct     uint64  // number of different games
	lost         float64 // NaN if not known
	doubtful     bool
	games        map[string]uint64            // people by game
	versions     map[string]map[string]uint64 // servers by game and version
}

// Add adds a night. Nights may come in any order. If two nights have the same time, the
// night added later replaces the other.
func (h *History) Add(s *census.Stats) {
	n := newPastNight(s)
	i, found := slices.BinarySearchFunc(h.nights, n, func(a, b pastNight) int { return a.time.Compare(b.time) })
	switch {
	case n.time.IsZero():
	case found:
		h.nights[i] = n
	default:
		h.nights = slices.Insert(h.nights, i, n)
	}
}

// onlyGames reduces the games and the sums of a past night to the given games, each an ID or
// a name. It does nothing if there are none. Stats list only the games with the most servers,
// and of the names of an unknown game only the most frequent. So if one of the given games is
// not listed, its servers may be in another group, and onlyGames returns an error.
func onlyGames(s *census.Stats, games []string) error {
	if len(games) == 0 {
		return nil
	}
	is := func(g *census.Group, game string) bool {
		game = strings.ToLower(game)
		return strings.ToLower(g.ID) == game || !isUnknown(g) && strings.ToLower(g.Name) == game
	}
	hidden := s.Games.Other.Servers > 0 || s.Games.Unknown.Servers > 0 ||
		slices.ContainsFunc(s.Games.Top, func(g census.Group) bool { return isUnknown(&g) })
	for _, game := range games {
		listed := slices.ContainsFunc(s.Games.Top, func(g census.Group) bool { return is(&g, game) })
		if !listed && hidden {
			return fmt.Errorf("the stats do not list the game %s, but its servers may be in another group", game)
		}
	}
	s.Games.Top = slices.DeleteFunc(s.Games.Top, func(g census.Group) bool {
		return !slices.ContainsFunc(games, func(game string) bool { return is(&g, game) })
	})
	s.Games.Distinct = uint64(len(s.Games.Top))
	s.All, s.WithoutFarms = total(s.Games.Top), total(withoutFarms(s.Games.Top))
	return nil
}

// isUnknown reports whether a2sscan does not know the game: its ID is "app:" and a number, or
// "folder:" and a name.
func isUnknown(g *census.Group) bool { return strings.Contains(g.ID, ":") }

func total(groups []census.Group) (all census.Sums) {
	for _, g := range groups {
		all.Servers, all.Occupied, all.People = all.Servers+g.Servers, all.Occupied+g.Occupied, all.People+g.People
		all.Bots, all.Places = all.Bots+g.Bots, all.Places+g.Places
	}
	return all
}

func newPastNight(s *census.Stats) pastNight {
	n := pastNight{
		time: night(s), all: s.All, without: s.WithoutFarms, doubtful: doubtful(s),
		distinct: s.Games.Distinct, games: map[string]uint64{}, versions: map[string]map[string]uint64{}, lost: math.NaN(),
	}
	if s.Run != nil && s.Run.Missed != nil {
		n.lost = *s.Run.Missed
	}
	for _, g := range s.Games.Top {
		n.games[g.ID] = g.People
	}
	for _, g := range s.Versions.Top {
		if n.versions[g.Game] == nil {
			n.versions[g.Game] = map[string]uint64{}
		}
		n.versions[g.Game][g.Name] += g.Servers
	}
	return n
}

func (h *History) before(t time.Time) *pastNight {
	for i := len(h.nights) - 1; i >= 0; i-- {
		if h.nights[i].time.Before(t) {
			return &h.nights[i]
		}
	}
	return nil
}

func (h *History) last(n int, of func(*census.Sums) uint64) (values []float64) {
	for _, night := range h.nights[max(0, len(h.nights)-n):] {
		values = append(values, float64(of(&night.all)))
	}
	return values
}

type historyView struct {
	Nights                 string // number of nights, first and last date
	People, Servers, Games *timeline
	Doubtful               int
	Columns                []string
	Rows                   []nightRow
}

type nightRow struct {
	Date, Note string
	Values     []string
}

func (h *History) view(s *census.Stats, names map[string]string) *historyView {
	if len(h.nights) < 2 {
		return nil
	}
	type column struct {
		name string
		of   func(*pastNight) float64
	}
	columns := []column{
		{"Servers", func(n *pastNight) float64 { return float64(n.all.Servers) }},
		{"Servers without farms", func(n *pastNight) float64 { return float64(n.without.Servers) }},
		{"People", func(n *pastNight) float64 { return float64(n.all.People) }},
		{"People without farms", func(n *pastNight) float64 { return float64(n.without.People) }},
		{"Probably missed", func(n *pastNight) float64 { return n.lost }},
	}
	v := &historyView{Games: newTimeline("People by game and night", "People", " people", h.nights)}
	games := mostPeople(s.Games.Top)
	for i, g := range games[:min(historyGames, len(games))] {
		people := func(n *pastNight) float64 { return n.people(g.ID) }
		columns = append(columns, column{"People in " + nameOf(names, g.ID), people})
		v.Games.add(nameOf(names, g.ID), fmt.Sprintf("s%d", i), h.nights, people)
	}
	for _, c := range columns {
		v.Columns = append(v.Columns, c.name)
	}
	first, last := h.nights[0].time, h.nights[len(h.nights)-1].time
	day := "2 January 2006"
	v.Nights = fmt.Sprintf("%d nights from %s to %s", len(h.nights), first.Format(day), last.Format(day))
	if first.Format(day) == last.Format(day) {
		v.Nights = fmt.Sprintf("%d scans of one night, %s", len(h.nights), first.Format(day))
	}
	for i := range h.nights {
		n := &h.nights[i]
		row := nightRow{Date: n.time.Format(nightDate)}
		if n.doubtful {
			v.Doubtful++
			row.Note = "too low"
		}
		for _, c := range columns {
			row.Values = append(row.Values, rounded(c.of(n)))
		}
		v.Rows = append(v.Rows, row)
	}
	v.People = newTimeline("People by night", "People", " people", h.nights)
	v.Servers = newTimeline("Servers by night", "Servers", " servers", h.nights)
	lines := []string{"All", "Without farms"}
	if !slices.ContainsFunc(h.nights, func(n pastNight) bool { return n.without != n.all }) {
		lines = lines[:1]
	}
	for i, name := range lines {
		v.Servers.add(name, fmt.Sprintf("s%d", i), h.nights, columns[i].of)
		v.People.add(name, fmt.Sprintf("s%d", i), h.nights, columns[2+i].of)
	}
	return v
}

// people returns the number of people in a game, or NaN if the stats do not list the
// game.
func (n *pastNight) people(game string) float64 {
	if people, ok := n.games[game]; ok {
		return float64(people)
	}
	return math.NaN()
}
