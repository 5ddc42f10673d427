package game

import "bytes"

// Valheim: INFO's version is always 1.0.0.0. The keywords are either the tags g (version),
// n (network version) and m (modifiers), or just a version.
var _ = register("valheim", "Valheim", []uint32{892970}, &table{
	evidence: "recorded replies of versions 0.208 to 0.221",
	split:    ',',
	prefixes: []field{
		{name: "g=", read: text(KeyVersion)},
		{name: "n=", read: attribute("network_version")},
		{name: "m=", read: attribute("modifiers")},
	},
	finish: func(d *decoder) {
		if k := d.in.Info.Keywords; bytes.IndexByte(k, '=') < 0 {
			d.setText(KeyVersion, k, "keywords")
		}
	},
})
