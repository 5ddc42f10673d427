package game

// Team Fortress 2: INFO's counts are right. The engine adds tags for the kind of
// map and for settings that differ from their defaults. A missing tag says nothing,
// because the engine sorts the tags and then truncates them (EC-41). INFO's players include
// bots; in a recorded reply, 1 of 22 is a bot. In Mann vs. Machine, every robot is a bot, and
// there are more robots than slots (see overMax).
var _ = register("tf2", "Team Fortress 2", []uint32{440}, &table{
	evidence: "recorded replies from 2013 to 2021; queryhost for the tags",
	split:    ',',
	words: []field{
		{name: "alltalk", read: tagged("alltalk", "true")},
		{name: "dmgspread", read: tagged("damage_spread", "true")},
		{name: "friendlyfire", read: tagged("friendly_fire", "true")},
		{name: "gravity", read: tagged("custom_gravity", "true")},
		{name: "highlander", read: tagged("highlander", "true")},
		{name: "increased_maxplayers", read: tagged("increased_max_players", "true")},
		{name: "medieval", read: tagged("medieval", "true")},
		{name: "nocrits", read: tagged("random_crits", "false")},
		{name: "nodmgspread", read: tagged("damage_spread", "false")},
		{name: "norespawntime", read: tagged("respawn_times", "none")},
		{name: "respawntimes", read: tagged("respawn_times", "custom")},
	},
	countsBots: true,
	rules:      withCvars(),
	finish:     tf2Modes.read,
})

var tf2Modes = modes{"arena", "cp", "ctf", "koth", "mvm", "passtime", "payload", "pd", "rd", "sd"}
