package game

// Battalion 1944: INFO's name is a number and its player count is always 0. The
// rules have the real name and count, and the map and mode of the match that these
// players are in. gamedig takes INFO's map, because it considers the rule often
// wrong. But the rules of one recorded server say 11 of 10 players on Derailed,
// while its INFO says 0 of 100 players on Liberation.
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
})
