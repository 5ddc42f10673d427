package game

// The games on the GoldSource engine: Half-Life and its mods. The rules, which are
// console variables, are the same for all. A server may report application 70
// (Half-Life) whichever of these games it runs, and the obsolete INFO reply has no
// application ID, so the folder identifies the game.
var (
	_ = register(goldSource("cs16", "Counter-Strike", "cstrike", 10))
	_ = register(goldSource("tfc", "Team Fortress Classic", "tfc", 20))
	_ = register(goldSource("dod", "Day of Defeat", "dod", 30))
	_ = register(goldSource("dmc", "Deathmatch Classic", "dmc", 40))
	_ = register(goldSource("opfor", "Half-Life: Opposing Force", "gearbox", 50))
	_ = register(goldSource("ricochet", "Ricochet", "ricochet", 60))
	_ = register(goldSource("hl", "Half-Life", "valve", 70))
	_ = register(goldSource("czero", "Counter-Strike: Condition Zero", "czero", 80))
	_ = register(goldSource("svencoop", "Sven Co-op", "svencoop", 225840))

	// otherGoldSource is the table of all other Half-Life mods.
	otherGoldSource = register(goldSource("goldsource", "Half-Life mod", ""))
)

// goldSource returns the table of a GoldSource game.
func goldSource(id, name, folder string, apps ...uint32) *table {
	t := &table{
		id:         id,
		name:       name,
		apps:       apps,
		evidence:   "documents 000 and 004; recorded replies of 2005 to 2026",
		countsBots: true,
		rules:      cvars,
	}
	if folder != "" {
		t.folders = []string{folder}
	}
	return t
}
