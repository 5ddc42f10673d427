package record

import "github.com/a2sscan/a2sscan/scanner"

// appendGeo appends the location and the network of a server, if either is known.
func appendGeo(dst []byte, g *scanner.Geo) []byte {
	const key = `"geo":{`
	start := len(dst)
	dst = append(dst, key...)
	if isCode(g.Continent) {
		dst = appendWord(dst, `"continent":`, g.Continent)
	}
	if isCode(g.Country) {
		dst = appendWord(dst, `"country":`, g.Country)
	}
	if g.Region != "" {
		dst = appendText(dst, `"region":`, g.Region)
	}
	if g.City != "" {
		dst = appendText(dst, `"city":`, g.City)
	}
	if g.ASN != 0 {
		dst = appendUint(dst, `"asn":`, uint64(g.ASN))
	}
	if g.Org != "" {
		dst = appendText(dst, `"org":`, g.Org)
	}
	if len(dst) == start+len(key) {
		return dst[:start]
	}
	return end(dst, '}')
}

// isCode reports whether s is two capital letters, like the code of a country.
func isCode(s string) bool {
	return len(s) == 2 && 'A' <= min(s[0], s[1]) && max(s[0], s[1]) <= 'Z'
}
