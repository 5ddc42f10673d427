package game

// Battalion 1944: INFO's name is a number and its players are always 0; the rules
// have both, and the map and the mode of the match that those players are in.
// gamedig takes INFO's map, because it considers the rule often wrong. But the rules
// of one recorded server say 11 players of 10 on Derailed, where its INFO says that
// Liberation is empty and has 100 places.
var _ = register(&table{
	id:       "battalion1944",
	name:     "Battalion 1944",
	apps:     []uint32{489940},
	evidence: "two recorded replies of 2018",
	rules: []field{
		{name: "bat_name_s", read: attribute("name")},
		{name: "bat_player_count_s", read: count(KeyPlayers)},
		{name: "bat_max_players_i", read: count(KeyMaxPlayers)},
		{name: "bat_has_password_s", read: truth(KeyPassword)},
		{name: "bat_gamemode_s", read: text(KeyMode)},
		{name: "bat_map_s", read: text(KeyMap)},
	},
	vectors: []vector{{
		info: wireInfo(0, 100),
		rules: []string{
			"bat_gamemode_s", "BOMB", "bat_has_password_s", "Y", "bat_map_s", "Derailed",
			"bat_max_players_i", "10", "bat_name_s", "Our Server", "bat_player_count_s", "9",
		},
		want: `
			players 9 < rules.bat_player_count_s
			max_players 10 < rules.bat_max_players_i
			map Derailed < rules.bat_map_s
			mode BOMB < rules.bat_gamemode_s
			password true < rules.bat_has_password_s
			attribute name Our Server < rules.bat_name_s`,
	}},
})
