package game

// Squad and Post Scriptum: INFO counts ghosts (see hasGhosts), such as 104 of 80
// players where the rules say 77.
var _ = register(&table{
	id:       "squad",
	name:     "Squad",
	apps:     []uint32{393380},
	evidence: "a recorded reply of Alpha 8; UncoreMetrics for the queues",
	rules:    squadRules,
	vectors: []vector{{
		rules: []string{
			"GameMode_s", "AAS", "GameVersion_s", "V6.1", "NUMPRIVCONN", "2", "NUMPUBCONN", "98",
			"Password_b", "true", "PlayerCount_i", "77", "PlayerReserveCount_i", "4", "PublicQueue_i", "6",
			"ReservedQueue_i", "1", "TeamOne_s", "USA", "TeamTwo_s", "RUS",
		},
		want: `
			players 77 < rules.PlayerCount_i
			queue 6 < rules.PublicQueue_i
			version V6.1 < rules.GameVersion_s
			mode AAS < rules.GameMode_s
			password true < rules.Password_b`,
	}},
})

var _ = register(&table{
	id:       "postscriptum",
	name:     "Post Scriptum",
	apps:     []uint32{736220},
	evidence: "a recorded reply of 2.0.446",
	rules:    squadRules,
	vectors: []vector{{
		rules: []string{"PlayerCount_i", "many", "PublicQueue_i", "-1"},
		want: `
			note value.unreadable`,
	}},
})

// squadRules are the rules of both games.
var squadRules = []field{
	{name: "PlayerCount_i", read: count(KeyPlayers)},
	{name: "PublicQueue_i", read: count(KeyQueue)},
	{name: "GameMode_s", read: text(KeyMode)},
	{name: "GameVersion_s", read: text(KeyVersion)},
	{name: "Password_b", read: truth(KeyPassword)},
}
