package game

import "bytes"

// Counter-Strike 2 and Counter-Strike: Global Offensive share an application ID;
// the version tells them apart. Server owners choose the tags. The rules, if a
// server sends any (EC-99), are console variables.
var _ = register("cs2", "Counter-Strike 2", []uint32{730}, &table{
	evidence: "recorded replies of versions 1.33 to 1.34 (CS:GO) and 1.41 (CS2)",
	info: func(d *decoder) {
		// The last version of CS:GO was 1.38; Counter-Strike 2 began at 1.39.
		if minor, ok := minorVersion(d.in.Info.Version); ok && minor < 39 {
			d.g.ID, d.g.Name = "csgo", "Counter-Strike: Global Offensive"
		}
	},
	rules: withCvars(),
})

var _ = register("css", "Counter-Strike: Source", []uint32{240}, &table{
	evidence: "recorded replies from 2005 to 2014",
	rules:    withCvars(),
})

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
