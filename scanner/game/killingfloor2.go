package game

// Killing Floor 2: INFO's counts are right. The rules have the mode and the map.
var _ = register(&table{
	id:       "killingfloor2",
	name:     "Killing Floor 2",
	apps:     []uint32{232090},
	evidence: "queryhost, after recorded replies",
	rules: []field{
		{name: "Mode", read: text(KeyMode)},
		{name: "MapName", read: text(KeyMap)},
	},
})
