package game

// Garry's Mod: the keywords are pairs of a name and a value, separated by spaces.
var _ = register(&table{
	id:       "gmod",
	name:     "Garry's Mod",
	apps:     []uint32{4000},
	evidence: "recorded replies of 2014 to 2015 (gm only); queryhost for the others",
	tags: tags{
		split: ' ',
		prefixes: []field{
			{name: "gm:", read: text(KeyMode)},
			{name: "gmws:", read: gmodWorkshop},
			{name: "gmc:", read: attribute("category")},
			{name: "loc:", read: text(KeyRegion)},
			{name: "ver:", read: text(KeyVersion)},
		},
	},
	countsBots: true,
	rules: withCvars(
		field{name: "sbox_playershurtplayers", read: truth(KeyPVP)},
	),
	vectors: []vector{{
		keywords: " gm:darkrp gmws:2724150474 gmc:rp loc:us ver:260917",
		rules:    []string{"sbox_playershurtplayers", "1", "sv_password", "0"},
		want: `
			version 260917 < keywords.ver:
			mode darkrp < keywords.gm:
			region us < keywords.loc:
			pvp true < rules.sbox_playershurtplayers
			password false < rules.sv_password
			attribute category rp < keywords.gmc:
			attribute gamemode_workshop 2724150474 < keywords.gmws:`,
	}, {
		keywords: "gm: gmws:abc",
		want: `
			note value.unreadable`,
	}},
})

// gmodWorkshop reads the Workshop item ID of the game mode; 0 means that there is
// none.
func gmodWorkshop(d *decoder, v []byte, source string) {
	switch n, ok := parseInt(v, maxNumber); {
	case !ok:
		d.g.Notes |= NoteValue
	case n > 0:
		d.setAttribute("gamemode_workshop", v, source)
	}
}
