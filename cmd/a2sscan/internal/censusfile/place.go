package censusfile

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/a2sscan/a2sscan/scanner"
)

// parsePlace reads the data of a network. It understands the layout of MaxMind and
// DB-IP (GeoLite2 and GeoIP2 Country, City, Enterprise, ASN, ISP) and the flat
// layouts of IPinfo and others. It ignores values of unexpected types and malformed
// country codes.
func parsePlace(data any) scanner.Geo {
	g := scanner.Geo{
		Continent: findCode(data, "continent.code", "continent_code", "continent"),
		Country:   findCode(data, "country.iso_code", "country_code", "country"),
		Region:    findText(data, "subdivisions.names", "region", "state1"),
		City:      findText(data, "city.names", "city"),
		ASN:       findNumber(data, "autonomous_system_number", "traits.autonomous_system_number", "asn"),
		Org: findText(data, "autonomous_system_organization", "traits.autonomous_system_organization",
			"as_name"),
	}
	if g.ASN != 0 && g.Org == "" {
		g.Org = findText(data, "name") // a database of networks only
	}
	return g
}

// find returns the value at a path of keys. From a list it takes the first element.
func find(v any, path string) any {
	for key := range strings.SplitSeq(path, ".") {
		if list, ok := v.([]any); ok && len(list) > 0 {
			v = list[0]
		}
		m, _ := v.(map[string]any)
		v = m[key]
	}
	return v
}

// maxText is the maximum length of a name in bytes. Longer names are ignored.
const maxText = 300

// findText returns the first string found. If there are names in several languages, it
// returns the English name or, if there is none, the name with the first language code.
func findText(data any, paths ...string) string {
	for _, path := range paths {
		v := find(data, path)
		if names, ok := v.(map[string]any); ok && len(names) > 0 {
			if v = names["en"]; v == nil {
				v = names[slices.Min(slices.Collect(maps.Keys(names)))]
			}
		}
		if s, _ := v.(string); s != "" && len(s) <= maxText {
			return s
		}
	}
	return ""
}

func findCode(data any, paths ...string) string {
	for _, path := range paths {
		s, _ := find(data, path).(string)
		if s = strings.ToUpper(s); len(s) == 2 && 'A' <= min(s[0], s[1]) && max(s[0], s[1]) <= 'Z' {
			return s
		}
	}
	return ""
}

// findNumber returns the first number of an autonomous system at the paths. The data has
// it as a number, or as a text such as AS64500.
func findNumber(data any, paths ...string) uint32 {
	for _, path := range paths {
		var n uint64
		switch v := find(data, path).(type) {
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
