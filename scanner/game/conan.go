package game

import "bytes"

// Conan Exiles: the keywords and the rules have the full name of the server, which
// INFO truncates. The names of the settings are codes (S05_b, Su_i) that the game
// does not document, so Decode does not read them.
var _ = register("conan", "Conan Exiles", []uint32{440900}, &table{
	evidence: "recorded replies from 2018",
	rules: []field{
		{name: "OWNINGNAME", read: attribute("name")},
	},
	// If the keywords fill their field and end with the name, the name may be incomplete.
	finish: func(d *decoder) {
		k := d.in.Info.Keywords
		name, ok := unrealTag(k, "OWNINGNAME:")
		switch {
		case !ok:
		case len(k) >= keywordsField && bytes.HasSuffix(k, name):
			d.g.Notes |= noteKeywordsCut
		default:
			d.setAttribute("name", name, "keywords.OWNINGNAME")
		}
	},
})

// unrealTag returns the value of a tag of the Unreal engine's online subsystem. The
// keywords are "NAME:value,NAME:value"; name includes the colon. Values may contain
// commas, so a comma ends a value only if another tag begins after the comma.
func unrealTag(keywords []byte, name string) ([]byte, bool) {
	at := bytes.Index(keywords, []byte(name))
	if at < 0 || at > 0 && keywords[at-1] != ',' {
		return nil, false
	}
	v := keywords[at+len(name):]
	for i := range v {
		if v[i] == ',' && beginsTag(v[i+1:]) {
			return v[:i:i], true
		}
	}
	return v, true
}

// beginsTag reports whether b begins with the name of a tag and a colon. The name consists of
// capital letters, digits and underscores. If it ends with an underscore and one letter, as in
// GameMode_s, it may also have small letters.
func beginsTag(b []byte) bool {
	name, _, found := bytes.Cut(b, []byte(":"))
	small := len(name) > 2 && name[len(name)-2] == '_'
	for _, c := range name {
		capital := c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
		if !capital && !(small && c >= 'a' && c <= 'z') {
			return false
		}
	}
	return found && len(name) > 0
}
