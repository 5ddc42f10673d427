package report

import (
	"github.com/a2sscan/a2sscan/cmd/a2sscan/internal/report/chart"
	"github.com/a2sscan/a2sscan/sink/census"
)

// places is the section about the countries and networks of servers.
type places struct {
	World     *chart.World
	Countries *groupTable
	Networks  *groupTable
}

func newPlaces(s *census.Stats) *places {
	if len(s.Countries.Top) == 0 && len(s.Networks.Top) == 0 {
		return nil
	}
	p := &places{}
	if len(s.Countries.Top) > 0 {
		counts := map[string]uint64{}
		countries := s.Countries
		countries.Top = nil
		for _, g := range s.Countries.Top {
			counts[g.ID] += g.Servers
			g.Name = chart.CountryName(g.ID)
			countries.Top = append(countries.Top, g)
		}
		p.World = chart.NewWorld("Map of the world: servers by country. The table has the numbers.", "server", counts)
		p.Countries = newGroupTable("Country", &countries, nil, countriesShown)
	}
	p.Networks = newGroupTable("Network", &s.Networks, nil, networksShown)
	return p
}
