package game

// Project Zomboid: INFO's version is always 1.0.0.0. The keywords and the rules
// have the real version, and the rules also have the mods. A value that is too long
// for one rule is split over several, such as "description:1/2".
var _ = register(&table{
	id:       "zomboid",
	name:     "Project Zomboid",
	apps:     []uint32{108600},
	evidence: "a recorded INFO of 42.20; UncoreMetrics and queryhost for the rules",
	tags: tags{
		split: ';',
		words: []field{
			{name: "modded", read: means(KeyModded, true)},
			{name: "pvp", read: means(KeyPVP, true)},
		},
		prefixes: []field{{name: "VERSION:", read: text(KeyVersion)}},
	},
	rules: []field{
		{name: "version", read: text(KeyVersion)},
		{name: "pvp", read: truth(KeyPVP)},
		{name: "mods", read: zomboidMods},
		{name: "description", read: text(KeyDescription)},
	},
	series: []series{
		{prefix: "description:", after: '/', first: 1, join: text(KeyDescription)},
		{prefix: "mods:", after: '/', first: 1, join: zomboidMods},
	},
	vectors: []vector{
		{
			keywords: ";modded;pvp;VERSION:42.20",
			rules: []string{
				"description:1/2", "one ", "description:2/2", "two", "description:3", "no", "modCount", "2",
				"mods", "Alpha;Beta", "open", "1", "public", "0", "pvp", "0", "version", "42.20",
			},
			want: `
				version 42.20 < keywords.VERSION:
				pvp true < keywords.pvp
				modded true < keywords.modded
				mods 2 < rules.mods
				mod Alpha "" 
				mod Beta "" 
				description one two < rules.description:N`,
		},
		{
			rules: []string{"mods", "", "description", "short", "pvp", "1"},
			want: `
				pvp true < rules.pvp
				mods 0 < rules.mods
				description short < rules.description`,
		},
		{
			rules: []string{"mods:2/3", "Beta;Gam", "mods:1/3", "Alpha;", "mods:3/3", "ma", "mods:0/3", "x"},
			want: `
				mods 3 < rules.mods:N
				mod Alpha "" 
				mod Beta "" 
				mod Gamma "" `,
		},
	},
})

// zomboidMods reads a list of mods. An empty list means that there are none.
func zomboidMods(d *decoder, v []byte, source string) {
	if len(v) == 0 {
		d.mark(KeyMods, source)
		return
	}
	modsBy(';')(d, v, source)
}
