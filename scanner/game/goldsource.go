package game

import "slices"

// The games on the GoldSource engine: Half-Life and its mods. The rules, which are
// console variables, are the same for all. A server of any of these games may report
// application 70 (Half-Life), and the obsolete INFO reply has no application ID. So the
// folder identifies the game.
var (
	_ = register("cs16", "Counter-Strike", []uint32{10}, goldSource("cstrike"))
	_ = register("tfc", "Team Fortress Classic", []uint32{20}, goldSource("tfc"))
	_ = register("dod", "Day of Defeat", []uint32{30}, goldSource("dod"))
	_ = register("dmc", "Deathmatch Classic", []uint32{40}, goldSource("dmc"))
	_ = register("opfor", "Half-Life: Opposing Force", []uint32{50}, goldSource("gearbox"))
	_ = register("ricochet", "Ricochet", []uint32{60}, goldSource("ricochet"))
	_ = register("hl", "Half-Life", []uint32{70}, goldSource("valve"))
	_ = register("czero", "Counter-Strike: Condition Zero", []uint32{80}, goldSource("czero"))
	_ = register("svencoop", "Sven Co-op", []uint32{225840}, goldSource("svencoop"))

	// otherGoldSource is the table of all other Half-Life mods.
	otherGoldSource = register("goldsource", "Half-Life mod", nil, goldSource(""))
)

func goldSource(folder string) *table {
	return &table{
		folder:     folder,
		evidence:   "documents 000 and 004 in docs/PROTOCOL.md; recorded replies from 2005 to 2026",
		countsBots: slices.Contains(recordedWithBots, folder),
		rules:      cvars,
	}
}

// recordedWithBots are the folders of games whose INFO counts bots as players, as recorded
// replies show: the player list has as many entries as INFO has players. Of these players,
// 2 of 23 are bots in Counter-Strike, 4 of 29 in Condition Zero, 4 of 16 in Day of Defeat,
// and 26 of 26 in Half-Life.
var recordedWithBots = []string{"cstrike", "czero", "dod", "valve"}

// cvars are the console variables that Decode reads for games on the Source and GoldSource
// engines.
var cvars = []field{
	{name: "sv_password", read: truth(KeyPassword)}, // 0 or 1, not the password (EC-98)
}

func withCvars(fields ...field) []field { return slices.Concat(fields, cvars) }
