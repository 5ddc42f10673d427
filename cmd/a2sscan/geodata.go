package main

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/a2sscan/a2sscan/scanner"
)

// geoOf reads the data of a network, in the form that MaxMind and DB-IP have
// (GeoLite2 and GeoIP2 Country, City, Enterprise, ASN, ISP), and in the flat ones
// of IPinfo and of lists made by others. Keys of other types, and what is no
// code where one is wanted, are passed over.
func geoOf(data any) scanner.Geo {
	g := scanner.Geo{
		Continent: geoCode(data, "continent.code", "continent_code", "continent"),
		Country:   geoCode(data, "country.iso_code", "country_code", "country"),
		Region:    geoText(data, "subdivisions.names", "region", "state1"),
		City:      geoText(data, "city.names", "city"),
		ASN:       geoNumber(data, "autonomous_system_number", "traits.autonomous_system_number", "asn"),
		Org: geoText(data, "autonomous_system_organization", "traits.autonomous_system_organization",
			"as_name"),
	}
	if g.ASN != 0 && g.Org == "" {
		g.Org = geoText(data, "name") // of one that is about networks alone
	}
	return g
}

// geoFind goes down the keys of a path, and into the first of a list.
func geoFind(v any, path string) any {
	for key := range strings.SplitSeq(path, ".") {
		if list, ok := v.([]any); ok && len(list) > 0 {
			v = list[0]
		}
		m, _ := v.(map[string]any)
		v = m[key]
	}
	return v
}

// maxGeoText is how long a name may be: longer ones are passed over.
const maxGeoText = 300

// geoText returns the first text that there is. Of names in several languages
// it is the English one, or the first by its language.
func geoText(data any, paths ...string) string {
	for _, path := range paths {
		v := geoFind(data, path)
		if names, ok := v.(map[string]any); ok && len(names) > 0 {
			if v = names["en"]; v == nil {
				v = names[slices.Min(slices.Collect(maps.Keys(names)))]
			}
		}
		if s, _ := v.(string); s != "" && len(s) <= maxGeoText {
			return s
		}
	}
	return ""
}

// geoCode returns the first code of two letters that there is, in capitals.
func geoCode(data any, paths ...string) string {
	for _, path := range paths {
		s, _ := geoFind(data, path).(string)
		if s = strings.ToUpper(s); len(s) == 2 && 'A' <= min(s[0], s[1]) && max(s[0], s[1]) <= 'Z' {
			return s
		}
	}
	return ""
}

// geoNumber returns the first number of an autonomous system that there is: a
// number, or text such as AS64500.
func geoNumber(data any, paths ...string) uint32 {
	for _, path := range paths {
		var n uint64
		switch v := geoFind(data, path).(type) {
		case uint64:
			n = v
		case string:
			n, _ = strconv.ParseUint(strings.TrimPrefix(v, "AS"), 10, 64)
		}
		if 0 < n && n <= math.MaxUint32 {
			return uint32(n)
		}
	}
	return 0
}
