package game

// Insurgency: Sandstorm: INFO may say 0 of 0 players. The rules have the real
// counts.
var _ = register(&table{
	id:       "sandstorm",
	name:     "Insurgency: Sandstorm",
	apps:     []uint32{581320},
	evidence: "a recorded reply of 1.1.0.0; queryhost for mutators and mods",
	rules: []field{
		{name: "PlrC_i", read: count(KeyPlayers)},
		{name: "PlrM_i", read: count(KeyMaxPlayers)},
		{name: "GameMode_s", read: text(KeyMode)},
		{name: "Pwd_b", read: truth(KeyPassword)},
		{name: "Mods_b", read: truth(KeyModded)},
		{name: "ModList_s", read: modsBy(',')},
	},
	vectors: []vector{{
		info: wireInfo(0, 0),
		rules: []string{
			"Coop_b", "true", "Day_b", "false", "GameMode_s", "Checkpoint", "MatchServer_b", "false",
			"ModList_s", "98145, 109375,", "Mods_b", "true", "Mutated_b", "true", "Mutators_s", "Hardcore,Frenzy",
			"OfficialRuleset_b", "false", "PlrC_i", "5", "PlrM_i", "8", "Pwd_b", "false",
			"RankedServer_b", "true", "Versus_b", "false",
		},
		want: `
			players 5 < rules.PlrC_i
			max_players 8 < rules.PlrM_i
			mode Checkpoint < rules.GameMode_s
			password false < rules.Pwd_b
			modded true < rules.Mods_b
			mods 2 < rules.ModList_s
			mod 98145 "" 
			mod 109375 "" `,
	}},
})
