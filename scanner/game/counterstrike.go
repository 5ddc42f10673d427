package game

import "bytes"

// Counter-Strike 2 and Counter-Strike: Global Offensive share an application ID;
// the version tells them apart. Server owners choose the tags. The rules, if a
// server sends any (EC-99), are console variables.
var _ = register(&table{
	id:       "cs2",
	name:     "Counter-Strike 2",
	apps:     []uint32{730},
	evidence: "recorded replies of 1.33 to 1.34 (CS:GO) and 1.41 (CS2)",
	info: func(d *decoder) {
		if isCSGO(d.in.Info.Version) {
			d.g.ID, d.g.Name = "csgo", "Counter-Strike: Global Offensive"
		}
	},
	countsBots: true,
	rules:      withCvars(),
})

// Counter-Strike: Source.
var _ = register(&table{
	id:         "css",
	name:       "Counter-Strike: Source",
	apps:       []uint32{240},
	evidence:   "recorded replies of 2005 to 2014",
	countsBots: true,
	rules:      withCvars(),
})

// firstCS2 is the second number of the first version of Counter-Strike 2. The last
// version of CS:GO was 1.38.
const firstCS2 = 39

// isCSGO reports whether version belongs to CS:GO.
func isCSGO(version []byte) bool {
	minor, ok := minorVersion(version)
	return ok && minor < firstCS2
}

// minorVersion returns the second number of a version that begins with "1.". It
// returns false for other versions, and if the second part is not a number.
func minorVersion(version []byte) (int, bool) {
	if !hasPrefix(version, "1.") {
		return 0, false
	}
	v := version[2:]
	if i := bytes.IndexByte(v, '.'); i >= 0 {
		v = v[:i]
	}
	n, ok := parseInt(v, maxCount)
	return int(n), ok
}
