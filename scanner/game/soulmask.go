package game

// Soulmask: INFO's version is always 1.0.0.0. The real version is in a rule.
var _ = register(&table{
	id:       "soulmask",
	name:     "Soulmask",
	apps:     []uint32{2646460, 3017310}, // the game, and its server
	evidence: "gamedig's change 772",
	rules:    []field{{name: "NO_s", read: text(KeyVersion)}},
})
