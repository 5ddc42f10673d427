package game

// Garry's Mod: the keywords are pairs of a name and a value, separated by spaces.
var _ = register("gmod", "Garry's Mod", []uint32{4000}, &table{
	evidence: "recorded replies from 2014 to 2015 for the tag gm; queryhost for the other tags",
	split:    ' ',
	prefixes: []field{
		{name: "gm:", read: text(KeyMode)},
		// The Workshop item ID of the game mode; 0 means that there is none.
		{name: "gmws:", read: func(d *decoder, v []byte, source string) {
			if d.number(v, maxNumber) > 0 {
				d.setAttribute("gamemode_workshop", v, source)
			}
		}},
		{name: "gmc:", read: attribute("category")},
		{name: "loc:", read: text(KeyRegion)},
		{name: "ver:", read: text(KeyVersion)},
	},
	rules: withCvars(
		field{name: "sbox_playershurtplayers", read: truth(KeyPVP)},
	),
})
