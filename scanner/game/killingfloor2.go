package game

// Killing Floor 2: INFO's counts are right; the rules tell how the match stands.
var _ = register(&table{
	id:       "killingfloor2",
	name:     "Killing Floor 2",
	apps:     []uint32{232090},
	evidence: "queryhost, after recorded replies",
	rules: []field{
		{name: "Mode", read: text(KeyMode)},
		{name: "MapName", read: text(KeyMap)},
		{name: "Difficulty", read: attribute("difficulty")},
		{name: "CurrentWave", read: attribute("wave")},
		{name: "NumWaves", read: attribute("waves")},
		{name: "bInProgress", read: attribute("in_progress")},
		{name: "bMutators", read: attribute("mutated")},
		{name: "bCustom", read: attribute("custom")},
		{name: "NumSpectators", read: attribute("spectators")},
	},
	vectors: []vector{{
		rules: []string{
			"Mode", "Survival", "Difficulty", "3", "CurrentWave", "5", "NumWaves", "7", "bInProgress", "True",
			"bMutators", "False", "bCustom", "True", "NumSpectators", "0", "ZedCount", "10", "MapName", "KF-BurningParis",
		},
		want: `
			map KF-BurningParis < rules.MapName
			mode Survival < rules.Mode
			attribute custom True < rules.bCustom
			attribute difficulty 3 < rules.Difficulty
			attribute in_progress True < rules.bInProgress
			attribute mutated False < rules.bMutators
			attribute spectators 0 < rules.NumSpectators
			attribute wave 5 < rules.CurrentWave
			attribute waves 7 < rules.NumWaves`,
	}},
})
