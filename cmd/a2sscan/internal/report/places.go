package report

import (
	"slices"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"github.com/a2sscan/a2sscan/sink/census"
)

// places is the section about the countries and networks of servers.
type places struct {
	Countries *groupTable
	Networks  *groupTable
}

func newPlaces(s *census.Stats) *places {
	if len(s.Countries.Top) == 0 && len(s.Networks.Top) == 0 {
		return nil
	}
	p := &places{}
	if len(s.Countries.Top) > 0 {
		countries := s.Countries
		countries.Top = slices.Clone(countries.Top)
		for i := range countries.Top {
			countries.Top[i].Name = countryName(countries.Top[i].ID)
		}
		p.Countries = newGroupTable("Country", &countries, nil, countriesShown)
	}
	p.Networks = newGroupTable("Network", &s.Networks, nil, networksShown)
	return p
}

// countryName returns the English name of a country, or its code if that is unknown.
func countryName(code string) string {
	region, err := language.ParseRegion(code)
	if err != nil {
		return code
	}
	return display.English.Regions().Name(region)
}
