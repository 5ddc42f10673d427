package game

// Insurgency: Sandstorm: INFO may say 0 of 0 players. The rules have the real
// counts, except that PlrC_i is 1 on a recorded server where INFO says 0 of 12 and
// nobody is listed: what the list contradicts does not count if INFO has a capacity.
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
	finish: func(d *decoder) {
		in := &d.in
		if in.Info.MaxPlayers > 0 && in.HasPlayers && !in.PlayersCut && len(in.Players) != d.g.Players {
			d.drop(KeyPlayers)
		}
	},
})
