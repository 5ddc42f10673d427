package game

// V Rising: the rules have the day and, split over several rules, the description. The
// meaning of the tag hc is unclear: the only recorded server with this tag does not have
// the rules of a hardcore server.
var _ = register("vrising", "V Rising", []uint32{1604030}, &table{
	evidence: "a recorded reply from GameQ's tests; UncoreMetrics, which reads days-runningv2 where older servers send days-running",
	split:    ',',
	words: []field{
		{name: "pvp", read: means(KeyPVP, true)},
		{name: "pve", read: means(KeyPVP, false)},
		{name: "hc", read: tagged("tag_hc", "hc")},
	},
	prefixes: []field{{name: "cs", read: attribute("clan_size")}},
	rules: []field{
		{name: "days-runningv2", read: count(KeyDay)},
		{name: "days-running", read: count(KeyDay)},
		{name: "days-until-reset", read: attribute("days_until_reset")},
	},
	series: []series{{prefix: "desc", join: text(KeyDescription)}},
})
