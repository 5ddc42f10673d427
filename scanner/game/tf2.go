package game

// Team Fortress 2: INFO's counts are right. The engine adds tags for the kind of
// map and for settings that differ from their defaults. A missing tag says nothing,
// because the engine sorts the tags and then truncates them (EC-41).
var _ = register(&table{
	id:       "tf2",
	name:     "Team Fortress 2",
	apps:     []uint32{440},
	evidence: "recorded replies of 2013 to 2021; queryhost for the tags",
	tags: tags{
		split: ',',
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
	},
	countsBots: true,
	rules:      withCvars(),
	finish:     tf2Modes.read,
	vectors: []vector{
		{
			keywords: "highlander,medieval,nocrits,payload,payload,Skial",
			rules:    []string{"sv_password", "1", "mp_timelimit", "30", "sv_contact", "me@example.org", "nextlevel", ""},
			want: `
				mode payload < keywords
				password true < rules.sv_password
				attribute highlander true < keywords.highlander
				attribute medieval true < keywords.medieval
				attribute random_crits false < keywords.nocrits`,
		},
		{keywords: "cp,ctf,friendlyfire,norespawntime", want: `
				attribute friendly_fire true < keywords.friendlyfire
				attribute modes cp,ctf < keywords
				attribute respawn_times none < keywords.norespawntime`},
	},
})

var tf2Modes = newModes("arena", "cp", "ctf", "koth", "mvm", "passtime", "payload", "pd", "rd", "sd")
