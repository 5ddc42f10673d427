package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/a2sscan/a2sscan/sink/census"
)

const (
	versionNights = 90
	versionGames  = 6 // number of games shown
	versionsShown = 5 // number of versions shown per game
)

// versionView shows the versions of one game, in this census and on earlier nights.
type versionView struct {
	Game  string
	Parts []part
	Chart *timeline // nil if there is no history
	Rows  []nightRow
}

func (h *History) versions(s *census.Stats) (views []versionView) {
	tonight, past := newPastNight(s), &History{}
	if h.Len() > 1 {
		past = &History{h.nights[max(0, h.Len()-versionNights):]}
	}
	games := slices.SortedFunc(maps.Keys(tonight.versions), func(a, b string) int {
		return cmp.Or(cmp.Compare(sum(tonight.versions[b]), sum(tonight.versions[a])), cmp.Compare(a, b))
	})
	names := gameNames(s)
	for _, id := range games[:min(versionGames, len(games))] {
		v := versionView{Game: nameOf(names, id)}
		top := past.topVersions(id, &tonight)
		var labels []string
		var counts []uint64
		for _, version := range top {
			labels, counts = append(labels, named(version)), append(counts, tonight.versions[id][version])
		}
		v.Parts = divide(sum(tonight.versions[id]), "servers", "Other versions", labels, counts)
		if past.Len() > 0 {
			v.addChart(past, id, top)
		}
		views = append(views, v)
	}
	return views
}

func sum[K comparable](counts map[K]uint64) (all uint64) {
	for _, n := range counts {
		all += n
	}
	return all
}

// topVersions returns at most versionsShown versions: those with the largest shares over
// all nights. It sorts the versions by their number of servers in this census. Its second
// argument has the data of this census.
func (h *History) topVersions(game string, tonight *pastNight) []string {
	shares := map[string]float64{}
	for i := range h.nights {
		for version := range h.nights[i].versions[game] {
			shares[version] += h.nights[i].share(game, version)
		}
	}
	for version := range tonight.versions[game] {
		shares[version] += tonight.share(game, version) // count tonight as well, so that a new version can be among the top versions
	}
	top := slices.SortedFunc(maps.Keys(shares), func(a, b string) int {
		return cmp.Or(cmp.Compare(shares[b], shares[a]), cmp.Compare(a, b))
	})
	top = top[:min(versionsShown, len(top))]
	now := tonight.versions[game]
	slices.SortStableFunc(top, func(a, b string) int { return cmp.Compare(now[b], now[a]) })
	return top
}

func (v *versionView) addChart(h *History, game string, versions []string) {
	v.Chart = newTimeline(fmt.Sprintf("Shares of versions among the servers of %s over the last %d nights. The table has the numbers.",
		v.Game, h.Len()), "Share of the servers", "%", h.nights)
	for i, version := range versions {
		v.Chart.add(named(version), fmt.Sprintf("s%d", i), h.nights, func(n *pastNight) float64 { return 100 * n.share(game, version) })
	}
	for i := range h.nights {
		n := &h.nights[i]
		row := nightRow{Date: h.date(n)}
		for _, version := range versions {
			row.Values = append(row.Values, percentOf(n.share(game, version)))
		}
		v.Rows = append(v.Rows, row)
	}
}

// share returns the share of a version among the servers of a game, or NaN if the stats
// list no version of the game.
func (n *pastNight) share(game, version string) float64 {
	all := sum(n.versions[game])
	if all == 0 {
		return math.NaN()
	}
	return float64(n.versions[game][version]) / float64(all)
}
