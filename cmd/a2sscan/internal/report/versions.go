package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/a2sscan/a2sscan/sink/census"
)

const (
	versionNights  = 90
	versionGames   = 6 // number of games with a chart
	versionsOfGame = 5 // number of versions in a chart
)

// versionChart shows which shares of a game's servers had its most frequent versions, by
// night.
type versionChart struct {
	Game    string
	Chart   *timeline
	Columns []string // versions
	Rows    []nightRow
}

// versions returns charts of the games with the most servers in this census.
func (h *History) versions(s *census.Stats, names map[string]string) (charts []versionChart) {
	nights := h.nights[max(0, len(h.nights)-versionNights):]
	if len(nights) < 2 {
		return nil
	}
	servers := map[string]uint64{}
	for _, g := range s.Versions.Top {
		servers[g.Game] += g.Servers
	}
	for _, game := range largest(servers, versionGames) {
		shares := map[string]float64{} // sums over all nights, by version
		for i := range nights {
			for version := range nights[i].versions[game] {
				shares[version] += nights[i].share(game, version)
			}
		}
		v := versionChart{Game: nameOf(names, game), Rows: make([]nightRow, len(nights))}
		v.Chart = newTimeline("Shares of versions by night: "+v.Game, "Share of the servers", "%", nights)
		for i, version := range largest(shares, versionsOfGame) {
			v.Columns = append(v.Columns, named(version))
			v.Chart.add(named(version), fmt.Sprintf("s%d", i), nights, func(n *pastNight) float64 { return 100 * n.share(game, version) })
			for k := range nights {
				v.Rows[k].Date = nights[k].time.Format(nightDate)
				v.Rows[k].Values = append(v.Rows[k].Values, percentOf(nights[k].share(game, version)))
			}
		}
		charts = append(charts, v)
	}
	return charts
}

// share returns the share of a version among the servers of a game, or NaN if the stats list
// no version of the game.
func (n *pastNight) share(game, version string) float64 {
	all := sum(n.versions[game])
	if all == 0 {
		return math.NaN()
	}
	return float64(n.versions[game][version]) / float64(all)
}

// largest returns at most n keys, those with the largest values first.
func largest[V cmp.Ordered](values map[string]V, n int) []string {
	keys := slices.SortedFunc(maps.Keys(values), func(a, b string) int {
		return cmp.Or(cmp.Compare(values[b], values[a]), strings.Compare(a, b))
	})
	return keys[:min(n, len(keys))]
}
