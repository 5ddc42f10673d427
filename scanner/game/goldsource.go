package game

// The games on the GoldSource engine, Half-Life's own and its mods. They share
// the rules, which are variables. A server may say that it is application 70,
// Half-Life, and run any of them, and the obsolete INFO reply has no application:
// the folder tells which it is.
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

	// otherGoldSource is any other mod of Half-Life.
	otherGoldSource = register(goldSource("goldsource", "Half-Life mod", ""))
)

// goldSource returns the table of a GoldSource game.
func goldSource(id, name, folder string, apps ...uint32) *table {
	t := &table{
		id:       id,
		name:     name,
		apps:     apps,
		evidence: "documents 000 and 004; recorded replies of 2005 to 2026",
		rules:    goldSourceCvars,
		vectors: []vector{{
			rules: []string{
				"amx_nextmap", "de_train", "mp_timeleft", "927", "mp_timelimit", "20", "sv_password", "1",
				"max_queries_sec", "1", "mp_friendlyfire", "",
			},
			want: `
				password true < rules.sv_password
				attribute mp_timeleft 927 < rules.mp_timeleft
				attribute mp_timelimit 20 < rules.mp_timelimit
				attribute next_map de_train < rules.amx_nextmap`,
		}},
	}
	if folder != "" {
		t.folders = []string{folder}
	}
	return t
}

// goldSourceCvars are the variables that all these games share. Their names are
// the games' own.
var goldSourceCvars = []field{
	{name: "sv_password", read: truth(KeyPassword)}, // 0 or 1, not the password (EC-98)
	{name: "amx_nextmap", read: attribute("next_map")},
	{name: "amx_timeleft", read: attribute("amx_timeleft")},
	{name: "amxmodx_version", read: attribute("amxmodx_version")},
	{name: "coop", read: attribute("coop")},
	{name: "deathmatch", read: attribute("deathmatch")},
	{name: "metamod_version", read: attribute("metamod_version")},
	{name: "mp_c4timer", read: attribute("mp_c4timer")},
	{name: "mp_fraglimit", read: attribute("mp_fraglimit")},
	{name: "mp_freezetime", read: attribute("mp_freezetime")},
	{name: "mp_friendlyfire", read: attribute("mp_friendlyfire")},
	{name: "mp_maxrounds", read: attribute("mp_maxrounds")},
	{name: "mp_roundtime", read: attribute("mp_roundtime")},
	{name: "mp_startmoney", read: attribute("mp_startmoney")},
	{name: "mp_teamplay", read: attribute("mp_teamplay")},
	{name: "mp_timeleft", read: attribute("mp_timeleft")}, // seconds left on this map
	{name: "mp_timelimit", read: attribute("mp_timelimit")},
	{name: "mp_winlimit", read: attribute("mp_winlimit")},
	{name: "sv_alltalk", read: attribute("sv_alltalk")},
	{name: "sv_cheats", read: attribute("sv_cheats")},
	{name: "sv_gravity", read: attribute("sv_gravity")},
}
