package game

import "bytes"

// Conan Exiles: the keywords and the rules have the full name of the server, which
// INFO truncates. The names of the settings are codes (S05_b, Su_i) that the game
// does not document, so Decode does not read them.
var _ = register(&table{
	id:       "conan",
	name:     "Conan Exiles",
	apps:     []uint32{440900},
	evidence: "recorded replies of 2018",
	rules: []field{
		{name: "OWNINGNAME", read: attribute("name")},
	},
	finish: conanName,
})

// conanName reads the server's name from the keywords. If they fill their field and
// end with the name, the name may be incomplete, and conanName ignores it.
func conanName(d *decoder) {
	k := d.in.Info.Keywords
	name, ok := unrealTag(k, "OWNINGNAME:")
	switch {
	case !ok:
	case len(k) >= keywordsField && bytes.HasSuffix(k, name):
		d.g.Notes |= noteKeywordsCut
	default:
		d.setAttribute("name", name, "keywords.OWNINGNAME")
	}
}
