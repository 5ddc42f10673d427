package master

import (
	"fmt"
	"strconv"
	"strings"
)

// Region is a part of the world. A request selects servers by region. Each server
// claims a region, and most servers claim World.
type Region uint8

// The region numbers of the protocol; they must not be changed.
const (
	USEast       Region = 0
	USWest       Region = 1
	SouthAmerica Region = 2
	Europe       Region = 3
	Asia         Region = 4
	Australia    Region = 5
	MiddleEast   Region = 6
	Africa       Region = 7
	World        Region = 0xFF // all regions
)

// regionNames lists the names that ParseRegion accepts. String returns the first
// name of a region.
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

// ParseRegion parses the name of a region in upper or lower case, or its number:
// "eu", "Europe", "3".
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

// String returns the region's name, or its number if the region has no name.
func (r Region) String() string {
	for _, known := range regionNames {
		if known.region == r {
			return known.names[0]
		}
	}
	return strconv.Itoa(int(r))
}
