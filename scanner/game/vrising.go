package game

// V Rising: the rules have the day and, split over several rules, the description.
var _ = register(&table{
	id:       "vrising",
	name:     "V Rising",
	apps:     []uint32{1604030},
	evidence: "UncoreMetrics; it reads days-runningv2 where older servers say days-running",
	rules: []field{
		{name: "days-runningv2", read: count(KeyDay)},
		{name: "days-running", read: count(KeyDay)},
	},
	series: []series{{prefix: "desc", join: text(KeyDescription)}},
	vectors: []vector{{
		rules: []string{
			"blood-bound-enabled", "true", "castle-heart-damage-mode", "CanBeDestroyedByPlayers",
			"days-runningv2", "39", "desc0", "hello ", "desc2", "lost", "desc1", "there", "desc1", "again", "descx", "no", "desc-1", "no",
		},
		want: `
			day 39 < rules.days-runningv2
			description hello therelost < rules.descN`,
	}, {
		rules: []string{"desc0", "a", "desc2", "c", "desc99", "z"},
		want: `
			description a < rules.descN
			note parts.missing`,
	}},
})
