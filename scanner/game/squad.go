package game

// Squad and Post Scriptum: INFO counts ghosts (see hasGhosts), such as 104 of 80
// players where the rules say 77.
var _ = register(&table{
	id:       "squad",
	name:     "Squad",
	apps:     []uint32{393380},
	evidence: "a recorded reply of Alpha 8; UncoreMetrics for the queues",
	rules:    squadRules,
})

var _ = register(&table{
	id:       "postscriptum",
	name:     "Post Scriptum",
	apps:     []uint32{736220},
	evidence: "a recorded reply of 2.0.446",
	rules:    squadRules,
})

// squadRules are the rules of both games.
var squadRules = []field{
	{name: "PlayerCount_i", read: count(KeyPlayers)},
	{name: "PublicQueue_i", read: count(KeyQueue)},
	{name: "GameMode_s", read: text(KeyMode)},
	{name: "GameVersion_s", read: text(KeyVersion)},
	{name: "Password_b", read: truth(KeyPassword)},
}
