package game

import "bytes"

// Valheim: INFO's version is always 1.0.0.0. The keywords are "g=version,n=network
// version,m=modifiers" or just a version.
var _ = register(&table{
	id:       "valheim",
	name:     "Valheim",
	apps:     []uint32{892970},
	evidence: "recorded replies of 0.208 to 0.221",
	tags: tags{
		split: ',',
		prefixes: []field{
			{name: "g=", read: text(KeyVersion)},
			{name: "n=", read: attribute("network_version")},
			{name: "m=", read: attribute("modifiers")},
		},
	},
	finish: func(d *decoder) {
		if k := d.in.Info.Keywords; bytes.IndexByte(k, '=') < 0 {
			d.setText(KeyVersion, k, "keywords")
		}
	},
	vectors: []vector{
		{keywords: "g=0.221.12,n=36,m=combat_hard", want: `
			version 0.221.12 < keywords.g=
			attribute modifiers combat_hard < keywords.m=
			attribute network_version 36 < keywords.n=`},
		{keywords: "0.208.1-Mod1.0,x", want: `
			version 0.208.1-Mod1.0,x < keywords`},
		{keywords: "g=,n=,m=", want: ``},
	},
})
