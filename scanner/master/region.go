package master

import (
	"fmt"
	"strconv"
	"strings"
)

// Region is a part of the world, as used in a request. Servers choose their own
// region, and most choose World.
type Region uint8

// The regions of the protocol; they must not be changed.
const (
	USEast       Region = 0
	USWest       Region = 1
	SouthAmerica Region = 2
	Europe       Region = 3
	Asia         Region = 4
	Australia    Region = 5
	MiddleEast   Region = 6
	Africa       Region = 7
	World        Region = 0xFF // everything
)

// regionNames lists the names of the regions; String returns the first name of
// each.
var regionNames = []struct {
	region Region
	names  []string
}{
	{USEast, []string{"us-east"}},
	{USWest, []string{"us-west"}},
	{SouthAmerica, []string{"south-america", "sa"}},
	{Europe, []string{"europe", "eu"}},
	{Asia, []string{"asia"}},
	{Australia, []string{"australia"}},
	{MiddleEast, []string{"middle-east"}},
	{Africa, []string{"africa"}},
	{World, []string{"world"}},
}

// ParseRegion reads the name or the number of a region: "eu", "europe", "3".
func ParseRegion(s string) (Region, error) {
	var known []string
	for _, r := range regionNames {
		for _, name := range r.names {
			if strings.EqualFold(s, name) || s == strconv.Itoa(int(r.region)) {
				return r.region, nil
			}
		}
		known = append(known, r.names[0])
	}
	return 0, fmt.Errorf("region %s: not one of %s", show(s), strings.Join(known, ", "))
}

// String returns the region's name, or its number if it has none.
func (r Region) String() string {
	for _, known := range regionNames {
		if known.region == r {
			return known.names[0]
		}
	}
	return strconv.Itoa(int(r))
}
